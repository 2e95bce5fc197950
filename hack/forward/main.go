package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// defaultUpstream is the path under which this tree imports upstream. It
// exists only through a replace line of go.mod.
const defaultUpstream = "upstream.projectsveltos.io/libsveltos"

// options are the command line of forward.
type options struct {
	// dir is a directory of the tree; its module is the tree.
	dir string
	// upstream is the module path under which the tree imports upstream.
	upstream string
	// check reports differences and writes nothing.
	check bool
}

func main() {
	var o options
	flag.StringVar(&o.dir, "C", ".", "a directory of the tree to work on")
	flag.StringVar(&o.upstream, "upstream", defaultUpstream, "module path under which the tree imports upstream")
	flag.BoolVar(&o.check, "check", false, "write nothing; name each file that is not as it should be and exit 1 if there is one")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "forward:", err)
		os.Exit(1)
	}
}

// run generates all files and brings the tree to that state, or compares the
// tree with it. What it did is written to out, one line for each file.
func run(o options, out io.Writer) error {
	t, err := openTree(o.dir, o.upstream)
	if err != nil {
		return err
	}
	pkgs, err := t.load()
	if err != nil {
		return err
	}
	want := make(map[string][]byte, len(pkgs))
	var broken []error
	for _, p := range pkgs {
		rel := t.relDir(p.Path())
		src, err := t.generate(p, rel)
		if err != nil {
			broken = append(broken, err)
			// Whatever is there stays until the directory can be read again.
			want[filepath.Join(rel, generatedName)] = nil
			continue
		}
		if src != nil {
			want[filepath.Join(rel, generatedName)] = src
		}
	}
	syncErr := syncFiles(t.root, want, o.check, out)
	return errors.Join(append(broken, syncErr)...)
}

// generate returns the content of the generated file of upstream package p, or
// nil where hand-written files leave nothing to forward.
func (t *tree) generate(p pkg, rel string) ([]byte, error) {
	hand, err := readHandwritten(filepath.Join(t.root, rel))
	if err != nil {
		return nil, err
	}
	return render(p, t.upstream+"/"+filepath.ToSlash(rel), hand)
}
