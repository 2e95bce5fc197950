package main

import (
	"go/ast"
	"go/types"
)

// metadataPatches is rule R7: a full Update of a cluster object becomes a merge patch, so
// that fields which the controller's types do not know, or another manager's, stay.
func (a *analysis) metadataPatches() {
	for _, u := range a.sources() {
		ast.Inspect(u.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && u.isUpdate(call) {
				a.metadataPatch(u, call)
			}
			return true
		})
	}
}

// isUpdate tells whether a call is client.Client's Update of an object whose type does
// not say which family it is of.
func (u *unit) isUpdate(call *ast.CallExpr) bool {
	fn := u.callee(call)
	if fn == nil || fn.Name() != "Update" || fn.Pkg() == nil || fn.Pkg().Path() != clientPath || len(call.Args) != 2 {
		return false
	}
	if _, name := named(fn.Signature().Recv().Type()); name != "Writer" && name != "Client" {
		return false
	}
	return u.isGeneric(call.Args[1])
}

func (u *unit) isGeneric(e ast.Expr) bool {
	return u.isNamed(e, clientPath, "Object") ||
		u.isNamed(e, "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured", "Unstructured")
}

func (a *analysis) metadataPatch(u *unit, call *ast.CallExpr) {
	id, ok := call.Args[1].(*ast.Ident)
	if !ok {
		return
	}
	obj := u.pkg.TypesInfo.Uses[id]
	f := u.function(call)
	at, from := a.clusterOrigin(u, f, obj)
	if from == "" {
		return
	}
	if at == nil {
		a.note(u, call, "R7", unknown, "a full Update of a cluster that came from %s, with no place to copy it before it is changed", from)
		return
	}
	a.patches = true
	base := u.freshName(f, "base")
	client := a.alias(u, clientPath, "client")
	copied := id.Name + ".DeepCopyObject().(" + client + ".Object)"
	if !u.isNamed(id, clientPath, "Object") {
		copied = id.Name + ".DeepCopy()"
	}
	a.insertCopy(u, at, base+" := "+copied)
	a.replaceNode(u, lastIdent(call.Fun), "Patch")
	a.insert(u, u.offset(call.Args[1].End()), ", "+client+".MergeFrom("+base+")")
	a.note(u, call, "R7", changed, "the full Update of a cluster (from %s) becomes a merge patch", from)
}

// insertCopy puts a statement behind another, or at the start of a function's body.
func (a *analysis) insertCopy(u *unit, at ast.Node, text string) {
	if body, ok := at.(*ast.BlockStmt); ok {
		first := body.List[0]
		start := u.offset(u.tok.LineStart(u.tok.Line(first.Pos())))
		a.insert(u, start, u.indent(first.Pos())+text+"\n")
		return
	}
	a.insert(u, u.lineEnd(at.End()), "\n"+u.indent(at.Pos())+text)
}

// clusterOrigin tells where a variable got its cluster from, and after which statement
// (or in which body, for a parameter) the cluster is still unchanged. from is "" when the
// variable is no cluster.
func (a *analysis) clusterOrigin(u *unit, f *ast.FuncDecl, obj types.Object) (at ast.Node, from string) {
	if v, ok := obj.(*types.Var); ok && u.isParam(f, v) {
		if caller := a.passedCluster(u, f, v); caller != "" {
			return f.Body, caller
		}
		return nil, ""
	}
	ast.Inspect(f, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 || u.rootVar(assign.Lhs[0]) != obj {
			return true
		}
		call, ok := assign.Rhs[0].(*ast.CallExpr)
		if !ok || !a.yieldsCluster(u, call) {
			return true
		}
		from = types.ExprString(call.Fun)
		at = assign
		if list, i := u.siblings(assign); i+1 < len(list) {
			if check, ok := list[i+1].(*ast.IfStmt); ok && check.Init == nil && u.terminates(check.Body.List) {
				at = check
			}
		}
		return true
	})
	return at, from
}

func (u *unit) isParam(f *ast.FuncDecl, v *types.Var) bool {
	return f.Type.Pos() <= v.Pos() && v.Pos() < f.Type.End()
}

// yieldsCluster tells whether a call returns a cluster of any type: clusterproxy's
// GetCluster, or a function of the checkout that is given a ClusterType and returns an
// object which does not say its type.
func (a *analysis) yieldsCluster(u *unit, call *ast.CallExpr) bool {
	if u.isCall(call, proxyPath, "GetCluster") {
		return true
	}
	fn := u.callee(call)
	where, decl := a.declaration(fn)
	if decl == nil {
		return false
	}
	results := fn.Signature().Results()
	if results.Len() == 0 {
		return false
	}
	path, name := named(results.At(0).Type())
	if !(path == clientPath && name == "Object") && name != "Unstructured" {
		return false
	}
	params := fn.Signature().Params()
	for i := range params.Len() {
		if isClusterType(params.At(i).Type()) && where.has(decl.Body, sveltos) {
			return true
		}
	}
	return false
}

// passedCluster tells which caller passes a cluster for a parameter.
func (a *analysis) passedCluster(u *unit, f *ast.FuncDecl, v *types.Var) string {
	fn, ok := u.pkg.TypesInfo.Defs[f.Name].(*types.Func)
	if !ok {
		return ""
	}
	index := -1
	params := fn.Signature().Params()
	for i := range params.Len() {
		if params.At(i) == v {
			index = i
		}
	}
	for _, site := range a.calls[fn.FullName()] {
		if index < 0 || index >= len(site.call.Args) {
			continue
		}
		id, ok := site.call.Args[index].(*ast.Ident)
		caller := site.u.function(site.call)
		if !ok || caller == nil || caller == f {
			continue
		}
		if _, from := a.clusterOrigin(site.u, caller, site.u.pkg.TypesInfo.Uses[id]); from != "" {
			return from + " in " + caller.Name.Name
		}
	}
	return ""
}
