package suite

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
	"github.com/projectsveltos/libsveltos/lib/clustercache"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

// seen counts the reconciles of each cluster.
type seen struct {
	mu     sync.Mutex
	counts map[types.NamespacedName]int
}

func (s *seen) Reconcile(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[r.NamespacedName]++
	return reconcile.Result{}, nil
}

func (s *seen) of(key types.NamespacedName) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[key]
}

// running is a manager with one controller that watches inventory ClusterProfiles.
type running struct {
	manager.Manager
	seen *seen
	done chan error
	stop context.CancelFunc
}

func run(t *testing.T, config *rest.Config, options cache.Options) *running {
	t.Helper()
	scheme, err := helpers.NewScheme()
	require.NoError(t, err)
	mgr, err := manager.New(config, manager.Options{Scheme: scheme, Cache: options, Metrics: metricsserver.Options{BindAddress: "0"}})
	require.NoError(t, err)
	r := &running{Manager: mgr, seen: &seen{counts: map[types.NamespacedName]int{}}, done: make(chan error, 1)}
	unique := true
	require.NoError(t, clusterproxy.SetupInventoryClusterProfileReconciler(mgr, "seen", r.seen, controller.Options{SkipNameValidation: &unique}))
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() { r.done <- mgr.Start(ctx) }()
	select {
	case <-mgr.Elected(): // the cache can be read from here on
	case <-time.After(patience):
		t.Fatal("the manager does not start")
	}
	t.Cleanup(func() {
		cancel()
		if err, open := <-r.done; open {
			assert.NoError(t, err)
		}
	})
	return r
}

func (r *running) matching(t *testing.T, f *fleet) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	refs, err := clusterproxy.GetMatchingClusters(ctx, r.GetClient(), f.selector(), "", "", discard())
	require.NoError(t, err)
	names := []string{}
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	return names
}

// Case 7, 18, 21: what enqueues and what does not.
func TestWatchTellsWhatMatters(t *testing.T) {
	f := newFleet(t, helpers.SharedHub(t))
	r := run(t, f.hub.Config, cache.Options{})
	count := 0
	next := func(what string) {
		t.Helper()
		count++
		require.Eventually(t, func() bool { return r.seen.of(f.key("a")) >= count }, patience, tick, what)
		require.Equal(t, count, r.seen.of(f.key("a")), what)
	}
	f.join("a", helpers.SharedSpoke(t, "spoke-1"))
	require.Eventually(t, func() bool { return r.seen.of(f.key("a")) >= 1 }, patience, tick, "created, and its status written")
	require.Eventually(t, func() bool {
		cp := &inventoryv1alpha1.ClusterProfile{}
		return r.GetClient().Get(t.Context(), f.key("a"), cp) == nil && len(cp.Status.AccessProviders) == 1
	}, patience, tick)
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Labels["x"] = "y" })
	require.Eventually(t, func() bool {
		cp := &inventoryv1alpha1.ClusterProfile{}
		return r.GetClient().Get(t.Context(), f.key("a"), cp) == nil && cp.Labels["x"] == "y"
	}, patience, tick)
	settled(t, r, f.key("a"))
	count = r.seen.of(f.key("a"))

	for i := range 20 {
		f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.Version.Kubernetes = fmt.Sprintf("v1.36.%d", i)
			cp.Status.Properties = []inventoryv1alpha1.Property{{Name: "cpu", Value: fmt.Sprint(i + 1), LastObservedTime: metav1.Now()}}
		})
	}
	f.health("a", metav1.ConditionTrue)
	next("health: and none of the 20 heartbeats before it")
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
		cp.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	})
	next("paused")
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Annotations = nil })
	next("resumed")
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Labels["x"] = "z" })
	next("label")
	require.NoError(t, f.hub.Client.Delete(t.Context(), f.get("a")))
	next("deleted")
}

