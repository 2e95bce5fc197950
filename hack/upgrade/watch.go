package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// watches is rule R2: wherever a builder watches SveltosClusters and enqueues what a map
// function says, the inventory ClusterProfiles are watched with the same function.
func (a *analysis) watches() {
	for _, u := range a.sources() {
		ast.Inspect(u.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && u.builderMethod(call) == "Watches" && len(call.Args) >= 2 && u.freshObject(call.Args[0]) == sveltos {
				a.decide(u, call.Args[0])
				a.watch(u, call)
			}
			return true
		})
	}
}

func (a *analysis) watch(u *unit, call *ast.CallExpr) {
	mapFunc, problem := a.mapFunc(u, call.Args[1])
	if problem != "" {
		a.note(u, call.Args[0], "R2", unknown, "%s", problem)
		return
	}
	handler := u.source(mapFunc.Pos(), mapFunc.End())
	if a.watched(u, call, handler) {
		a.note(u, call.Args[0], "R2", done, "inventory ClusterProfiles are watched with %s", handler)
		return
	}
	end, manager := u.builderEnd(call)
	if end == nil || manager == "" {
		a.note(u, call.Args[0], "R2", unknown, "a watch on SveltosClusters whose builder's Build or Complete is not in this function")
		return
	}
	helper := a.alias(u, proxyPath, "clusterproxy") + "." + watchHelper
	if !a.insertWatch(u, end, func(controller string) string {
		return helper + "(" + manager + ", " + controller + ", " + handler + ")"
	}) {
		a.note(u, end, "R2", unknown, "a watch on SveltosClusters whose builder ends in a form the rule does not know")
		return
	}
	a.note(u, call.Args[0], "R2", changed, "inventory ClusterProfiles are watched with %s too", handler)
}

// mapFunc is the map function of a handler, when it can be called with any object.
func (a *analysis) mapFunc(u *unit, handler ast.Expr) (ast.Expr, string) {
	call, ok := ast.Unparen(handler).(*ast.CallExpr)
	if !ok || !u.isCall(call, "sigs.k8s.io/controller-runtime/pkg/handler", "EnqueueRequestsFromMapFunc") ||
		len(call.Args) != 1 {
		return nil, "a watch on SveltosClusters with a handler that is not EnqueueRequestsFromMapFunc"
	}
	if name := a.asserts(u, call.Args[0], map[*ast.FuncDecl]bool{}); name != "" {
		return nil, "the map function " + types.ExprString(call.Args[0]) + " serves SveltosClusters only: " + name
	}
	return call.Args[0], ""
}

// asserts looks whether a function (and those it hands its object to) turns the object
// into a *SveltosCluster, and returns where.
func (a *analysis) asserts(u *unit, f ast.Expr, seen map[*ast.FuncDecl]bool) string {
	if lit, ok := ast.Unparen(f).(*ast.FuncLit); ok {
		return a.assertsIn(u, lit.Body, seen)
	}
	id := lastIdent(ast.Unparen(f))
	if id == nil {
		return "it is not a plain function"
	}
	fn, _ := u.pkg.TypesInfo.Uses[id].(*types.Func)
	where, decl := a.declaration(fn)
	if decl == nil || seen[decl] {
		return ""
	}
	seen[decl] = true
	return a.assertsIn(where, decl.Body, seen)
}

func (a *analysis) assertsIn(u *unit, body *ast.BlockStmt, seen map[*ast.FuncDecl]bool) string {
	found := ""
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if n.Type != nil && familyOfType(u.typeOf(n.Type)) == sveltos {
				found = u.rel + ":" + strconv.Itoa(u.line(n.Pos())) + " asserts *SveltosCluster"
			}
		case *ast.CallExpr:
			if found == "" && a.passesObject(u, n) {
				found = a.asserts(u, n.Fun, seen)
			}
		}
		return found == ""
	})
	return found
}

// passesObject tells whether a call hands on a client.Object.
func (a *analysis) passesObject(u *unit, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if u.isNamed(arg, clientPath, "Object") {
			return true
		}
	}
	return false
}

// watched tells whether the function calls the helper with this map function already.
func (a *analysis) watched(u *unit, call ast.Node, handler string) bool {
	hit := false
	ast.Inspect(u.function(call), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if ok && u.isCall(c, proxyPath, watchHelper) && len(c.Args) == 3 {
			hit = hit || u.source(c.Args[2].Pos(), c.Args[2].End()) == handler
		}
		return true
	})
	return hit
}

// insertWatch puts the call of the helper behind the statement that ends the builder.
// text makes the call for the variable that holds the controller.
func (a *analysis) insertWatch(u *unit, end *ast.CallExpr, text func(controller string) string) bool {
	switch s := u.parents[end].(type) {
	case *ast.AssignStmt:
		return a.watchAfterAssign(u, end, s, text)
	case *ast.ReturnStmt:
		if len(s.Results) != 1 {
			return false
		}
		return a.watchOnReturn(u, end, s, text)
	}
	return false
}

