package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
)

const (
	libModule      = "github.com/projectsveltos/libsveltos"
	upstreamModule = "upstream.projectsveltos.io/libsveltos"
	apiPath        = libModule + "/api/v1beta1"
	proxyPath      = libModule + "/lib/clusterproxy"
	inventoryPath  = "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	clientPath     = "sigs.k8s.io/controller-runtime/pkg/client"
	controllerPath = "sigs.k8s.io/controller-runtime/pkg/controller"
	builderPath    = "sigs.k8s.io/controller-runtime/pkg/builder"
	capiPrefix     = "sigs.k8s.io/cluster-api/"

	apiAlias       = "libsveltosv1beta1"
	inventoryAlias = "inventoryv1alpha1"

	profileType = "ClusterTypeClusterProfile"
	profileKind = "InventoryClusterProfileKind"
	profileGV   = "InventoryGroupVersion"
	profileWord = "clusterprofile"
	watchHelper = "WatchInventoryClusterProfiles"
	twinHelper  = "SetupInventoryClusterProfileReconciler"
)

// family is one of the kinds of clusters.
type family int

const (
	noFamily family = iota
	sveltos
	capi
	profile
)

func (f family) String() string {
	return [...]string{"no cluster", "SveltosCluster", "Cluster API", "ClusterProfile"}[f]
}

// role is what a name says about a family.
type role int

const (
	noRole   role = iota
	asType        // ClusterTypeSveltos
	asKind        // SveltosClusterKind, or a constant with that value
	asGV          // GroupVersion
	asObject      // the Go type SveltosCluster
	asList        // the Go type SveltosClusterList
	asWord        // the text "sveltos", in a literal
)

// mention is a name that stands for a family of clusters.
type mention struct {
	family family
	role   role
}

var libNames = map[string]mention{
	"ClusterTypeSveltos": {sveltos, asType},
	"ClusterTypeCapi":    {capi, asType},
	profileType:          {profile, asType},
	"SveltosClusterKind": {sveltos, asKind},
	profileKind:          {profile, asKind},
	"GroupVersion":       {sveltos, asGV},
	profileGV:            {profile, asGV},
	"SveltosCluster":     {sveltos, asObject},
	"SveltosClusterList": {sveltos, asList},
}

var capiNames = map[string]mention{
	"ClusterKind":  {capi, asKind},
	"GroupVersion": {capi, asGV},
	"Cluster":      {capi, asObject},
	"ClusterList":  {capi, asList},
}

var inventoryNames = map[string]mention{
	"GroupVersion":       {profile, asGV},
	"ClusterProfile":     {profile, asObject},
	"ClusterProfileList": {profile, asList},
}

// mentionOf tells what an object stands for, decided by its package and name, or, for a
// constant of the controller itself, by its value.
func mentionOf(obj types.Object) mention {
	if obj == nil || obj.Pkg() == nil {
		return mention{}
	}
	path := obj.Pkg().Path()
	topLevel := obj.Parent() == obj.Pkg().Scope()
	switch {
	case !topLevel:
	case isLib(path, "/api/v1beta1"):
		return libNames[obj.Name()]
	case strings.HasPrefix(path, capiPrefix):
		return capiNames[obj.Name()]
	case path == inventoryPath:
		return inventoryNames[obj.Name()]
	}
	if c, ok := obj.(*types.Const); ok && c.Val().Kind() == constant.String {
		return wordMention(constant.StringVal(c.Val()), true)
	}
	return mention{}
}

// isLib tells whether path is the package of libsveltos with this suffix, under its own
// path or under the alias by which the tree imports the original.
func isLib(path, suffix string) bool {
	return path == libModule+suffix || path == upstreamModule+suffix
}

// separators is what may stand around the word that names a family in a literal.
var separators = regexp.MustCompile(`^[-_.:/%sdvq]*$`)

// wordMention tells whether a text is the kind of a family, or nothing but its name with
// separators around it, as in "capi" or "sveltos-%s".
func wordMention(text string, kindOnly bool) mention {
	switch text {
	case "SveltosCluster":
		return mention{sveltos, asKind}
	case "Cluster":
		return mention{capi, asKind}
	}
	if kindOnly {
		return mention{}
	}
	for word, fam := range map[string]family{"sveltoscluster": sveltos, "sveltos": sveltos, "capi": capi} {
		before, after, found := strings.Cut(strings.ToLower(text), word)
		if found && separators.MatchString(before) && separators.MatchString(after) {
			return mention{fam, asWord}
		}
	}
	return mention{}
}

