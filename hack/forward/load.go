package main

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// loadModule is the path of the temporary module in which upstream is loaded.
const loadModule = "forward.invalid/load"

// tree is the module whose generated files forward writes.
type tree struct {
	// root is the directory of go.mod.
	root string
	// upstream is the module path under which the tree imports upstream.
	upstream string
	mod      *modfile.File
}

// pkg is a type-checked package of upstream. Its path, and that of each
// upstream package in its types, is the path of its twin in the tree.
type pkg struct {
	*types.Package
}

// openTree reads the go.mod of the module that dir belongs to.
func openTree(dir, upstream string) (*tree, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		name := filepath.Join(root, "go.mod")
		data, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && root != filepath.Dir(root) {
			root = filepath.Dir(root)
			continue
		}
		if err != nil {
			return nil, err
		}
		mod, err := modfile.Parse(name, data, nil)
		if err != nil {
			return nil, err
		}
		return &tree{root: root, upstream: upstream, mod: mod}, nil
	}
}

// relDir is the directory, from the root, of the package at path.
func (t *tree) relDir(path string) string {
	return filepath.FromSlash(strings.TrimPrefix(path, t.mod.Module.Mod.Path+"/"))
}

// load type-checks all importable packages of upstream below api and lib, in
// one go, sorted by path.
func (t *tree) load() ([]pkg, error) {
	dir, err := os.MkdirTemp("", "forward-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := t.writeLoadModule(dir); err != nil {
		return nil, err
	}
	module := t.mod.Module.Mod.Path
	loaded, err := packages.Load(&packages.Config{
		// Sources of upstream, export data of all that it imports.
		Mode:       packages.LoadSyntax,
		Dir:        dir,
		Env:        append(os.Environ(), "GOWORK=off"),
		BuildFlags: []string{"-mod=mod"},
	}, module+"/api/...", module+"/lib/...")
	if err != nil {
		return nil, fmt.Errorf("load upstream: %w", err)
	}
	return importable(loaded)
}

// importable picks the packages that another module can import.
func importable(loaded []*packages.Package) ([]pkg, error) {
	var pkgs []pkg
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("load upstream: package %s: %w", p.PkgPath, e)
		}
		if p.Name == "main" || isInternal(p.PkgPath) || len(p.GoFiles) == 0 {
			continue
		}
		pkgs = append(pkgs, pkg{Package: p.Types})
	}
	if len(pkgs) == 0 {
		return nil, errors.New("load upstream: no package found below api and lib")
	}
	slices.SortFunc(pkgs, func(a, b pkg) int { return strings.Compare(a.Path(), b.Path()) })
	return pkgs, nil
}

// isInternal reports whether path can be imported from its own module (or
// from the standard library) only.
func isInternal(path string) bool {
	elems := strings.Split(path, "/")
	return slices.Contains(elems, "internal") || elems[0] == "vendor"
}

// writeLoadModule makes dir a module with the dependencies of the tree in which
// the module path of the tree means upstream.
func (t *tree) writeLoadModule(dir string) error {
	version, err := t.upstreamVersion()
	if err != nil {
		return err
	}
	f, err := modfile.Parse("go.mod", modfile.Format(t.mod.Syntax), nil)
	if err != nil {
		return err
	}
	own := t.mod.Module.Mod.Path
	edits := []error{f.AddModuleStmt(loadModule), f.DropRequire(t.upstream)}
	for _, r := range t.mod.Replace {
		edits = append(edits, f.DropReplace(r.Old.Path, r.Old.Version), t.moveReplace(f, r))
	}
	for _, tool := range t.mod.Tool {
		edits = append(edits, f.DropTool(tool.Path))
	}
	edits = append(edits, f.AddRequire(own, version))
	f.Cleanup()
	data, err := f.Format()
	if err := errors.Join(append(edits, err)...); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), data, 0o600); err != nil {
		return err
	}
	return t.copyGoSum(dir)
}

// moveReplace adds replace line r of the tree to f, which lies elsewhere.
func (t *tree) moveReplace(f *modfile.File, r *modfile.Replace) error {
	old, to := r.Old, r.New
	if old.Path == t.upstream {
		old.Path, old.Version = t.mod.Module.Mod.Path, ""
		if to.Path == old.Path {
			return nil // the plain case: writeLoadModule requires that version
		}
	}
	if to.Version == "" && !filepath.IsAbs(to.Path) {
		to.Path = filepath.Join(t.root, to.Path)
	}
	return f.AddReplace(old.Path, old.Version, to.Path, to.Version)
}

// upstreamVersion is the version of upstream that go.mod of the tree asks for.
func (t *tree) upstreamVersion() (string, error) {
	for _, r := range t.mod.Replace {
		if r.Old.Path == t.upstream && r.New.Version != "" {
			return r.New.Version, nil
		}
	}
	for _, r := range t.mod.Require {
		if r.Mod.Path == t.upstream {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s: no line requires or replaces %s; add `replace %s => <upstream module> <version>`",
		t.mod.Syntax.Name, t.upstream, t.upstream)
}

// copyGoSum gives the module in dir the checksums of the tree.
func (t *tree) copyGoSum(dir string) error {
	sum, err := os.ReadFile(filepath.Join(t.root, "go.sum"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600)
}