// Case 25: a cluster that the bridge lets go of is looked at again at once, although its own object has not changed.
func TestBridgeLetsGo(t *testing.T) {
	for _, tc := range []struct {
		reason string
		letGo  func(t *testing.T, c client.Client, bridged *libsveltosv1beta1.SveltosCluster)
	}{
		{"its SveltosCluster is deleted", func(t *testing.T, c client.Client, bridged *libsveltosv1beta1.SveltosCluster) {
			t.Helper()
			require.NoError(t, c.Delete(t.Context(), bridged))
		}},
		{"its SveltosCluster loses the label", func(t *testing.T, c client.Client, bridged *libsveltosv1beta1.SveltosCluster) {
			t.Helper()
			bridged.Labels = map[string]string{"is": "mine"}
			require.NoError(t, c.Update(t.Context(), bridged))
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			f := newFleet(t, helpers.SharedHub(t))
			r := run(t, f.hub.Config, cache.Options{})
			f.join("a", helpers.SharedSpoke(t, "spoke-1"))
			f.health("a", metav1.ConditionTrue)
			bridged := &libsveltosv1beta1.SveltosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "a",
				Labels: map[string]string{clusterproxy.BridgeLabel: "yes"}}}
			require.NoError(t, f.hub.Client.Create(t.Context(), bridged))
			require.Eventually(t, func() bool { return len(r.matching(t, f)) == 0 }, patience, tick, "the bridge serves it")
			settled(t, r, f.key("a"))
			count := r.seen.of(f.key("a"))
			bridged.Status.Ready = true
			require.NoError(t, f.hub.Client.Status().Update(t.Context(), bridged))
			bridged.Labels["more"] = "labels"
			require.NoError(t, f.hub.Client.Update(t.Context(), bridged))
			settled(t, r, f.key("a"))
			require.Equal(t, count, r.seen.of(f.key("a")), "what else happens to it does not matter")

			tc.letGo(t, f.hub.Client, bridged)

			require.Eventually(t, func() bool { return r.seen.of(f.key("a")) > count }, patience, tick)
			assert.Equal(t, []string{"a"}, r.matching(t, f), "whoever is told finds it free")
		})
	}
}

// settled waits until the count of reconciles has stood still for a second.
func settled(t *testing.T, r *running, key types.NamespacedName) {
	t.Helper()
	last, since := -1, time.Now()
	require.Eventually(t, func() bool {
		if n := r.seen.of(key); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > time.Second
	}, patience, tick)
}

// The cache is evicted before a controller hears of the change.
func TestWatchEvictsBeforeItEnqueues(t *testing.T) {
	one, two := helpers.SharedSpoke(t, "spoke-1"), helpers.SharedSpoke(t, "spoke-2")
	f := newFleet(t, helpers.SharedHub(t))
	scheme, err := helpers.NewScheme()
	require.NoError(t, err)
	mgr, err := manager.New(f.hub.Config, manager.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	require.NoError(t, err)
	hosts := make(chan string, 100)
	unique := true
	require.NoError(t, clusterproxy.SetupInventoryClusterProfileReconciler(mgr, "hosts", reconcile.Func(
		func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			config, err := clustercache.GetManager().GetKubernetesRestConfig(ctx, mgr.GetClient(), r.Namespace, r.Name, "", "", third, discard())
			if err == nil {
				hosts <- config.Host
			}
			return reconcile.Result{}, nil
		}), controller.Options{SkipNameValidation: &unique}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() { cancel(); assert.NoError(t, <-done) })

	await := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			select {
			case host := <-hosts:
				return host == want
			default:
				return false
			}
		}, patience, tick)
	}
	f.join("a", one)
	await(serverOf(one).Server)
	require.NoError(t, f.hub.Client.Create(t.Context(), helpers.KubeconfigSecret(f.key("two"), two.Kubeconfig)))
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
		cp.Status.AccessProviders = []inventoryv1alpha1.AccessProvider{helpers.SecretReaderAccess(two, f.key("two"))}
	})
	await(serverOf(two).Server)
	for len(hosts) > 0 {
		assert.Equal(t, serverOf(two).Server, <-hosts, "no reconcile after the change sees the old cluster")
	}
}

// Case 23: the CRD is absent at start, installed later, removed, installed again.
func TestCRDThatComesAndGoes(t *testing.T) {
	hub := helpers.StartCluster(t, helpers.ClusterOptions{Name: "bare-hub", CRDs: []external.Source{external.Libsveltos, external.ClusterAPI}})
	f := newFleet(t, hub)
	r := run(t, hub.Config, cache.Options{})
	assert.Empty(t, r.matching(t, f), "absent")

	for round := range 2 {
		name := fmt.Sprintf("a%d", round)
		crds := install(t, hub, external.Inventory, "clusterprofiles")
		f.join(name, helpers.SharedSpoke(t, "spoke-1"))
		f.health(name, metav1.ConditionTrue)
		require.Eventually(t, func() bool { return r.seen.of(f.key(name)) > 0 }, time.Minute, tick, "round %d", round)
		require.Eventually(t, func() bool { return assert.ObjectsAreEqual([]string{name}, r.matching(t, f)) }, patience, tick)

		require.NoError(t, hub.Client.Delete(t.Context(), crds[0]))
		require.Eventually(t, func() bool {
			return client.IgnoreNotFound(hub.Client.Get(t.Context(), client.ObjectKeyFromObject(crds[0]), &apiextensionsv1.CustomResourceDefinition{})) == nil &&
				len(r.matching(t, f)) == 0
		}, patience, tick, "removed")
		select {
		case err := <-r.done:
			t.Fatalf("the manager ended: %v", err)
		default:
		}
	}
}

