package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// reconciler is a type whose SetupWithManager builds a controller For(&SveltosCluster{}).
type reconciler struct {
	u       *unit
	name    *types.TypeName
	spec    *ast.TypeSpec
	decl    *ast.GenDecl
	methods []*ast.FuncDecl
	setup   *ast.FuncDecl
	chain   *ast.CallExpr // the For call
	twin    string
}

// twins is rule R3: a reconciler that cleans up after a deleted SveltosCluster gets a twin
// that does the same for an inventory ClusterProfile.
func (a *analysis) twins() {
	for _, u := range a.sources() {
		ast.Inspect(u.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && u.builderMethod(call) == "For" && len(call.Args) >= 1 && u.freshObject(call.Args[0]) == sveltos {
				a.twin(u, call)
			}
			return true
		})
	}
}

func (a *analysis) twin(u *unit, call *ast.CallExpr) {
	r, ok := a.reconcilerOf(u, call)
	if !ok {
		a.decide(u, call.Args[0])
		a.note(u, call.Args[0], "R3", unknown, "a builder For(&SveltosCluster{}) that is not in a method of the reconciler's type")
		return
	}
	for _, m := range r.methods {
		a.decide(u, m)
	}
	switch {
	case u.pkg.Types.Scope().Lookup(r.twin) != nil:
		a.note(u, call.Args[0], "R3", done, "%s has its twin %s", r.name.Name(), r.twin)
	case !r.handsOn():
		a.note(u, call.Args[0], "R3", kept,
			"%s hands no cluster type or reference on, so it holds nothing that a ClusterProfile would leave behind", r.name.Name())
	default:
		a.addTwin(r)
	}
}

// reconcilerOf gathers the type that a builder's function is a method of.
func (a *analysis) reconcilerOf(u *unit, call *ast.CallExpr) (*reconciler, bool) {
	f := u.function(call)
	if f == nil || f.Recv == nil {
		return nil, false
	}
	r := &reconciler{u: u, setup: f, chain: call, name: u.receiver(f)}
	if r.name == nil {
		return nil, false
	}
	for _, d := range u.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && u.receiver(d) == r.name {
				r.methods = append(r.methods, d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if ts, ok := s.(*ast.TypeSpec); ok && u.pkg.TypesInfo.Defs[ts.Name] == r.name {
					r.spec, r.decl = ts, d
				}
			}
		}
	}
	r.twin = twinName(r.name.Name())
	return r, r.spec != nil && len(r.decl.Specs) == 1
}

// twinName cannot clash with a reconciler of Sveltos' own ClusterProfile.
func twinName(name string) string {
	if strings.Contains(name, "SveltosCluster") {
		return strings.Replace(name, "SveltosCluster", "InventoryClusterProfile", 1)
	}
	return "InventoryClusterProfile" + name
}

// receiver is the type that a method belongs to.
func (u *unit) receiver(f *ast.FuncDecl) *types.TypeName {
	fn, ok := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return nil
	}
	t := types.Unalias(fn.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok {
		return nil
	}
	return n.Obj()
}

// handsOn tells whether the reconciler passes the cluster's type or reference to anything.
func (r *reconciler) handsOn() bool {
	for _, m := range r.methods {
		if r.u.has(m, sveltos, asType, asKind) {
			return true
		}
	}
	return false
}

func (a *analysis) addTwin(r *reconciler) {
	u := r.u
	if problem := r.problem(); problem != "" {
		a.note(u, r.chain.Args[0], "R3", unknown, "%s %s", r.name.Name(), problem)
		return
	}
	// The names that the new file imports are kept apart from those of the old one.
	imports := &importSet{u: u, names: map[string]string{}}
	c := &clone{u: u, from: sveltos, imports: imports}
	var body strings.Builder
	body.WriteString("// " + r.twin + " does for inventory ClusterProfiles what " + r.name.Name() +
		"\n// does for SveltosClusters.\n")
	body.WriteString(r.rename("type " + c.text(r.spec.Pos(), r.spec.End())))
	for _, m := range r.methods {
		body.WriteString("\n\n")
		if m == r.setup {
			body.WriteString(r.rename(r.setupText(c)))
			continue
		}
		body.WriteString(r.methodText(c, m))
	}
	file := filepath.Join(filepath.Dir(u.path), fileName(r.twin))
	a.files[file] = []byte(r.header() + r.importBlock(imports, body.String()) + "\n" + body.String() + "\n")
	a.note(u, r.chain.Args[0], "R3", changed, "twin %s written to %s", r.twin, fileName(r.twin))
	a.register(r)
}

