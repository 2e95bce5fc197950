package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// boolFunc is a function with a bool parameter that means "is a SveltosCluster".
type boolFunc struct {
	u       *unit
	decl    *ast.FuncDecl
	fn      *types.Func
	param   *ast.Ident
	index   int         // of the parameter
	convert *ast.IfStmt // "if is { t = ClusterTypeSveltos }", when the bool is turned into a type
	result  *ast.Ident  // that type's variable
	sibling string      // the name of the function with a type, "" when the function itself is changed
}

// boolParams is rule R5.
func (a *analysis) boolParams() {
	for _, u := range a.sources() {
		for _, d := range u.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if b := a.boolFunc(u, f); b != nil {
				a.boolParam(b)
			}
		}
	}
}

// boolFunc recognises the function by what it does with the parameter: under a test of it
// the names of a cluster family are moved.
func (a *analysis) boolFunc(u *unit, f *ast.FuncDecl) *boolFunc {
	fn, _ := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	index := 0
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if b, ok := types.Unalias(u.typeOf(field.Type)).(*types.Basic); ok && b.Kind() == types.Bool {
				found := &boolFunc{u: u, decl: f, fn: fn, param: name, index: index}
				if found.meansSveltos() {
					return found
				}
			}
			index++
		}
	}
	return nil
}

// meansSveltos looks for the test of the parameter.
func (b *boolFunc) meansSveltos() bool {
	obj := b.u.pkg.TypesInfo.Defs[b.param]
	hit := false
	ast.Inspect(b.decl.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || !b.u.isVar(s.Cond, obj) {
			return true
		}
		if kind, _ := b.u.classify(s.Body.List, sveltos); kind != mover || !b.u.any(s.Body.List, sveltos) {
			return true
		}
		hit = true
		if len(s.Body.List) == 1 && s.Else == nil {
			b.conversion(s)
		}
		return true
	})
	return hit
}

// conversion recognises "t := ClusterTypeCapi; if is { t = ClusterTypeSveltos }".
func (b *boolFunc) conversion(s *ast.IfStmt) {
	assign, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok || !isClusterType(b.u.typeOf(id)) || lastIdent(assign.Rhs[0]) == nil {
		return
	}
	if list, at := b.u.siblings(s); at == 1 && list[0] != nil && b.u.parents[s] == b.decl.Body {
		b.convert, b.result = s, id
	}
}

// isVar tells whether an expression is just a variable.
func (u *unit) isVar(e ast.Expr, obj types.Object) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && obj != nil && u.pkg.TypesInfo.Uses[id] == obj
}

// uses counts the uses of the parameter.
func (b *boolFunc) uses() int {
	obj, n := b.u.pkg.TypesInfo.Defs[b.param], 0
	ast.Inspect(b.decl.Body, func(node ast.Node) bool {
		if id, ok := node.(*ast.Ident); ok && b.u.pkg.TypesInfo.Uses[id] == obj {
			n++
		}
		return true
	})
	return n
}

func (a *analysis) boolParam(b *boolFunc) {
	u := b.u
	b.sibling = b.decl.Name.Name + "ForClusterType"
	exported := ast.IsExported(b.decl.Name.Name)
	if exported && b.siblingExists() {
		a.decide(u, b.decl.Body.List[0], b.decl.Body.List[1])
		a.note(u, b.decl.Name, "R5", done, "%s has its sibling %s", b.decl.Name.Name, b.sibling)
		return
	}
	if b.convert == nil || b.uses() != 1 {
		a.note(u, b.decl.Name, "R5", unknown,
			"%s takes a bool %s for the type of a cluster, and does not begin by turning it into a type", b.decl.Name.Name, b.param.Name)
		a.decide(u, b.decl.Body)
		return
	}
	a.decide(u, b.decl.Body.List[0], b.convert)
	if exported {
		a.addSibling(b)
	} else {
		b.sibling = ""
		a.changeParam(b)
	}
	for _, site := range a.calls[b.fn.FullName()] {
		a.changeCall(b, site)
	}
}

func (b *boolFunc) siblingExists() bool {
	if b.decl.Recv == nil {
		return b.u.pkg.Types.Scope().Lookup(b.sibling) != nil
	}
	obj, _, _ := types.LookupFieldOrMethod(b.fn.Signature().Recv().Type(), true, b.fn.Pkg(), b.sibling)
	return obj != nil
}

// params is the parameter list with the bool turned into a type, without parentheses.
func (b *boolFunc) params(typeText string) []string {
	var parts []string
	for _, field := range b.decl.Type.Params.List {
		var names []string
		own := false
		for _, name := range field.Names {
			if name == b.param {
				own = true
				continue
			}
			names = append(names, name.Name)
		}
		if len(names) > 0 {
			parts = append(parts, strings.Join(names, ", ")+" "+b.u.source(field.Type.Pos(), field.Type.End()))
		}
		if own {
			parts = append(parts, b.result.Name+" "+typeText)
		}
	}
	return parts
}

// signature is the text of a function's head up to its results. The last parameters go to
// a line of their own where the head would be too long.
func signature(head string, params []string, results string) string {
	const longest = 120
	text := head + "(" + strings.Join(params, ", ") + ")" + results + " {"
	if len(text) <= longest || len(params) < 2 {
		return text
	}
	last := len(params) - 1
	return head + "(" + strings.Join(params[:last], ", ") + ",\n\t" + params[last] + ")" + results + " {"
}

