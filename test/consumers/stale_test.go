package consumers

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// copied puts the reports of one cluster onto the hub, as if they had been collected.
func (f *fleet) copied(cluster Cluster) {
	f.Helper()
	require.NoError(f, StoreEventReport(f.Context(), f.hub.Client, cluster, &libsveltosv1beta1.EventReport{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{libsveltosv1beta1.EventSourceNameLabel: "es"}}}))
	require.NoError(f, StoreClassifierReport(f.Context(), f.hub.Client, cluster, &libsveltosv1beta1.ClassifierReport{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{libsveltosv1beta1.ClassifierlNameLabel: "c"}}}))
}

// classified are the names of the ClassifierReports of the fleet on the hub.
func (f *fleet) classified() []string {
	f.Helper()
	list := &libsveltosv1beta1.ClassifierReportList{}
	require.NoError(f, f.hub.Client.List(f.Context(), list, client.InNamespace(f.namespace)))
	names := []string{}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func (f *fleet) leaves(cluster Cluster) {
	f.Helper()
	object := client.Object(&libsveltosv1beta1.SveltosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name}})
	if cluster.Type == third {
		object = f.get(cluster.Name)
	}
	require.NoError(f, f.hub.Client.Delete(f.Context(), object))
}

// A SveltosCluster and an inventory ClusterProfile of one name: when either goes, its reports go and the other's stay.
func TestReportsGoWithTheirCluster(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		leaves       libsveltosv1beta1.ClusterType
		events       []string
		classifiers  []string
	}{
		{
			name: "inventory", reason: "the inventory's watch tells the Cleaner", leaves: third,
			events: []string{"sveltos--es--same", "clusterprofile--es--other"}, classifiers: []string{"sveltos--c--same", "clusterprofile--c--other"},
		},
		{
			name: "sveltos", reason: "as before, and nothing of the third type is touched", leaves: sveltos,
			events: []string{"clusterprofile--es--same", "clusterprofile--es--other"}, classifiers: []string{"clusterprofile--c--same", "clusterprofile--c--other"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t)
			f.join("same", spoke(t, "spoke-1"))
			f.join("other", spoke(t, "spoke-1"))
			f.joinSveltos("same", spoke(t, "spoke-2"))
			clusters := []Cluster{f.cluster("same", third), f.cluster("other", third), f.cluster("same", sveltos)}
			for _, cluster := range clusters {
				f.copied(cluster)
			}
			require.Len(t, f.reported(), len(clusters))
			var seen sync.Map
			f.start(f.hub.Config, func(mgr manager.Manager) error {
				return setupCleaners(mgr, func(cluster Cluster) { seen.Store(cluster, true) })
			})
			for _, cluster := range clusters {
				f.eventually(func() bool { _, ok := seen.Load(cluster); return ok }, cluster.String())
			}
			f.leaves(f.cluster("same", tc.leaves))
			f.eventually(func() bool { return len(f.reported()) == 2 && len(f.classified()) == 2 }, tc.reason)
			assert.ElementsMatch(t, tc.events, f.reported())
			assert.ElementsMatch(t, tc.classifiers, f.classified())
		})
	}
}

// A cluster that goes, and comes back under its name, while its reports are being collected.
func TestReportsComeBackWithTheirCluster(t *testing.T) {
	f := newFleet(t)
	one, two := spoke(t, "spoke-1"), spoke(t, "spoke-2")
	f.join("a", one)
	f.eventSource("es4")
	f.eventOn(one, "es4", "of-one")
	f.eventOn(two, "es4", "of-two")
	f.start(f.hub.Config, func(mgr manager.Manager) error {
		require.NoError(t, collecting(mgr))
		require.NoError(t, mgr.Add(&Sweeper{Client: mgr.GetClient(), Interval: tick}))
		return SetupCleaners(mgr)
	})
	f.eventually(func() bool { return f.resourceOf("es4", "a") == "of-one" }, "collected")
	f.leaves(f.cluster("a", third))
	f.eventually(func() bool { return len(f.reported()) == 0 }, "removed")

	require.NoError(t, f.hub.Client.Delete(t.Context(), helpers.KubeconfigSecret(f.key("a-access"), nil)))
	f.join("a", two)
	f.eventually(func() bool { return f.resourceOf("es4", "a") == "of-two" }, "the new cluster of that name is another")
}

// What was missed while no controller ran is found later; what cannot be known is left alone.
func TestSweepFindsWhatWasMissed(t *testing.T) {
	f := newFleet(t)
	f.join("here", spoke(t, "spoke-1"))
	for _, cluster := range []Cluster{f.cluster("here", third), f.cluster("gone", third), f.cluster("gone", sveltos), f.cluster("gone", capi)} {
		f.copied(cluster)
	}
	sweeping := func(mgr manager.Manager) error {
		return mgr.Add(&Sweeper{Client: mgr.GetClient(), Interval: tick})
	}
	f.serveInventory(false)
	_, stop := f.start(f.hub.Config, sweeping)
	f.eventually(func() bool { return len(f.reported()) == 2 && len(f.classified()) == 2 }, "two types are served")
	assert.ElementsMatch(t, []string{"clusterprofile--es--here", "clusterprofile--es--gone"}, f.reported(),
		"without the provider file nothing is known of the third type")
	stop()

	f.serveInventory(true)
	f.start(f.hub.Config, sweeping)
	f.eventually(func() bool { return len(f.reported()) == 1 && len(f.classified()) == 1 }, "three types are served")
	assert.Equal(t, []string{"clusterprofile--es--here"}, f.reported())
	assert.Equal(t, []string{"clusterprofile--c--here"}, f.classified())
}
