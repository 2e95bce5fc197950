package main

import (
	"go/ast"
	"go/types"
)

// leftovers weighs each name of a SveltosCluster or a cluster type that no rule has dealt
// with: there is a reason to keep it, or a person must look.
func (a *analysis) leftovers(u *unit) {
	u.mentions(u.file, func(n ast.Node, m mention) {
		if a.decided[n] || !a.mustDecide(u, n, m) {
			return
		}
		a.decided[n] = true
		if reason := a.reason(u, n, m); reason != "" {
			a.note(u, n, ruleOf(m), kept, "%s", reason)
			return
		}
		a.note(u, n, ruleOf(m), unknown, "%s is used here in a form that no rule knows", types.ExprString(u.exprOf(n)))
	})
}

func ruleOf(m mention) string {
	if m.role == asObject || m.role == asList {
		return "R2"
	}
	return "R1"
}

func (u *unit) exprOf(n ast.Node) ast.Expr {
	if id, ok := n.(*ast.Ident); ok {
		return u.qualified(id)
	}
	return n.(ast.Expr)
}

// mustDecide tells whether a name always has to be accounted for. A GroupVersion of
// libsveltos stands for many kinds; it matters only in a comparison, which is a test.
func (a *analysis) mustDecide(u *unit, n ast.Node, m mention) bool {
	if m.family != sveltos && m.family != capi {
		return false
	}
	if _, literal := n.(*ast.BasicLit); literal {
		return false
	}
	switch m.role {
	case asType:
		return true
	case asKind:
		return m.family == sveltos || u.foreign(n)
	case asObject, asList:
		return m.family == sveltos
	case asGV:
		return m.family == sveltos && u.compared(n)
	}
	return false
}

// foreign tells whether a constant is another module's, so not one of the controller's
// own with the same value.
func (u *unit) foreign(n ast.Node) bool {
	obj := u.pkg.TypesInfo.Uses[n.(*ast.Ident)]
	return obj != nil && obj.Pkg() != nil && obj.Pkg() != u.pkg.Types
}

// compared tells whether a group version takes part in a comparison with an APIVersion
// that tells clusters apart.
func (u *unit) compared(n ast.Node) bool {
	var top ast.Expr
	for p := u.parents[n]; p != nil; p = u.parents[p] {
		e, ok := p.(ast.Expr)
		if !ok {
			break
		}
		if b, isBinary := e.(*ast.BinaryExpr); isBinary {
			top = b
		}
	}
	if top == nil {
		return false
	}
	for _, t := range u.typeTests(top) {
		if t.name == n {
			return true
		}
	}
	return false
}

// reason tells why a name may stay as it is, or "".
func (a *analysis) reason(u *unit, n ast.Node, m mention) string {
	f := u.function(n)
	switch {
	case f == nil:
		return u.declaredReason(n)
	case m.family == capi && u.servesOnly(f, capi):
		return "in a function for Cluster API clusters only"
	case m.role == asObject && u.servesOnly(f, sveltos):
		return "in a function for SveltosClusters only; its callers have decided"
	case m.family == capi && m.role == asKind && !u.has(f, sveltos):
		return "names Cluster API's kind where SveltosClusters are not served either"
	case m.role == asObject && a.gated(u, n):
		return "reads a SveltosCluster behind a test that lets no other type through"
	case m.role == asObject && a.ownPredicate(u, f):
		return "in a predicate of the watch on SveltosClusters; the watch on inventory ClusterProfiles has its own"
	case m.role == asList && u.onlyCounted(n):
		return "SveltosClusters are only counted"
	case m.family == sveltos && m.role == asType && a.pullModeOnly(u, f):
		return "only reached in pull mode, which only a SveltosCluster has"
	}
	return ""
}

func (u *unit) declaredReason(n ast.Node) string {
	for p := u.parents[n]; p != nil; p = u.parents[p] {
		if _, ok := p.(*ast.InterfaceType); ok {
			return "in the signature of an interface"
		}
		if _, ok := p.(*ast.StructType); ok {
			return "a field that holds SveltosClusters"
		}
	}
	return ""
}

