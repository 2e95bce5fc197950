package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// form is how a test tells one family from another.
type form int

const (
	byType form = iota
	byKind
	byGV
)

// typeTest is a comparison that tells a cluster family from the others.
type typeTest struct {
	family  family
	form    form
	negated bool
	joined  bool     // there are other conditions beside it, with && or ||
	expr    ast.Expr // the whole comparison, without a !
	operand ast.Expr // what is compared, conversions removed
	name    ast.Node // the constant: an identifier or a literal
	key     string   // equal for tests of the same cluster
}

// typeTests collects the tests of a condition.
func (u *unit) typeTests(cond ast.Expr) []typeTest {
	var found []typeTest
	u.collectTests(cond, false, false, &found)
	others := u.otherKinds(cond)
	return slices.DeleteFunc(found, func(t typeTest) bool { return t.form == byGV && others[t.key] })
}

// otherKinds lists the references whose kind the condition compares with one that is no
// cluster's: a group version beside it does not tell clusters apart either.
func (u *unit) otherKinds(cond ast.Expr) map[string]bool {
	others := map[string]bool{}
	ast.Inspect(cond, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || (b.Op != token.EQL && b.Op != token.NEQ) {
			return true
		}
		sel, ok := u.bare(b.X).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Kind" {
			return true
		}
		if id := lastIdent(u.bare(b.Y)); id != nil && u.mention(id).family == noFamily {
			others[types.ExprString(sel.X)] = true
		}
		return true
	})
	return others
}

func (u *unit) collectTests(e ast.Expr, negated, joined bool, found *[]typeTest) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		u.collectTests(e.X, negated, joined, found)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			u.collectTests(e.X, !negated, joined, found)
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR:
			u.collectTests(e.X, negated, true, found)
			u.collectTests(e.Y, negated, true, found)
		case token.EQL, token.NEQ:
			if t, ok := u.comparison(e, e.X, e.Y); ok {
				t.negated = negated != (e.Op == token.NEQ)
				t.joined = joined
				*found = append(*found, t)
			}
		}
	case *ast.CallExpr:
		if u.isCall(e, "strings", "EqualFold") && len(e.Args) == 2 {
			if t, ok := u.comparison(e, e.Args[0], e.Args[1]); ok {
				t.negated, t.joined = negated, joined
				*found = append(*found, t)
			}
		}
	}
}

// comparison recognises a comparison of two operands as a type test.
func (u *unit) comparison(whole, x, y ast.Expr) (typeTest, bool) {
	for _, pair := range [][2]ast.Expr{{x, y}, {y, x}} {
		operand, constant := u.bare(pair[0]), u.bare(pair[1])
		name, f, fam := u.testConstant(constant, operand)
		if fam == noFamily {
			continue
		}
		return typeTest{
			family: fam, form: f, expr: whole, operand: operand, name: name, key: operandKey(operand, f),
		}, true
	}
	return typeTest{}, false
}

// testConstant recognises the constant side of a type test.
func (u *unit) testConstant(constant, operand ast.Expr) (ast.Node, form, family) {
	if call, ok := constant.(*ast.CallExpr); ok {
		sel, isSel := call.Fun.(*ast.SelectorExpr)
		if isSel && sel.Sel.Name == "String" && len(call.Args) == 0 {
			constant = sel.X
		}
		return u.gvConstant(constant)
	}
	if sel, ok := constant.(*ast.SelectorExpr); ok && sel.Sel.Name == "Group" {
		return u.gvConstant(sel.X)
	}
	id := lastIdent(constant)
	if lit, ok := constant.(*ast.BasicLit); ok {
		m := u.mention(lit)
		if m.role == asKind || (m.role == asWord && isClusterType(u.typeOf(operand))) {
			return lit, map[role]form{asKind: byKind, asWord: byType}[m.role], m.family
		}
		return nil, 0, noFamily
	}
	if id == nil {
		return nil, 0, noFamily
	}
	switch m := u.mention(id); m.role {
	case asType:
		return id, byType, m.family
	case asKind:
		return id, byKind, m.family
	case asGV:
		return id, byGV, m.family
	}
	return nil, 0, noFamily
}

func (u *unit) gvConstant(e ast.Expr) (ast.Node, form, family) {
	id := lastIdent(ast.Unparen(e))
	if id == nil {
		return nil, 0, noFamily
	}
	m := u.mention(id)
	if m.role != asGV {
		return nil, 0, noFamily
	}
	return id, byGV, m.family
}

// bare removes parentheses, conversions and changes of case from an expression.
func (u *unit) bare(e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return e
		}
		conversion := u.pkg.TypesInfo.Types[call.Fun].IsType()
		if !conversion && !u.isCall(call, "strings", "ToLower") && !u.isCall(call, "strings", "TrimSpace") {
			return e
		}
		e = call.Args[0]
	}
}

// operandKey names the cluster that a test looks at, so that tests of ref.Kind and of
// ref.APIVersion are known to look at the same one.
func operandKey(operand ast.Expr, f form) string {
	key := types.ExprString(operand)
	if f == byType {
		return key
	}
	for _, part := range []string{".Kind", ".APIVersion", ".Group", ".GroupVersionKind()", ".GetObjectKind()"} {
		key = strings.TrimSuffix(key, part)
	}
	return key
}

func lastIdent(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// profileTest is the text of test t for a ClusterProfile. A kind is not enough to tell
// one: Sveltos has a kind of the same name, so the group decides wherever there is one;
// kindAlone says that there was none.
func (c *clone) profileTest(t typeTest) (text string, kindAlone bool) {
	sel, _ := t.operand.(*ast.SelectorExpr)
	if t.form != byKind {
		return c.text(t.expr.Pos(), t.expr.End()), false
	}
	api := c.alias(apiPath, apiAlias)
	if sel == nil || sel.Sel.Name != "Kind" {
		return c.text(t.expr.Pos(), t.expr.End()), true
	}
	base := c.u.source(sel.X.Pos(), sel.X.End())
	operator := " == "
	if b, ok := t.expr.(*ast.BinaryExpr); ok {
		operator = " " + b.Op.String() + " "
	}
	switch {
	case c.u.isNamed(sel.X, "k8s.io/apimachinery/pkg/runtime/schema", "GroupVersionKind"):
		return base + ".Group" + operator + api + "." + profileGV + ".Group", false
	case c.u.isNamed(sel.X, "k8s.io/api/core/v1", "ObjectReference") && c.u.addressable(sel.X):
		return base + ".GroupVersionKind().Group" + operator + api + "." + profileGV + ".Group", false
	case hasField(c.u.typeOf(sel.X), "APIVersion"):
		return base + ".APIVersion" + operator + api + "." + profileGV + ".String()", false
	}
	return c.text(t.expr.Pos(), t.expr.End()), true
}

func hasField(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Var)
	return ok
}

// addressable tells whether a method with a pointer receiver can be called on e.
func (u *unit) addressable(e ast.Expr) bool {
	if _, ok := types.Unalias(u.typeOf(e)).(*types.Pointer); ok {
		return true
	}
	return u.pkg.TypesInfo.Types[e].Addressable()
}
