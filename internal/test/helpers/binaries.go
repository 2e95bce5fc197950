package helpers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// assetsVariable names the folder of ready kube-apiserver and etcd binaries, as everywhere in envtest.
	assetsVariable = "KUBEBUILDER_ASSETS"

	apiServerName              = "kube-apiserver"
	etcdName                   = "etcd"
	kubeconfigSecretReaderName = "kubeconfig-secretreader-plugin"
	secretReaderName           = "secretreader-plugin"
	inventoryPlugins           = "sigs.k8s.io/cluster-inventory-api/plugins/"
	versionPackage             = "k8s.io/component-base/version"
)

var (
	// ErrNoAsset says that KUBEBUILDER_ASSETS is set and lacks a binary.
	ErrNoAsset = errors.New("test binary is missing")

	kubernetesVersion = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)`)
)

// Binaries are the absolute paths of the test binaries.
type Binaries struct {
	APIServer              string
	Etcd                   string
	KubeconfigSecretReader string
	SecretReader           string
}

// EnsureBinaries builds what is missing or outdated and returns the paths of all test binaries.
func EnsureBinaries(ctx context.Context, progress Progress) (*Binaries, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	builds, err := testBuilds(filepath.Join(root, "hack", "testbin"))
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for i := range builds {
		name := builds[i].name
		if paths[name], err = ensureAsset(ctx, &builds[i], BinDir(root), progress); err != nil {
			return nil, err
		}
	}
	return &Binaries{
		APIServer:              paths[apiServerName],
		Etcd:                   paths[etcdName],
		KubeconfigSecretReader: paths[kubeconfigSecretReaderName],
		SecretReader:           paths[secretReaderName],
	}, nil
}

// ensureAsset takes kube-apiserver and etcd from KUBEBUILDER_ASSETS where that is set and builds otherwise.
func ensureAsset(ctx context.Context, build *goBuild, binDir string, progress Progress) (string, error) {
	assets := os.Getenv(assetsVariable)
	if assets == "" || (build.name != apiServerName && build.name != etcdName) {
		return build.ensure(ctx, binDir, progress)
	}
	path := filepath.Join(assets, build.name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: %s is not there; unset %s to have it built from its module",
			ErrNoAsset, path, assetsVariable)
	}
	return path, nil
}

// testBuilds lists the binaries of the nested module dir, which pins their versions.
func testBuilds(dir string) ([]goBuild, error) {
	inputs, err := hashFiles(filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"), filepath.Join(dir, "etcd", "main.go"))
	if err != nil {
		return nil, err
	}
	versionFlags, err := apiServerVersion(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	builds := []goBuild{
		{name: apiServerName, pkg: "k8s.io/kubernetes/cmd/kube-apiserver", about: "4 to 6 minutes"},
		{name: etcdName, pkg: "./etcd", about: "about a minute"},
		{name: kubeconfigSecretReaderName, pkg: inventoryPlugins + "kubeconfig-secretreader/cmd/plugin", about: "about 20 seconds"},
		{name: secretReaderName, pkg: inventoryPlugins + "secretreader/cmd/plugin", about: "a few seconds"},
	}
	for i := range builds {
		ldflags := "-s -w"
		if builds[i].name == apiServerName {
			ldflags += versionFlags
		}
		builds[i].dir = dir
		builds[i].flags = []string{"-ldflags", ldflags}
		builds[i].stamp = inputs + " " + builds[i].pkg + " " + ldflags
	}
	return builds, nil
}

// apiServerVersion returns the linker flags that make the API server report the version its module has:
// without them it reports v0.0.0, and clients that check the server version misbehave.
func apiServerVersion(goMod string) (string, error) {
	data, err := os.ReadFile(goMod)
	if err != nil {
		return "", err
	}
	found := kubernetesVersion.FindStringSubmatch(string(data))
	if found == nil {
		return "", fmt.Errorf("%s requires no k8s.io/kubernetes", goMod)
	}
	var flags strings.Builder
	for i, name := range []string{"gitVersion", "gitMajor", "gitMinor"} {
		fmt.Fprintf(&flags, " -X %s.%s=%s", versionPackage, name, found[i+1])
	}
	return flags.String(), nil
}

// hashFiles returns one hash over the content of the files, in the order given.
func hashFiles(paths ...string) (string, error) {
	sum := sha256.New()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%d:", len(data))
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
