package main

import "go/ast"

// widen handles conditions that name both families, where the body is for every type of
// cluster: the ClusterProfile joins them. It tells whether the chain is decided.
func (a *analysis) widen(c *chain) bool {
	for i := range c.branches {
		b := &c.branches[i]
		s, c1 := pick(b.tests, sveltos)
		other, c2 := pick(b.tests, capi)
		if !c1 || !c2 || s.negated != other.negated {
			continue
		}
		if clause, ok := b.node.(*ast.CaseClause); ok && len(clause.List) > 1 {
			a.joinCase(c, clause, s)
			return true
		}
		if last, ok := c.u.joinedBy(s, other); ok {
			a.joinCondition(c, b, s, last)
			return true
		}
	}
	return false
}

func pick(tests []typeTest, fam family) (typeTest, bool) {
	for _, t := range tests {
		if t.family == fam {
			return t, true
		}
	}
	return typeTest{}, false
}

// joinCase adds the ClusterProfile to "case Sveltos, Capi".
func (a *analysis) joinCase(c *chain, clause *ast.CaseClause, t typeTest) {
	cl := a.clone(c.u, sveltos)
	var text string
	alone := false
	if c.u.tag(clause) == nil {
		text, alone = cl.profileTest(t)
	} else {
		text, alone = cl.text(t.expr.Pos(), t.expr.End()), t.form == byKind
	}
	last := clause.List[len(clause.List)-1]
	a.insert(c.u, c.u.offset(last.End()), ", "+text)
	a.cloned(c, clause.Pos(), "ClusterProfile joins the case of all cluster types", alone)
}

// joinedBy finds the operator that joins two tests directly, and the later of the tests.
func (u *unit) joinedBy(a, b typeTest) (typeTest, bool) {
	op, ok := u.parents[a.expr].(*ast.BinaryExpr)
	if !ok || op != u.parents[b.expr] {
		return typeTest{}, false
	}
	if op.Y == a.expr {
		return a, true
	}
	return b, true
}

// joinCondition adds the ClusterProfile to "Sveltos || Capi" and "not Sveltos && not Capi".
func (a *analysis) joinCondition(c *chain, b *branch, t, last typeTest) {
	op := c.u.parents[t.expr].(*ast.BinaryExpr)
	text, alone := a.clone(c.u, sveltos).profileTest(t)
	a.insert(c.u, c.u.offset(last.expr.End()), " "+op.Op.String()+" "+text)
	a.cloned(c, b.node.Pos(), "ClusterProfile joins the condition on all cluster types", alone)
}

// lists adds the ClusterProfile to slices and maps that have an element for each type.
func (a *analysis) lists(u *unit) {
	ast.Inspect(u.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			a.list(u, lit)
		}
		return true
	})
}

func (a *analysis) list(u *unit, lit *ast.CompositeLit) {
	byFamily := map[family]ast.Expr{}
	for _, e := range lit.Elts {
		if fam := u.element(e); fam != noFamily {
			byFamily[fam] = e
		}
	}
	s, hasS := byFamily[sveltos]
	_, hasC := byFamily[capi]
	if !hasS || !hasC {
		return
	}
	defer a.decide(u, lit)
	if byFamily[profile] != nil {
		a.note(u, lit, "R1", done, "ClusterProfile is in the list")
		return
	}
	if kv, ok := s.(*ast.KeyValueExpr); ok && !u.has(kv.Value, sveltos) {
		a.note(u, lit, "R1", unknown, "a map with a value for each cluster type; write the ClusterProfile's")
		return
	}
	last := lit.Elts[len(lit.Elts)-1]
	text := a.clone(u, sveltos).text(s.Pos(), s.End())
	if u.line(last.Pos()) == u.line(lit.Lbrace) {
		a.insert(u, u.offset(last.End()), ", "+text)
	} else {
		a.insert(u, u.lineEnd(last.End()), "\n"+u.indent(last.Pos())+text+",")
	}
	a.note(u, lit, "R1", changed, "element for ClusterProfile added to the list of cluster types")
}

// element is the family that an element of a list stands for: its key, or the element.
func (u *unit) element(e ast.Expr) family {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		e = kv.Key
	}
	id := lastIdent(u.bare(e))
	if id == nil {
		return noFamily
	}
	if m := u.mention(id); m.role == asType || m.role == asKind {
		return m.family
	}
	return noFamily
}
