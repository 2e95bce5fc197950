package main

import (
	"go/ast"
	"go/types"
	"slices"
)

// boolFunc is a function with a bool parameter that means "is a SveltosCluster".
type boolFunc struct {
	u     *unit
	decl  *ast.FuncDecl
	fn    *types.Func
	param *ast.Ident
	index int // of the parameter

	// convert is the "if is { t = ClusterTypeSveltos }" at the head of the function by
	// which the bool becomes a type, nil when it is tested in other ways.
	convert  *ast.IfStmt
	tests    []*ast.IfStmt // "if is { names are moved }"
	forwards int           // uses as an argument of another boolFunc
	typeName string        // the variable for the type
	sibling  string        // the function with a type, "" when the function itself is changed
	refused  bool          // the rule does not know the form
}

// boolFuncs finds the functions, those that only pass the bool on included.
func (a *analysis) boolFuncs() []*boolFunc {
	var found []*boolFunc
	for known := -1; known != len(found); {
		known = len(found)
		for _, u := range a.sources() {
			for _, d := range u.file.Decls {
				f, ok := d.(*ast.FuncDecl)
				isKnown := slices.ContainsFunc(found, func(b *boolFunc) bool { return b.decl == f })
				if !ok || f.Body == nil || isKnown {
					continue
				}
				if b := a.boolFunc(u, f, found); b != nil {
					found = append(found, b)
				}
			}
		}
	}
	for _, b := range found {
		b.forwards = len(b.passedOn(found))
		b.typeName = b.u.freshName(b.decl, "clusterType")
		if b.convert != nil {
			b.typeName = b.converted().Name
		}
	}
	return found
}

func (a *analysis) boolFunc(u *unit, f *ast.FuncDecl, known []*boolFunc) *boolFunc {
	fn, _ := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	index := 0
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if b, ok := types.Unalias(u.typeOf(field.Type)).(*types.Basic); ok && b.Kind() == types.Bool {
				found := &boolFunc{u: u, decl: f, fn: fn, param: name, index: index}
				found.findTests()
				if len(found.tests) > 0 || len(found.passedOn(known)) > 0 {
					return found
				}
			}
			index++
		}
	}
	return nil
}

// findTests looks for tests of the parameter under which names of SveltosClusters move.
func (b *boolFunc) findTests() {
	obj := b.u.pkg.TypesInfo.Defs[b.param]
	ast.Inspect(b.decl.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || !b.u.isVar(s.Cond, obj) {
			return true
		}
		if kind, _ := b.u.classify(s.Body.List, sveltos); kind == mover && b.u.any(s.Body.List, sveltos) {
			b.tests = append(b.tests, s)
			b.conversion(s)
		}
		return true
	})
	if len(b.tests) != 1 || b.uses() != 1 {
		b.convert = nil
	}
}

// conversion recognises "t := ClusterTypeCapi; if is { t = ClusterTypeSveltos }".
func (b *boolFunc) conversion(s *ast.IfStmt) {
	assign, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || len(s.Body.List) != 1 || s.Else != nil || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok || !isClusterType(b.u.typeOf(id)) || lastIdent(assign.Rhs[0]) == nil {
		return
	}
	if _, at := b.u.siblings(s); at == 1 && b.u.parents[s] == b.decl.Body {
		b.convert = s
	}
}

// converted is the variable that the bool is turned into.
func (b *boolFunc) converted() *ast.Ident {
	return b.convert.Body.List[0].(*ast.AssignStmt).Lhs[0].(*ast.Ident)
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

// passedOn lists the calls that pass the parameter to another function's bool.
func (b *boolFunc) passedOn(known []*boolFunc) []*ast.CallExpr {
	obj := b.u.pkg.TypesInfo.Defs[b.param]
	var calls []*ast.CallExpr
	ast.Inspect(b.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn := b.u.callee(call)
		for _, other := range known {
			if fn != nil && fn.FullName() == other.fn.FullName() && other.index < len(call.Args) &&
				b.u.isVar(call.Args[other.index], obj) {
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// understood tells whether every use of the parameter is one that the rule can rewrite.
func (b *boolFunc) understood() bool {
	return b.convert != nil || b.uses() == len(b.tests)+b.forwards
}