// profileText is the literal for a ClusterProfile in place of one for another family.
func profileText(text string) string {
	lower := strings.ToLower(text)
	for _, word := range []string{"sveltoscluster", "sveltos", "capi"} {
		at := strings.Index(lower, word)
		if at < 0 {
			continue
		}
		found := text[at : at+len(word)]
		replacement := profileWord
		switch {
		case found == strings.ToUpper(found):
			replacement = strings.ToUpper(profileWord)
		case found[0] >= 'A' && found[0] <= 'Z':
			replacement = "ClusterProfile"
		}
		return text[:at] + replacement + text[at+len(word):]
	}
	return text
}

// mention of an identifier, or of a string literal.
func (u *unit) mention(n ast.Node) mention {
	switch n := n.(type) {
	case *ast.Ident:
		return mentionOf(u.pkg.TypesInfo.Uses[n])
	case *ast.BasicLit:
		if n.Kind != token.STRING {
			return mention{}
		}
		text, err := strconv.Unquote(n.Value)
		if err != nil {
			return mention{}
		}
		return wordMention(text, false)
	}
	return mention{}
}

// mentions calls found for each name of a cluster family under n.
func (u *unit) mentions(n ast.Node, found func(ast.Node, mention)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n != nil {
			if m := u.mention(n); m.family != noFamily {
				found(n, m)
			}
		}
		return true
	})
}

// has tells whether something under n mentions the family in one of the roles (in any,
// when none is given).
func (u *unit) has(n ast.Node, fam family, roles ...role) bool {
	hit := false
	u.mentions(n, func(_ ast.Node, m mention) {
		if m.family != fam {
			return
		}
		hit = hit || len(roles) == 0
		for _, r := range roles {
			hit = hit || m.role == r
		}
	})
	return hit
}

// qualified is the selector expression that an identifier ends, or the identifier.
func (u *unit) qualified(id *ast.Ident) ast.Expr {
	if sel, ok := u.parents[id].(*ast.SelectorExpr); ok && sel.Sel == id {
		return sel
	}
	return id
}

// named returns package path and name of the named type under t, pointers removed.
func named(t types.Type) (path, name string) {
	if t == nil {
		return "", ""
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", ""
	}
	return n.Obj().Pkg().Path(), n.Obj().Name()
}

func (u *unit) typeOf(e ast.Expr) types.Type { return u.pkg.TypesInfo.TypeOf(e) }

// isNamed tells whether the type of e is that of a package, pointer or not.
func (u *unit) isNamed(e ast.Expr, pkgPath, typeName string) bool {
	path, name := named(u.typeOf(e))
	return path == pkgPath && name == typeName
}

// familyOfType tells which family's object a type is.
func familyOfType(t types.Type) family {
	path, name := named(t)
	switch {
	case isLib(path, "/api/v1beta1") && name == "SveltosCluster":
		return sveltos
	case strings.HasPrefix(path, capiPrefix) && name == "Cluster":
		return capi
	case path == inventoryPath && name == "ClusterProfile":
		return profile
	}
	return noFamily
}

// isClusterType tells whether t is libsveltos' ClusterType.
func isClusterType(t types.Type) bool {
	path, name := named(t)
	return isLib(path, "/api/v1beta1") && name == "ClusterType"
}

// callee is the function that a call names, or nil.
func (u *unit) callee(call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.IndexExpr:
		if sel, ok := f.X.(*ast.SelectorExpr); ok {
			id = sel.Sel
		}
	}
	if id == nil {
		return nil
	}
	fn, _ := u.pkg.TypesInfo.Uses[id].(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// isCall tells whether call calls the package-level function pkgPath.name.
func (u *unit) isCall(call *ast.CallExpr, pkgPath, name string) bool {
	fn := u.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Name() != name {
		return false
	}
	path := fn.Pkg().Path()
	if strings.HasPrefix(pkgPath, libModule) {
		return isLib(path, strings.TrimPrefix(pkgPath, libModule))
	}
	return path == pkgPath
}
