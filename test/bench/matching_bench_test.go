//go:build bench

package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	upstream "upstream.projectsveltos.io/libsveltos/lib/clusterproxy"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/predicates"
)

// "theirs" is upstream's path for SveltosClusters, of which the hub has as many.

const (
	allClusters = 10_000
	inventories = "inventories"
	sveltoses   = "sveltoses"
)

func TestMain(m *testing.M) { helpers.Main(m) }

// TestMatchingAmongTenThousand runs on a real hub with an informer-backed client.
func TestMatchingAmongTenThousand(t *testing.T) {
	hub := helpers.StartHub(t)
	newHub(t, 0) // turns the backend on
	fill(t, hub)
	mgr, woken := watching(t, hub)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
	match := func(get matcher, c client.Client, namespace string) testing.BenchmarkResult {
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				refs, err := get(b.Context(), c, selector, namespace, "", logr.Discard())
				if err != nil || len(refs) != 100 {
					b.Fatalf("%d clusters, %v", len(refs), err)
				}
			}
		})
	}
	// The first call starts informers and latches what matches; neither is what is measured.
	for _, namespace := range []string{inventories, inventories + "-small"} {
		latched(t, mgr.GetClient(), selector, namespace)
	}
	ours := match(clusterproxy.GetMatchingClusters, mgr.GetClient(), inventories)
	theirs := match(upstream.GetMatchingClusters, mgr.GetClient(), sveltoses)
	report("matching/10000-clusters/ms", ours.T.Seconds()*1000/float64(ours.N), theirs.T.Seconds()*1000/float64(theirs.N))
	report("matching/10000-clusters/allocations", float64(ours.AllocsPerOp()), float64(theirs.AllocsPerOp()))
	fewer := match(clusterproxy.GetMatchingClusters, mgr.GetClient(), inventories+"-small")
	report("matching/allocations-10000-beside-1000-clusters", float64(ours.AllocsPerOp()), float64(fewer.AllocsPerOp()))

	heartbeats(t)
	oneHealthChange(t, hub, woken)
}

// latched waits until all that match carry the annotation.
func latched(t *testing.T, c client.Client, selector *metav1.LabelSelector, namespace string) {
	t.Helper()
	require.Eventually(t, func() bool {
		refs, err := clusterproxy.GetMatchingClusters(t.Context(), c, selector, namespace, "", logr.Discard())
		require.NoError(t, err)
		list := &inventoryv1alpha1.ClusterProfileList{}
		require.NoError(t, c.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels(selector.MatchLabels)))
		written := 0
		for i := range list.Items {
			if list.Items[i].Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] != "" {
				written++
			}
		}
		return len(refs) == 100 && written == 100
	}, 2*time.Minute, time.Second)
}

type matcher func(ctx context.Context, c client.Client, selector *metav1.LabelSelector, namespace, onboard string,
	logger logr.Logger) ([]corev1.ObjectReference, error)

// fill creates 10,000 clusters of each type, and 1,000 in a third namespace; 100 of each
// are labelled env=prod, and all are ready.
func fill(t *testing.T, hub *helpers.Cluster) {
	t.Helper()
	fast := rest.CopyConfig(hub.Config)
	fast.QPS = -1
	c, err := client.New(fast, client.Options{Scheme: hub.Client.Scheme()})
	require.NoError(t, err)
	for _, name := range []string{inventories, inventories + "-small", sveltoses} {
		require.NoError(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	objects := make(chan client.Object)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for o := range objects {
				assert.NoError(t, helpers.CreateWithStatus(context.Background(), c, o))
			}
		})
	}
	begin := time.Now()
	for i := range allClusters {
		objects <- ready(inventories, i)
		if i < allClusters/10 {
			objects <- ready(inventories+"-small", i)
		}
		objects <- &libsveltosv1beta1.SveltosCluster{ObjectMeta: of(sveltoses, i), Status: libsveltosv1beta1.SveltosClusterStatus{Ready: true}}
		if i%2000 == 0 {
			helpers.Stderr("creating clusters: %d of %d of each type, %s", i, allClusters, time.Since(begin).Round(time.Second))
		}
	}
	close(objects)
	wg.Wait()
}

func of(namespace string, i int) metav1.ObjectMeta {
	labels := map[string]string{"group": fmt.Sprint(i % 100), "env": "dev"}
	if i < 100 {
		labels["env"] = "prod"
	}
	return metav1.ObjectMeta{Namespace: namespace, Name: numbered(i), Labels: labels}
}

func ready(namespace string, i int) *inventoryv1alpha1.ClusterProfile {
	cp := inventoryCluster(numbered(i))
	cp.ObjectMeta = of(namespace, i)
	cp.Spec.ClusterManager.Name = "bench"
	meta.SetStatusCondition(&cp.Status.Conditions, metav1.Condition{
		Type: inventoryv1alpha1.ClusterConditionControlPlaneHealthy, Status: metav1.ConditionTrue, Reason: "Reported"})
	return cp
}

// watching starts a manager whose controller is told of Sveltos profiles, of which there
// are 100, each selecting one group of clusters.
func watching(t *testing.T, hub *helpers.Cluster) (manager.Manager, *woken) {
	t.Helper()
	mgr, err := manager.New(hub.Config, manager.Options{Scheme: hub.Client.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}})
	require.NoError(t, err)
	w := &woken{at: make(chan string, 10*allClusters)}
	unique := true
	c, err := controller.New("bench", mgr, controller.Options{SkipNameValidation: &unique, Reconciler: w})
	require.NoError(t, err)
	require.NoError(t, clusterproxy.WatchInventoryClusterProfiles(mgr, c, func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: "profile-" + o.GetLabels()["group"]}}}
	}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() { cancel(); assert.NoError(t, <-done) })
	require.True(t, mgr.GetCache().WaitForCacheSync(ctx))
	require.Eventually(t, func() bool { return w.count.Load() >= 100 }, time.Minute, 100*time.Millisecond)
	return mgr, w
}

type woken struct {
	count atomic.Int32
	at    chan string
}

func (w *woken) Reconcile(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
	w.count.Add(1)
	w.at <- r.Name
	return reconcile.Result{}, nil
}

func heartbeats(t *testing.T) {
	p := predicates.InventoryClusterProfilePredicates(logr.Discard())
	before := ready(inventories, 1)
	passed := 0
	result := testing.Benchmark(func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			after := *before
			after.Status.Version.Kubernetes = "v1.36.3"
			if p.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: &after}) {
				passed++
			}
		}
	})
	report("watch/heartbeat/microseconds", float64(result.NsPerOp())/1000, 10)
	report("watch/heartbeat/reconciles", float64(passed), 0)
	assert.Zero(t, passed)
}

// oneHealthChange loses the health of one cluster of group 7.
func oneHealthChange(t *testing.T, hub *helpers.Cluster, w *woken) {
	settle(w)
	begin := time.Now()
	require.NoError(t, helpers.SetControlPlaneHealthy(t.Context(), hub.Client,
		client.ObjectKey{Namespace: inventories, Name: numbered(707)}, metav1.ConditionUnknown))
	name := <-w.at
	took := time.Since(begin)
	assert.Equal(t, "profile-7", name)
	others := settle(w)
	report("watch/one-health-change/seconds", took.Seconds(), 1)
	report("watch/one-health-change/other-profiles-enqueued", float64(others), 0)
	assert.Zero(t, others)
}

// settle drains what is reconciled until nothing is for two seconds.
func settle(w *woken) (drained int) {
	for {
		select {
		case <-w.at:
			drained++
		case <-time.After(2 * time.Second):
			return drained
		}
	}
}
