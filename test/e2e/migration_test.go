//go:build e2e

package e2e

import (
	"context"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

// byMigration is the switch of docs/migration.md: the SveltosCluster that the bridge made is deleted, the inventory
// ClusterProfile takes over, and what is on the spoke is never gone: not a ConfigMap, not a Helm release.
func byMigration(s *scenario) {
	spoke, cluster := s.healthyCluster()
	bridged := s.bridge(spoke)
	require.Equal(s, cluster, client.ObjectKeyFromObject(bridged), "the bridge takes over namespace and name")
	s.deployWithChart()
	byRef := s.refer(cluster)
	delivered := s.eventuallyDelivered(spoke)
	s.eventuallyProvisioned(libsveltosv1beta1.ClusterTypeSveltos, 2)
	s.eventuallyMatching(1)
	s.eventually("the profile with a reference to be reconciled", func(ctx context.Context) (bool, error) {
		count, reconciled, err := s.group.controller.MatchingClusters(ctx, byRef.Name)
		return reconciled && count == 1, err
	})
	assert.Empty(s, s.summariesOf(third), "the bridge serves the cluster")

	require.NoError(s, s.group.hub.Client.Delete(s.Context(), bridged))

	s.eventuallyNoSummary(libsveltosv1beta1.ClusterTypeSveltos)
	s.eventuallyProvisioned(third, 2)
	s.eventually("what a reference delivers", func(ctx context.Context) (bool, error) {
		err := spoke.Client.Get(ctx, byRef, &corev1.ConfigMap{})
		return err == nil, client.IgnoreNotFound(err)
	})
	s.neverGone(spoke, delivered)

	policy := &corev1.ConfigMap{}
	require.NoError(s, s.group.hub.Client.Get(s.Context(), s.key("policy"), policy))
	changed, err := addons.Policy(s.key("policy"), s.addon(), map[string]string{"version": "v1"})
	require.NoError(s, err)
	policy.Data = changed.Data
	require.NoError(s, s.group.hub.Client.Update(s.Context(), policy))
	s.eventually("a change to arrive through the inventory", func(ctx context.Context) (bool, error) {
		current := &corev1.ConfigMap{}
		err := spoke.Client.Get(ctx, s.addon(), current)
		return current.Data["version"] == "v1", client.IgnoreNotFound(err)
	})
}

// byBridgeAgain is the repair of docs/migration.md where the bridge has started again on clusters that are served
// natively: the ClusterSummaries whose deletion waits go without a clean-up, then the SveltosCluster.
func byBridgeAgain(s *scenario) {
	spoke, _ := s.healthyCluster()
	s.deployWithChart()
	delivered := s.eventuallyDelivered(spoke)
	s.eventuallyProvisioned(third, 2)
	native := s.summariesOf(third)
	require.Len(s, native, 1)

	bridged := s.bridge(spoke)
	s.eventuallyProvisioned(libsveltosv1beta1.ClusterTypeSveltos, 2)
	summary := &unstructured.Unstructured{}
	summary.SetGroupVersionKind(addons.GroupVersion.WithKind("ClusterSummary"))
	s.eventually("the native ClusterSummary to wait in deletion", func(ctx context.Context) (bool, error) {
		err := s.group.hub.Client.Get(ctx, types.NamespacedName{Namespace: native[0].Namespace, Name: native[0].Name}, summary)
		return summary.GetDeletionTimestamp() != nil, err
	})
	s.neverGone(spoke, delivered)
	require.NoError(s, s.group.hub.Client.Patch(s.Context(), summary,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))))
	s.eventuallyNoSummary(third)
	require.NoError(s, s.group.hub.Client.Delete(s.Context(), bridged))

	s.eventuallyNoSummary(libsveltosv1beta1.ClusterTypeSveltos)
	s.eventuallyProvisioned(third, 2)
	s.neverGone(spoke, delivered)
}

