package clusterproxy

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	"github.com/projectsveltos/libsveltos/lib/roles"
)

const third = libsveltosv1beta1.ClusterTypeClusterProfile

// Case 4: a profile exists and the backend is off.
func TestOffMeansTypedErrorsAndNoAPICall(t *testing.T) {
	ctx, log := t.Context(), logr.Discard()
	touched := func(o client.Object) {
		if _, ok := o.(*inventoryv1alpha1.ClusterProfile); ok {
			t.Error("an inventory ClusterProfile was asked for")
		}
	}
	c := interceptor.NewClient(hubWith(t, cluster("a", healthy)), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			touched(o)
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if _, ok := l.(*inventoryv1alpha1.ClusterProfileList); ok {
				t.Error("inventory ClusterProfiles were listed")
			}
			return c.List(ctx, l, opts...)
		},
	})
	ref := inventoryRef("fleet", "a")

	object, err := GetCluster(ctx, c, "fleet", "a", third)
	require.ErrorIs(t, err, inventory.ErrNotConfigured)
	assert.True(t, object == nil, "a true nil")
	_, err = IsClusterPaused(ctx, c, "fleet", "a", third)
	require.ErrorIs(t, err, inventory.ErrNotConfigured)
	_, err = IsClusterReadyToBeConfigured(ctx, c, &ref, log)
	require.ErrorIs(t, err, inventory.ErrNotConfigured)
	for _, admin := range []string{"", "kubernetes-admin", "tenant"} {
		_, err = GetSecretData(ctx, c, "fleet", "a", "ns", admin, third, log)
		require.ErrorIs(t, err, inventory.ErrNotConfigured)
		_, err = GetKubernetesRestConfig(ctx, c, "fleet", "a", "ns", admin, third, log)
		require.ErrorIs(t, err, inventory.ErrNotConfigured)
		require.ErrorContains(t, err, "--"+inventory.ProviderFileFlag)
		_, err = GetKubernetesClient(ctx, c, "fleet", "a", "ns", admin, third, log)
		require.ErrorIs(t, err, inventory.ErrNotConfigured)
	}
	pull, err := IsClusterInPullMode(ctx, c, "fleet", "a", third, log)
	require.NoError(t, err)
	assert.False(t, pull)
	for _, list := range []func() ([]corev1.ObjectReference, error){
		func() ([]corev1.ObjectReference, error) { return GetListOfClusters(ctx, c, "", "", log) },
		func() ([]corev1.ObjectReference, error) { return GetListOfClustersForShardKey(ctx, c, "", "", "", log) },
		func() ([]corev1.ObjectReference, error) { return GetMatchingClusters(ctx, c, prod, "", "", log) },
	} {
		refs, err := list()
		require.NoError(t, err)
		assert.Empty(t, refs)
	}
}

func TestClusterTypeIsDecidedByGroupAndKind(t *testing.T) {
	for _, tc := range []struct {
		apiVersion, kind string
		want             libsveltosv1beta1.ClusterType
	}{
		{"multicluster.x-k8s.io/v1alpha1", "ClusterProfile", third},
		{"multicluster.x-k8s.io/v1beta1", "ClusterProfile", third},
		{libsveltosv1beta1.GroupVersion.String(), "SveltosCluster", libsveltosv1beta1.ClusterTypeSveltos},
		{clusterv1.GroupVersion.String(), "Cluster", libsveltosv1beta1.ClusterTypeCapi},
	} {
		assert.Equal(t, tc.want, GetClusterType(&corev1.ObjectReference{APIVersion: tc.apiVersion, Kind: tc.kind}), tc.apiVersion)
	}
	assert.False(t, isInventoryRef(&corev1.ObjectReference{APIVersion: "config.projectsveltos.io/v1beta1", Kind: "ClusterProfile"}),
		"Sveltos' own kind of the same name is no cluster")
	assert.False(t, isInventoryRef(&corev1.ObjectReference{APIVersion: "multicluster.x-k8s.io/v1alpha1", Kind: "PlacementDecision"}))
}

