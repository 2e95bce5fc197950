// Package kind tests the scripts of this folder where there is no container engine: they parse, and a dry run prints what
// would be done and runs none of it.
package kind

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

func scripts(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.sh")
	require.NoError(t, err)
	require.Len(t, found, 6)
	return found
}

func TestScriptsParse(t *testing.T) {
	for _, script := range scripts(t) {
		t.Run(script, func(t *testing.T) {
			out, err := exec.Command("bash", "-n", script).CombinedOutput()
			require.NoError(t, err, "%s", out)
			text, err := os.ReadFile(script)
			require.NoError(t, err)
			if script != "lib.sh" { // it is sourced and has no say in the options
				assert.Contains(t, string(text), "\nset -euo pipefail\n")
				info, err := os.Stat(script)
				require.NoError(t, err)
				assert.NotZero(t, info.Mode()&0o100, "is executable")
			}
		})
	}
}

// dryRun runs a script with a PATH on which none of the tools is found.
func dryRun(t *testing.T, script string, args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for _, tool := range []string{"bash", "env", "dirname"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, tool)))
	}
	cmd := exec.Command("bash", append([]string{script}, args...)...)
	cmd.Env = []string{"PATH=" + bin}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestDryRun(t *testing.T) {
	for _, tc := range []struct {
		reason, script string
		want           []string
	}{
		{"up makes both clusters, patches addon-controller and registers the spoke", "up.sh", []string{
			"docker build --tag sveltos-inventory/addon-controller:demo",
			"kind create cluster --name inventory-hub", "kind create cluster --name inventory-spoke",
			"tee ", "newName: sveltos-inventory/addon-controller",
			"rollout status deployment/addon-controller", "create secret generic spoke-1-kubeconfig", "CA_OF_THE_SPOKE",
		}},
		{"deliver reports the cluster healthy and waits for the add-on", "deliver.sh", []string{
			"name: deploy-hello", "ControlPlaneHealthy", "--context kind-inventory-spoke --namespace default get configmap hello",
		}},
		{"down removes both clusters", "down.sh", []string{
			"kind delete cluster --name inventory-spoke", "kind delete cluster --name inventory-hub",
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			out, err := dryRun(t, tc.script, "--dry-run")
			require.NoError(t, err, out)
			for _, want := range tc.want {
				assert.Contains(t, out, want)
			}
			assert.NoDirExists(t, filepath.Join("..", "..", "build", "kind"), "a dry run writes nothing")
			for _, text := range documents(out) {
				var parsed any
				require.NoError(t, yaml.Unmarshal([]byte(text), &parsed), text)
			}
		})
	}
}

// TestOverlay builds the kustomization that up.sh writes, on a stand-in for Sveltos' manifest.
func TestOverlay(t *testing.T) {
	out, err := dryRun(t, "up.sh", "--dry-run")
	require.NoError(t, err)
	root, err := helpers.Root()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(helpers.BuildDir(root), 0o755))
	state, err := os.MkdirTemp(helpers.BuildDir(root), "kind-test-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(state)) })
	dir := filepath.Join(state, "overlay")
	require.NoError(t, os.Mkdir(dir, 0o755))
	manifest := regexp.MustCompile(`- https://\S+/manifest\.yaml`)
	require.Regexp(t, manifest, out)
	text := manifest.ReplaceAllString(documents(out)[0], "- ../../../config/testdata/sveltos")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600))

	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err)
	var deployments []string
	for _, resource := range built.Resources() {
		if resource.GetKind() == "Deployment" {
			deployments = append(deployments, resource.GetName())
		}
	}
	assert.ElementsMatch(t, []string{"addon-controller", "sc-manager"}, deployments, "who does not know the flag is left out")
}

// documents are the texts that a dry run shows as fed to a command, YAML where they begin with apiVersion.
func documents(out string) []string {
	var found []string
	for _, part := range strings.Split(out, "<<'EOF'\n")[1:] {
		text, _, _ := strings.Cut(part, "\nEOF\n")
		for _, document := range strings.Split(text, "\n---\n") {
			if strings.HasPrefix(document, "apiVersion:") {
				found = append(found, document)
			}
		}
	}
	return found
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		reason, want string
		args         []string
		status       int
	}{
		{"a misspelt argument is refused and nothing is run", "unknown argument --dryrun", []string{"--dryrun"}, 2},
		{"a tool that is missing is named before anything is done", "kind is not installed", nil, 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			out, err := dryRun(t, "down.sh", tc.args...)
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, tc.status, exit.ExitCode())
			assert.Contains(t, out, tc.want)
			assert.NotContains(t, out, "delete cluster")
		})
	}
}
