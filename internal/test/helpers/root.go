package helpers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// modulePath is the module whose root the helpers work in.
const modulePath = "github.com/projectsveltos/libsveltos"

// ErrNoRoot says that the working directory is not inside a checkout of this repository.
var ErrNoRoot = errors.New("not inside a checkout of " + modulePath)

// Root returns the directory of this repository's go.mod, looked for from the working directory upwards.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%w: run this from the repository, not from %s", ErrNoRoot, start)
		}
	}
}

// isRoot reports whether dir holds the go.mod of the repository itself, not that of a nested module.
func isRoot(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(first) == "module "+modulePath
}

// BinDir is the git-ignored folder for built binaries, BuildDir the one for copied sources and running state.
func BinDir(root string) string { return filepath.Join(root, "bin") }

// BuildDir is the git-ignored folder for copied sources, logs and the state of a running demo.
func BuildDir(root string) string { return filepath.Join(root, "build") }