// servesOnly tells whether a function has an object of the family in its signature, or
// belongs to a reconciler of it.
func (u *unit) servesOnly(f *ast.FuncDecl, fam family) bool {
	fn, ok := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if !ok {
		return false
	}
	for _, tuple := range []*types.Tuple{fn.Signature().Params(), fn.Signature().Results()} {
		for i := range tuple.Len() {
			if familyOfType(tuple.At(i).Type()) == fam {
				return true
			}
		}
	}
	recv := u.receiver(f)
	if recv == nil {
		return false
	}
	for _, d := range u.file.Decls {
		other, ok := d.(*ast.FuncDecl)
		if ok && other.Recv != nil && u.receiver(other) == recv && u.buildsFor(other, fam) {
			return true
		}
	}
	return false
}

func (u *unit) buildsFor(f *ast.FuncDecl, fam family) bool {
	hit := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && u.builderMethod(call) == "For" && len(call.Args) > 0 && u.freshObject(call.Args[0]) == fam {
			hit = true
		}
		return true
	})
	return hit
}

// gated tells whether control reaches a node only for a SveltosCluster: in the arm of a
// positive test, or behind a negative test that leaves.
func (a *analysis) gated(u *unit, n ast.Node) bool {
	for child, p := n, u.parents[n]; p != nil; child, p = p, u.parents[p] {
		if s, ok := p.(*ast.IfStmt); ok && child == ast.Node(s.Body) && u.positiveFor(s.Cond, sveltos) {
			return true
		}
		block, ok := p.(*ast.BlockStmt)
		if !ok {
			continue
		}
		for _, s := range block.List {
			if s == child {
				break
			}
			check, ok := s.(*ast.IfStmt)
			if ok && u.negativeFor(check.Cond, sveltos) && u.terminates(check.Body.List) {
				return true
			}
		}
	}
	return false
}

func (u *unit) positiveFor(cond ast.Expr, fam family) bool {
	for _, t := range u.typeTests(cond) {
		if t.family == fam && !t.negated {
			return true
		}
	}
	return false
}

func (u *unit) negativeFor(cond ast.Expr, fam family) bool {
	for _, t := range u.typeTests(cond) {
		if t.family == fam && t.negated {
			return true
		}
	}
	return false
}

// onlyCounted tells whether a list of SveltosClusters is filled and then only counted:
// its length is taken, or counters go up under conditions on its elements.
func (u *unit) onlyCounted(n ast.Node) bool {
	obj := u.declaredVar(n)
	if obj == nil {
		return false
	}
	counted := true
	ast.Inspect(u.function(n), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || u.pkg.TypesInfo.Uses[id] != obj {
			return true
		}
		counted = counted && u.countingUse(id)
		return true
	})
	return counted
}

// declaredVar is the variable whose declaration a type name is in.
func (u *unit) declaredVar(n ast.Node) types.Object {
	for p := u.parents[n]; p != nil; p = u.parents[p] {
		switch s := p.(type) {
		case *ast.ValueSpec:
			return u.pkg.TypesInfo.Defs[s.Names[0]]
		case *ast.AssignStmt:
			return u.rootVar(s.Lhs[0])
		case *ast.BlockStmt:
			return nil
		}
	}
	return nil
}

func (u *unit) countingUse(id *ast.Ident) bool {
	for child, p := ast.Node(id), u.parents[id]; p != nil; child, p = p, u.parents[p] {
		switch s := p.(type) {
		case *ast.CallExpr:
			fn := u.callee(s)
			isList := fn != nil && fn.Name() == "List"
			length, _ := s.Fun.(*ast.Ident)
			return isList || (length != nil && length.Name == "len")
		case *ast.RangeStmt:
			return child == ast.Node(s.X) && s.Value == nil
		case *ast.IfStmt:
			return child == ast.Node(s.Cond) && onlyIncrements(s)
		case ast.Stmt:
			return false
		}
	}
	return false
}

func onlyIncrements(s *ast.IfStmt) bool {
	for _, stmt := range s.Body.List {
		if _, ok := stmt.(*ast.IncDecStmt); !ok {
			return false
		}
	}
	return s.Else == nil
}
