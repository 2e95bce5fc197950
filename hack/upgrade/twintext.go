package main

import (
	"go/ast"
	"go/types"
	"sort"
	"strconv"
	"strings"
)

// rename gives the copied text the twin's name.
func (r *reconciler) rename(text string) string {
	return strings.ReplaceAll(text, r.name.Name(), r.twin)
}

// methodText is a copy of a method, with its documentation.
func (r *reconciler) methodText(c *clone, m *ast.FuncDecl) string {
	from := m.Pos()
	if m.Doc != nil {
		from = m.Doc.Pos()
	}
	list := c.replacements(m.Pos(), m.End())
	ast.Inspect(m, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			list = append(list, r.renamed(n)...)
		case *ast.BasicLit:
			list = append(list, instead(n, reword(n.Value)))
		case *ast.ExprStmt:
			// Only SveltosClusters have workload identities to forget.
			if call, ok := n.X.(*ast.CallExpr); ok && r.u.isCall(call, proxyPath, "EvictWorkloadIdentityCache") {
				list = append(list, r.u.wholeLines(n))
			}
		}
		return true
	})
	for _, g := range r.u.file.Comments {
		if g.Pos() >= from && g.End() <= m.End() {
			list = append(list, instead(g, reword(r.rename(r.u.source(g.Pos(), g.End())))))
		}
	}
	return c.substitute(from, m.End(), list)
}

// renamed gives the twin's name for the reconciler's type and for local variables that
// are named after the SveltosCluster.
func (r *reconciler) renamed(id *ast.Ident) []replacement {
	obj := r.u.pkg.TypesInfo.ObjectOf(id)
	if obj == r.name {
		return []replacement{instead(id, r.twin)}
	}
	if v, ok := obj.(*types.Var); ok && !v.IsField() && v.Parent() != v.Pkg().Scope() {
		return []replacement{instead(id, strings.Replace(id.Name, "sveltosCluster", "inventoryCluster", 1))}
	}
	return nil
}

// reword makes a text for readers speak of the inventory ClusterProfile.
func reword(text string) string {
	return strings.NewReplacer(
		"a SveltosCluster", "an inventory ClusterProfile",
		"SveltosCluster", "inventory ClusterProfile",
	).Replace(text)
}

// wholeLines covers the lines of a statement, to leave them out.
func (u *unit) wholeLines(s ast.Stmt) replacement {
	from := u.tok.LineStart(u.tok.Line(s.Pos()))
	return replacement{from: from, to: u.tok.Pos(u.lineEnd(s.End()) + 1)}
}

// setupText is the twin's SetupWithManager.
func (r *reconciler) setupText(c *clone) string {
	u := r.u
	options := c.alias(controllerPath, "controller") + ".Options{}"
	if o := r.option("WithOptions"); o != nil && len(o.Args) == 1 {
		options = u.source(o.Args[0].Pos(), o.Args[0].End())
	}
	recv := "r"
	if names := r.setup.Recv.List[0].Names; len(names) == 1 {
		recv = names[0].Name
	}
	name := strings.ToLower(strings.TrimSuffix(r.twin, "Reconciler"))
	return "// SetupWithManager sets up the controller with the Manager. Without a provider file it does nothing.\n" +
		u.source(r.setup.Pos(), r.setup.Body.Lbrace) + "{\n\treturn " +
		c.alias(proxyPath, "clusterproxy") + "." + twinHelper + "(" + u.chainManager(r.chain) + ", " +
		strconv.Quote(name) + ", " + recv + ",\n\t\t" + options + ")\n}"
}

// header is the licence comment of the original file and the package clause.
func (r *reconciler) header() string {
	text := ""
	for _, g := range r.u.file.Comments {
		if g.End() < r.u.file.Package && g != r.u.file.Doc {
			text += r.u.source(g.Pos(), g.End()) + "\n\n"
		}
	}
	return text + "package " + r.u.file.Name.Name + "\n\n"
}

// importBlock lists the original's imports that the copied text uses, and the new ones.
func (r *reconciler) importBlock(imports *importSet, body string) string {
	lines := map[string]string{}
	for _, spec := range r.u.file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if usesName(body, r.u.importName(spec)) {
			lines[path] = importLine(spec.Name, path)
		}
	}
	for path, name := range imports.names {
		if usesName(body, name) {
			lines[path] = importLine(&ast.Ident{Name: name}, path)
		}
	}
	return "import (\n" + groupImports(lines) + ")\n"
}

// groupImports puts the standard library first, libsveltos last, as Sveltos does.
func groupImports(lines map[string]string) string {
	var groups [3][]string
	for path := range lines {
		at := 1
		switch {
		case !strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
			at = 0
		case strings.HasPrefix(path, "github.com/projectsveltos/"):
			at = 2
		}
		groups[at] = append(groups[at], path)
	}
	var parts []string
	for _, g := range groups {
		if len(g) == 0 {
			continue
		}
		sort.Strings(g)
		text := ""
		for _, path := range g {
			text += "\t" + lines[path] + "\n"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

// fileName follows the pattern of the controllers' own files.
func fileName(twin string) string {
	return strings.ToLower(strings.TrimSuffix(twin, "Reconciler")) + "_controller.go"
}
