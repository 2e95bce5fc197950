package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// bodyKind says what the statements under a type test do.
type bodyKind int

const (
	// mover: only names of one family are moved about; a copy for another family is right.
	mover bodyKind = iota
	// flags: only literals are set or returned, from which nothing can be told.
	flags
	// work: real work.
	work
)

// classify says what a list of statements does, seen from one family. detail names the
// real work.
func (u *unit) classify(list []ast.Stmt, fam family) (kind bodyKind, detail string) {
	moves, literals := 0, 0
	for _, s := range list {
		switch {
		case u.moves(s, fam):
			moves++
		case u.neutral(s):
		case u.onlyLiterals(s):
			literals++
		default:
			return work, u.describe(s)
		}
	}
	switch {
	case moves == 0 && (literals > 0 || returns(list)):
		return flags, "sets or returns a literal"
	case literals > 0:
		return flags, "sets a literal that would be the same for two families"
	case moves == 0 && len(list) > 0:
		return work, "only logs or leaves"
	}
	return mover, ""
}

// moves tells whether a statement is a simple one with a name of the family in it, and no
// object of a family but a fresh one.
func (u *unit) moves(s ast.Stmt, fam family) bool {
	switch s.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.DeclStmt:
	default:
		return false
	}
	return u.has(s, fam) && !u.handlesObjects(s)
}

// handlesObjects tells whether a cluster object takes part in a statement, other than as
// the fresh &SveltosCluster{} that a generic variable is set to.
func (u *unit) handlesObjects(s ast.Stmt) bool {
	hit := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			hit = true
			return false
		case *ast.UnaryExpr:
			if u.freshObject(n) != noFamily {
				return false
			}
		case ast.Expr:
			if tv, ok := u.pkg.TypesInfo.Types[n]; ok && tv.IsValue() && familyOfType(tv.Type) != noFamily {
				hit = true
			}
		}
		return true
	})
	return hit
}

// freshObject is the family of an expression &SveltosCluster{} with no fields set.
func (u *unit) freshObject(e ast.Expr) family {
	addr, ok := e.(*ast.UnaryExpr)
	if !ok {
		return noFamily
	}
	lit, ok := addr.X.(*ast.CompositeLit)
	if !ok || len(lit.Elts) > 0 {
		return noFamily
	}
	return familyOfType(u.typeOf(lit))
}

// neutral statements neither move names nor do work: logging, leaving with what is there.
func (u *unit) neutral(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.BranchStmt, *ast.EmptyStmt:
		return true
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			if hasCall(r) || isLiteral(r) {
				return false
			}
		}
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && u.isLog(call)
	}
	return false
}

// isLog tells whether a call is made on a logr.Logger.
func (u *unit) isLog(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && u.isNamed(sel.X, "github.com/go-logr/logr", "Logger")
}

func (u *unit) onlyLiterals(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return !hasCall(s)
	case *ast.IncDecStmt:
		return true
	case *ast.ReturnStmt:
		return !hasCall(s)
	}
	return false
}

func hasCall(n ast.Node) bool {
	hit := false
	ast.Inspect(n, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		hit = hit || call
		return !hit
	})
	return hit
}

func isLiteral(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false"
	}
	return false
}

func isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "nil"
}

func returns(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	_, ok := list[len(list)-1].(*ast.ReturnStmt)
	return ok
}

// terminates tells whether control never leaves the end of a list of statements.
func (u *unit) terminates(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
			return true
		}
		return u.isCall(call, "os", "Exit")
	}
	return false
}

// describe names the first thing a statement calls, for the report.
func (u *unit) describe(s ast.Stmt) string {
	name := ""
	ast.Inspect(s, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && name == "" && !u.pkg.TypesInfo.Types[call.Fun].IsType() {
			if !u.isLog(call) {
				name = types.ExprString(call.Fun)
			}
		}
		return name == ""
	})
	if name == "" {
		return "real work"
	}
	if i := strings.Index(name, "\n"); i >= 0 {
		name = name[:i]
	}
	return "calls " + name
}

// assigned lists the variables that the statements set: the root of each left-hand side.
func (u *unit) assigned(list []ast.Stmt) map[types.Object]bool {
	vars := map[types.Object]bool{}
	for _, s := range list {
		assign, ok := s.(*ast.AssignStmt)
		if !ok {
			continue
		}
		for _, lhs := range assign.Lhs {
			if obj := u.rootVar(lhs); obj != nil {
				vars[obj] = true
			}
		}
	}
	return vars
}

// rootVar is the variable at the left end of a selector or index expression.
func (u *unit) rootVar(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return u.pkg.TypesInfo.ObjectOf(e)
	case *ast.SelectorExpr:
		return u.rootVar(e.X)
	case *ast.IndexExpr:
		return u.rootVar(e.X)
	case *ast.StarExpr:
		return u.rootVar(e.X)
	}
	return nil
}
