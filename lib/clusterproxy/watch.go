package clusterproxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/util/workqueue"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	"github.com/projectsveltos/libsveltos/lib/predicates"
)

const (
	crdInterval     = 2 * time.Second  // how often an absent CRD is looked for
	syncPatience    = 10 * time.Second // how long a cache may take before access is doubted
	syncInterval    = 50 * time.Millisecond
	latchFlushLimit = 10 * time.Second // what shutting down waits for latches
)

// WatchInventoryClusterProfiles makes the controller c of the manager reconcile what
// mapFunc returns whenever an inventory ClusterProfile is created, deleted, or changed
// in a way that matters (see predicates.InventoryClusterProfilePredicates), or the bridge
// lets go of it (see BridgeLabel). What is cached of the cluster is dropped before anything
// is enqueued.
//
// It does nothing while the backend is off. The CRD may be installed later and removed
// again: the watch starts when it is there, without a restart. Where the manager's
// service account may not list and watch, the manager stops with an error that names the
// missing rule, because a cached list would wait for ever.
func WatchInventoryClusterProfiles(mgr manager.Manager, c controller.Controller, mapFunc handler.MapFunc) error {
	if !inventory.Enabled() {
		return nil
	}
	g, err := gateOf(mgr)
	if err != nil {
		return err
	}
	return c.Watch(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			select {
			case <-ctx.Done():
				return
			case <-g.open:
			}
			for _, src := range []source.Source{
				source.Kind[client.Object](mgr.GetCache(), &inventoryv1alpha1.ClusterProfile{},
					evictFirst{handler.EnqueueRequestsFromMapFunc(mapFunc)},
					predicates.InventoryClusterProfilePredicates(mgr.GetLogger())),
				source.Kind[client.Object](mgr.GetCache(), &libsveltosv1beta1.SveltosCluster{},
					handler.EnqueueRequestsFromMapFunc(releasedBy(mgr.GetClient(), mapFunc)), releases()),
			} {
				if err := src.Start(ctx, queue); err != nil {
					log.Error(err, "watch on inventory ClusterProfiles")
					return
				}
			}
			watches.Add(1)
			defer watches.Add(-1)
			<-ctx.Done()
		}()
		return nil
	}))
}

// watches is how many watches are running in this process.
var watches atomic.Int32

// InventoryWatched tells whether a watch runs in this process, so that what
// OnInventoryChange registered is called when something changes.
func InventoryWatched() bool { return watches.Load() > 0 }

// SetupInventoryClusterProfileReconciler runs r, in a controller of its own, for each
// inventory ClusterProfile that changes in a way that matters, its deletion included:
// the counterpart of a reconciler for SveltosClusters. The name must be unique in the
// manager. It does nothing while the backend is off.
func SetupInventoryClusterProfileReconciler(mgr manager.Manager, name string, r reconcile.Reconciler,
	options controller.Options) error {

	if !inventory.Enabled() {
		return nil
	}
	options.Reconciler = r
	c, err := controller.New(name, mgr, options)
	if err != nil {
		return err
	}
	return WatchInventoryClusterProfiles(mgr, c, func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
	})
}

var (
	evictorsMu sync.Mutex // guards evictors, which is replaced and never edited
	evictors   []func(types.NamespacedName)
)

// OnInventoryChange registers what is to be called when the access of an inventory
// ClusterProfile has changed or it is gone, before any controller hears of it.
func OnInventoryChange(evict func(cluster types.NamespacedName)) {
	evictorsMu.Lock()
	defer evictorsMu.Unlock()
	evictors = append(slices.Clone(evictors), evict)
}

func evict(cluster types.NamespacedName) {
	evictorsMu.Lock()
	current := evictors
	evictorsMu.Unlock()
	for _, f := range current {
		f(cluster)
	}
}

// evictFirst drops what is cached of a cluster before it passes the event on.
type evictFirst struct{ handler.EventHandler }

var _ handler.EventHandler = evictFirst{}

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (h evictFirst) Create(ctx context.Context, e event.CreateEvent, q requestQueue) {
	if !e.IsInInitialList {
		evict(client.ObjectKeyFromObject(e.Object))
	}
	h.EventHandler.Create(ctx, e, q)
}

func (h evictFirst) Update(ctx context.Context, e event.UpdateEvent, q requestQueue) {
	before, ok1 := e.ObjectOld.(*inventoryv1alpha1.ClusterProfile)
	now, ok2 := e.ObjectNew.(*inventoryv1alpha1.ClusterProfile)
	if !ok1 || !ok2 || before.UID != now.UID || !inventory.SameAccess(before, now) {
		evict(client.ObjectKeyFromObject(e.ObjectNew))
	}
	h.EventHandler.Update(ctx, e, q)
}

