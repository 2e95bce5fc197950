package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

var (
	errNoModule   = errors.New("not a Go module")
	errNoCompile  = errors.New("the tree does not compile")
	errNoLibrary  = errors.New("the module does not require " + libModule)
	errNoTreePath = errors.New("no libsveltos tree to point the checkout at")
)

// checkout is the controller's module on disk.
type checkout struct {
	dir    string
	mod    *modfile.File
	modSrc []byte
	vendor bool
}

// openCheckout reads the go.mod of dir.
func openCheckout(dir string) (*checkout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if resolved, evalErr := filepath.EvalSymlinks(abs); evalErr == nil {
		abs = resolved
	}
	name := filepath.Join(abs, "go.mod")
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s has no readable go.mod (%w); give the root of a controller's checkout",
			errNoModule, dir, err)
	}
	mod, err := modfile.Parse(name, src, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoModule, err)
	}
	if mod.Module == nil {
		return nil, fmt.Errorf("%w: %s has no module line", errNoModule, name)
	}
	_, err = os.Stat(filepath.Join(abs, "vendor", "modules.txt"))
	return &checkout{dir: abs, mod: mod, modSrc: src, vendor: err == nil}, nil
}

// requiresLibrary tells whether the module uses libsveltos at all.
func (c *checkout) requiresLibrary() bool {
	for _, r := range c.mod.Require {
		if r.Mod.Path == libModule {
			return true
		}
	}
	return false
}

// view is how the go command is to see the checkout: with another go.mod and with files
// that are not on disk yet. The checkout itself is never written through a view.
type view struct {
	dir     string
	modFile string // "" for the checkout's own
	vendor  bool   // use the vendor folder
	overlay map[string][]byte
}

func (v view) flags() []string {
	if v.vendor {
		return []string{"-mod=vendor"}
	}
	return []string{"-mod=mod", "-modfile=" + v.modFile}
}

// environment keeps a go.work file of the surroundings out of the way.
func environment() []string {
	return append(os.Environ(), "GOWORK=off")
}

// load type-checks every package of the view, tests included.
func (v view) load(c *checker) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedModule | packages.NeedTypesSizes,
		Dir:        v.dir,
		Env:        environment(),
		Tests:      true,
		BuildFlags: v.flags(),
		Overlay:    v.overlay,
	}, "./...")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCompile, err)
	}
	if err := compileErrors(v.dir, pkgs); err != nil {
		return nil, err
	}
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return strings.HasSuffix(p.ID, ".test") })
	c.check(pkgs, v.overlay)
	return pkgs, compileErrors(v.dir, pkgs)
}

// compileErrors gathers what the type checker found, the first few with file and line.
func compileErrors(dir string, pkgs []*packages.Package) error {
	const shown = 5
	seen := map[string]bool{}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			text := strings.TrimSpace(e.Msg)
			if e.Pos != "" && e.Pos != "-" {
				text = e.Pos + ": " + text
			}
			seen[strings.ReplaceAll(text, dir+string(filepath.Separator), "")] = true
		}
	})
	if len(seen) == 0 {
		return nil
	}
	list := make([]string, 0, len(seen))
	for text := range seen {
		list = append(list, text)
	}
	sort.Strings(list)
	rest := ""
	if len(list) > shown {
		rest = fmt.Sprintf("\n  and %d more", len(list)-shown)
		list = list[:shown]
	}
	return fmt.Errorf("%w:\n  %s%s", errNoCompile, strings.Join(list, "\n  "), rest)
}

// unit is one source file of the checkout with the types of its fullest package variant
// (the one that has the test files in it).
type unit struct {
	pkg     *packages.Package
	file    *ast.File
	tok     *token.File
	path    string
	rel     string
	src     []byte
	test    bool
	parents map[ast.Node]ast.Node
}

// units picks one variant for every file of the checkout, in order of the file name.
func units(dir string, fset *token.FileSet, pkgs []*packages.Package) ([]*unit, error) {
	best := map[string]*unit{}
	for _, p := range pkgs {
		for i, f := range p.Syntax {
			name := p.CompiledGoFiles[i]
			rel, err := filepath.Rel(dir, name)
			if err != nil || strings.HasPrefix(rel, "..") || ast.IsGenerated(f) {
				continue
			}
			if have := best[name]; have != nil && len(have.pkg.Syntax) >= len(p.Syntax) {
				continue
			}
			best[name] = &unit{
				pkg: p, file: f, tok: fset.File(f.Pos()), path: name, rel: filepath.ToSlash(rel),
				test: strings.HasSuffix(name, "_test.go"),
			}
		}
	}
	list := make([]*unit, 0, len(best))
	for _, u := range best {
		src, err := os.ReadFile(u.path)
		if err != nil {
			return nil, err
		}
		u.src = src
		u.parents = parentsOf(u.file)
		list = append(list, u)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].path < list[j].path })
	return list, nil
}

func parentsOf(file *ast.File) map[ast.Node]ast.Node {
	parents := map[ast.Node]ast.Node{}
	var stack []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	return parents
}
