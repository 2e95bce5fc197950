// Command crd writes config/crd/multicluster.x-k8s.io_clusterprofiles.yaml, the CRD of the inventory, from the Go types of
// the module sigs.k8s.io/cluster-inventory-api that go.mod requires.
//
//	go run ./hack/crd         write it
//	go run ./hack/crd -check  fail if it is stale
//
// controller-gen comes from hack/tools/go.mod. Run it from anywhere in the repository.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

const (
	types   = "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	crdFile = "multicluster.x-k8s.io_clusterprofiles.yaml"
)

var errStale = errors.New("is stale; run go run ./hack/crd")

func main() {
	check := flag.Bool("check", false, "write nothing, fail if the file is stale")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check bool) error {
	root, err := helpers.Root()
	if err != nil {
		return err
	}
	want, err := generate(ctx, root)
	if err != nil {
		return err
	}
	return sync(filepath.Join(root, "config", "crd", crdFile), want, check)
}

// generate runs controller-gen on the types, in the version that root's go.mod requires.
func generate(ctx context.Context, root string) ([]byte, error) {
	out, err := os.MkdirTemp("", "crd-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+filepath.Join("hack", "tools", "go.mod"),
		"controller-gen", "crd", "paths="+types, "output:crd:dir="+out)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("controller-gen on %s: %w\n%s", types, err, output)
	}
	return os.ReadFile(filepath.Join(out, crdFile))
}

// sync makes the file hold what is wanted, or says that it does not.
func sync(path string, want []byte, check bool) error {
	have, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(have, want):
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case check:
		return fmt.Errorf("%s %w", path, errStale)
	}
	return os.WriteFile(path, want, 0o644)
}
