package main

import (
	"go/ast"
	"go/types"
)

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
	if c.followed() {
		a.settle(c, done, "ClusterProfile has its branch behind this one")
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
	case c.u.setsOuter(c, b.body) != "":
		a.question(c, "real work for SveltosCluster (%s) sets %s, which a ClusterProfile would keep as it is for Cluster API",
			detail, c.u.setsOuter(c, b.body))
	default:
		a.settle(c, kept, "work for SveltosCluster alone (%s); a ClusterProfile needs none, and nothing else hangs on the test",
			detail)
	}
}

// setsOuter names a variable from outside the chain, other than an error, that the
// statements set.
func (u *unit) setsOuter(c *chain, list []ast.Stmt) string {
	for obj := range u.assigned(list) {
		outer := obj.Pos() < c.root.Pos() || obj.Pos() >= c.root.End()
		if outer && !types.Identical(obj.Type(), types.Universe.Lookup("error").Type()) {
			return obj.Name()
		}
	}
	return ""
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
