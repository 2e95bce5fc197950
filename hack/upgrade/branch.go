package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// branch is one arm of an if chain or of a switch.
type branch struct {
	node  ast.Node // *ast.IfStmt or *ast.CaseClause
	cond  ast.Expr // the condition, or the whole case expression list's first test
	tests []typeTest
	body  []ast.Stmt
}

// chain is an if chain or a switch in which at least one arm tests a cluster's family.
type chain struct {
	u        *unit
	root     ast.Stmt
	branches []branch
	rest     []ast.Stmt // the else or default arm
	hasRest  bool
	isSwitch bool
}

// branches is rule R1: it walks all chains of a file.
func (a *analysis) branches(u *unit) {
	ast.Inspect(u.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if _, isElse := u.parents[n].(*ast.IfStmt); !isElse {
				a.branch(u.ifChain(n))
			}
		case *ast.SwitchStmt:
			a.branch(u.switchChain(n))
		}
		return true
	})
}

func (u *unit) ifChain(root *ast.IfStmt) *chain {
	c := &chain{u: u, root: root}
	for at := root; at != nil; {
		c.branches = append(c.branches, branch{
			node: at, cond: at.Cond, tests: u.typeTests(at.Cond), body: at.Body.List,
		})
		switch next := at.Else.(type) {
		case *ast.IfStmt:
			at = next
		case *ast.BlockStmt:
			c.rest, c.hasRest = next.List, true
			at = nil
		default:
			at = nil
		}
	}
	return c
}

func (u *unit) switchChain(root *ast.SwitchStmt) *chain {
	c := &chain{u: u, root: root, isSwitch: true}
	for _, s := range root.Body.List {
		clause := s.(*ast.CaseClause)
		if clause.List == nil {
			c.rest, c.hasRest = clause.Body, true
			continue
		}
		b := branch{node: clause, body: clause.Body}
		for _, e := range clause.List {
			b.cond = e
			if root.Tag == nil {
				b.tests = append(b.tests, u.typeTests(e)...)
				continue
			}
			if t, ok := u.comparison(e, root.Tag, e); ok {
				b.tests = append(b.tests, t)
			}
		}
		c.branches = append(c.branches, b)
	}
	return c
}

// find returns the first branch with a test on the family, positive or negated.
func (c *chain) find(fam family, negated bool) (*branch, typeTest, bool) {
	for i := range c.branches {
		for _, t := range c.branches[i].tests {
			if t.family == fam && t.negated == negated {
				return &c.branches[i], t, true
			}
		}
	}
	return nil, typeTest{}, false
}

func (c *chain) tested() bool {
	for _, b := range c.branches {
		if len(b.tests) > 0 {
			return true
		}
	}
	return false
}

// branch decides one chain.
func (a *analysis) branch(c *chain) {
	if !c.tested() || a.allDecided(c) {
		return
	}
	if _, _, ok := c.find(profile, false); ok {
		a.settle(c, done, "ClusterProfile has its branch")
		return
	}
	if _, _, ok := c.find(profile, true); ok {
		a.settle(c, done, "ClusterProfile is in the condition")
		return
	}
	if a.widen(c) {
		return
	}
	if b, t, ok := c.find(sveltos, false); ok {
		a.onPositive(c, b, t)
		return
	}
	if b, t, ok := c.find(sveltos, true); ok {
		a.onNegative(c, b, t, capi)
		return
	}
	if b, t, ok := c.find(capi, false); ok {
		a.onPositive(c, b, t)
		return
	}
	if b, t, ok := c.find(capi, true); ok {
		a.onNegative(c, b, t, sveltos)
	}
}

func (a *analysis) allDecided(c *chain) bool {
	for _, b := range c.branches {
		for _, t := range b.tests {
			if !a.decided[t.name] {
				return false
			}
		}
	}
	return true
}

// settle notes a chain that needs no edit, and all names in it that belong to it.
func (a *analysis) settle(c *chain, st status, format string, args ...any) {
	a.note(c.u, c.root, "R1", st, format, args...)
	a.decideChain(c)
}

// decideChain marks the tests of a chain, the simple statements under them, and the
// defaults that they override.
func (a *analysis) decideChain(c *chain) {
	for _, b := range c.branches {
		for _, t := range b.tests {
			a.decide(c.u, t.expr)
			a.decided[t.name] = true
		}
		a.decideMoves(c.u, b.body)
		a.decideDefaults(c, b.body)
	}
	a.decideMoves(c.u, c.rest)
}

func (a *analysis) decideMoves(u *unit, list []ast.Stmt) {
	for _, s := range list {
		for _, fam := range []family{sveltos, capi, profile} {
			if u.moves(s, fam) {
				a.decide(u, s)
			}
		}
	}
}

// decideDefaults marks the statements before the chain that set what the chain overrides,
// and the return after it that stands for its else.
func (a *analysis) decideDefaults(c *chain, body []ast.Stmt) {
	list, at := c.u.siblings(c.root)
	vars := c.u.assigned(body)
	for _, s := range list[:at] {
		for obj := range c.u.assigned([]ast.Stmt{s}) {
			if vars[obj] {
				a.decide(c.u, s)
			}
		}
		a.decideDeclared(c.u, s, vars)
	}
	if c.u.terminates(body) && at+1 < len(list) {
		if next, ok := list[at+1].(*ast.ReturnStmt); ok {
			a.decide(c.u, next)
		}
	}
}

