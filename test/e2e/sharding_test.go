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
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

const (
	shardedClusters = 20
	shardKey        = "one"
	shardPatience   = 5 * time.Minute
)

// TestSharding: two addon-controllers share 20 clusters by the shard annotation; the annotation moves a cluster. The
// clusters share a spoke, so each has an add-on with a name of its own.
func TestSharding(t *testing.T) {
	g := startGroup(t, groupOptions{})
	g.supervised = true
	shard := g.another(t, "shard-"+shardKey, "--shard-key="+shardKey)
	s := g.scenario(t)
	// The two write one ConfigMap for each cluster that they see, and retry when they collide.
	s.patience = shardPatience
	spoke := helpers.SharedSpoke(t, "spoke-1")
	secret := s.key("kubeconfig")
	s.create(helpers.KubeconfigSecret(secret, spoke.Kubeconfig))
	var clusters []types.NamespacedName
	for i := range shardedClusters {
		cluster := s.inventoryWith(fmt.Sprintf("cluster-%02d", i), helpers.SecretReaderAccess(spoke, secret))
		clusters = append(clusters, cluster)
		if i%2 == 1 {
			s.annotate(cluster, libsveltosv1beta1.ShardAnnotation, shardKey)
		}
		s.health(cluster, metav1.ConditionTrue)
	}
	s.deployEach("v0")
	s.eventually("the add-on of all 20 clusters", s.versions(spoke, "v0", clusters))

	g.retire(shard)
	s.changeEach("v1")
	var stay, move []types.NamespacedName
	for i, cluster := range clusters {
		if i%2 == 0 {
			stay = append(stay, cluster)
		} else {
			move = append(move, cluster)
		}
	}
	s.eventually("the clusters of the process without a shard key to follow", s.versions(spoke, "v1", stay))
	assert.Never(t, func() bool {
		for _, cluster := range move {
			if s.versionOf(spoke, cluster) != "v0" {
				return true
			}
		}
		return false
	}, never, never/10, "the other clusters belong to a process that is not running")

	for _, cluster := range move {
		s.annotate(cluster, libsveltosv1beta1.ShardAnnotation, nil)
	}
	s.eventually("the clusters that have moved to follow", s.versions(spoke, "v1", move))
}

// eachPolicy is a templated add-on whose name is that of its cluster.
func (s *scenario) eachPolicy(version string) *corev1.ConfigMap {
	s.Helper()
	policy, err := addons.Policy(s.key("policy"), types.NamespacedName{Namespace: "default", Name: s.name + "-{{ .Cluster.metadata.name }}"},
		map[string]string{"version": version})
	require.NoError(s, err)
	policy.Annotations = map[string]string{"projectsveltos.io/template": "true"}
	return policy
}

func (s *scenario) deployEach(version string) {
	s.Helper()
	policy := s.eachPolicy(version)
	s.create(policy)
	profile := addons.Profile(s.name, s.labels(), client.ObjectKeyFromObject(policy))
	s.create(profile)
	s.finalized = append(s.finalized, profile)
}

func (s *scenario) changeEach(version string) {
	s.Helper()
	current := &corev1.ConfigMap{}
	require.NoError(s, s.group.hub.Client.Get(s.Context(), s.key("policy"), current))
	current.Data = s.eachPolicy(version).Data
	require.NoError(s, s.group.hub.Client.Update(s.Context(), current))
}

func (s *scenario) versionOf(spoke *helpers.Cluster, cluster types.NamespacedName) string {
	configMap := &corev1.ConfigMap{}
	key := types.NamespacedName{Namespace: "default", Name: s.name + "-" + cluster.Name}
	if err := spoke.Client.Get(s.Context(), key, configMap); err != nil {
		return "error: " + err.Error()
	}
	return configMap.Data["version"]
}

// versions tells whether all the clusters have that version of their add-on.
func (s *scenario) versions(spoke *helpers.Cluster, version string, clusters []types.NamespacedName) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) {
		for _, cluster := range clusters {
			if s.versionOf(spoke, cluster) != version {
				return false, nil
			}
		}
		return true, nil
	}
}
