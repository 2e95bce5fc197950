package dropin_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/projectsveltos/libsveltos/test/dropin"
)

const (
	treeModule     = "github.com/projectsveltos/libsveltos"
	upstreamModule = "upstream.projectsveltos.io/libsveltos"
)

// TestTreeStandsInForUpstream is the proof for the real packages.
func TestTreeStandsInForUpstream(t *testing.T) {
	tellGoTest(t, "../..", "go.mod", "api", "lib")
	upstream, tree, err := dropin.Load(".", upstreamModule, treeModule)
	require.NoError(t, err)

	// Guards against a comparison of nothing.
	for _, rel := range []string{"api/v1beta1", "lib/clusterproxy", "lib/clustercache", "lib/deployer/fake"} {
		require.Contains(t, upstream, rel)
	}
	require.NotNil(t, upstream["lib/clusterproxy"].Scope().Lookup("GetCluster"))

	assert.Empty(t, strings.Join(dropin.Compare(upstream, tree), "\n"), "not as in upstream")
}

// tellGoTest reads what the test depends on. The go command that Load runs
// reads it too, but go test sees only what the test itself opens, and would
// answer from its cache after a change.
func tellGoTest(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(root, name), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			_, err = os.ReadFile(file)
			return err
		})
		require.NoError(t, err)
	}
}
