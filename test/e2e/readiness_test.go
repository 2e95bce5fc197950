//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

const (
	third = libsveltosv1beta1.ClusterTypeClusterProfile
	// notReady is what addon-controller writes into a ClusterSummary whose cluster is not healthy.
	notReady = "cluster is not ready"
	// matchWithin is far below any requeue or resync that could make up for an event that is missed. Case 18 asks for
	// 5 s; how long it took is logged, because a busy machine is no fault.
	matchWithin = 30 * time.Second
)

// TestReadiness: a cluster that has matched stays matched, and nothing is deployed while it is not healthy.
func TestReadiness(t *testing.T) {
	g := startGroup(t, groupOptions{})
	stories := map[string]func(*scenario){
		"HealthFlaps":             healthFlaps,
		"Paused":                  paused,
		"GivenUp":                 givenUp,
		"DeletedWhileUnreachable": deletedWhileUnreachable,
	}
	for _, order := range orders() {
		stories["Order"+order] = func(s *scenario) { everyOrder(s, order) }
	}
	g.atOnce(t, stories)
	t.Run("RestartWhileUnhealthy", func(t *testing.T) { restartWhileUnhealthy(g.scenario(t)) })
}

// healthFlaps: True -> Unknown -> False -> True, three times.
func healthFlaps(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deploy()
	uid := s.eventuallyDeployed(spoke).UID
	for round := range 3 {
		version := fmt.Sprintf("v%d", round)
		s.health(cluster, metav1.ConditionUnknown)
		s.eventuallyFails(notReady)
		s.changeAddon(version)
		s.health(cluster, metav1.ConditionFalse)
		s.neverVersion(spoke, version)
		require.Len(s, s.summariesOf(third), 1, "the match is kept")

		s.health(cluster, metav1.ConditionTrue)
		s.eventuallyVersion(spoke, version)
		assert.Equal(s, uid, s.eventuallyDeployed(spoke).UID, "the add-on was not reinstalled")
	}
}

// restartWhileUnhealthy: the latch outlives the controller that wrote it.
func restartWhileUnhealthy(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deploy()
	uid := s.eventuallyDeployed(spoke).UID
	s.eventually("the latch to be written", func(context.Context) (bool, error) {
		return s.profile(cluster).Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] != "", nil
	})
	s.health(cluster, metav1.ConditionUnknown)
	s.eventuallyFails(notReady)

	s.group.restart(s)
	s.eventuallyMatching(1)
	s.changeAddon("after")
	s.neverVersion(spoke, "after")
	assert.Equal(s, uid, s.eventuallyDeployed(spoke).UID)
	require.Len(s, s.summariesOf(third), 1)

	s.health(cluster, metav1.ConditionTrue)
	s.eventuallyVersion(spoke, "after")
	assert.Equal(s, uid, s.eventuallyDeployed(spoke).UID)
}

// givenUp: removing the annotation of an unhealthy cluster un-matches it.
func givenUp(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deploy()
	s.eventuallyDeployed(spoke)
	s.health(cluster, metav1.ConditionUnknown)
	s.eventuallyFails(notReady)
	s.eventuallyMatching(1)
	s.annotate(cluster, libsveltosv1beta1.InventoryMatchedAnnotation, nil)
	s.eventuallyMatching(0)
	// Sveltos waits with the withdrawal until the cluster is healthy again.
	s.health(cluster, metav1.ConditionTrue)
	s.eventuallyMatching(1)
}

// paused: nothing is deployed while the annotation is set.
func paused(s *scenario) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.annotate(cluster, "cluster.x-k8s.io/paused", "true")
	s.deploy()
	s.eventuallyMatching(1)
	s.eventually("the ClusterSummary", func(context.Context) (bool, error) { return len(s.summariesOf(third)) == 1, nil })
	s.neverDeployed(spoke)
	s.annotate(cluster, "cluster.x-k8s.io/paused", nil)
	s.eventuallyDeployed(spoke)
}

// deletedWhileUnreachable: the hub is cleaned although the spoke does not answer (case 19).
func deletedWhileUnreachable(s *scenario) {
	spoke := helpers.StartSpoke(s, "doomed")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deploy()
	s.eventuallyDeployed(spoke)
	s.kill(spoke)
	s.delete(s.Context(), s.profile(cluster))
	s.eventuallyNoSummary(third)
}