// problem tells why a reconciler cannot be copied, or "".
func (r *reconciler) problem() string {
	u := r.u
	for _, other := range []string{"Watches", "Owns", "WatchesRawSource", "WatchesMetadata"} {
		if r.option(other) != nil {
			return "has a builder with " + other
		}
	}
	if _, ok := u.parents[u.chainEnd(r.chain)].(*ast.ReturnStmt); !ok || len(r.setup.Body.List) != 1 {
		return "sets its controller up in a form the rule does not know"
	}
	problem := ""
	for _, m := range r.methods {
		ast.Inspect(m, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if ok && familyOfType(u.typeOf(sel.X)) == sveltos && (sel.Sel.Name == "Spec" || sel.Sel.Name == "Status") {
				problem = "hands the cluster's type on and reads ." + sel.Sel.Name + ", which a ClusterProfile has otherwise"
			}
			return problem == ""
		})
	}
	return problem
}

// option finds a method call of the builder's chain.
func (r *reconciler) option(name string) *ast.CallExpr {
	var found *ast.CallExpr
	ast.Inspect(r.setup.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && r.u.builderMethod(c) == name {
			found = c
		}
		return true
	})
	return found
}

// rename gives the copied text the twin's name.
func (r *reconciler) rename(text string) string {
	return strings.ReplaceAll(text, r.name.Name(), r.twin)
}

// methodText is a copy of a method, with its documentation.
func (r *reconciler) methodText(c *clone, m *ast.FuncDecl) string {
	from := m.Pos()
	if m.Doc != nil {
		from = m.Doc.Pos()
	}
	list := c.replacements(m.Pos(), m.End())
	ast.Inspect(m, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			list = append(list, r.renamed(n)...)
		case *ast.BasicLit:
			list = append(list, instead(n, reword(n.Value)))
		case *ast.ExprStmt:
			// Only SveltosClusters have workload identities to forget.
			if call, ok := n.X.(*ast.CallExpr); ok && r.u.isCall(call, proxyPath, "EvictWorkloadIdentityCache") {
				list = append(list, r.u.wholeLines(n))
			}
		}
		return true
	})
	for _, g := range r.u.file.Comments {
		if g.Pos() >= from && g.End() <= m.End() {
			list = append(list, instead(g, reword(r.rename(r.u.source(g.Pos(), g.End())))))
		}
	}
	return c.substitute(from, m.End(), list)
}

// renamed gives the twin's name for the reconciler's type and for local variables that
// are named after the SveltosCluster.
func (r *reconciler) renamed(id *ast.Ident) []replacement {
	obj := r.u.pkg.TypesInfo.ObjectOf(id)
	if obj == r.name {
		return []replacement{instead(id, r.twin)}
	}
	if v, ok := obj.(*types.Var); ok && !v.IsField() && v.Parent() != v.Pkg().Scope() {
		return []replacement{instead(id, strings.Replace(id.Name, "sveltosCluster", "inventoryCluster", 1))}
	}
	return nil
}

// reword makes a text for readers speak of the inventory ClusterProfile.
func reword(text string) string {
	return strings.ReplaceAll(text, "SveltosCluster", "inventory ClusterProfile")
}

// wholeLines covers the lines of a statement, to leave them out.
func (u *unit) wholeLines(s ast.Stmt) replacement {
	from := u.tok.LineStart(u.tok.Line(s.Pos()))
	return replacement{from: from, to: u.tok.Pos(u.lineEnd(s.End()) + 1)}
}

