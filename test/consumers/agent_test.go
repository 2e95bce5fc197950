package consumers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/sveltos_upgrade"
)

// buildAgent builds the agent once, into the folder of test binaries, where the next run finds it.
var buildAgent = sync.OnceValues(func() (string, error) {
	root, err := helpers.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(helpers.BinDir(root), "consumers-agent")
	cmd := exec.Command("go", "build", "-o", path, "./test/consumers/agent")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	return path, cmd.Run()
})

// agent runs the agent of one cluster on the hub and returns what it printed.
func (f *fleet) agent(cluster Cluster, arguments ...string) (string, error) {
	f.Helper()
	path, err := buildAgent()
	require.NoError(f, err)
	cmd := exec.CommandContext(f.Context(), path, append([]string{
		"--cluster-namespace=" + cluster.Namespace, "--cluster-name=" + cluster.Name, "--cluster-type=" + string(cluster.Type),
		"--event-source=beacons", "--version=" + version,
	}, arguments...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+f.kubeconfig)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (f *fleet) providerFlag() string { return "--clusterprofile-provider-file=" + f.providers }

// beacon is a resource by which a cluster is told.
func beacon(t *testing.T, cluster *helpers.Cluster, name string) {
	t.Helper()
	require.NoError(t, cluster.EnsureNamespace(t.Context(), "beacons"))
	create(t, cluster, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "beacons", Name: name},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
}

func (f *fleet) beaconSource() {
	f.eventSource("beacons", libsveltosv1beta1.ResourceSelector{Version: "v1", Kind: "Service", Namespace: "beacons"})
}

// Three agents run on the hub for three clusters that differ in their type alone. Each finds its own cluster, and the
// reports and versions that they leave side by side do not touch each other. The hub stands for the third server.
func TestAgentsOnTheHub(t *testing.T) {
	f := newFleet(t)
	servers := map[libsveltosv1beta1.ClusterType]*helpers.Cluster{third: spoke(t, "spoke-1"), sveltos: spoke(t, "spoke-2"), capi: f.hub}
	f.beaconSource()
	f.join("same", servers[third])
	f.joinSveltos("same", servers[sveltos])
	f.joinCAPI("same", servers[capi])
	for clusterType, server := range servers {
		beacon(t, server, "of-"+server.Name)
		out, err := f.agent(f.cluster("same", clusterType), f.providerFlag())
		require.NoError(t, err, out)
	}

	assert.ElementsMatch(t, []string{"clusterprofile--beacons--same", "sveltos--beacons--same", "capi--beacons--same"}, f.reported())
	for clusterType, server := range servers {
		report := &libsveltosv1beta1.EventReport{}
		name := libsveltosv1beta1.GetEventReportName("beacons", "same", &clusterType)
		require.NoError(t, f.hub.Client.Get(t.Context(), f.key(name), report))
		assert.Equal(t, libsveltosv1beta1.EventReportSpec{
			ClusterNamespace: f.namespace, ClusterName: "same", ClusterType: clusterType, EventSourceName: "beacons",
			MatchingResources: []corev1.ObjectReference{{APIVersion: "v1", Kind: "Service", Namespace: "beacons", Name: "of-" + server.Name}},
		}, report.Spec)
		assert.Equal(t, libsveltosv1beta1.GetEventReportLabels("beacons", "same", &clusterType), report.Labels)
	}
	compatible := func(clusterType libsveltosv1beta1.ClusterType) bool {
		return sveltos_upgrade.IsSveltosAgentVersionCompatible(t.Context(), f.hub.Client, Namespace, version,
			f.namespace, "same", clusterType, true, logr.Discard())
	}
	require.NoError(t, sveltos_upgrade.StoreSveltosAgentVersion(t.Context(), f.hub.Client, Namespace, "v1.13.0",
		f.namespace, "same", sveltos, true, logr.Discard()))
	assert.True(t, compatible(third))
	assert.True(t, compatible(capi))
	assert.False(t, compatible(sveltos), "each agent has a version of its own")
}

// An agent that cannot find its cluster says which and why, and what to do.
func TestAgentSaysWhatIsWrong(t *testing.T) {
	f := newFleet(t)
	f.beaconSource()
	f.join("here", spoke(t, "spoke-1"))
	access := helpers.SecretReaderAccess(spoke(t, "spoke-1"), f.key("here-access"))
	access.Name = "another-plugin"
	cp := helpers.InventoryClusterProfile(f.key("unoffered"), nil, access)
	require.NoError(t, helpers.CreateWithStatus(t.Context(), f.hub.Client, cp))
	t.Cleanup(func() { _ = f.hub.Client.Delete(context.Background(), cp) })

	for _, tc := range []struct {
		name, cluster, reason string
		arguments, says       []string
	}{
		{
			name: "flag", cluster: "here", reason: "classifier starts the agent and must pass the flag on",
			says: []string{f.namespace + "/here", "--clusterprofile-provider-file"},
		},
		{
			name: "object", cluster: "nowhere", reason: "the cluster has left, and its agent is still there",
			arguments: []string{f.providerFlag()}, says: []string{f.namespace + "/nowhere", "not found"},
		},
		{
			name: "file", cluster: "here", reason: "the ConfigMap is not mounted into the agent's pod",
			arguments: []string{f.providerFlag() + ".missing"}, says: []string{f.namespace + "/here", "providers.json.missing"},
		},
		{
			name: "provider", cluster: "unoffered", reason: "the provider file serves other clusters",
			arguments: []string{f.providerFlag()}, says: []string{f.namespace + "/unoffered", "another-plugin"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := f.agent(f.cluster(tc.cluster, third), tc.arguments...)
			require.Error(t, err, tc.reason)
			for _, part := range tc.says {
				assert.Contains(t, out, part, tc.reason)
			}
		})
	}
	assert.Empty(t, f.reported())
}