// orders are the orders of: the Sveltos profile (S), the inventory object (I), its labels (L), its health (H).
func orders() []string {
	var all []string
	for _, rest := range []string{"LH", "HL"} {
		all = append(all, "SI"+rest, "I"+"S"+rest, "I"+rest[:1]+"S"+rest[1:], "I"+rest+"S")
	}
	return all
}

// everyOrder takes the steps in that order; the cluster matches soon after the last (case 18).
func everyOrder(s *scenario, order string) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	labels := s.labels()
	var cluster types.NamespacedName
	for _, step := range order {
		switch step {
		case 'S':
			s.deploy()
		case 'I':
			cluster = s.inventory(spoke)
			s.unlabel(cluster)
		case 'L':
			before := s.profile(cluster)
			after := before.DeepCopy()
			after.Labels = labels
			require.NoError(s, s.group.hub.Client.Patch(s.Context(), after, client.MergeFrom(before)))
		case 'H':
			s.health(cluster, metav1.ConditionTrue)
		}
	}
	begin := time.Now()
	err := helpers.WaitFor(s.Context(), "the match", matchWithin, s.progress, func(context.Context) (bool, error) {
		return len(s.summariesOf(third)) == 1, nil
	})
	require.NoError(s, err, "order %s", order)
	s.Logf("order %s: matched %s after the last step", order, time.Since(begin).Round(time.Millisecond))
}

// TestCRDInstalledLater: the controller is there before the inventory is.
func TestCRDInstalledLater(t *testing.T) {
	hub := helpers.StartCluster(t, helpers.ClusterOptions{
		Name: "hub-without-inventory", CRDs: []external.Source{external.Libsveltos, external.Addons},
		Namespaces: []string{helpers.SveltosNamespace},
	})
	g := startGroup(t, groupOptions{hub: hub})
	s := g.scenario(t)
	s.deploy()
	s.eventuallyMatching(0)

	root, err := helpers.Root()
	require.NoError(t, err)
	paths, err := external.CRDPaths(t.Context(), root, external.Inventory)
	require.NoError(t, err)
	_, err = envtest.InstallCRDs(hub.Config, envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true})
	require.NoError(t, err)
	spoke := helpers.SharedSpoke(t, "spoke-1")
	s.health(s.inventory(spoke), metav1.ConditionTrue)
	s.eventuallyDeployed(spoke)
}

// changeAddon changes the add-on's content on the hub.
func (s *scenario) changeAddon(version string) {
	s.Helper()
	policy, err := addons.Policy(s.key("policy"), s.addon(), map[string]string{"scenario": s.name, "version": version})
	require.NoError(s, err)
	current := &corev1.ConfigMap{}
	require.NoError(s, s.group.hub.Client.Get(s.Context(), client.ObjectKeyFromObject(policy), current))
	current.Data = policy.Data
	require.NoError(s, s.group.hub.Client.Update(s.Context(), current))
}

func (s *scenario) versionOn(spoke *helpers.Cluster) string {
	configMap := &corev1.ConfigMap{}
	if err := spoke.Client.Get(s.Context(), s.addon(), configMap); err != nil {
		return "error: " + err.Error()
	}
	return configMap.Data["version"]
}

func (s *scenario) eventuallyVersion(spoke *helpers.Cluster, version string) {
	s.Helper()
	s.eventually("version "+version+" on "+spoke.Name, func(context.Context) (bool, error) {
		return s.versionOn(spoke) == version, nil
	})
}

func (s *scenario) neverVersion(spoke *helpers.Cluster, version string) {
	s.Helper()
	assert.Never(s, func() bool { return s.versionOn(spoke) == version }, never, never/10, "version %s while not healthy", version)
}

// profile reads an inventory ClusterProfile.
func (s *scenario) profile(cluster types.NamespacedName) *inventoryv1alpha1.ClusterProfile {
	s.Helper()
	profile := &inventoryv1alpha1.ClusterProfile{}
	require.NoError(s, s.group.hub.Client.Get(s.Context(), cluster, profile))
	return profile
}

// annotate sets an annotation of an inventory ClusterProfile, or removes it where value is nil.
func (s *scenario) annotate(cluster types.NamespacedName, name string, value any) {
	s.Helper()
	text := "null"
	if value != nil {
		text = fmt.Sprintf("%q", value)
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, name, text))
	require.NoError(s, s.group.hub.Client.Patch(s.Context(), s.profile(cluster), patch))
}

// kill stops a spoke of this test before the test ends.
func (s *scenario) kill(spoke *helpers.Cluster) {
	s.Helper()
	require.NoError(s, spoke.Stop())
}
