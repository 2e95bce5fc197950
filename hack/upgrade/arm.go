package main

import (
	"go/ast"
	"go/token"
)

// addBefore puts a ClusterProfile's arm in front of an arm with a negative test.
func (a *analysis) addBefore(c *chain, b *branch, t typeTest, other family) {
	ifStmt, ok := b.node.(*ast.IfStmt)
	if !ok || b.node != ast.Node(c.root) || ifStmt.Init != nil {
		a.question(c, "a negative test that moves the names of %s, in a form the rule does not know", other)
		return
	}
	test, alone := a.clone(c.u, t.family).positive(t)
	body := a.clone(c.u, other).text(b.body[0].Pos(), b.body[len(b.body)-1].End())
	indent := c.u.indent(ifStmt.Pos())
	a.insert(c.u, c.u.offset(ifStmt.Pos()), "if "+test+" {\n"+indent+"\t"+body+"\n"+indent+"} else ")
	a.cloned(c, ifStmt.Pos(), "branch for ClusterProfile put before the negative test", alone)
}

// addBranch copies an arm for the ClusterProfile behind itself.
func (a *analysis) addBranch(c *chain, b *branch, t typeTest) {
	alone := false
	switch node := b.node.(type) {
	case *ast.IfStmt:
		alone = a.addElseIf(c, b, node, t)
	case *ast.CaseClause:
		alone = a.addCase(c, b, node, t)
	}
	a.cloned(c, b.node.Pos(), "branch of "+t.family.String()+" cloned for ClusterProfile", alone)
}

func (a *analysis) cloned(c *chain, at token.Pos, what string, kindAlone bool) {
	if kindAlone {
		what += " (by kind alone: there is no group at hand)"
	}
	a.noteAt(c.u, at, "R1", changed, "%s", what)
	a.decideChain(c)
}

func (a *analysis) addElseIf(c *chain, b *branch, node *ast.IfStmt, t typeTest) bool {
	cl := a.clone(c.u, t.family)
	cond, alone := cl.condition(b.cond, b.tests)
	body := ""
	if len(b.body) > 0 {
		body = cl.text(b.body[0].Pos(), b.body[len(b.body)-1].End())
	}
	indent := c.u.indent(node.Body.Rbrace)
	start := " else if "
	if c.u.terminates(b.body) && node.Else == nil && node == c.root && node.Init == nil {
		start = "\n" + indent + "if "
	}
	a.insert(c.u, c.u.offset(node.Body.Rbrace)+1, start+cond+" {\n"+indent+"\t"+body+"\n"+indent+"}")
	return alone
}

func (a *analysis) addCase(c *chain, b *branch, node *ast.CaseClause, t typeTest) bool {
	cl := a.clone(c.u, t.family)
	test, alone := cl.caseText(node, b.tests)
	indent := c.u.indent(node.Pos())
	text := "\n" + indent + "case " + test + ":"
	end := node.Colon
	if len(b.body) > 0 {
		end = b.body[len(b.body)-1].End()
		text += "\n" + indent + "\t" + cl.text(b.body[0].Pos(), end)
	}
	a.insert(c.u, c.u.lineEnd(end), text)
	return alone
}

// caseText is a clause's expression for a ClusterProfile.
func (c *clone) caseText(node *ast.CaseClause, tests []typeTest) (text string, kindAlone bool) {
	e := node.List[0]
	if c.u.tag(node) == nil {
		return c.condition(e, tests)
	}
	for _, t := range tests {
		if t.family == c.from {
			e, kindAlone = t.expr, t.form == byKind
		}
	}
	return c.text(e.Pos(), e.End()), kindAlone
}

// tag is the tag of the switch that a clause belongs to.
func (u *unit) tag(node *ast.CaseClause) ast.Expr {
	if s, ok := u.parents[u.parents[node]].(*ast.SwitchStmt); ok {
		return s.Tag
	}
	return nil
}
