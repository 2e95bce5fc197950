package helpers_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

func TestMain(m *testing.M) { helpers.Main(m) }

func TestHubAndSpokeAreDistinctClusters(t *testing.T) {
	hub, spoke := helpers.SharedHub(t), helpers.SharedSpoke(t, "spoke-1")

	assert.NotEqual(t, hub.Config.Host, spoke.Config.Host)
	assert.NotEqual(t, hub.Config.CAData, spoke.Config.CAData, "one authority would let a test pass with the wrong credential")
	assert.Same(t, hub, helpers.SharedHub(t), "tests of a package share one hub")

	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "only-on-spoke"}}
	require.NoError(t, spoke.Client.Create(t.Context(), configMap))
	t.Cleanup(func() { require.NoError(t, spoke.Client.Delete(context.Background(), configMap)) })
	err := hub.Client.Get(t.Context(), client.ObjectKeyFromObject(configMap), &corev1.ConfigMap{})
	assert.True(t, apierrors.IsNotFound(err), "the hub must not see what was created on the spoke: %v", err)
}

func TestHubServesTheCRDsOfLibsveltosAndOfTheInventory(t *testing.T) {
	hub := helpers.SharedHub(t)

	assert.NoError(t, hub.Client.List(t.Context(), &libsveltosv1beta1.SveltosClusterList{}))
	assert.NoError(t, hub.Client.Get(t.Context(), client.ObjectKey{Name: helpers.SveltosNamespace}, &corev1.Namespace{}))
}

func TestKubeconfigReachesItsOwnCluster(t *testing.T) {
	spoke := helpers.SharedSpoke(t, "spoke-1")

	config, err := clientcmd.RESTConfigFromKubeConfig(spoke.Kubeconfig)
	require.NoError(t, err)
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	assert.NoError(t, c.List(t.Context(), &corev1.NamespaceList{}))
}