func (h evictFirst) Delete(ctx context.Context, e event.DeleteEvent, q requestQueue) {
	cluster := client.ObjectKeyFromObject(e.Object)
	evict(cluster)
	inventory.FromFlags().Forget(cluster)
	latches.forget(latchKey{NamespacedName: cluster, uid: e.Object.GetUID()})
	forgetIgnored(e.Object.GetUID())
	h.EventHandler.Delete(ctx, e, q)
}

// gate is what all watches of one manager wait for: the CRD is served and may be read.
type gate struct {
	mgr  manager.Manager
	open chan struct{}
}

var (
	gatesMu sync.Mutex
	gates   = map[manager.Manager]*gate{}
)

// gateOf returns the manager's gate, and adds it to the manager the first time.
func gateOf(mgr manager.Manager) (*gate, error) {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	if g, ok := gates[mgr]; ok {
		return g, nil
	}
	g := &gate{mgr: mgr, open: make(chan struct{})}
	if err := mgr.Add(g); err != nil {
		return nil, err
	}
	gates[mgr] = g
	return g, nil
}

var _ manager.Runnable = (*gate)(nil)

// Start opens the gate once the CRD is served, and stays to flush the latches.
func (g *gate) Start(ctx context.Context) error {
	defer func() {
		gatesMu.Lock()
		defer gatesMu.Unlock()
		delete(gates, g.mgr)
	}()
	if g.waitForCRD(ctx) != nil {
		return nil // the manager is stopping
	}
	if err := g.checkAccess(ctx); err != nil {
		return err
	}
	close(g.open)
	<-ctx.Done()
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), latchFlushLimit)
	defer cancel()
	if err := latches.flush(flush); err != nil {
		log.Error(err, "shutting down")
	}
	return nil
}

func (g *gate) waitForCRD(ctx context.Context) error {
	gk := schema.GroupKind{
		Group: libsveltosv1beta1.InventoryGroupVersion.Group, Kind: libsveltosv1beta1.InventoryClusterProfileKind,
	}
	told := false
	return wait.PollUntilContextCancel(ctx, crdInterval, true, func(context.Context) (bool, error) {
		_, err := g.mgr.GetRESTMapper().RESTMapping(gk, libsveltosv1beta1.InventoryGroupVersion.Version)
		if err != nil && !told {
			told = true
			if meta.IsNoMatchError(err) {
				log.Info("the CRD clusterprofiles.multicluster.x-k8s.io is not installed; waiting for it")
			} else {
				log.Error(err, "looking for the CRD clusterprofiles.multicluster.x-k8s.io; trying again")
			}
		}
		return err == nil, nil
	})
}

// checkAccess returns nil once the cache has synced and can follow. A cache that does not
// sync is explained by what the API server says of our permissions; one that is restricted
// to namespaces syncs without the cluster-wide ones.
func (g *gate) checkAccess(ctx context.Context) error {
	informer, err := g.mgr.GetCache().GetInformer(ctx, &inventoryv1alpha1.ClusterProfile{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching inventory ClusterProfiles: %w", err)
	}
	for !g.synced(ctx, informer) {
		if ctx.Err() != nil {
			return nil
		}
		for _, verb := range []string{"list", "watch"} {
			if g.mayNot(ctx, verb) {
				return missingRule(verb)
			}
		}
	}
	// What was listed for the whole cluster must be watched there too.
	if !g.mayNot(ctx, "list") && g.mayNot(ctx, "watch") {
		return missingRule("watch")
	}
	return nil
}

// synced waits for the cache, for a while.
func (g *gate) synced(ctx context.Context, informer cache.Informer) bool {
	err := wait.PollUntilContextTimeout(ctx, syncInterval, syncPatience, true, func(context.Context) (bool, error) {
		return informer.HasSynced(), nil
	})
	return err == nil
}

// mayNot tells whether the API server says that the verb is not allowed for the whole
// cluster. No answer is no "no".
func (g *gate) mayNot(ctx context.Context, verb string) bool {
	allowed, err := g.may(ctx, verb)
	return err == nil && !allowed
}

func (g *gate) may(ctx context.Context, verb string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: libsveltosv1beta1.InventoryGroupVersion.Group, Resource: "clusterprofiles", Verb: verb,
		},
	}}
	c, err := authorizationclient.NewForConfigAndClient(g.mgr.GetConfig(), g.mgr.GetHTTPClient())
	if err != nil {
		return false, err
	}
	answer, err := c.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}

func missingRule(verb string) error {
	return fmt.Errorf("inventory ClusterProfiles cannot be read: the service account may not %s "+
		"clusterprofiles.multicluster.x-k8s.io; add the verbs get, list and watch for it to the controller's ClusterRole, "+
		"or start the controller without --%s", verb, inventory.ProviderFileFlag)
}
