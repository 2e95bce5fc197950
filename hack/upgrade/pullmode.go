package main

import (
	"go/ast"
	"go/types"
	"regexp"
)

var pullModeName = regexp.MustCompile(`(?i)pullmode`)

// pullModeOnly tells whether a function that has no cluster type to ask for is called
// only where the cluster is known to be in pull mode.
func (a *analysis) pullModeOnly(u *unit, f *ast.FuncDecl) bool {
	return a.calledInPullMode(u, f, map[*ast.FuncDecl]bool{})
}

func (a *analysis) calledInPullMode(u *unit, f *ast.FuncDecl, seen map[*ast.FuncDecl]bool) bool {
	fn, ok := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if !ok || seen[f] {
		return false
	}
	seen[f] = true
	params := fn.Signature().Params()
	for i := range params.Len() {
		if isClusterType(params.At(i).Type()) {
			return false
		}
	}
	calls := 0
	for _, site := range a.calls[fn.FullName()] {
		if site.u.test {
			continue
		}
		calls++
		caller := site.u.function(site.call)
		if !site.u.inPullMode(site.call) && (caller == nil || !a.calledInPullMode(site.u, caller, seen)) {
			return false
		}
	}
	return calls > 0
}

// inPullMode tells whether a node is under a condition on pull mode, or in a function that
// says in its name that it is about it.
func (u *unit) inPullMode(n ast.Node) bool {
	if f := u.function(n); f != nil && pullModeName.MatchString(f.Name.Name) {
		return true
	}
	for child, p := n, u.parents[n]; p != nil; child, p = p, u.parents[p] {
		if s, ok := p.(*ast.IfStmt); ok && child == ast.Node(s.Body) && namesPullMode(s.Cond) {
			return true
		}
	}
	return false
}

// namesPullMode tells whether a condition is a positive test of a variable for pull mode.
func namesPullMode(cond ast.Expr) bool {
	hit := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			return false
		case *ast.Ident:
			hit = hit || pullModeName.MatchString(n.Name)
		}
		return true
	})
	return hit
}

// ownPredicate tells whether a function only makes predicates for watches on
// SveltosClusters.
func (a *analysis) ownPredicate(u *unit, f *ast.FuncDecl) bool {
	fn, ok := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if !ok {
		return false
	}
	calls := 0
	for _, site := range a.calls[fn.FullName()] {
		if site.u.test {
			continue
		}
		calls++
		if !site.u.inSveltosWatch(site.call) {
			return false
		}
	}
	return calls > 0
}

// inSveltosWatch tells whether a node is an argument of Watches or For of SveltosClusters.
func (u *unit) inSveltosWatch(n ast.Node) bool {
	for p := u.parents[n]; p != nil; p = u.parents[p] {
		call, ok := p.(*ast.CallExpr)
		if !ok {
			if _, isStmt := p.(ast.Stmt); isStmt {
				return false
			}
			continue
		}
		name := u.builderMethod(call)
		if (name == "Watches" || name == "For") && len(call.Args) > 0 && u.freshObject(call.Args[0]) == sveltos {
			return true
		}
	}
	return false
}
