package main

import (
	"go/ast"
	"go/token"
	"sort"
	"strconv"
	"strings"
)

// clone writes copies of source text in which the names of one family are replaced by
// those of the ClusterProfile.
type clone struct {
	u       *unit
	from    family
	imports *importSet
}

// importSet is the packages that the edits of one file need, by path, with the name by
// which the new text calls them.
type importSet struct {
	u     *unit
	names map[string]string
}

// alias is the name of a package in the file; it is imported when it is not yet.
func (s *importSet) alias(path, preferred string) string {
	for _, spec := range s.u.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == path {
			if spec.Name == nil {
				return path[strings.LastIndex(path, "/")+1:]
			}
			if spec.Name.Name != "_" && spec.Name.Name != "." {
				return spec.Name.Name
			}
		}
	}
	if name, ok := s.names[path]; ok {
		return name
	}
	s.names[path] = preferred
	return preferred
}

func (c *clone) alias(path, preferred string) string { return c.imports.alias(path, preferred) }

// replacement is what stands in the copy for the source between two positions.
type replacement struct {
	from, to token.Pos
	text     string
}

func instead(n ast.Node, text string) replacement { return replacement{n.Pos(), n.End(), text} }

// replacements lists what is to be replaced between two positions. It is empty when
// nothing there names the family.
func (c *clone) replacements(from, to token.Pos) []replacement {
	var list []replacement
	ast.Inspect(c.u.file, func(n ast.Node) bool {
		if n == nil || n.End() <= from || n.Pos() >= to {
			return false
		}
		if n.Pos() < from || n.End() > to {
			return true
		}
		if r, ok := c.replace(n); ok {
			list = append(list, r)
			return false
		}
		return true
	})
	return list
}

// replace gives the substitute for one node, when the node names the family.
func (c *clone) replace(n ast.Node) (replacement, bool) {
	var id *ast.Ident
	switch n := n.(type) {
	case *ast.Ident:
		id = n
	case *ast.SelectorExpr:
		id = n.Sel
	case *ast.BasicLit:
		m := c.u.mention(n)
		if m.family != c.from {
			return replacement{}, false
		}
		if m.role == asKind {
			return instead(n, c.alias(apiPath, apiAlias)+"."+profileKind), true
		}
		text, _ := strconv.Unquote(n.Value)
		return instead(n, strconv.Quote(profileText(text))), true
	default:
		return replacement{}, false
	}
	m := c.u.mention(id)
	if m.family != c.from {
		return replacement{}, false
	}
	name := map[role]string{asType: profileType, asKind: profileKind, asGV: profileGV}[m.role]
	if name != "" {
		return instead(n, c.alias(apiPath, apiAlias)+"."+name), true
	}
	object := map[role]string{asObject: "ClusterProfile", asList: "ClusterProfileList"}[m.role]
	return instead(n, c.alias(inventoryPath, inventoryAlias)+"."+object), true
}

// text is the source between two positions with the names of the family replaced.
func (c *clone) text(from, to token.Pos) string {
	return c.substitute(from, to, c.replacements(from, to))
}

func (c *clone) substitute(from, to token.Pos, list []replacement) string {
	sort.Slice(list, func(i, j int) bool { return list[i].from < list[j].from })
	var out strings.Builder
	at := from
	for _, r := range list {
		if r.from < at {
			continue // inside what is replaced already
		}
		out.WriteString(c.u.source(at, r.from))
		out.WriteString(r.text)
		at = r.to
	}
	out.WriteString(c.u.source(at, to))
	return out.String()
}

// condition is a condition with its tests turned into tests for a ClusterProfile. Tests
// of other families in it stay. kindAlone says that a kind had to decide without a group.
func (c *clone) condition(cond ast.Expr, tests []typeTest) (text string, kindAlone bool) {
	var list []replacement
	for _, t := range tests {
		if t.family != c.from {
			continue
		}
		test, alone := c.profileTest(t)
		kindAlone = kindAlone || alone
		if not, ok := c.u.parents[t.expr].(*ast.UnaryExpr); ok && not.Op == token.NOT && !isCallText(test) {
			test = "(" + test + ")"
		}
		list = append(list, instead(t.expr, test))
	}
	return c.substitute(cond.Pos(), cond.End(), list), kindAlone
}

// isCallText tells whether a test is a single call, which binds tighter than a !.
func isCallText(test string) bool {
	return !strings.Contains(test, " == ") && !strings.Contains(test, " != ")
}

// positive is a condition that is true for a ClusterProfile, made of the one test t.
func (c *clone) positive(t typeTest) (text string, kindAlone bool) {
	text, kindAlone = c.profileTest(t)
	return strings.Replace(text, " != ", " == ", 1), kindAlone
}

// source is the text between two positions.
func (u *unit) source(from, to token.Pos) string { return string(u.src[u.offset(from):u.offset(to)]) }

func (u *unit) offset(p token.Pos) int { return u.tok.Offset(p) }

func (u *unit) line(p token.Pos) int { return u.tok.Position(p).Line }

// indent is the white space at the start of the line of p.
func (u *unit) indent(p token.Pos) string {
	start := u.offset(u.tok.LineStart(u.tok.Line(p)))
	end := start
	for end < len(u.src) && (u.src[end] == '\t' || u.src[end] == ' ') {
		end++
	}
	return string(u.src[start:end])
}

// lineEnd is the offset of the end of the line of p, before the newline.
func (u *unit) lineEnd(p token.Pos) int {
	end := u.offset(p)
	for end < len(u.src) && u.src[end] != '\n' {
		end++
	}
	return end
}

// freshName is base, or base with a number, so that it is not yet used in the function.
func (u *unit) freshName(scope ast.Node, base string) string {
	used := map[string]bool{}
	ast.Inspect(scope, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	name := base
	for i := 2; used[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	return name
}

// function is the declaration that a node lies in, or nil.
func (u *unit) function(n ast.Node) *ast.FuncDecl {
	for n != nil {
		if f, ok := n.(*ast.FuncDecl); ok {
			return f
		}
		n = u.parents[n]
	}
	return nil
}
