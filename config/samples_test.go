package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/pkg/access"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

func sampleProfile(t *testing.T, sample string) *v1alpha1.ClusterProfile {
	t.Helper()
	profile := &v1alpha1.ClusterProfile{}
	data := must(os.ReadFile(filepath.Join("samples", sample, "clusterprofile.yaml")))(t)
	require.NoError(t, yaml.UnmarshalStrict(data, profile))
	return profile
}

// withCommand returns a copy of a provider file whose plugins are this test binary.
func withCommand(t *testing.T, file string) string {
	t.Helper()
	config := access.Config{}
	require.NoError(t, json.Unmarshal(must(os.ReadFile(file))(t), &config))
	for i := range config.Providers {
		config.Providers[i].ExecConfig.Command = must(os.Executable())(t)
	}
	path := filepath.Join(t.TempDir(), "providers.json")
	require.NoError(t, os.WriteFile(path, must(json.Marshal(config))(t), 0o600))
	return path
}

func TestProviderFilesServeTheirProfiles(t *testing.T) {
	for _, sample := range samples(t) {
		t.Run(sample, func(t *testing.T) {
			file := filepath.Join("samples", sample, "providers.json")
			profile := sampleProfile(t, sample)
			backend := inventory.New(inventory.Options{ProviderFile: file})
			assert.NotEmpty(t, backend.Revision(), "the provider file is accepted")
			_, err := backend.Resolve(profile)
			require.ErrorIs(t, err, inventory.ErrPluginFailed, "it serves the profile and misses the plugin alone")

			resolved, err := inventory.New(inventory.Options{ProviderFile: withCommand(t, file)}).Resolve(profile)
			require.NoError(t, err)
			assert.Equal(t, profile.Status.AccessProviders[0].Name, resolved.Provider)
			assert.True(t, inventory.IsHealthy(profile))
		})
	}
}

func TestSampleProfilesAreStored(t *testing.T) {
	cluster := hub(t)
	for _, sample := range samples(t) {
		t.Run(sample, func(t *testing.T) {
			profile := sampleProfile(t, sample)
			require.NoError(t, helpers.CreateWithStatus(t.Context(), cluster.Client, profile))
			stored := &v1alpha1.ClusterProfile{}
			require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(profile), stored))
			assert.Equal(t, sampleProfile(t, sample).Status.AccessProviders, stored.Status.AccessProviders)
			require.NoError(t, cluster.Client.Delete(t.Context(), profile))
		})
	}
}

// TestOwnNamespaceOnly installs the policy and waits until the API server has taken it up.
func TestOwnNamespaceOnly(t *testing.T) {
	cluster := hub(t)
	require.NoError(t, cluster.EnsureNamespace(t.Context(), "other"))
	install(t, cluster, overlay(t, "samples/kubeconfig-secretreader"))
	profile := sampleProfile(t, "kubeconfig-secretreader")
	profile.Namespace = "other"
	require.NoError(t, cluster.Client.Create(t.Context(), profile))
	write := func(namespace string) error {
		profile.Status = sampleProfile(t, "kubeconfig-secretreader").Status
		extension := must(json.Marshal(map[string]string{"namespace": namespace, "name": "s", "key": "k"}))(t)
		profile.Status.AccessProviders[0].Cluster.Extensions[0].Extension = runtime.RawExtension{Raw: extension}
		return cluster.Client.Status().Update(t.Context(), profile)
	}
	require.Eventually(t, func() bool { return write("fleet") != nil }, time.Minute, 200*time.Millisecond)
	require.ErrorContains(t, write("fleet"), "Secrets of the profile's own namespace only")
	require.ErrorContains(t, write(""), "Secrets of the profile's own namespace only")
	require.NoError(t, write("other"))
}
