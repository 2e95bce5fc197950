package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
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
			a.registerAt(u, lit, r)
			found = true
			return true
		})
	}
	if !found {
		a.note(r.u, r.spec, "R3", unknown, "no statement sets %s up that could be repeated for its twin", r.name.Name())
	}
}

func (a *analysis) registerAt(u *unit, lit *ast.CompositeLit, r *reconciler) {
	ifStmt := u.enclosingIf(lit)
	if ifStmt == nil || ifStmt.Init == nil || lit.Pos() > ifStmt.Init.End() {
		a.note(u, lit, "R3", unknown, "%s is made here in a form that cannot be repeated for its twin", r.name.Name())
		return
	}
	text := u.source(ifStmt.Pos(), ifStmt.End())
	text = strings.ReplaceAll(text, r.name.Name(), r.twin)
	text = strings.ReplaceAll(text, `"SveltosCluster"`, `"InventoryClusterProfile"`)
	a.insert(u, u.offset(ifStmt.End()), "\n\n"+u.indent(ifStmt.Pos())+text)
	a.note(u, ifStmt, "R3", changed, "%s is set up beside %s", r.twin, r.name.Name())
	a.decide(u, ifStmt)
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
