package consumers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

// eventOn does what the agent on a spoke does when an EventSource matches a resource.
func (f *fleet) eventOn(spoke *helpers.Cluster, source, resource string) {
	f.Helper()
	report := &libsveltosv1beta1.EventReport{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: source}}
	_, err := controllerutil.CreateOrPatch(f.Context(), spoke.Client, report, func() error {
		report.Labels = map[string]string{libsveltosv1beta1.EventSourceNameLabel: source}
		report.Spec.EventSourceName = source
		report.Spec.MatchingResources = []corev1.ObjectReference{{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: resource}}
		return nil
	})
	require.NoError(f, err)
	f.Cleanup(func() { _ = spoke.Client.Delete(context.Background(), report) })
	waiting := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"WaitingForDelivery"}}`))
	require.NoError(f, spoke.Client.Status().Patch(f.Context(), report, waiting))
}

// resourceOf is what the hub's copy of a report says, empty if there is none.
func (f *fleet) resourceOf(source, cluster string) string {
	f.Helper()
	clusterType := third
	report := &libsveltosv1beta1.EventReport{}
	err := f.hub.Client.Get(f.Context(), f.key(libsveltosv1beta1.GetEventReportName(source, cluster, &clusterType)), report)
	require.NoError(f, client.IgnoreNotFound(err))
	if len(report.Spec.MatchingResources) == 0 {
		return ""
	}
	return report.Spec.MatchingResources[0].Name
}

func (f *fleet) eventSource(name string, selectors ...libsveltosv1beta1.ResourceSelector) {
	f.Helper()
	create(f.T, f.hub, &libsveltosv1beta1.EventSource{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: libsveltosv1beta1.EventSourceSpec{ResourceSelectors: selectors}})
}

// The hub itself is in the inventory, too, as it is in many fleets; and one spoke has no usable credential.
func TestEventReportsAreCollected(t *testing.T) {
	f := newFleet(t)
	clusters := map[string]*helpers.Cluster{"spoke-1": spoke(t, "spoke-1"), "spoke-2": spoke(t, "spoke-2"), "hub": f.hub}
	agentStarts(t, f.hub, version)
	f.eventSource("es1")
	for name, cluster := range clusters {
		f.join(name, cluster)
		f.eventOn(cluster, "es1", "of-"+name)
	}
	f.eventOn(clusters["spoke-1"], "forgotten", "whose-eventsource-is-gone")
	cp := helpers.InventoryClusterProfile(f.key("broken"), nil, helpers.SecretReaderAccess(clusters["spoke-1"], f.key("no-such-secret")))
	require.NoError(t, helpers.CreateWithStatus(t.Context(), f.hub.Client, cp))
	t.Cleanup(func() { _ = f.hub.Client.Delete(context.Background(), cp) })
	f.health("broken", metav1.ConditionTrue)
	f.start(f.hub.Config, collecting)

	want := []string{"clusterprofile--es1--spoke-1", "clusterprofile--es1--spoke-2", "clusterprofile--es1--hub"}
	f.eventually(func() bool { return len(f.reported()) == len(want) }, "reports")
	assert.ElementsMatch(t, want, f.reported(), "one for each cluster, none of the hub's own copies, none without an EventSource")
	for name, cluster := range clusters {
		report := &libsveltosv1beta1.EventReport{}
		require.NoError(t, f.hub.Client.Get(t.Context(), f.key("clusterprofile--es1--"+name), report))
		assert.Equal(t, libsveltosv1beta1.EventReportSpec{
			ClusterNamespace: f.namespace, ClusterName: name, ClusterType: "ClusterProfile", EventSourceName: "es1",
			MatchingResources: []corev1.ObjectReference{{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: "of-" + name}},
		}, report.Spec)
		assert.Equal(t, map[string]string{
			"projectsveltos.io/eventsource-name":         "es1",
			"eventreport.projectsveltos.io/cluster-name": name,
			"eventreport.projectsveltos.io/cluster-type": "clusterprofile",
		}, report.Labels)
		f.eventually(func() bool {
			found := &libsveltosv1beta1.EventReport{}
			require.NoError(t, cluster.Client.Get(t.Context(), types.NamespacedName{Namespace: Namespace, Name: "es1"}, found))
			return found.Status.Phase != nil && *found.Status.Phase == libsveltosv1beta1.ReportProcessed
		}, "the agent of "+name+" learns that the report has arrived")
	}
	f.eventOn(clusters["spoke-2"], "es1", "another")
	f.eventually(func() bool { return f.resourceOf("es1", "spoke-2") == "another" }, "the copy follows")
	assert.Equal(t, "of-spoke-1", f.resourceOf("es1", "spoke-1"))
	report := &libsveltosv1beta1.EventReport{}
	require.NoError(t, f.hub.Client.Get(t.Context(), f.key("clusterprofile--es1--hub"), report))
	assert.EqualValues(t, 1, report.Generation, "the copies on the hub are not taken for reports of the hub's own agent")
}

// A cluster that is paused, has lost its health, or whose agent is of another version is not asked; it keeps what it has
// reported.
func TestCollectionPauses(t *testing.T) {
	for _, tc := range []struct {
		name, reason  string
		pause, resume func(f *fleet)
	}{
		{
			name: "paused", reason: "the annotation of Cluster API pauses an inventory ClusterProfile",
			pause: func(f *fleet) {
				f.edit("spoke-2", func(cp *inventoryv1alpha1.ClusterProfile) {
					cp.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
				})
			},
			resume: func(f *fleet) {
				f.edit("spoke-2", func(cp *inventoryv1alpha1.ClusterProfile) { delete(cp.Annotations, clusterv1.PausedAnnotation) })
			},
		},
		{
			name: "unhealthy", reason: "a cluster manager writes Unknown when it has missed a heartbeat",
			pause:  func(f *fleet) { f.health("spoke-2", metav1.ConditionUnknown) },
			resume: func(f *fleet) { f.health("spoke-2", metav1.ConditionTrue) },
		},
		{
			name: "upgraded", reason: "reports of an agent of another version may be of another API version",
			pause: func(f *fleet) {
				f.Cleanup(func() { agentStarts(f.T, spoke(f.T, "spoke-2"), version) })
				agentStarts(f.T, spoke(f.T, "spoke-2"), "v1.13.0")
			},
			resume: func(f *fleet) { agentStarts(f.T, spoke(f.T, "spoke-2"), version) },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t)
			one, two := spoke(t, "spoke-1"), spoke(t, "spoke-2")
			f.join("spoke-1", one)
			f.join("spoke-2", two)
			f.eventSource("es2")
			f.eventOn(one, "es2", "one")
			f.eventOn(two, "es2", "two")
			mgr, _ := f.start(f.hub.Config, collecting)
			f.eventually(func() bool { return f.resourceOf("es2", "spoke-1") == "one" && f.resourceOf("es2", "spoke-2") == "two" }, "collected")

			tc.pause(f)
			f.inCache(mgr, "spoke-2")
			f.fullRound(one, "a")
			f.eventOn(two, "es2", "later")
			f.fullRound(one, "b")
			assert.Equal(t, "two", f.resourceOf("es2", "spoke-2"), tc.reason)
			tc.resume(f)
			f.eventually(func() bool { return f.resourceOf("es2", "spoke-2") == "later" }, "goes on")
		})
	}
}

// inCache waits until the manager knows the newest version of an inventory ClusterProfile.
func (f *fleet) inCache(mgr manager.Manager, name string) {
	f.Helper()
	f.eventually(func() bool {
		cp := &inventoryv1alpha1.ClusterProfile{}
		return mgr.GetClient().Get(f.Context(), f.key(name), cp) == nil && cp.ResourceVersion == f.get(name).ResourceVersion
	}, "cache")
}

// fullRound returns when a round of the Collector has begun and ended since it was called: between two collections of
// one cluster all the others have had their turn.
func (f *fleet) fullRound(spoke *helpers.Cluster, mark string) {
	f.Helper()
	for _, part := range []string{"1", "2", "3"} {
		f.eventOn(spoke, "es2", mark+part)
		f.eventually(func() bool { return f.resourceOf("es2", "spoke-1") == mark+part }, "round")
	}
}

// What the Collector finds is what the library lists: the third type among the others.
func TestReportsNameTheirCluster(t *testing.T) {
	f := newFleet(t)
	f.join("same", spoke(t, "spoke-1"))
	f.joinSveltos("same", spoke(t, "spoke-2"))
	f.eventSource("es3")
	f.eventOn(spoke(t, "spoke-1"), "es3", "inventory")
	f.eventOn(spoke(t, "spoke-2"), "es3", "sveltos")
	mgr, _ := f.start(f.hub.Config, collecting)
	f.eventually(func() bool { return len(f.reported()) == 2 }, "reports")

	refs, err := clusterproxy.GetListOfClusters(t.Context(), mgr.GetClient(), f.namespace, "", mgr.GetLogger())
	require.NoError(t, err)
	found := map[libsveltosv1beta1.ClusterType]string{}
	for i := range refs {
		cluster := clusterOf(&refs[i])
		report := &libsveltosv1beta1.EventReport{}
		require.NoError(t, f.hub.Client.Get(t.Context(), f.key(libsveltosv1beta1.GetEventReportName("es3", cluster.Name, &cluster.Type)), report))
		found[report.Spec.ClusterType] = report.Spec.MatchingResources[0].Name
	}
	assert.Equal(t, map[libsveltosv1beta1.ClusterType]string{sveltos: "sveltos", third: "inventory"}, found)
}