// siblings is the list of statements that s is in, and its place there.
func (u *unit) siblings(s ast.Stmt) ([]ast.Stmt, int) {
	var list []ast.Stmt
	switch p := u.parents[s].(type) {
	case *ast.BlockStmt:
		list = p.List
	case *ast.CaseClause:
		list = p.Body
	case *ast.CommClause:
		list = p.Body
	}
	for i := range list {
		if list[i] == s {
			return list, i
		}
	}
	return nil, 0
}

// onPositive decides a chain with an arm for one family: a copy for the ClusterProfile
// where names are moved, else a reason to leave it or a question.
func (a *analysis) onPositive(c *chain, b *branch, t typeTest) {
	kind, detail := c.u.classify(b.body, t.family)
	other := capi
	if t.family == capi {
		other = sveltos
	}
	_, _, bothTested := c.find(other, false)
	switch {
	case kind == mover:
		a.addBranch(c, b, t)
	case kind == flags && t.joined && t.family == capi && !c.hasRest && !bothTested:
		a.settle(c, kept, "a further condition for Cluster API alone; ClusterProfile goes on as SveltosCluster does")
	case kind == flags:
		a.question(c, "under a test for %s the code %s; what is right for a ClusterProfile cannot be told",
			t.family, detail)
	case bothTested && kind == work:
		a.question(c, "real work for each family (%s for %s); write the ClusterProfile's", detail, t.family)
	case t.family == capi:
		a.capiWork(c, b, detail)
	case c.hasRest:
		a.question(c, "real work for SveltosCluster (%s) with another arm that a ClusterProfile would fall into", detail)
	case c.u.terminates(b.body) && !isJump(b.body):
		a.question(c, "real work for SveltosCluster (%s) that leaves; a ClusterProfile would go on as Cluster API does",
			detail)
	default:
		a.settle(c, kept, "work for SveltosCluster alone (%s); a ClusterProfile needs none, and nothing else hangs on the test",
			detail)
	}
}

func isJump(list []ast.Stmt) bool {
	_, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok
}

// capiWork decides an arm with real work for Cluster API: a ClusterProfile takes the way
// that SveltosCluster takes, unless that one is about SveltosClusters.
func (a *analysis) capiWork(c *chain, b *branch, detail string) {
	switch {
	case c.u.any(c.rest, sveltos):
		a.question(c, "real work for Cluster API (%s), and the other arm is about SveltosClusters", detail)
	case c.u.any(b.body, capi, asObject) || c.u.castsTo(b.body, capi) || !c.u.terminates(b.body):
		a.settle(c, kept, "work on Cluster API objects (%s); a ClusterProfile takes the general way, as SveltosCluster does",
			detail)
	default:
		a.question(c, "real work for Cluster API (%s) that leaves", detail)
	}
}

// any tells whether one of the statements mentions the family.
func (u *unit) any(list []ast.Stmt, fam family, roles ...role) bool {
	for _, s := range list {
		if u.has(s, fam, roles...) {
			return true
		}
	}
	return false
}

// castsTo tells whether the statements handle objects of the family.
func (u *unit) castsTo(list []ast.Stmt, fam family) bool {
	hit := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if tv, found := u.pkg.TypesInfo.Types[e]; found && familyOfType(tv.Type) == fam {
					hit = true
				}
			}
			return !hit
		})
	}
	return hit
}

// question notes a chain that a person must decide.
func (a *analysis) question(c *chain, format string, args ...any) {
	a.settle(c, unknown, format, args...)
}

// onNegative decides "not a SveltosCluster" (other is then capi), or "not a Cluster API
// cluster". When the arm moves the other family's names, a ClusterProfile would silently
// get them, so its own arm goes in front.
func (a *analysis) onNegative(c *chain, b *branch, t typeTest, other family) {
	kind, detail := c.u.classify(b.body, other)
	switch {
	case kind == mover && !t.joined && c.u.any(b.body, other):
		a.addBefore(c, b, t, other)
	case kind == work && detail != "only logs or leaves":
		a.question(c, "real work for all but %s (%s)", t.family, detail)
	case c.u.terminates(b.body) && !c.u.any(b.body, other) && a.restIsAbout(c, t.family):
		a.settle(c, kept, "negative test: only a %s goes on, and what follows works on its objects or its pull mode",
			t.family)
	default:
		a.question(c, "a test for all but %s whose meaning for a ClusterProfile cannot be told", t.family)
	}
}

// restIsAbout tells whether the statements after the chain work on objects of the family,
// or ask whether the cluster is in pull mode, which only a SveltosCluster can be.
func (a *analysis) restIsAbout(c *chain, fam family) bool {
	list, at := c.u.siblings(c.root)
	if list == nil {
		return false
	}
	for _, s := range list[at+1:] {
		if c.u.castsTo([]ast.Stmt{s}, fam) || c.u.has(s, fam, asObject) {
			return true
		}
		if fam == sveltos && c.u.asksPullMode(s) {
			return true
		}
	}
	return false
}

func (u *unit) asksPullMode(n ast.Node) bool {
	hit := false
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && u.isCall(call, proxyPath, "IsClusterInPullMode") {
			hit = true
		}
		return !hit
	})
	return hit
}

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
	body := cl.text(b.body[0].Pos(), b.body[len(b.body)-1].End())
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

// decideDeclared marks a "var" statement that declares what a chain sets.
func (a *analysis) decideDeclared(u *unit, s ast.Stmt, vars map[types.Object]bool) {
	decl, ok := s.(*ast.DeclStmt)
	if !ok {
		return
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && vars[u.pkg.TypesInfo.Defs[id]] {
			a.decide(u, decl)
		}
		return true
	})
}