// watchOnReturn turns "return builder.Complete(r)", or Build(r), into a Build that is
// checked, and returns what the helper returns.
func (a *analysis) watchOnReturn(u *unit, end *ast.CallExpr, s *ast.ReturnStmt, text func(string) string) bool {
	c := u.freshName(u.function(s), "c")
	indent := u.indent(s.Pos())
	a.edits.add(u.path, u.offset(s.Pos()), u.offset(s.Results[0].Pos()), c+", err := ")
	onError, result := "", ""
	if u.builderMethod(end) == "Build" {
		onError, result = "nil, ", c+", "
	} else {
		a.replaceNode(u, end.Fun.(*ast.SelectorExpr).Sel, "Build")
	}
	a.insert(u, u.offset(s.End()),
		"\n"+indent+"if err != nil {\n"+indent+"\treturn "+onError+"err\n"+indent+"}\n\n"+
			indent+"return "+result+text(c))
	return true
}

// watchAfterAssign handles "c, err := builder.Build(r)" and "err := builder.Complete(r)",
// alone or as the head of an if, followed by the check of err.
func (a *analysis) watchAfterAssign(u *unit, end *ast.CallExpr, s *ast.AssignStmt, text func(string) string) bool {
	check, ownIf := u.parents[s].(*ast.IfStmt)
	if !ownIf {
		list, at := u.siblings(s)
		if at+1 >= len(list) {
			return false
		}
		var ok bool
		if check, ok = list[at+1].(*ast.IfStmt); !ok || check.Init != nil {
			return false
		}
	}
	errVar := lastIdent(s.Lhs[len(s.Lhs)-1])
	if errVar == nil || !u.isErrCheck(check, errVar) {
		return false
	}
	controller, ok := a.keepController(u, end, s, check, ownIf)
	if !ok {
		return false
	}
	indent := u.indent(check.Pos())
	a.insert(u, u.offset(check.End()),
		"\n\n"+indent+"if "+errVar.Name+" := "+text(controller)+"; "+errVar.Name+" != nil {\n"+
			indent+"\t"+u.errorBody(check)+"\n"+indent+"}")
	return true
}

// keepController makes sure that the controller is in a variable, and names it.
func (a *analysis) keepController(u *unit, end *ast.CallExpr, s *ast.AssignStmt, check *ast.IfStmt,
	ownIf bool) (string, bool) {

	c := u.freshName(u.function(s), "c")
	if u.builderMethod(end) == "Build" {
		id, isIdent := s.Lhs[0].(*ast.Ident)
		switch {
		case len(s.Lhs) != 2 || ownIf:
			return "", false
		case isIdent && id.Name != "_":
			return id.Name, true
		case isIdent && s.Tok == token.DEFINE:
			a.replaceNode(u, id, c)
			return c, true
		case isIdent:
			return "", false
		}
		return u.source(s.Lhs[0].Pos(), s.Lhs[0].End()), true
	}
	if len(s.Lhs) != 1 || s.Tok != token.DEFINE {
		return "", false
	}
	a.replaceNode(u, end.Fun.(*ast.SelectorExpr).Sel, "Build")
	a.insert(u, u.offset(s.Pos()), c+", ")
	if ownIf {
		a.edits.add(u.path, u.offset(check.Pos()), u.offset(s.Pos()), "")
		a.edits.add(u.path, u.offset(s.End()), u.offset(check.Cond.Pos()), "\n"+u.indent(check.Pos())+"if ")
	}
	return c, true
}

func (u *unit) isErrCheck(check *ast.IfStmt, errVar *ast.Ident) bool {
	b, ok := check.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || !isNil(b.Y) || check.Else != nil {
		return false
	}
	id, ok := b.X.(*ast.Ident)
	return ok && id.Name == errVar.Name && u.terminates(check.Body.List)
}

// errorBody is the body of an error check with the text of its one message, if it has one
// without other verbs than %w, changed to what the watch does.
func (u *unit) errorBody(check *ast.IfStmt) string {
	list := check.Body.List
	from, to := list[0].Pos(), list[len(list)-1].End()
	var literals []*ast.BasicLit
	ast.Inspect(check.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			literals = append(literals, lit)
		}
		return true
	})
	if len(literals) != 1 {
		return u.source(from, to)
	}
	message, err := strconv.Unquote(literals[0].Value)
	if err != nil || strings.Contains(strings.ReplaceAll(message, "%w", ""), "%") {
		return u.source(from, to)
	}
	text := "error watching inventory ClusterProfiles"
	if strings.Contains(message, "%w") {
		text += ": %w"
	}
	return u.source(from, literals[0].Pos()) + strconv.Quote(text) + u.source(literals[0].End(), to)
}
