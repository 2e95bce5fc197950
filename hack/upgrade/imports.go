package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// importName is the name by which a file calls an import.
func (u *unit) importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	if p := u.pkg.Imports[path]; p != nil && p.Name != "" {
		return p.Name
	}
	return path[strings.LastIndex(path, "/")+1:]
}

// usesName tells whether a text selects something from a package of that name.
func usesName(text, name string) bool {
	return name != "" && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\.`).MatchString(text)
}

// importLine is the text of an import; the name is left out where the path gives it.
func importLine(name *ast.Ident, path string) string {
	if name == nil || path[strings.LastIndex(path, "/")+1:] == name.Name {
		return strconv.Quote(path)
	}
	return name.Name + " " + strconv.Quote(path)
}

// importEdits are the edits that add what the new text of a file needs and remove what it
// no longer uses. edited is the file with all other edits made.
func (u *unit) importEdits(needs *importSet, edited []byte) []edit {
	list := u.unusedImports(edited)
	paths := make([]string, 0, len(needs.names))
	for path := range needs.names {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		if !usesName(string(edited), needs.names[path]) {
			continue
		}
		list = append(list, u.importInsertion(path, importLine(&ast.Ident{Name: needs.names[path]}, path)))
	}
	return list
}

// unusedImports removes the lines of imports that were used before the edits and are not
// used after them.
func (u *unit) unusedImports(edited []byte) []edit {
	file, err := parser.ParseFile(token.NewFileSet(), u.path, edited, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	var list []edit
	for _, spec := range u.file.Imports {
		name := u.importName(spec)
		if name == "_" || name == "." || used[name] {
			continue
		}
		from := u.offset(u.tok.LineStart(u.tok.Line(spec.Pos())))
		list = append(list, edit{from: from, to: u.lineEnd(spec.End()) + 1})
	}
	return list
}

// importInsertion puts an import beside the one whose path is most like its own, in the
// order of the paths, so that the file's groups stay as they are.
func (u *unit) importInsertion(path, line string) edit {
	var nearest *ast.ImportSpec
	longest := -1
	for _, spec := range u.file.Imports {
		other, _ := strconv.Unquote(spec.Path.Value)
		if n := commonElements(path, other); n > longest || (n == longest && other < path) {
			nearest, longest = spec, n
		}
	}
	if nearest == nil {
		return edit{from: u.lineEnd(u.file.Name.End()), to: u.lineEnd(u.file.Name.End()), text: "\n\nimport " + line}
	}
	if decl, ok := u.parents[nearest].(*ast.GenDecl); ok && !decl.Lparen.IsValid() {
		at := u.lineEnd(decl.End())
		return edit{from: at, to: at, text: "\nimport " + line}
	}
	other, _ := strconv.Unquote(nearest.Path.Value)
	if path < other {
		at := u.offset(u.tok.LineStart(u.tok.Line(nearest.Pos())))
		return edit{from: at, to: at, text: u.indent(nearest.Pos()) + line + "\n"}
	}
	at := u.lineEnd(nearest.End())
	return edit{from: at, to: at, text: "\n" + u.indent(nearest.Pos()) + line}
}

// commonElements counts the leading path elements that two import paths share.
func commonElements(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}
