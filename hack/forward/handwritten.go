package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// handwritten is what the files of a directory, other than the generated one,
// say about its package.
type handwritten struct {
	// files is the number of files that are part of the package.
	files int
	// documented is true when one of them holds a package comment.
	documented bool
	// declared are their top-level identifiers, methods excluded.
	declared map[string]bool
	// reserved are the top-level identifiers of all files, tests included: no
	// import may have such a name.
	reserved map[string]bool
}

// readHandwritten parses the hand-written files of dir. A directory that does
// not exist holds none. It needs no type information, so the files may be in
// any state in which they parse.
func readHandwritten(dir string) (*handwritten, error) {
	h := &handwritten{declared: map[string]bool{}, reserved: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || name == generatedName {
			continue
		}
		if match, err := build.Default.MatchFile(dir, name); err == nil && !match {
			continue
		}
		if err := h.read(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// read adds one file.
func (h *handwritten) read(name string) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("%w: what this directory declares is unknown, its generated file is left as it is", err)
	}
	test := strings.HasSuffix(name, "_test.go")
	if !test {
		h.files++
		h.documented = h.documented || f.Doc != nil
	}
	for _, d := range f.Decls {
		for _, id := range declaredBy(d) {
			h.reserved[id.Name] = true
			if !test {
				h.declared[id.Name] = true
			}
		}
	}
	return nil
}

// declaredBy lists the package-level identifiers that d declares.
func declaredBy(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var ids []*ast.Ident
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				ids = append(ids, s.Name)
			case *ast.ValueSpec:
				ids = append(ids, s.Names...)
			}
		}
		return ids
	}
	return nil
}
