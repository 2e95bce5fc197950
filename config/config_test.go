// Package config_test builds everything under config/ with kustomize and applies it, as a dry run, to a real API server.
package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

func TestMain(m *testing.M) { helpers.Main(m) }

// samples are the folders under samples/.
func samples(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("samples")
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.Len(t, names, 6)
	return names
}

// build runs kustomize on a folder.
func build(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	result, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err)
	var objects []*unstructured.Unstructured
	for _, resource := range result.Resources() {
		data, err := resource.MarshalJSON()
		require.NoError(t, err)
		object := &unstructured.Unstructured{}
		require.NoError(t, json.Unmarshal(data, object))
		objects = append(objects, object)
	}
	require.NotEmpty(t, objects)
	return objects
}

// overlay writes the kustomization of an operator, which adds components to Sveltos' own manifest, and returns its folder.
func overlay(t *testing.T, components ...string) string {
	t.Helper()
	here, err := filepath.EvalSymlinks(must(os.Getwd())(t))
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	relative := func(name string) string {
		path, err := filepath.Rel(dir, filepath.Join(here, filepath.FromSlash(name)))
		require.NoError(t, err)
		return path
	}
	kustomization := map[string]any{"resources": []string{relative("testdata/sveltos"), relative("rbac")}}
	var list []string
	for _, component := range components {
		list = append(list, relative(component))
	}
	kustomization["components"] = list
	data, err := yaml.Marshal(kustomization)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), data, 0o600))
	return dir
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return value
	}
}

// dryRun has the API server check an object and returns what it would store.
func dryRun(t *testing.T, hub *helpers.Cluster, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	copied := object.DeepCopy()
	err := hub.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(copied),
		client.DryRunAll, client.ForceOwnership, client.FieldOwner("config-test"))
	require.NoError(t, err, "%s %s", object.GetKind(), object.GetName())
	return copied
}

func hub(t *testing.T) *helpers.Cluster {
	t.Helper()
	cluster := helpers.SharedHub(t)
	require.NoError(t, cluster.EnsureNamespace(t.Context(), "fleet"))
	return cluster
}

func TestKustomizationsApply(t *testing.T) {
	cluster := hub(t)
	for _, dir := range []string{"crd", "rbac", "rbac-namespaced", "admission", "default"} {
		t.Run(dir, func(t *testing.T) {
			for _, object := range build(t, dir) {
				dryRun(t, cluster, object)
			}
		})
	}
	for _, sample := range samples(t) {
		for _, plugin := range []string{"plugin-image-volume", "plugin-init-container"} {
			t.Run(sample+" with "+plugin, func(t *testing.T) {
				for _, object := range build(t, overlay(t, "samples/"+sample, "components/provider-file", "components/"+plugin)) {
					dryRun(t, cluster, object)
				}
			})
		}
	}
}

// TestKustomizationsAreCovered fails when a kustomization is added that TestKustomizationsApply does not build.
func TestKustomizationsAreCovered(t *testing.T) {
	var found []string
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "kustomization.yaml" && !strings.HasPrefix(path, "samples/") {
			found = append(found, filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	}))
	require.ElementsMatch(t, []string{
		"crd", "rbac", "rbac-namespaced", "admission", "default", "testdata/sveltos",
		"components/provider-file", "components/plugin-image-volume", "components/plugin-init-container", agents,
	}, found)
}
