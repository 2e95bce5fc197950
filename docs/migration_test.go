package docs_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

const migration = "migration.md"

// TestFinalizerPatch runs the patch of migration.md: it takes the bridge's finalizer and nobody else's.
func TestFinalizerPatch(t *testing.T) {
	page := pages(t)[filepath.Join(root, "docs", migration)]
	found := regexp.MustCompile(`(?s)--type json -p '(\[.*?\])'`).FindStringSubmatch(page)
	require.NotNil(t, found)
	patch := client.RawPatch(types.JSONPatchType, []byte(found[1]))
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	const bridge, other = "clusterinventory.projectsveltos.io/finalizer", "example.com/keep"
	for _, tc := range []struct {
		reason      string
		have, after []string
		refused     bool
	}{
		{"the bridge's finalizer is first", []string{bridge, other}, []string{other}, false},
		{"another one is first: the test in the patch refuses it", []string{other, bridge}, []string{other, bridge}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			profile := &v1alpha1.ClusterProfile{}
			profile.Namespace, profile.Name, profile.Finalizers = "fleet", "spoke-1", tc.have
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(profile).Build()
			err := c.Patch(t.Context(), profile.DeepCopy(), patch)
			assert.Equal(t, tc.refused, err != nil, "%v", err)
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(profile), profile))
			assert.Equal(t, tc.after, profile.Finalizers)
		})
	}
}

// TestBridgeLabel: the label of the page is the one that the code looks for.
func TestBridgeLabel(t *testing.T) {
	for _, name := range []string{migration, "concepts.md"} {
		assert.Contains(t, pages(t)[filepath.Join(root, "docs", name)], clusterproxy.BridgeLabel)
	}
}
