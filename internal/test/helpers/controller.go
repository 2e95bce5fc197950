package helpers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

// Variant says how addon-controller is built.
type Variant string

const (
	// Upgraded is addon-controller as hack/upgrade makes it, on this tree.
	Upgraded Variant = "addon-controller"
	// StockOnTree is the unchanged addon-controller on this tree: only replace lines in its go.mod.
	StockOnTree Variant = "addon-controller-stock-on-tree"
	// Stock is the unchanged addon-controller on the upstream library.
	Stock Variant = "addon-controller-stock"
)

// digestReplace stands in for a version of go-digest that addon-controller v1.14.0 asks for and that module proxies do
// not serve.
const digestReplace = "github.com/opencontainers/go-digest=github.com/opencontainers/go-digest@v1.0.1-0.20231025023718-d50d2fec9c98"

// treeReplaces put a controller on this tree; paths are relative to its folder in the build folder.
var treeReplaces = []string{
	modulePath + "=../..",
	"upstream.projectsveltos.io/libsveltos=github.com/projectsveltos/libsveltos@v1.14.0",
}

// SourceDir is the folder that the controller's source is copied to.
func (v Variant) SourceDir(root string) string { return filepath.Join(BuildDir(root), string(v)) }

// BuildAddonController returns the path of an addon-controller binary. It copies the source out of the module cache,
// changes the copy as the variant says and builds it, unless nothing has changed since the last time.
func BuildAddonController(ctx context.Context, variant Variant, progress Progress) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	stamp, err := variant.stamp(root)
	if err != nil {
		return "", err
	}
	build := &goBuild{
		name:    string(variant),
		dir:     variant.SourceDir(root),
		pkg:     "./cmd",
		flags:   []string{"-mod=mod", "-ldflags", "-s -w"},
		about:   "4 to 6 minutes",
		stamp:   stamp,
		prepare: func(ctx context.Context) error { return variant.prepare(ctx, root, progress) },
	}
	return build.ensure(ctx, BinDir(root), progress)
}

// PrepareAddonController makes the variant's source folder anew and returns it, for those who run its own tests.
func PrepareAddonController(ctx context.Context, variant Variant, progress Progress) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return variant.SourceDir(root), variant.prepare(ctx, root, progress)
}

// prepare copies the source and changes the copy.
func (v Variant) prepare(ctx context.Context, root string, progress Progress) error {
	source, err := external.ModuleDir(ctx, root, external.AddonController)
	if err != nil {
		return err
	}
	dir := v.SourceDir(root)
	if err := errors.Join(os.RemoveAll(dir), copyWritable(source, dir)); err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-replace=" + digestReplace}
	if v != Stock {
		for _, replace := range treeReplaces {
			edit = append(edit, "-replace="+replace)
		}
	}
	if _, err := runGo(ctx, dir, edit...); err != nil || v != Upgraded {
		return err
	}
	// The upgrade type-checks the controller, so its go.mod has to be complete.
	if _, err := runGo(ctx, dir, "mod", "tidy"); err != nil {
		return err
	}
	progress("  upgrading %s with hack/upgrade", external.AddonController)
	report, err := runGo(ctx, root, "run", "./hack/upgrade", dir)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, report)
	}
	return os.WriteFile(filepath.Join(BuildDir(root), "upgrade.log"), report, 0o644)
}

// stamp names everything that the binary depends on.
func (v Variant) stamp(root string) (string, error) {
	stamp := string(v) + " " + external.AddonController + " " + digestReplace
	if v == Stock {
		return stamp, nil
	}
	dirs := []string{"api", "lib"}
	if v == Upgraded {
		dirs = append(dirs, filepath.Join("hack", "upgrade"))
	}
	files := []string{filepath.Join(root, "go.mod")}
	for _, dir := range dirs {
		found, err := goFiles(filepath.Join(root, dir))
		if err != nil {
			return "", err
		}
		files = append(files, found...)
	}
	hash, err := hashFiles(files...)
	if err != nil {
		return "", err
	}
	names := sha256.Sum256([]byte(strings.Join(files, "\n")))
	return stamp + " " + hash + " " + hex.EncodeToString(names[:8]), nil
}

// goFiles lists the Go files below dir that are not tests or test data, sorted.
func goFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return nil
	})
	sort.Strings(files)
	return files, err
}

// copyWritable copies a folder out of the module cache, where everything is read-only.
func copyWritable(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}