// as returns the configuration of a user with no rights but those of rules, in the whole
// cluster or in one namespace.
func as(t *testing.T, hub *helpers.Cluster, user, namespace string, rules ...rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}
	if namespace == "" {
		require.NoError(t, hub.Client.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}))
		require.NoError(t, hub.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}, Subjects: subjects}))
	} else {
		key := metav1.ObjectMeta{Namespace: namespace, Name: user}
		require.NoError(t, hub.Client.Create(t.Context(), &rbacv1.Role{ObjectMeta: key, Rules: rules}))
		require.NoError(t, hub.Client.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: key,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}, Subjects: subjects}))
	}
	config := rest.CopyConfig(hub.Config)
	config.Impersonate.UserName = user
	return config
}

var (
	readProfiles = rbacv1.PolicyRule{APIGroups: []string{"multicluster.x-k8s.io"}, Resources: []string{"clusterprofiles"},
		Verbs: []string{"get", "list", "watch"}}
	readSveltos = rbacv1.PolicyRule{APIGroups: []string{"lib.projectsveltos.io", "apiextensions.k8s.io", "cluster.x-k8s.io"}, Resources: []string{"*"},
		Verbs: []string{"get", "list", "watch"}}
)

func TestMissingPermissionIsNamedAtStart(t *testing.T) {
	f := newFleet(t, helpers.SharedHub(t))
	listOnly := readProfiles
	listOnly.Verbs = []string{"get", "list"}
	for verb, rules := range map[string][]rbacv1.PolicyRule{"list": {readSveltos}, "watch": {readSveltos, listOnly}} {
		t.Run(verb, func(t *testing.T) {
			r := run(t, as(t, f.hub, "without-"+verb, "", rules...), cache.Options{})
			select {
			case err := <-r.done:
				close(r.done)
				require.ErrorContains(t, err, "may not "+verb+" clusterprofiles.multicluster.x-k8s.io")
			case <-time.After(time.Minute):
				t.Fatal("the manager waits for ever")
			}
		})
	}
}

// Case 9: rights in one namespace are enough when the caller asks for one namespace.
func TestNamespacedPermissionIsEnough(t *testing.T) {
	f := newFleet(t, helpers.SharedHub(t))
	f.join("a", helpers.SharedSpoke(t, "spoke-1"))
	f.health("a", metav1.ConditionTrue)
	config := as(t, f.hub, "namespaced", f.namespace, readProfiles, readSveltos)
	as(t, f.hub, "namespaced-crds", "", rbacv1.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"},
		Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}})
	scheme, err := helpers.NewScheme()
	require.NoError(t, err)

	c, err := client.New(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	require.NoError(t, f.hub.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "namespaced-reads-crds"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "namespaced-crds"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "namespaced"}}}))
	refs, err := clusterproxy.GetMatchingClusters(t.Context(), c, f.selector(), f.namespace, "", discard())
	require.NoError(t, err)
	assert.Len(t, refs, 1)

	r := run(t, config, cache.Options{DefaultNamespaces: map[string]cache.Config{f.namespace: {}}})
	require.Eventually(t, func() bool { return r.seen.of(f.key("a")) > 0 }, patience, tick)
}

// Latches on a real API server: a merge patch that keeps what this program's types do
// not know, refused on another object of the same name.
func TestLatchIsDurable(t *testing.T) {
	f := newFleet(t, helpers.SharedHub(t))
	f.join("a", helpers.SharedSpoke(t, "spoke-1"))
	f.health("a", metav1.ConditionTrue)
	before := f.get("a")
	r := run(t, f.hub.Config, cache.Options{})
	require.Eventually(t, func() bool { return len(r.matching(t, f)) == 1 }, patience, tick)
	require.Eventually(t, func() bool {
		return f.get("a").Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] == string(before.UID)
	}, 5*time.Second, tick, "within seconds")
	after := f.get("a")
	assert.Equal(t, before.Spec, after.Spec)
	assert.Equal(t, before.Status, after.Status)
	assert.Equal(t, before.Labels, after.Labels)

	f.health("a", metav1.ConditionUnknown)
	require.Eventually(t, func() bool {
		cp := &inventoryv1alpha1.ClusterProfile{}
		return r.GetClient().Get(t.Context(), f.key("a"), cp) == nil && cp.Status.Conditions[0].Status == metav1.ConditionUnknown
	}, patience, tick)
	assert.Equal(t, []string{"a"}, r.matching(t, f))

	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
		delete(cp.Annotations, libsveltosv1beta1.InventoryMatchedAnnotation)
	})
	require.Eventually(t, func() bool { return len(r.matching(t, f)) == 0 }, patience, tick, "given up by hand")
}
