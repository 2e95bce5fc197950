// Package external finds what the tests take from other projects: the CRD manifests of libsveltos, of the cluster
// inventory API, of addon-controller and of Cluster API, and the source of addon-controller. All of it is read from
// the module cache, where the go command puts it; nothing is copied into this repository.
package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// AddonController is the module of the controller that the demo and the end-to-end tests run. It is no dependency of
// this module, hence the version here.
const AddonController = "github.com/projectsveltos/addon-controller@v1.14.0"

// ErrModule says that a module could not be found or fetched.
var ErrModule = errors.New("module is not available")

// Source names a set of CRDs that a module ships.
type Source string

// The sets of CRDs that a cluster can be started with.
const (
	// Libsveltos are the CRDs of lib.projectsveltos.io.
	Libsveltos Source = "libsveltos"
	// Inventory are the CRDs of multicluster.x-k8s.io.
	Inventory Source = "inventory"
	// Addons are the CRDs of config.projectsveltos.io.
	Addons Source = "addons"
	// ClusterAPI is the CRD of a Cluster API Cluster.
	ClusterAPI Source = "cluster-api"
)

// origin says in which module a set of CRDs is and where in it.
type origin struct {
	module, path string
}

var origins = map[Source]origin{
	Libsveltos: {"upstream.projectsveltos.io/libsveltos", "config/crd/bases"},
	Inventory:  {"sigs.k8s.io/cluster-inventory-api", "config/crd/bases"},
	Addons:     {AddonController, "config/crd/bases"},
	ClusterAPI: {"sigs.k8s.io/cluster-api", "core/config/crd/bases/cluster.x-k8s.io_clusters.yaml"},
}

// CRDPaths returns the files or folders that hold the CRDs of the sources. root is this repository's root: its go.mod
// decides the versions.
func CRDPaths(ctx context.Context, root string, sources ...Source) ([]string, error) {
	var paths []string
	for _, source := range sources {
		from, known := origins[source]
		if !known {
			return nil, fmt.Errorf("%w: no module is known for the CRDs of %q", ErrModule, source)
		}
		dir, err := ModuleDir(ctx, root, from.module)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, filepath.FromSlash(from.path))
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%w: the CRDs of %s have moved: %w", ErrModule, from.module, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// ModuleDir returns the folder of a module in the module cache and downloads it when it is not there. module is a path
// that root's go.mod requires, or path@version for any other module.
func ModuleDir(ctx context.Context, root, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	// The outcome is in the JSON, also after a failure; the exit code adds nothing.
	out, runErr := cmd.Output()
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrModule, module, errors.Join(runErr, err))
	}
	if answer.Error != "" || answer.Dir == "" {
		return "", fmt.Errorf("%w: %s: %s; is the module proxy reachable?", ErrModule, module, strings.TrimSpace(answer.Error))
	}
	return answer.Dir, nil
}
