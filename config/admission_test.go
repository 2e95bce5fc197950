package config_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// selecting is a Sveltos object that names one cluster.
func selecting(apiVersion, kind, name, refAPIVersion, refKind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"clusterRefs": []any{
		map[string]any{"apiVersion": refAPIVersion, "kind": refKind, "namespace": "fleet", "name": "spoke-1"},
	}}}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// install creates the policies of a folder until the test ends.
func install(t *testing.T, cluster *helpers.Cluster, dir string) {
	t.Helper()
	for _, object := range build(t, dir) {
		if object.GroupVersionKind().Group == "admissionregistration.k8s.io" {
			require.NoError(t, cluster.Client.Create(t.Context(), object))
			t.Cleanup(func() { _ = cluster.Client.Delete(context.Background(), object) })
		}
	}
}

// TestClusterReferences: a reference that names no cluster is refused where it is written.
func TestClusterReferences(t *testing.T) {
	const own, lib, inventoryVersion = "config.projectsveltos.io/v1beta1", "lib.projectsveltos.io/v1beta1", "multicluster.x-k8s.io/v1alpha1"
	cluster := hub(t)
	stored := selecting(own, "ClusterProfile", "stored", own, "ClusterProfile")
	require.NoError(t, cluster.Client.Create(t.Context(), stored), "without the policy the API server takes it")
	t.Cleanup(func() {
		require.NoError(t, cluster.Client.Delete(context.Background(), stored), "what is stored can go")
	})
	install(t, cluster, "admission")

	try := func(object *unstructured.Unstructured) error {
		if object.GetKind() == "Set" {
			object.SetNamespace("fleet")
		}
		return cluster.Client.Create(t.Context(), object, client.DryRunAll)
	}
	slip := func() *unstructured.Unstructured {
		return selecting(own, "ClusterProfile", "slip", own, "ClusterProfile")
	}
	require.Eventually(t, func() bool { return try(slip()) != nil }, time.Minute, 200*time.Millisecond)
	require.ErrorContains(t, try(slip()), `not kind "ClusterProfile" of apiVersion "config.projectsveltos.io/v1beta1"`)
	for _, kind := range []string{"ClusterSet", "Set"} {
		require.ErrorContains(t, try(selecting(lib, kind, "slip", own, "ClusterProfile")), "clusterRefs name clusters", kind)
	}
	require.ErrorContains(t, try(selecting(own, "ClusterProfile", "slip", inventoryVersion, "ClusterSet")), "clusterRefs name clusters")
	require.ErrorContains(t, try(selecting(own, "ClusterProfile", "slip", "", "")), "clusterRefs name clusters")

	require.NoError(t, try(selecting(own, "ClusterProfile", "right", inventoryVersion, "ClusterProfile")))
	require.NoError(t, try(selecting(own, "ClusterProfile", "right", lib, "SveltosCluster")))
	require.NoError(t, try(selecting(own, "ClusterProfile", "right", "cluster.x-k8s.io/v1beta2", "Cluster")))
	require.NoError(t, try(selecting(lib, "Set", "right", inventoryVersion, "ClusterProfile")))
	none := selecting(own, "ClusterProfile", "none", own, "ClusterProfile")
	unstructured.RemoveNestedField(none.Object, "spec", "clusterRefs")
	require.NoError(t, try(none))

	stored.SetLabels(map[string]string{"touched": "yes"})
	require.NoError(t, cluster.Client.Update(t.Context(), stored), "a controller must get its finalizers off")
}