// addSibling splits the function behind its conversion: the head stays and calls the
// sibling, which gets the rest.
func (a *analysis) addSibling(b *boolFunc) {
	u, f := b.u, b.decl
	typeText := a.alias(u, apiPath, apiAlias) + ".ClusterType"
	receiver, call := "", b.sibling
	if f.Recv != nil {
		receiver = u.source(f.Recv.Pos(), f.Recv.End()) + " "
		if names := f.Recv.List[0].Names; len(names) == 1 {
			call = names[0].Name + "." + call
		}
	}
	var args []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if name == b.param {
				args = append(args, b.result.Name)
				continue
			}
			args = append(args, name.Name)
		}
	}
	results := ""
	if r := f.Type.Results; r != nil {
		results = " " + u.source(r.Pos(), r.End())
	}
	tail := "\n\n\treturn " + call + "(" + strings.Join(args, ", ") + ")\n}\n\n" +
		"// " + b.sibling + " is " + f.Name.Name + " for a cluster of any type.\n" +
		signature("func "+receiver+b.sibling, b.params(typeText), results)
	a.insert(u, u.offset(b.convert.End()), tail)
	a.note(u, f.Name, "R5", changed, "sibling %s takes a ClusterType; %s keeps its signature and calls it", b.sibling, f.Name.Name)
}

// changeParam gives an unexported function a type in place of the bool.
func (a *analysis) changeParam(b *boolFunc) {
	u := b.u
	params := b.decl.Type.Params
	typeText := a.alias(u, apiPath, apiAlias) + ".ClusterType"
	a.edits.add(u.path, u.offset(params.Opening)+1, u.offset(params.Closing), strings.Join(b.params(typeText), ", "))
	from := u.offset(u.tok.LineStart(u.tok.Line(b.decl.Body.List[0].Pos())))
	a.edits.add(u.path, from, u.lineEnd(b.convert.End())+1, "")
	a.note(u, b.decl.Name, "R5", changed, "%s takes a ClusterType in place of a bool", b.decl.Name.Name)
}

// changeCall passes the type where the bool was computed from it.
func (a *analysis) changeCall(b *boolFunc, site callSite) {
	u := site.u
	arg := site.call.Args[b.index]
	name := b.decl.Name.Name
	if isLiteral(arg) {
		a.changeLiteral(b, site, arg)
		return
	}
	text := a.typeText(u, arg)
	if text == "" {
		a.note(u, arg, "R5", unknown, "%s is called with %s, from which no cluster type can be told", name, types.ExprString(arg))
		return
	}
	a.decide(u, arg)
	a.replaceNode(u, arg, text)
	if b.sibling != "" {
		a.replaceNode(u, lastIdent(site.call.Fun), b.sibling)
	}
	a.note(u, site.call, "R5", changed, "the call of %s passes the cluster's type", name)
}

// changeLiteral handles a call with true or false: the test, or code, that is about one
// type. The exported function still takes it.
func (a *analysis) changeLiteral(b *boolFunc, site callSite, arg ast.Expr) {
	u := site.u
	fam := map[string]string{"true": "ClusterTypeSveltos", "false": "ClusterTypeCapi"}[types.ExprString(arg)]
	if b.sibling == "" {
		a.replaceNode(u, arg, a.alias(u, apiPath, apiAlias)+"."+fam)
		a.note(u, arg, "R5", changed, "the call of %s passes %s", b.decl.Name.Name, fam)
		return
	}
	if !u.test {
		a.note(u, arg, "R5", kept, "the call of %s is about one type of cluster", b.decl.Name.Name)
	}
}

// typeText is the expression for the type of the cluster that a bool expression tests for
// being a SveltosCluster, or "".
func (a *analysis) typeText(u *unit, arg ast.Expr) string {
	arg = ast.Unparen(arg)
	if id, ok := arg.(*ast.Ident); ok {
		if value := u.onlyValue(id); value != nil {
			a.decide(u, value)
			return a.typeText(u, value)
		}
		return ""
	}
	tests := u.typeTests(arg)
	if len(tests) != 1 || tests[0].family != sveltos || tests[0].negated || tests[0].expr != arg {
		return ""
	}
	t := tests[0]
	if isClusterType(u.typeOf(t.operand)) {
		return u.source(t.operand.Pos(), t.operand.End())
	}
	sel, ok := t.operand.(*ast.SelectorExpr)
	if !ok || !u.isNamed(sel.X, "k8s.io/api/core/v1", "ObjectReference") || !u.addressable(sel.X) {
		return ""
	}
	ref := u.source(sel.X.Pos(), sel.X.End())
	if _, pointer := types.Unalias(u.typeOf(sel.X)).(*types.Pointer); !pointer {
		ref = "&" + ref
	}
	return a.alias(u, proxyPath, "clusterproxy") + ".GetClusterType(" + ref + ")"
}

// onlyValue is the expression that a local variable is defined with, when it is never set
// again.
func (u *unit) onlyValue(id *ast.Ident) ast.Expr {
	obj := u.pkg.TypesInfo.Uses[id]
	var value ast.Expr
	sets := 0
	ast.Inspect(u.function(id), func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != len(assign.Rhs) {
			return true
		}
		for i, lhs := range assign.Lhs {
			if l, ok := lhs.(*ast.Ident); ok && u.pkg.TypesInfo.ObjectOf(l) == obj {
				sets++
				value = assign.Rhs[i]
			}
		}
		return true
	})
	if sets != 1 {
		return nil
	}
	return value
}
