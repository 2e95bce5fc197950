package suite

import (
	"context"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const (
	third    = libsveltosv1beta1.ClusterTypeClusterProfile
	patience = 30 * time.Second
	tick     = 50 * time.Millisecond
)

func TestMain(m *testing.M) { helpers.Main(m) }

// fleet is a namespace of the hub whose inventory ClusterProfiles are reached with
// kubeconfig-secretreader.
type fleet struct {
	t         *testing.T
	hub       *helpers.Cluster
	namespace string
}

func newFleet(t *testing.T, hub *helpers.Cluster) *fleet {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	require.NoError(t, hub.EnsureNamespace(t.Context(), name))
	binaries, err := helpers.EnsureBinaries(t.Context(), helpers.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "hub.kubeconfig")
	require.NoError(t, hub.WriteKubeconfig(kubeconfig))
	enable(t, helpers.SecretReader(binaries.KubeconfigSecretReader, kubeconfig))
	return &fleet{t: t, hub: hub, namespace: name}
}

// enable turns the backend on for one test.
func enable(t *testing.T, providers ...helpers.Provider) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "providers.json")
	require.NoError(t, helpers.WriteProviderFile(file, providers...))
	require.NoError(t, flag.Set(inventory.ProviderFileFlag, file))
	t.Cleanup(func() { require.NoError(t, flag.Set(inventory.ProviderFileFlag, "")) })
}

func (f *fleet) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: f.namespace, Name: name}
}

// join puts the spoke into the inventory.
func (f *fleet) join(name string, spoke *helpers.Cluster) {
	f.t.Helper()
	secret := f.key(name + "-access")
	require.NoError(f.t, f.hub.Client.Create(f.t.Context(), helpers.KubeconfigSecret(secret, spoke.Kubeconfig)))
	f.create(name, helpers.SecretReaderAccess(spoke, secret))
}

func (f *fleet) create(name string, access ...inventoryv1alpha1.AccessProvider) {
	f.t.Helper()
	cp := helpers.InventoryClusterProfile(f.key(name), map[string]string{"fleet": f.namespace}, access...)
	require.NoError(f.t, helpers.CreateWithStatus(f.t.Context(), f.hub.Client, cp))
	f.t.Cleanup(func() { _ = f.hub.Client.Delete(context.Background(), cp) })
}

func (f *fleet) health(name string, status metav1.ConditionStatus) {
	f.t.Helper()
	require.NoError(f.t, helpers.SetControlPlaneHealthy(f.t.Context(), f.hub.Client, f.key(name), status))
}

func (f *fleet) get(name string) *inventoryv1alpha1.ClusterProfile {
	f.t.Helper()
	cp := &inventoryv1alpha1.ClusterProfile{}
	require.NoError(f.t, f.hub.Client.Get(f.t.Context(), f.key(name), cp))
	return cp
}

// edit changes a profile, and its status.
func (f *fleet) edit(name string, change func(*inventoryv1alpha1.ClusterProfile)) {
	f.t.Helper()
	cp := f.get(name)
	change(cp)
	withStatus := cp.DeepCopy()
	require.NoError(f.t, f.hub.Client.Update(f.t.Context(), cp))
	withStatus.ResourceVersion = cp.ResourceVersion
	require.NoError(f.t, f.hub.Client.Status().Update(f.t.Context(), withStatus))
}

func (f *fleet) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"fleet": f.namespace}}
}

// mark leaves a ConfigMap behind through c, by which the cluster is told later.
func mark(t *testing.T, c client.Client, name string) {
	t.Helper()
	require.NoError(t, c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}))
}

func marked(t *testing.T, c client.Client, name string) bool {
	t.Helper()
	err := c.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: name}, &corev1.ConfigMap{})
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

func discard() logr.Logger { return logr.Discard() }

func serverOf(spoke *helpers.Cluster) clientcmdv1.Cluster {
	return helpers.SecretReaderAccess(spoke, types.NamespacedName{}).Cluster
}