// bridge makes the SveltosCluster that the bridge makes of an inventory ClusterProfile.
func (s *scenario) bridge(spoke *helpers.Cluster) *libsveltosv1beta1.SveltosCluster {
	s.Helper()
	cluster, secret := helpers.SveltosCluster(s.key(spoke.Name), s.labels(), spoke.Kubeconfig)
	cluster.Labels[clusterproxy.BridgeLabel] = "clusterinventory-controller"
	s.create(secret)
	require.NoError(s, helpers.CreateWithStatus(s.Context(), s.group.hub.Client, cluster))
	s.finalized = append(s.finalized, cluster)
	return cluster
}

// deployWithChart creates a Sveltos ClusterProfile with a ConfigMap and a chart.
func (s *scenario) deployWithChart() {
	s.Helper()
	s.deployTo("ClusterProfile", "", map[string]string{"version": "v0"}, map[string]any{
		"clusterSelector": map[string]any{"matchLabels": map[string]any{scenarioLabel: s.name}},
		"helmCharts":      s.charts(),
	})
}

// eventuallyDelivered waits for what deployWithChart delivers and returns it: ConfigMaps and the Helm release.
func (s *scenario) eventuallyDelivered(spoke *helpers.Cluster) []client.Object {
	s.Helper()
	configMap, chart, release := &corev1.ConfigMap{}, &corev1.ConfigMap{}, &corev1.Secret{}
	for key, object := range map[types.NamespacedName]client.Object{
		s.addon(): configMap, s.key("hello-chart"): chart, s.key("sh.helm.release.v1.hello.v1"): release,
	} {
		s.eventually(key.Name+" on the spoke", func(ctx context.Context) (bool, error) {
			err := spoke.Client.Get(ctx, key, object)
			return err == nil, client.IgnoreNotFound(err)
		})
	}
	return []client.Object{configMap, chart, release}
}

// neverGone: the objects are there and are the same ones.
func (s *scenario) neverGone(spoke *helpers.Cluster, delivered []client.Object) {
	s.Helper()
	for _, was := range delivered {
		is := was.DeepCopyObject().(client.Object)
		require.NoError(s, spoke.Client.Get(s.Context(), client.ObjectKeyFromObject(was), is), was.GetName())
		assert.Equal(s, was.GetUID(), is.GetUID(), "%s must not have been gone", was.GetName())
	}
}

// refer creates a Sveltos ClusterProfile that names the inventory ClusterProfile, and returns what it delivers. Its
// selector matches nothing: addon-controller looks at a profile without one again whenever any cluster changes.
func (s *scenario) refer(cluster types.NamespacedName) types.NamespacedName {
	s.Helper()
	addon := types.NamespacedName{Namespace: s.addon().Namespace, Name: s.name + "-by-ref"}
	policy, err := addons.Policy(s.key("policy-by-ref"), addon, map[string]string{"by": "ref"})
	require.NoError(s, err)
	s.create(policy)
	profile := addons.Profile(addon.Name, map[string]string{scenarioLabel: "none"}, client.ObjectKeyFromObject(policy))
	require.NoError(s, unstructured.SetNestedSlice(profile.Object, []any{inventoryRef(cluster)}, "spec", "clusterRefs"))
	s.create(profile)
	s.finalized = append(s.finalized, profile)
	return addon
}

// eventuallyProvisioned waits until a ClusterSummary of that type has so many features, and all are deployed.
func (s *scenario) eventuallyProvisioned(clusterType libsveltosv1beta1.ClusterType, features int) {
	s.Helper()
	s.eventually("a ClusterSummary of type "+string(clusterType)+" that is provisioned", func(context.Context) (bool, error) {
		for _, summary := range s.summariesOf(clusterType) {
			if len(summary.Statuses) == features && !slices.ContainsFunc(summary.Statuses, func(status string) bool {
				return status != string(libsveltosv1beta1.FeatureStatusProvisioned)
			}) {
				return true, nil
			}
		}
		return false, nil
	})
}
