package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// boolParams is rule R5.
func (a *analysis) boolParams() {
	list := a.boolFuncs()
	for _, b := range list {
		b.sibling = b.decl.Name.Name + "ForClusterType"
		if !ast.IsExported(b.decl.Name.Name) {
			b.sibling = ""
		}
		b.refused = !b.understood()
	}
	for _, b := range list {
		a.boolParam(b, list)
	}
}

func (a *analysis) boolParam(b *boolFunc, all []*boolFunc) {
	u, name := b.u, b.decl.Name.Name
	switch {
	case b.sibling != "" && b.siblingExists():
		a.decide(u, b.decl.Body)
		a.note(u, b.decl.Name, "R5", done, "%s has its sibling %s", name, b.sibling)
		return
	case b.refused:
		a.decide(u, b.decl.Body)
		a.note(u, b.decl.Name, "R5", unknown,
			"%s takes a bool %s for the type of a cluster, and uses it in a form the rule does not know", name, b.param.Name)
		return
	}
	if b.sibling != "" {
		a.addSibling(b)
	} else {
		a.changeParam(b)
	}
	if b.convert == nil {
		a.testType(b)
	} else {
		a.decide(u, b.decl.Body.List[0], b.convert)
	}
	for _, site := range a.calls[b.fn.FullName()] {
		a.changeCall(b, site, all)
	}
}

// testType turns the tests of the bool into tests of the type, each with its arm for the
// ClusterProfile.
func (a *analysis) testType(b *boolFunc) {
	u := b.u
	api := a.alias(u, apiPath, apiAlias)
	for _, s := range b.tests {
		cl := a.clone(u, sveltos)
		list := s.Body.List
		indent := u.indent(s.Body.Rbrace)
		start := " else if "
		if u.terminates(list) && s.Else == nil {
			start = "\n" + indent + "if "
		}
		a.replaceNode(u, s.Cond, b.typeName+" == "+api+".ClusterTypeSveltos")
		a.insert(u, u.offset(s.Body.Rbrace)+1, start+b.typeName+" == "+api+"."+profileType+" {\n"+indent+"\t"+
			cl.text(list[0].Pos(), list[len(list)-1].End())+"\n"+indent+"}")
		c := u.ifChain(s)
		a.decideChain(c)
		a.note(u, s, "R5", changed, "the test of %s becomes one of the type, with a branch for ClusterProfile", b.param.Name)
	}
}

func (b *boolFunc) siblingExists() bool {
	if b.decl.Recv == nil {
		return b.u.pkg.Types.Scope().Lookup(b.sibling) != nil
	}
	obj, _, _ := types.LookupFieldOrMethod(b.fn.Signature().Recv().Type(), true, b.fn.Pkg(), b.sibling)
	return obj != nil
}

// params is the parameter list with the bool turned into a type, without parentheses.
func (b *boolFunc) params(typeText string) []string {
	var parts []string
	for _, field := range b.decl.Type.Params.List {
		var names []string
		own := false
		for _, name := range field.Names {
			if name == b.param {
				own = true
				continue
			}
			names = append(names, name.Name)
		}
		if len(names) > 0 {
			parts = append(parts, strings.Join(names, ", ")+" "+b.u.source(field.Type.Pos(), field.Type.End()))
		}
		if own {
			parts = append(parts, b.typeName+" "+typeText)
		}
	}
	return parts
}

// signature is the text of a function's head up to its results. The last parameters go to
// a line of their own where the head would be too long.
func signature(head string, params []string, results string) string {
	const longest = 120
	text := head + "(" + strings.Join(params, ", ") + ")" + results + " {"
	if len(text) <= longest || len(params) < 2 {
		return text
	}
	last := len(params) - 1
	return head + "(" + strings.Join(params[:last], ", ") + ",\n\t" + params[last] + ")" + results + " {"
}

// addSibling splits the function: its head turns the bool into a type and calls the
// sibling, which gets the rest.
func (a *analysis) addSibling(b *boolFunc) {
	u, f := b.u, b.decl
	api := a.alias(u, apiPath, apiAlias)
	receiver, call := "", b.sibling
	if f.Recv != nil {
		receiver = u.source(f.Recv.Pos(), f.Recv.End()) + " "
		if names := f.Recv.List[0].Names; len(names) == 1 {
			call = names[0].Name + "." + call
		}
	}
	results, leave := "", "\n\n\t"
	if r := f.Type.Results; r != nil {
		results, leave = " "+u.source(r.Pos(), r.End()), "\n\n\treturn "
	}
	head, at := "", 0
	if b.convert != nil {
		at = u.offset(b.convert.End())
	} else {
		at = u.offset(f.Body.Lbrace) + 1
		head = "\n\t" + b.typeName + " := " + api + ".ClusterTypeCapi\n\tif " + b.param.Name + " {\n\t\t" +
			b.typeName + " = " + api + ".ClusterTypeSveltos\n\t}"
	}
	a.insert(u, at, head+leave+call+"("+strings.Join(b.args(), ", ")+")\n}\n\n"+
		"// "+b.sibling+" is "+f.Name.Name+" for a cluster of any type.\n"+
		signature("func "+receiver+b.sibling, b.params(api+".ClusterType"), results))
	a.note(u, f.Name, "R5", changed, "sibling %s takes a ClusterType; %s keeps its signature and calls it", b.sibling, f.Name.Name)
}

