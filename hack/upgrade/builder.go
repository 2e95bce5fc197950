package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// builderMethod is the name of the controller-runtime builder's method that a call calls.
func (u *unit) builderMethod(call *ast.CallExpr) string {
	fn := u.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != builderPath {
		return ""
	}
	if fn.Signature().Recv() == nil {
		return ""
	}
	return fn.Name()
}

// builderEnd finds the Build or Complete that ends the builder of a call, and the text of
// the manager that the builder was made with. The builder may be kept in a variable.
func (u *unit) builderEnd(call *ast.CallExpr) (end *ast.CallExpr, manager string) {
	end = u.chainEnd(call)
	manager = u.chainManager(call)
	if name := u.builderMethod(end); (name == "Build" || name == "Complete") && manager != "" {
		return end, manager
	}
	variable := u.builderVariable(end, call)
	if variable == nil {
		return nil, ""
	}
	var found *ast.CallExpr
	ast.Inspect(u.function(call), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := u.builderMethod(c); name == "Build" || name == "Complete" {
			if u.rootVar(chainRoot(c)) == variable {
				found = c
			}
		}
		if manager == "" && u.isManagedBy(c) {
			manager = u.source(c.Args[0].Pos(), c.Args[0].End())
		}
		return true
	})
	return found, manager
}

// builderVariable is the variable in which a builder that does not end in Build is kept.
func (u *unit) builderVariable(end, call *ast.CallExpr) types.Object {
	if assign, ok := u.parents[end].(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
		return u.rootVar(assign.Lhs[0])
	}
	return u.rootVar(chainRoot(call))
}

// chainEnd climbs from a method call to the last call of its chain.
func (u *unit) chainEnd(call *ast.CallExpr) *ast.CallExpr {
	for {
		sel, ok := u.parents[call].(*ast.SelectorExpr)
		if !ok {
			return call
		}
		next, ok := u.parents[sel].(*ast.CallExpr)
		if !ok || next.Fun != ast.Expr(sel) {
			return call
		}
		call = next
	}
}

// chainRoot is the expression at the start of a chain of method calls.
func chainRoot(call *ast.CallExpr) ast.Expr {
	var e ast.Expr = call
	for {
		c, ok := e.(*ast.CallExpr)
		if !ok {
			return e
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return e
		}
		e = sel.X
	}
}

// isManagedBy tells whether a call makes a builder from a manager.
func (u *unit) isManagedBy(call *ast.CallExpr) bool {
	path, name := named(u.typeOf(call))
	return len(call.Args) == 1 && path == builderPath && strings.HasSuffix(name, "Builder") &&
		u.builderMethod(call) == ""
}

func (u *unit) chainManager(call *ast.CallExpr) string {
	var e ast.Expr = call
	for {
		c, ok := e.(*ast.CallExpr)
		if !ok {
			return ""
		}
		if u.isManagedBy(c) {
			return u.source(c.Args[0].Pos(), c.Args[0].End())
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		e = sel.X
	}
}
