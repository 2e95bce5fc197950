//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// TestInventory is the group with the backend on.
func TestInventory(t *testing.T) {
	g := startGroup(t, groupOptions{})
	t.Run("Delivery", func(t *testing.T) { delivery(g.scenario(t)) })
	t.Run("LabelRemoved", func(t *testing.T) { labelRemoved(g.scenario(t)) })
	t.Run("ClusterDeleted", func(t *testing.T) { clusterDeleted(g.scenario(t)) })
	t.Run("SideBySide", func(t *testing.T) { sideBySide(g.scenario(t)) })
	t.Run("ProviderNotConfigured", func(t *testing.T) { providerNotConfigured(g.scenario(t)) })
	t.Run("PluginMissing", func(t *testing.T) { pluginMissing(g.scenario(t)) })
}

// delivery: nothing before the control plane is healthy, the add-on afterwards, and no copied credential.
func delivery(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionFalse)
	s.deploy()
	s.eventuallyMatching(0)
	s.neverDeployed(spoke)
	secretsBefore := s.secrets()

	s.health(cluster, metav1.ConditionTrue)

	deployed := s.eventuallyDeployed(spoke)
	assert.Equal(s, s.name, deployed.Data["scenario"])
	assert.Len(s, s.summariesOf(libsveltosv1beta1.ClusterTypeClusterProfile), 1)
	assert.Equal(s, secretsBefore, s.secrets(), "Sveltos must not copy the credential of the cluster")
	clusters := &libsveltosv1beta1.SveltosClusterList{}
	require.NoError(s, s.group.hub.Client.List(s.Context(), clusters, client.InNamespace(s.name)))
	assert.Empty(s, clusters.Items, "no SveltosCluster stands in for the inventory object")
	s.neverDeployed(s.group.hub)
}

// labelRemoved: a cluster that is no longer selected loses the add-on.
func labelRemoved(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deploy()
	s.eventuallyDeployed(spoke)

	s.unlabel(cluster)

	s.eventuallyWithdrawn(spoke)
	s.eventuallyNoSummary(libsveltosv1beta1.ClusterTypeClusterProfile)
}

// clusterDeleted: nothing on the hub remembers a cluster that has left the inventory.
func clusterDeleted(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deploy()
	s.eventuallyDeployed(spoke)
	require.Len(s, s.summariesOf(libsveltosv1beta1.ClusterTypeClusterProfile), 1)

	s.delete(s.Context(), &inventoryv1alpha1.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name},
	})

	s.eventuallyNoSummary(libsveltosv1beta1.ClusterTypeClusterProfile)
}

// sideBySide: one add-on, a SveltosCluster and an inventory ClusterProfile; both are served.
func sideBySide(s *scenario) {
	first, second := helpers.SharedSpoke(s, "spoke-1"), helpers.SharedSpoke(s, "spoke-2")
	cluster := s.inventory(first)
	s.health(cluster, metav1.ConditionTrue)
	s.sveltosCluster(second)

	s.deploy()

	s.eventuallyDeployed(first)
	s.eventuallyDeployed(second)
	s.eventuallyMatching(2)
	assert.Len(s, s.summariesOf(libsveltosv1beta1.ClusterTypeClusterProfile), 1)
	assert.Len(s, s.summariesOf(libsveltosv1beta1.ClusterTypeSveltos), 1)
}

// secrets are the names of all Secrets on the hub.
func (s *scenario) secrets() []string {
	s.Helper()
	list := &corev1.SecretList{}
	require.NoError(s, s.group.hub.Client.List(s.Context(), list))
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, client.ObjectKeyFromObject(&list.Items[i]).String())
	}
	return names
}

// unlabel removes the label that the add-on selects by.
func (s *scenario) unlabel(cluster types.NamespacedName) {
	s.Helper()
	profile := &inventoryv1alpha1.ClusterProfile{}
	require.NoError(s, s.group.hub.Client.Get(s.Context(), cluster, profile))
	before := profile.DeepCopy()
	delete(profile.Labels, scenarioLabel)
	require.NoError(s, s.group.hub.Client.Patch(s.Context(), profile, client.MergeFrom(before)))
}
