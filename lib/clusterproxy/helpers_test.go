package clusterproxy

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// enable turns the backend on for one test, with a plugin that prints a token.
func enable(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	plugin := filepath.Join(dir, "plugin")
	require.NoError(t, os.WriteFile(plugin, []byte(`#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'
`), 0o755))
	file := filepath.Join(dir, "providers.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"providers":[{"name":"token","execConfig":`+
		`{"apiVersion":"client.authentication.k8s.io/v1","command":"`+plugin+`"}}]}`), 0o644))
	require.NoError(t, flag.Set(inventory.ProviderFileFlag, file))
	t.Cleanup(func() { require.NoError(t, flag.Set(inventory.ProviderFileFlag, "")) })
}

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, libsveltosv1beta1.AddToScheme,
	} {
		require.NoError(t, add(s))
	}
	return s
}

func hubWith(t testing.TB, objects ...client.Object) client.WithWatch {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(objects...).
		WithStatusSubresource(&inventoryv1alpha1.ClusterProfile{}).Build()
}

type edit func(*inventoryv1alpha1.ClusterProfile)

// cluster is an inventory ClusterProfile of namespace fleet with the label env=prod.
func cluster(name string, edits ...edit) *inventoryv1alpha1.ClusterProfile {
	cp := &inventoryv1alpha1.ClusterProfile{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"env": "prod"},
	}}
	cp.Status.AccessProviders = []inventoryv1alpha1.AccessProvider{
		{Name: "token", Cluster: clientcmdv1.Cluster{Server: "https://" + name + ".example"}}}
	for _, e := range edits {
		e(cp)
	}
	return cp
}

func health(status metav1.ConditionStatus) edit {
	return func(cp *inventoryv1alpha1.ClusterProfile) {
		meta.SetStatusCondition(&cp.Status.Conditions, metav1.Condition{
			Type: inventoryv1alpha1.ClusterConditionControlPlaneHealthy, Status: status, Reason: "Reported"})
	}
}

func annotation(name, value string) edit {
	return func(cp *inventoryv1alpha1.ClusterProfile) {
		if cp.Annotations == nil {
			cp.Annotations = map[string]string{}
		}
		cp.Annotations[name] = value
	}
}

func inNamespace(namespace string) edit {
	return func(cp *inventoryv1alpha1.ClusterProfile) { cp.Namespace = namespace }
}

var (
	healthy = health(metav1.ConditionTrue)
	unknown = health(metav1.ConditionUnknown)
	prod    = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
)
