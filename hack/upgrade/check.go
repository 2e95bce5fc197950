package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/tools/go/packages"
)

// checker type-checks packages from source, without compiling anything: a cold build
// cache costs it nothing. Function bodies are looked at in the checkout only. What has
// been checked once is used again for another view of the same checkout, so that the
// second view costs little more than the packages that differ.
type checker struct {
	fset    *token.FileSet
	overlay map[string][]byte
	slots   chan struct{}

	mu      sync.Mutex
	started map[*packages.Package]*sync.Once // of this view
	known   map[string]*checkedPackage       // of earlier views, by package ID
}

// checkedPackage is a dependency, and what it was made from.
type checkedPackage struct {
	types   *types.Package
	files   []string
	imports map[string]*types.Package
}

func newChecker() *checker {
	return &checker{
		fset: token.NewFileSet(), slots: make(chan struct{}, runtime.GOMAXPROCS(0)),
		known: map[string]*checkedPackage{},
	}
}

// check fills in types, and for the packages of the checkout also syntax and errors.
func (c *checker) check(roots []*packages.Package, overlay map[string][]byte) {
	c.overlay = overlay
	c.started = map[*packages.Package]*sync.Once{}
	initial := map[*packages.Package]bool{}
	for _, p := range roots {
		initial[p] = true
	}
	c.all(roots, initial)
}

func (c *checker) all(list []*packages.Package, initial map[*packages.Package]bool) {
	var wg sync.WaitGroup
	for _, p := range list {
		wg.Go(func() { c.one(p, initial) })
	}
	wg.Wait()
}

func (c *checker) one(p *packages.Package, initial map[*packages.Package]bool) {
	c.mu.Lock()
	once := c.started[p]
	if once == nil {
		once = &sync.Once{}
		c.started[p] = once
	}
	c.mu.Unlock()
	once.Do(func() {
		imports := make([]*packages.Package, 0, len(p.Imports))
		for _, dep := range p.Imports {
			imports = append(imports, dep)
		}
		c.all(imports, initial)
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		c.typeCheck(p, initial[p])
	})
}

func (c *checker) typeCheck(p *packages.Package, full bool) {
	if p.PkgPath == "unsafe" {
		p.Types = types.Unsafe
		return
	}
	imports := map[string]*types.Package{}
	for path, dep := range p.Imports {
		imports[path] = dep.Types
	}
	if !full {
		c.mu.Lock()
		have := c.known[p.ID]
		c.mu.Unlock()
		if have != nil && slices.Equal(have.files, p.CompiledGoFiles) && sameImports(have.imports, imports) {
			p.Types = have.types
			return
		}
	}
	files, firstError := c.parse(p, full)
	c.run(p, files, imports, full, firstError)
	if full {
		p.Syntax = files
		return
	}
	c.mu.Lock()
	c.known[p.ID] = &checkedPackage{types: p.Types, files: p.CompiledGoFiles, imports: imports}
	c.mu.Unlock()
}

func sameImports(a, b map[string]*types.Package) bool {
	if len(a) != len(b) {
		return false
	}
	for path, p := range a {
		if b[path] != p {
			return false
		}
	}
	return true
}

// parse reads the files of a package. It keeps the files in step with CompiledGoFiles.
func (c *checker) parse(p *packages.Package, full bool) ([]*ast.File, error) {
	mode := parser.SkipObjectResolution
	if full {
		mode |= parser.ParseComments
	}
	var files []*ast.File
	var first error
	for _, name := range p.CompiledGoFiles {
		src, ok := c.overlay[name]
		if !ok {
			var err error
			if src, err = os.ReadFile(name); err != nil {
				first = err
				continue
			}
		}
		f, err := parser.ParseFile(c.fset, name, src, mode)
		if err != nil && first == nil {
			first = err
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return files, first
}

// run is one run of the type checker. Errors of dependencies do not count: without bodies
// their imports look unused.
func (c *checker) run(p *packages.Package, files []*ast.File, imports map[string]*types.Package, full bool, first error) {
	conf := types.Config{
		Importer:         importerFunc(func(path string) (*types.Package, error) { return imports[path], nil }),
		IgnoreFuncBodies: !full,
		Sizes:            p.TypesSizes,
		Error:            func(error) {},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	var info *types.Info
	if full {
		info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
		}
		if first != nil {
			p.Errors = append(p.Errors, packages.Error{Msg: first.Error(), Kind: packages.ParseError})
		}
		conf.Error = func(err error) {
			var e types.Error
			if !errors.As(err, &e) || first != nil {
				return
			}
			p.Errors = append(p.Errors, packages.Error{
				Pos: c.fset.Position(e.Pos).String(), Msg: e.Msg, Kind: packages.TypeError,
			})
		}
	}
	// The errors have gone to conf.Error, one by one.
	p.Types, _ = conf.Check(p.PkgPath, c.fset, files, info)
	p.TypesInfo = info
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
