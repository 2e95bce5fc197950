//go:build e2e

package e2e

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

// pausedAnnotation stops addon-controller from reconciling a Sveltos profile and its ClusterSummaries' spec.
const pausedAnnotation = "profile.projectsveltos.io/paused"

// TestRollback: an upgraded addon-controller, then the stock one on the same hub, then the upgraded one again. With
// the profile paused meanwhile (docs/rollback.md), the add-on stays on the spoke, the same object throughout.
func TestRollback(t *testing.T) {
	hub := helpers.StartHub(t, external.Addons)
	g := startGroup(t, groupOptions{hub: hub})
	s := g.scenario(t)
	spoke, _ := s.healthyCluster()
	s.deploy()
	uid := s.eventuallyDeployed(spoke).UID
	s.eventually("the add-on to be provisioned", func(context.Context) (bool, error) {
		summaries := s.summariesOf(third)
		return len(summaries) == 1 && assert.ObjectsAreEqual([]string{"Provisioned"}, summaries[0].Statuses), nil
	})
	s.pauseProfile("true")

	upgraded := g.options
	stock := g.options
	var err error
	stock.Binary, err = helpers.BuildAddonController(t.Context(), helpers.Stock, helpers.Stderr)
	require.NoError(t, err)
	stock.ProviderFile, stock.Name = "", "addon-controller-stock"
	g.options = stock
	g.restart(s)
	s.stays(spoke, uid)
	assert.Len(s, s.summariesOf(third), 1, "its ClusterSummary waits")

	g.options = upgraded
	g.restart(s)
	s.pauseProfile("")
	s.changeAddon("after")
	s.eventuallyVersion(spoke, "after")
	assert.Equal(t, uid, s.eventuallyDeployed(spoke).UID, "never reinstalled")
	assert.Equal(t, "addon-controller", filepath.Base(upgraded.Binary))
}

// stays looks for a moment that the add-on is the same object.
func (s *scenario) stays(spoke *helpers.Cluster, uid types.UID) {
	s.Helper()
	assert.Never(s, func() bool { return s.eventuallyDeployed(spoke).UID != uid }, 4*never, never/10)
}

// pauseProfile sets the annotation, or removes it where value is empty.
func (s *scenario) pauseProfile(value string) {
	s.Helper()
	profile := addons.Profile(s.name, s.labels(), s.key("policy"))
	text := `"` + value + `"`
	if value == "" {
		text = "null"
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+pausedAnnotation+`":`+text+`}}}`))
	require.NoError(s, s.group.hub.Client.Patch(s.Context(), profile, patch))
}
