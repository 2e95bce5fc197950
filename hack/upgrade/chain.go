package main

import (
	"go/ast"
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
	return []ast.Stmt{s}, 0
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

// followed tells whether an arm that leaves has one for the ClusterProfile behind it, as a
// statement of its own.
func (c *chain) followed() bool {
	list, at := c.u.siblings(c.root)
	if c.isSwitch || len(c.branches) != 1 || c.hasRest || !c.u.terminates(c.branches[0].body) {
		return false
	}
	for _, s := range list[at+1:] {
		next, ok := s.(*ast.IfStmt)
		if !ok {
			return false
		}
		t, found := pick(c.u.typeTests(next.Cond), profile)
		if found && !t.negated && t.key == c.branches[0].tests[0].key {
			return true
		}
	}
	return false
}
