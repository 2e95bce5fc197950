package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// analysis is one pass over a checkout: the sites found and the edits they ask for.
type analysis struct {
	units   []*unit
	report  report
	edits   edits
	imports map[string]*importSet
	files   changes // new files

	// decided holds the names that a rule has dealt with, so that what is left at the
	// end is what nobody understood.
	decided map[ast.Node]bool
	// calls lists all calls of each function of the checkout, by full name.
	calls map[string][]callSite
	// patches is set when a rule makes the controller patch inventory objects.
	patches bool
}

// callSite is a call, and the file it is in.
type callSite struct {
	u    *unit
	call *ast.CallExpr
}

func newAnalysis(list []*unit) *analysis {
	a := &analysis{
		units: list, edits: edits{}, imports: map[string]*importSet{}, files: changes{},
		decided: map[ast.Node]bool{}, calls: map[string][]callSite{},
	}
	for _, u := range list {
		a.imports[u.path] = &importSet{u: u, names: map[string]string{}}
		ast.Inspect(u.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if fn := u.callee(call); fn != nil {
					a.calls[fn.FullName()] = append(a.calls[fn.FullName()], callSite{u, call})
				}
			}
			return true
		})
	}
	return a
}

// run applies all rules to the sources. The order matters: the special rules first, then
// the branches, and what is left is weighed name by name.
func (a *analysis) run() {
	a.boolParams()
	a.watches()
	a.twins()
	for _, u := range a.sources() {
		a.branches(u)
		a.lists(u)
	}
	a.metadataPatches()
	a.failureMessages()
	a.markers()
	for _, u := range a.sources() {
		a.leftovers(u)
	}
}

// sources are the files that are not tests. Tests use the types they are about; only R5
// touches them.
func (a *analysis) sources() []*unit {
	var list []*unit
	for _, u := range a.units {
		if !u.test {
			list = append(list, u)
		}
	}
	return list
}

func (a *analysis) clone(u *unit, from family) *clone {
	return &clone{u: u, from: from, imports: a.imports[u.path]}
}

func (a *analysis) alias(u *unit, path, preferred string) string {
	return a.imports[u.path].alias(path, preferred)
}

func (a *analysis) note(u *unit, at ast.Node, rule string, st status, format string, args ...any) {
	a.noteAt(u, at.Pos(), rule, st, format, args...)
}

func (a *analysis) noteAt(u *unit, at token.Pos, rule string, st status, format string, args ...any) {
	a.report.sites = append(a.report.sites, site{
		file: u.rel, line: u.line(at), rule: rule, status: st, what: fmt.Sprintf(format, args...),
	})
}

// decide marks all names under the nodes as dealt with.
func (a *analysis) decide(u *unit, nodes ...ast.Node) {
	for _, n := range nodes {
		if isNilNode(n) {
			continue
		}
		u.mentions(n, func(m ast.Node, _ mention) { a.decided[m] = true })
	}
}

func isNilNode(n ast.Node) bool {
	switch n := n.(type) {
	case nil:
		return true
	case *ast.BlockStmt:
		return n == nil
	}
	return false
}

func (a *analysis) insert(u *unit, at int, text string) { a.edits.add(u.path, at, at, text) }

func (a *analysis) replaceNode(u *unit, n ast.Node, text string) {
	a.edits.add(u.path, u.offset(n.Pos()), u.offset(n.End()), text)
}

// declaration finds the source of a function of the checkout.
func (a *analysis) declaration(fn *types.Func) (*unit, *ast.FuncDecl) {
	if fn == nil {
		return nil, nil
	}
	for _, u := range a.units {
		if fn.Pkg() == nil || u.pkg.PkgPath != fn.Pkg().Path() {
			continue
		}
		for _, d := range u.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != fn.Name() {
				continue
			}
			if obj, ok := u.pkg.TypesInfo.Defs[f.Name].(*types.Func); ok && obj.FullName() == fn.FullName() {
				return u, f
			}
		}
	}
	return nil, nil
}