func TestGetClusterOfEachType(t *testing.T) {
	enable(t)
	name := metav1.ObjectMeta{Namespace: "fleet", Name: "a"}
	c := hubWith(t, cluster("a"), &libsveltosv1beta1.SveltosCluster{ObjectMeta: name}, &clusterv1.Cluster{ObjectMeta: name})
	for clusterType, want := range map[libsveltosv1beta1.ClusterType]client.Object{
		third:                                &inventoryv1alpha1.ClusterProfile{},
		libsveltosv1beta1.ClusterTypeSveltos: &libsveltosv1beta1.SveltosCluster{},
		libsveltosv1beta1.ClusterTypeCapi:    &clusterv1.Cluster{},
	} {
		got, err := GetCluster(t.Context(), c, "fleet", "a", clusterType)
		require.NoError(t, err)
		assert.IsType(t, want, got)
		if clusterType == third {
			assert.Equal(t, "multicluster.x-k8s.io/v1alpha1, Kind=ClusterProfile", got.GetObjectKind().GroupVersionKind().String())
		}
		got, err = GetCluster(t.Context(), c, "fleet", "none", clusterType)
		assert.True(t, apierrors.IsNotFound(err), "%s: %v", clusterType, err)
		assert.True(t, got == nil, "%s: a true nil", clusterType)
	}
}

// Case 5: a reference to a profile that does not exist.
func TestMissingProfileIsNotFound(t *testing.T) {
	enable(t)
	ctx, log, c, ref := t.Context(), logr.Discard(), hubWith(t), inventoryRef("fleet", "none")
	_, paused := IsClusterPaused(ctx, c, "fleet", "none", third)
	_, ready := IsClusterReadyToBeConfigured(ctx, c, &ref, log)
	_, config := GetKubernetesRestConfig(ctx, c, "fleet", "none", "", "", third, log)
	_, data := GetSecretData(ctx, c, "fleet", "none", "", "", third, log)
	for _, err := range []error{paused, ready, config, data} {
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		require.ErrorContains(t, err, "ClusterProfile fleet/none: ")
	}
}

// Case 17 and 21.
func TestReadyAndPaused(t *testing.T) {
	enable(t)
	for name, tc := range map[string]struct {
		edits         []edit
		ready, paused bool
	}{
		"no condition": {nil, false, false},
		"unknown":      {[]edit{unknown}, false, false},
		"false":        {[]edit{health(metav1.ConditionFalse)}, false, false},
		"true":         {[]edit{healthy}, true, false},
		"paused":       {[]edit{healthy, annotation(clusterv1.PausedAnnotation, "")}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, ref := hubWith(t, cluster("a", tc.edits...)), inventoryRef("fleet", "a")
			ready, err := IsClusterReadyToBeConfigured(t.Context(), c, &ref, logr.Discard())
			require.NoError(t, err)
			assert.Equal(t, tc.ready, ready)
			paused, err := IsClusterPaused(t.Context(), c, "fleet", "a", third)
			require.NoError(t, err)
			assert.Equal(t, tc.paused, paused)
		})
	}
}

func TestTenantGetsItsOwnKubeconfigOrAnError(t *testing.T) {
	enable(t)
	ctx, log := t.Context(), logr.Discard()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "owner", UID: "1"}}
	c := hubWith(t, cluster("a"), owner)
	_, err := GetKubernetesRestConfig(ctx, c, "fleet", "a", "ns", "tenant", third, log)
	require.ErrorContains(t, err, "tenant ns/tenant has no kubeconfig", "never the hub's own configuration")

	kubeconfig, err := inventory.FromFlags().Kubeconfig(cluster("a"))
	require.NoError(t, err)
	_, err = roles.CreateSecret(ctx, c, "fleet", "a", "ns", "tenant", third, kubeconfig, owner)
	require.NoError(t, err)
	config, err := GetKubernetesRestConfig(ctx, c, "fleet", "a", "ns", "tenant", third, log)
	require.NoError(t, err)
	assert.Equal(t, "https://a.example", config.Host)

	_, err = roles.CreateSecret(ctx, c, "fleet", "a", "ns", "tenant", third, []byte("{}"), owner)
	require.NoError(t, err)
	_, err = GetKubernetesRestConfig(ctx, c, "fleet", "a", "ns", "tenant", third, log)
	require.Error(t, err, "a kubeconfig without a cluster")
}

func TestSecretDataIsAKubeconfigForTheCluster(t *testing.T) {
	enable(t)
	data, err := GetSecretData(t.Context(), hubWith(t, cluster("a")), "fleet", "a", "", "", third, logr.Discard())
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	require.NoError(t, err)
	assert.Equal(t, "https://a.example", config.Host)
	assert.Empty(t, config.BearerToken)
	assert.NotNil(t, config.ExecProvider)
}
