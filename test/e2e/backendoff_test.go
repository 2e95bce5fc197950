//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// TestBackendOff: without the flag the upgraded controller behaves as the stock one, which runs the same scenario.
func TestBackendOff(t *testing.T) {
	t.Run("Upgraded", func(t *testing.T) {
		g := startGroup(t, groupOptions{backendOff: true})
		inventoryIgnored(g.scenario(t))
	})
	t.Run("Stock", func(t *testing.T) {
		g := startGroup(t, groupOptions{backendOff: true, variant: helpers.Stock})
		inventoryIgnored(g.scenario(t))
	})
}

// TestUnchangedControllerOnThisTree: addon-controller v1.14.0 compiles unchanged against this tree, and serves.
func TestUnchangedControllerOnThisTree(t *testing.T) {
	g := startGroup(t, groupOptions{backendOff: true, variant: helpers.StockOnTree})
	inventoryIgnored(g.scenario(t))
}

// inventoryIgnored: a healthy inventory ClusterProfile does not match, a SveltosCluster with the same labels does.
func inventoryIgnored(s *scenario) {
	first, second := helpers.SharedSpoke(s, "spoke-1"), helpers.SharedSpoke(s, "spoke-2")
	cluster := s.inventory(first)
	s.health(cluster, metav1.ConditionTrue)
	s.sveltosCluster(second)

	s.deploy()

	s.eventuallyDeployed(second)
	s.eventuallyMatching(1)
	s.neverDeployed(first)
	require.Len(s, s.summaries(), 1)
	assert.Len(s, s.summariesOf(libsveltosv1beta1.ClusterTypeSveltos), 1)
}
