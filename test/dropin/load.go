package dropin

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Packages maps paths relative to a module, such as lib/set, to the packages
// there.
type Packages map[string]*types.Package

// Load type-checks the packages below api and lib of two modules of the build
// that dir belongs to, together: a type that both mention is one type.
func Load(dir, upstreamModule, treeModule string) (upstream, tree Packages, err error) {
	var patterns []string
	for _, module := range []string{upstreamModule, treeModule} {
		patterns = append(patterns, module+"/api/...", module+"/lib/...")
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadTypes, // all from export data, so every package must compile
		Dir:  dir,
		Env:  append(os.Environ(), "GOWORK=off"),
	}, patterns...)
	if err != nil {
		return nil, nil, fmt.Errorf("load packages: %w", err)
	}
	var errs []error
	upstream, tree = Packages{}, Packages{}
	for _, p := range loaded {
		for _, e := range p.Errors {
			errs = append(errs, fmt.Errorf("load %s: %w", p.PkgPath, e))
		}
		if p.Name == "main" || slices.Contains(strings.Split(p.PkgPath, "/"), "internal") || len(p.GoFiles) == 0 {
			continue
		}
		if rel, ok := strings.CutPrefix(p.PkgPath, upstreamModule+"/"); ok {
			upstream[rel] = p.Types
		} else if rel, ok := strings.CutPrefix(p.PkgPath, treeModule+"/"); ok {
			tree[rel] = p.Types
		}
	}
	return upstream, tree, errors.Join(errs...)
}
