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
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

// fleetLabel divides a fleet among Sveltos ClusterProfiles.
const fleetLabel = "e2e-part"

// TestFleet delivers a templated ConfigMap to 200 clusters, which share a spoke, through the real addon-controller:
// once as SveltosClusters, once as inventory ClusterProfiles. Run by make bench-fleet; FLEET is another number of
// clusters, FLEET_PROFILES the number of Sveltos ClusterProfiles that they are divided among.
//
// addon-controller v1.14.0 ends a reconcile at each new ClusterConfiguration that its cache does not show yet and goes on
// 10 s later, whatever the type: a Sveltos ClusterProfile gains about one new cluster in 10 s. Twenty of them side by
// side keep the controller busy; a single one measures its timer, for over half an hour.
func TestFleet(t *testing.T) {
	fleet, profiles := fromEnv(t, "FLEET", 200), fromEnv(t, "FLEET_PROFILES", 20)
	g := startGroup(t, groupOptions{})
	spoke := helpers.SharedSpoke(t, "spoke-1")
	took := map[libsveltosv1beta1.ClusterType]time.Duration{}
	for _, clusterType := range []libsveltosv1beta1.ClusterType{libsveltosv1beta1.ClusterTypeSveltos, third} {
		t.Run(string(clusterType), func(t *testing.T) {
			s := g.scenario(t)
			clusters := s.fleet(spoke, clusterType, fleet, profiles)
			begin := time.Now()
			s.deployFleet("v0", profiles)
			all := s.versions(spoke, "v0", clusters)
			require.NoError(t, helpers.WaitFor(t.Context(), "the add-on of all clusters", time.Hour, helpers.Stderr,
				func(ctx context.Context) (bool, error) { return all(ctx) }))
			took[clusterType] = time.Since(begin)
		})
	}
	ours, theirs := took[third].Seconds(), took[libsveltosv1beta1.ClusterTypeSveltos].Seconds()
	_, _ = fmt.Fprintf(os.Stdout, "bench: fleet/%d-clusters-of-%d-profiles-delivered/seconds ours=%.4g theirs=%.4g ratio=%.3g\n",
		fleet, profiles, ours, theirs, ours/theirs)
}

// fromEnv is a number from the environment.
func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	number, err := strconv.Atoi(value)
	require.NoError(t, err, "%s=%s", name, value)
	return number
}

// fleet registers that many clusters, ready and labelled, all of them the same spoke.
func (s *scenario) fleet(spoke *helpers.Cluster, clusterType libsveltosv1beta1.ClusterType, size, profiles int) []types.NamespacedName {
	s.Helper()
	secret := s.key("kubeconfig")
	s.create(helpers.KubeconfigSecret(secret, spoke.Kubeconfig))
	clusters := make([]types.NamespacedName, 0, size)
	for i := range size {
		key, labels := s.key(fmt.Sprintf("cluster-%03d", i)), s.part(i%profiles)
		clusters = append(clusters, key)
		if clusterType == third {
			cluster := helpers.InventoryClusterProfile(key, labels, helpers.SecretReaderAccess(spoke, secret))
			require.NoError(s, helpers.CreateWithStatus(s.Context(), s.group.hub.Client, cluster))
			s.health(key, metav1.ConditionTrue)
			continue
		}
		cluster, kubeconfig := helpers.SveltosCluster(key, labels, spoke.Kubeconfig)
		s.create(kubeconfig)
		require.NoError(s, helpers.CreateWithStatus(s.Context(), s.group.hub.Client, cluster))
	}
	return clusters
}

// part are the labels of one part of the fleet.
func (s *scenario) part(i int) map[string]string {
	labels := s.labels()
	labels[fleetLabel] = strconv.Itoa(i)
	return labels
}

// deployFleet creates the templated add-on and that many Sveltos ClusterProfiles, one for each part of the fleet.
func (s *scenario) deployFleet(version string, profiles int) {
	s.Helper()
	policy := s.eachPolicy(version)
	s.create(policy)
	for i := range profiles {
		profile := addons.Profile(fmt.Sprintf("%s-%02d", s.name, i), s.part(i), client.ObjectKeyFromObject(policy))
		s.create(profile)
	}
}