// setupText is the twin's SetupWithManager.
func (r *reconciler) setupText(c *clone) string {
	u := r.u
	options := c.alias(controllerPath, "controller") + ".Options{}"
	if o := r.option("WithOptions"); o != nil && len(o.Args) == 1 {
		options = u.source(o.Args[0].Pos(), o.Args[0].End())
	}
	recv := "r"
	if names := r.setup.Recv.List[0].Names; len(names) == 1 {
		recv = names[0].Name
	}
	name := strings.ToLower(strings.TrimSuffix(r.twin, "Reconciler"))
	return "// SetupWithManager sets up the controller with the Manager. Without a provider file it does nothing.\n" +
		u.source(r.setup.Pos(), r.setup.Body.Lbrace) + "{\n\treturn " +
		c.alias(proxyPath, "clusterproxy") + "." + twinHelper + "(" + u.chainManager(r.chain) + ", " +
		strconv.Quote(name) + ", " + recv + ",\n\t\t" + options + ")\n}"
}

// header is the licence comment of the original file and the package clause.
func (r *reconciler) header() string {
	text := ""
	for _, g := range r.u.file.Comments {
		if g.End() < r.u.file.Package && g != r.u.file.Doc {
			text += r.u.source(g.Pos(), g.End()) + "\n\n"
		}
	}
	return text + "package " + r.u.file.Name.Name + "\n\n"
}

// importBlock lists the original's imports that the copied text uses, and the new ones.
func (r *reconciler) importBlock(imports *importSet, body string) string {
	lines := map[string]string{}
	for _, spec := range r.u.file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if usesName(body, r.u.importName(spec)) {
			lines[path] = importLine(spec.Name, path)
		}
	}
	for path, name := range imports.names {
		if usesName(body, name) {
			lines[path] = importLine(&ast.Ident{Name: name}, path)
		}
	}
	return "import (\n" + groupImports(lines) + ")\n"
}

// groupImports puts the standard library first, libsveltos last, as Sveltos does.
func groupImports(lines map[string]string) string {
	var groups [3][]string
	for path := range lines {
		at := 1
		switch {
		case !strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
			at = 0
		case strings.HasPrefix(path, "github.com/projectsveltos/"):
			at = 2
		}
		groups[at] = append(groups[at], path)
	}
	var parts []string
	for _, g := range groups {
		if len(g) == 0 {
			continue
		}
		sort.Strings(g)
		text := ""
		for _, path := range g {
			text += "\t" + lines[path] + "\n"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

// fileName follows the pattern of the controllers' own files.
func fileName(twin string) string {
	return strings.ToLower(strings.TrimSuffix(twin, "Reconciler")) + "_controller.go"
}

// register repeats the statements that set the original up for its twin.
func (a *analysis) register(r *reconciler) {
	found := false
	for _, u := range a.sources() {
		ast.Inspect(u.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			path, name := named(u.typeOf(lit))
			if path != r.name.Pkg().Path() || name != r.name.Name() {
				return true
			}
			found = a.registerAt(u, lit, r) || found
			return true
		})
	}
	if !found {
		a.note(r.u, r.spec, "R3", unknown, "no statement sets %s up that could be repeated for its twin", r.name.Name())
	}
}

func (a *analysis) registerAt(u *unit, lit *ast.CompositeLit, r *reconciler) bool {
	ifStmt := u.enclosingIf(lit)
	if ifStmt == nil || ifStmt.Init == nil || lit.Pos() > ifStmt.Init.End() {
		a.note(u, lit, "R3", unknown, "%s is made here in a form that cannot be repeated for its twin", r.name.Name())
		return true
	}
	text := u.source(ifStmt.Pos(), ifStmt.End())
	text = strings.ReplaceAll(text, r.name.Name(), r.twin)
	text = strings.ReplaceAll(text, `"SveltosCluster"`, `"InventoryClusterProfile"`)
	a.insert(u, u.offset(ifStmt.End()), "\n\n"+u.indent(ifStmt.Pos())+text)
	a.note(u, ifStmt, "R3", changed, "%s is set up beside %s", r.twin, r.name.Name())
	a.decide(u, ifStmt)
	return true
}

// enclosingIf is the if statement whose head a node is in, or nil.
func (u *unit) enclosingIf(n ast.Node) *ast.IfStmt {
	for n != nil {
		switch s := n.(type) {
		case *ast.IfStmt:
			return s
		case *ast.BlockStmt:
			return nil
		}
		n = u.parents[n]
	}
	return nil
}
