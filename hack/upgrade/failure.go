package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// reachDepth is how many calls deep a function is followed to see that it reaches a
// cluster.
const reachDepth = 5

// failureMessages is rule R8: a reconciler that can tell the user why a cluster failed
// (it has a method setFailureMessage), and only asks to be called again when a step that
// reaches the cluster fails, tells. A cluster of the inventory can fail there in ways
// that its user has to mend: no configured provider, a plugin that is missing, a status
// that is refused.
func (a *analysis) failureMessages() {
	for _, u := range a.sources() {
		ast.Inspect(u.file, func(n ast.Node) bool {
			if check, ok := n.(*ast.IfStmt); ok {
				a.failureMessage(u, check)
			}
			return true
		})
	}
}

func (a *analysis) failureMessage(u *unit, check *ast.IfStmt) {
	failed, ok := errVariable(check)
	if !ok || u.calls(check.Body, "setFailureMessage") {
		return
	}
	again := u.methodCall(check.Body, "setNextReconcileTime")
	if again == nil || len(again.Args) == 0 || !u.canTell(again) {
		return
	}
	step := u.stepBefore(check, failed)
	if step == nil || !a.reachesCluster(u, step, reachDepth) {
		return
	}
	receiver := types.ExprString(again.Fun.(*ast.SelectorExpr).X)
	text := receiver + ".setFailureMessage(" + types.ExprString(again.Args[0]) + ", " + failed.Name + ".Error())"
	a.insert(u, u.offset(again.Pos()), text+"\n"+u.indent(again.Pos()))
	a.note(u, check, "R8", changed, "a failure to reach the cluster (%s) is written where the user looks", types.ExprString(step.Fun))
}

// errVariable returns err of a test `err != nil`.
func errVariable(check *ast.IfStmt) (*ast.Ident, bool) {
	test, ok := check.Cond.(*ast.BinaryExpr)
	if !ok || check.Init != nil || test.Op.String() != "!=" {
		return nil, false
	}
	id, ok := test.X.(*ast.Ident)
	zero, isIdent := test.Y.(*ast.Ident)
	return id, ok && isIdent && zero.Name == "nil"
}

// calls tells whether a method of that name is called anywhere below n.
func (u *unit) calls(n ast.Node, name string) bool { return u.anyMethodCall(n, name, nil) != nil }

// methodCall returns the call of that method among the statements of a block.
func (u *unit) methodCall(block *ast.BlockStmt, name string) *ast.CallExpr {
	return u.anyMethodCall(block, name, func(call *ast.CallExpr) bool {
		statement, ok := u.parents[call].(*ast.ExprStmt)
		return ok && u.parents[statement] == ast.Node(block)
	})
}

func (u *unit) anyMethodCall(n ast.Node, name string, fits func(*ast.CallExpr) bool) (found *ast.CallExpr) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil {
			if fn := u.callee(call); fn != nil && fn.Name() == name && fn.Signature().Recv() != nil && (fits == nil || fits(call)) {
				found = call
			}
		}
		return found == nil
	})
	return found
}

// canTell tells whether the receiver of the call has a method setFailureMessage that
// takes the call's first argument and a string.
func (u *unit) canTell(call *ast.CallExpr) bool {
	fn := u.callee(call)
	object, _, _ := types.LookupFieldOrMethod(fn.Signature().Recv().Type(), true, fn.Pkg(), "setFailureMessage")
	tell, ok := object.(*types.Func)
	if !ok || tell.Signature().Params().Len() != 2 {
		return false
	}
	params := tell.Signature().Params()
	return types.Identical(params.At(0).Type(), u.pkg.TypesInfo.TypeOf(call.Args[0])) &&
		types.Identical(params.At(1).Type(), types.Typ[types.String])
}

// stepBefore returns the call that the statement before the test took its error from.
func (u *unit) stepBefore(check *ast.IfStmt, failed *ast.Ident) *ast.CallExpr {
	list, i := u.siblings(check)
	if i < 1 {
		return nil
	}
	assign, ok := list[i-1].(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	last, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	if !ok || last.Name != failed.Name {
		return nil
	}
	call, _ := assign.Rhs[0].(*ast.CallExpr)
	return call
}

// reachesCluster tells whether a call, or what it calls in this checkout, gets a client
// or a configuration of a cluster.
func (a *analysis) reachesCluster(u *unit, call *ast.CallExpr, depth int) bool {
	fn := u.callee(call)
	if fn == nil || depth == 0 {
		return false
	}
	if fn.Pkg() != nil && (fn.Name() == "GetKubernetesClient" || fn.Name() == "GetKubernetesRestConfig") {
		return strings.HasSuffix(fn.Pkg().Path(), "/lib/clustercache") || strings.HasSuffix(fn.Pkg().Path(), "/lib/clusterproxy")
	}
	where, decl := a.declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	reaches := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if inner, ok := n.(*ast.CallExpr); ok && !reaches {
			reaches = a.reachesCluster(where, inner, depth-1)
		}
		return !reaches
	})
	return reaches
}