// args are the arguments with which the function calls its sibling.
func (b *boolFunc) args() []string {
	var args []string
	for _, field := range b.decl.Type.Params.List {
		for _, name := range field.Names {
			switch _, variadic := field.Type.(*ast.Ellipsis); {
			case name == b.param:
				args = append(args, b.typeName)
			case variadic:
				args = append(args, name.Name+"...")
			default:
				args = append(args, name.Name)
			}
		}
	}
	return args
}

// changeParam gives an unexported function a type in place of the bool.
func (a *analysis) changeParam(b *boolFunc) {
	u := b.u
	params := b.decl.Type.Params
	typeText := a.alias(u, apiPath, apiAlias) + ".ClusterType"
	a.edits.add(u.path, u.offset(params.Opening)+1, u.offset(params.Closing), strings.Join(b.params(typeText), ", "))
	if b.convert != nil {
		from := u.offset(u.tok.LineStart(u.tok.Line(b.decl.Body.List[0].Pos())))
		a.edits.add(u.path, from, u.lineEnd(b.convert.End())+1, "")
	}
	a.note(u, b.decl.Name, "R5", changed, "%s takes a ClusterType in place of a bool", b.decl.Name.Name)
}

// changeCall passes the type where the bool was computed from it.
func (a *analysis) changeCall(b *boolFunc, site callSite, all []*boolFunc) {
	u := site.u
	arg := site.call.Args[b.index]
	name := b.decl.Name.Name
	if isLiteral(arg) {
		a.changeLiteral(b, site, arg)
		return
	}
	text := forwarded(u, arg, all)
	if text == "" {
		text = a.typeText(u, arg)
	}
	if text == "" {
		a.note(u, arg, "R5", unknown, "%s is called with %s, from which no cluster type can be told", name, types.ExprString(arg))
		return
	}
	a.decide(u, arg)
	a.replaceNode(u, arg, text)
	if b.sibling != "" {
		a.replaceNode(u, lastIdent(site.call.Fun), b.sibling)
	}
	a.note(u, site.call, "R5", changed, "the call of %s passes the cluster's type", name)
}

// forwarded is the variable for the type in a function that passes its own bool on.
func forwarded(u *unit, arg ast.Expr, all []*boolFunc) string {
	for _, b := range all {
		if b.u == u && !b.refused && u.isVar(arg, u.pkg.TypesInfo.Defs[b.param]) {
			return b.typeName
		}
	}
	return ""
}

// changeLiteral handles a call with true or false: the test, or code, that is about one
// type. The exported function still takes it.
func (a *analysis) changeLiteral(b *boolFunc, site callSite, arg ast.Expr) {
	u := site.u
	fam := map[string]string{"true": "ClusterTypeSveltos", "false": "ClusterTypeCapi"}[types.ExprString(arg)]
	if b.sibling == "" {
		a.replaceNode(u, arg, a.alias(u, apiPath, apiAlias)+"."+fam)
		a.note(u, arg, "R5", changed, "the call of %s passes %s", b.decl.Name.Name, fam)
		return
	}
	if !u.test {
		a.note(u, arg, "R5", kept, "the call of %s is about one type of cluster", b.decl.Name.Name)
	}
}

// typeText is the expression for the type of the cluster that a bool expression tests for
// being a SveltosCluster, or "".
func (a *analysis) typeText(u *unit, arg ast.Expr) string {
	arg = ast.Unparen(arg)
	if id, ok := arg.(*ast.Ident); ok {
		if define := u.onlyValue(id); define != nil {
			a.decide(u, define)
			whole := u.wholeLines(define)
			a.edits.add(u.path, u.offset(whole.from), u.offset(whole.to), "")
			return a.typeText(u, define.Rhs[0])
		}
		return ""
	}
	tests := u.typeTests(arg)
	if len(tests) != 1 || tests[0].family != sveltos || tests[0].negated || tests[0].expr != arg {
		return ""
	}
	t := tests[0]
	if isClusterType(u.typeOf(t.operand)) {
		return u.source(t.operand.Pos(), t.operand.End())
	}
	sel, ok := t.operand.(*ast.SelectorExpr)
	if !ok || !u.isNamed(sel.X, "k8s.io/api/core/v1", "ObjectReference") || !u.addressable(sel.X) {
		return ""
	}
	ref := u.source(sel.X.Pos(), sel.X.End())
	if _, pointer := types.Unalias(u.typeOf(sel.X)).(*types.Pointer); !pointer {
		ref = "&" + ref
	}
	return a.alias(u, proxyPath, "clusterproxy") + ".GetClusterType(" + ref + ")"
}

// onlyValue is the statement that defines a local variable which is used in one place
// only and never set again.
func (u *unit) onlyValue(id *ast.Ident) *ast.AssignStmt {
	obj := u.pkg.TypesInfo.Uses[id]
	uses := 0
	var define *ast.AssignStmt
	ast.Inspect(u.function(id), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if u.pkg.TypesInfo.Uses[n] == obj {
				uses++
			}
		case *ast.AssignStmt:
			if l, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Lhs) == 1 && u.pkg.TypesInfo.Defs[l] == obj {
				define = n
			}
		}
		return true
	})
	if uses != 1 {
		return nil
	}
	return define
}
