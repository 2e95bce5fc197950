//go:build e2e && bench

package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// TestFleet delivers a templated ConfigMap to 200 clusters, which share a spoke, through the real addon-controller:
// once as SveltosClusters, once as inventory ClusterProfiles. Run by make bench-fleet; FLEET is another number of
// clusters. addon-controller v1.14.0 stops a reconcile at each new ClusterConfiguration that its cache does not show yet
// and goes on 10 s later, so that the time is about 10 s for each cluster, whatever its type.
func TestFleet(t *testing.T) {
	fleet := 200
	if size := os.Getenv("FLEET"); size != "" {
		var err error
		fleet, err = strconv.Atoi(size)
		require.NoError(t, err)
	}
	g := startGroup(t, groupOptions{})
	spoke := helpers.SharedSpoke(t, "spoke-1")
	took := map[libsveltosv1beta1.ClusterType]time.Duration{}
	for _, clusterType := range []libsveltosv1beta1.ClusterType{libsveltosv1beta1.ClusterTypeSveltos, third} {
		t.Run(string(clusterType), func(t *testing.T) {
			s := g.scenario(t)
			clusters := s.fleet(spoke, clusterType, fleet)
			begin := time.Now()
			s.deployEach("v0")
			all := s.versions(spoke, "v0", clusters)
			require.NoError(t, helpers.WaitFor(t.Context(), "the add-on of all clusters", time.Hour, helpers.Stderr,
				func(ctx context.Context) (bool, error) { return all(ctx) }))
			took[clusterType] = time.Since(begin)
		})
	}
	ours, theirs := took[third].Seconds(), took[libsveltosv1beta1.ClusterTypeSveltos].Seconds()
	_, _ = fmt.Fprintf(os.Stdout, "bench: fleet/%d-clusters-delivered/seconds ours=%.4g theirs=%.4g ratio=%.3g\n", fleet, ours, theirs, ours/theirs)
}

// fleet registers that many clusters, ready and labelled, all of them the same spoke.
func (s *scenario) fleet(spoke *helpers.Cluster, clusterType libsveltosv1beta1.ClusterType, size int) []types.NamespacedName {
	s.Helper()
	secret := s.key("kubeconfig")
	s.create(helpers.KubeconfigSecret(secret, spoke.Kubeconfig))
	clusters := make([]types.NamespacedName, 0, size)
	for i := range size {
		name := fmt.Sprintf("cluster-%03d", i)
		if clusterType == third {
			cluster := s.inventoryWith(name, helpers.SecretReaderAccess(spoke, secret))
			s.health(cluster, metav1.ConditionTrue)
			clusters = append(clusters, cluster)
			continue
		}
		cluster, kubeconfig := helpers.SveltosCluster(s.key(name), s.labels(), spoke.Kubeconfig)
		s.create(kubeconfig)
		require.NoError(s, helpers.CreateWithStatus(s.Context(), s.group.hub.Client, cluster))
		clusters = append(clusters, s.key(name))
	}
	return clusters
}
