package firewall

import (
	"context"
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	anyCA     = regexp.MustCompile(`CA_OF_\w+`)
)

// TestExamplesOfTheDocs has the examples taken as a hub and a controller take them.
func TestExamplesOfTheDocs(t *testing.T) {
	s := newSite(t)
	root, err := helpers.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "firewalled.md"))
	require.NoError(t, err)
	examples := yamlBlock.FindAllStringSubmatch(string(text), -1)
	require.Len(t, examples, 2)
	for _, example := range examples {
		filled := anyCA.ReplaceAllString(example[1], base64.StdEncoding.EncodeToString(s.spoke.Config.CAData))
		profile := &inventoryv1alpha1.ClusterProfile{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(filled), profile))
		written := profile.DeepCopy()
		require.NoError(t, helpers.CreateWithStatus(t.Context(), s.hub.Client, profile), "the hub takes it")
		t.Cleanup(func() { require.NoError(t, s.hub.Client.Delete(context.Background(), profile)) })

		access, err := inventory.FromFlags().Resolve(written)
		require.NoError(t, err)
		server, err := url.Parse(access.Server)
		require.NoError(t, err)
		assert.True(t, access.ProxyURL != "" || strings.Trim(server.Path, "/") != "", "%s leads around no firewall", access)
	}
}

// TestSchemesOfTheDocs has the schemes that the docs name taken, and others refused.
func TestSchemesOfTheDocs(t *testing.T) {
	s := newSite(t)
	for scheme, taken := range map[string]bool{"http": true, "https": true, "socks5": true, "socks4": false, "ssh": false} {
		access := helpers.SecretReaderAccess(s.spoke, cluster("unused"))
		access.Cluster.ProxyURL = scheme + "://jump-host.example.com:1080"
		_, err := inventory.FromFlags().Resolve(helpers.InventoryClusterProfile(cluster("unused"), nil, access))
		if taken {
			assert.NoError(t, err, scheme)
		} else {
			assert.ErrorIs(t, err, inventory.ErrRefused, scheme)
		}
	}
}
