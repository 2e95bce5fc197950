package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errNotInSync is the result of a check that found a difference.
var errNotInSync = errors.New("generated files are not in sync: run `go run ./hack/forward` (make generate)")

// syncFiles makes the generated files below root those of want, which maps
// names relative to root to contents; nil means: leave it alone. With check it
// only says what it would do, and fails where that is not nothing.
func syncFiles(root string, want map[string][]byte, check bool, out io.Writer) error {
	have, err := generatedFiles(root)
	if err != nil {
		return err
	}
	differences := 0
	for _, name := range sortedKeys(want) {
		old, exists := have[name]
		delete(have, name)
		if want[name] == nil || exists && bytes.Equal(old, want[name]) {
			continue
		}
		differences++
		state := map[bool]string{true: "stale", false: "missing"}[exists]
		if err := apply(check, out, state, "wrote", name, func() error { return writeFile(root, name, want[name]) }); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(have) {
		differences++
		if err := apply(check, out, "extra", "removed", name, func() error { return removeFile(root, name) }); err != nil {
			return err
		}
	}
	if check && differences > 0 {
		return errNotInSync
	}
	return nil
}

// apply reports state of name when checking, else does the work and says so.
func apply(check bool, out io.Writer, state, done, name string, work func() error) error {
	word := state
	if !check {
		if err := work(); err != nil {
			return err
		}
		word = done
	}
	_, err := fmt.Fprintf(out, "%s %s\n", word, filepath.ToSlash(name))
	return err
}

// generatedFiles reads the files that forward wrote below root, in this module.
func generatedFiles(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && !inModule(name, d.Name()) {
			return filepath.SkipDir
		}
		if d.Name() != generatedName {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files[rel] = data
		return err
	})
	return files, err
}

// inModule reports whether the go command would look for packages of the
// module in directory dir.
func inModule(dir, base string) bool {
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err != nil
}

// writeFile writes via a temporary file, so that a reader never sees half of it.
func writeFile(root, name string, data []byte) error {
	full := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(full+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(full+".tmp", full)
}

// removeFile removes a file and the directories that this leaves empty.
func removeFile(root, name string) error {
	if err := os.Remove(filepath.Join(root, name)); err != nil {
		return err
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if os.Remove(filepath.Join(root, dir)) != nil {
			return nil // not empty
		}
	}
	return nil
}
