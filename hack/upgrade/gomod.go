package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// tree is the libsveltos that the checkout is to use.
type tree struct {
	path, version string // version is "" for a directory
	upstream      module.Version
}

// findTree understands --libsveltos: a directory, a version, or module@version. Without
// one it is the module that the tool is run from.
func findTree(arg string) (tree, error) {
	if arg == "" {
		dir, err := ownModule()
		if err != nil {
			return tree{}, err
		}
		arg = dir
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		abs, err := filepath.Abs(arg)
		if err != nil {
			return tree{}, err
		}
		return treeAt(tree{path: abs}, filepath.Join(abs, "go.mod"))
	}
	path, version, found := strings.Cut(arg, "@")
	if !found {
		path, version = libModule, arg
	}
	if !semver.IsValid(version) {
		return tree{}, fmt.Errorf("%w: --libsveltos=%s is neither a directory nor a version like v1.14.0", errNoTreePath, arg)
	}
	out, err := exec.Command("go", "mod", "download", "-json", path+"@"+version).Output()
	var info struct{ GoMod, Error string }
	if jsonErr := json.Unmarshal(out, &info); jsonErr != nil || info.Error != "" {
		return tree{}, fmt.Errorf("%w: %s@%s cannot be downloaded: %s", errNoTreePath, path, version,
			firstOf(info.Error, fmt.Sprint(err)))
	}
	return treeAt(tree{path: path, version: version}, info.GoMod)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// treeAt reads from the tree's go.mod which upstream it stands on.
func treeAt(t tree, goMod string) (tree, error) {
	src, err := os.ReadFile(goMod)
	if err != nil {
		return tree{}, fmt.Errorf("%w: %w", errNoTreePath, err)
	}
	mod, err := modfile.ParseLax(goMod, src, nil)
	if err != nil {
		return tree{}, fmt.Errorf("%w: %w", errNoTreePath, err)
	}
	full, err := modfile.Parse(goMod, src, nil)
	if err != nil || mod.Module == nil || mod.Module.Mod.Path != libModule {
		return tree{}, fmt.Errorf("%w: %s is not the go.mod of %s", errNoTreePath, goMod, libModule)
	}
	for _, r := range full.Replace {
		if r.Old.Path == upstreamModule {
			t.upstream = r.New
		}
	}
	return t, nil
}

// ownModule is the directory of the libsveltos tree that holds the working directory.
func ownModule() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		src, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(src) == libModule {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("%w: run the tool from the tree, or give --libsveltos", errNoTreePath)
		}
		dir = parent
	}
}

// goMod is rule R4: the replace lines. given says that the user named the tree; without
// that, a replace which is there already is left alone.
func (c *checkout) goMod(t tree, given bool) (content []byte, sites []site, err error) {
	mod, err := modfile.Parse("go.mod", c.modSrc, nil)
	if err != nil {
		return nil, nil, err
	}
	lib := module.Version{Path: t.path, Version: t.version}
	for _, want := range []struct {
		old string
		new module.Version
	}{{libModule, lib}, {upstreamModule, t.upstream}} {
		if want.new.Path == "" {
			continue // a tree that needs no upstream
		}
		have, line := replaced(mod, want.old)
		text := strings.TrimSpace(want.new.Path + " " + want.new.Version)
		switch {
		case have == want.new:
			sites = append(sites, site{"go.mod", line, "R4", done, want.old + " => " + text})
			continue
		case have.Path != "" && !given:
			sites = append(sites, site{"go.mod", line, "R4", kept, want.old + " is replaced already, by " + have.String()})
			continue
		}
		if err := mod.AddReplace(want.old, "", want.new.Path, want.new.Version); err != nil {
			return nil, nil, err
		}
		sites = append(sites, site{"go.mod", max(line, 1), "R4", changed, "replace " + want.old + " => " + text})
	}
	mod.Cleanup()
	content, err = mod.Format()
	return content, sites, err
}

// replaced is what a module is replaced by, whatever its version.
func replaced(mod *modfile.File, path string) (module.Version, int) {
	for _, r := range mod.Replace {
		if r.Old.Path == path {
			return r.New, r.Syntax.Start.Line
		}
	}
	return module.Version{}, 0
}

// goCommand runs the go command in the view.
func (v view) goCommand(args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = v.dir, append(environment(), "GOFLAGS="+withoutMod(os.Getenv("GOFLAGS")))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	const shown = 5
	if len(lines) > shown {
		lines = lines[len(lines)-shown:]
	}
	return errors.New("go " + strings.Join(args[:2], " ") + ": " + strings.Join(lines, "\n  "))
}

// withoutMod drops -mod flags, which do not go together with those of a view.
func withoutMod(flags string) string {
	var keep []string
	for _, f := range strings.Fields(flags) {
		if !strings.HasPrefix(strings.TrimLeft(f, "-"), "mod") {
			keep = append(keep, f)
		}
	}
	return strings.Join(keep, " ")
}
