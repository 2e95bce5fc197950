package consumers

import (
	"context"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clustercache"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// Cleaner removes the reports of a cluster when the cluster goes. Each cluster type has one of its own.
type Cleaner struct {
	// Client of the hub.
	Client client.Client
	// Type of the clusters that it is called for.
	Type libsveltosv1beta1.ClusterType

	seen func(Cluster) // is told of each cluster that is there
}

var _ reconcile.Reconciler = (*Cleaner)(nil)

// SetupCleaners adds a Cleaner for SveltosClusters and one for inventory ClusterProfiles. Cluster API, which may be
// absent, is left to the Sweeper.
func SetupCleaners(mgr manager.Manager) error {
	return setupCleaners(mgr, func(Cluster) {})
}

func setupCleaners(mgr manager.Manager, seen func(Cluster)) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(&libsveltosv1beta1.SveltosCluster{}).
		Complete(&Cleaner{Client: mgr.GetClient(), Type: libsveltosv1beta1.ClusterTypeSveltos, seen: seen})
	if err != nil {
		return err
	}
	return clusterproxy.SetupInventoryClusterProfileReconciler(mgr, "inventoryclusterprofile",
		&Cleaner{Client: mgr.GetClient(), Type: libsveltosv1beta1.ClusterTypeClusterProfile, seen: seen}, controller.Options{})
}

// Reconcile removes the reports of a cluster that is gone or going.
func (r *Cleaner) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := Cluster{NamespacedName: request.NamespacedName, Type: r.Type}
	object, err := clusterproxy.GetCluster(ctx, r.Client, cluster.Namespace, cluster.Name, cluster.Type)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	if err == nil && object.GetDeletionTimestamp().IsZero() {
		r.seen(cluster)
		return reconcile.Result{}, nil
	}
	clustercache.GetManager().RemoveCluster(cluster.Namespace, cluster.Name, cluster.Type)
	return reconcile.Result{}, RemoveReports(ctx, r.Client, cluster)
}

// Sweeper removes, again and again, the reports of clusters that have gone unseen: while the controller was down, or
// while their last reports were being collected.
type Sweeper struct {
	// Client of the hub.
	Client client.Client
	// Interval between two rounds.
	Interval time.Duration
}

var _ manager.Runnable = (*Sweeper)(nil)

// Start sweeps until the context ends.
func (s *Sweeper) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := s.sweep(ctx); err != nil {
			logf.FromContext(ctx).Error(err, "removing stale reports")
		}
	}, s.Interval)
	return nil
}

// sweep removes the reports of all clusters that are not there.
func (s *Sweeper) sweep(ctx context.Context) error {
	reported, err := s.reported(ctx)
	if err != nil {
		return err
	}
	refs, err := clusterproxy.GetListOfClusters(ctx, s.Client, "", "", logf.FromContext(ctx))
	if err != nil {
		return err
	}
	for i := range refs {
		delete(reported, lower(clusterOf(&refs[i])))
	}
	for cluster := range reported {
		if err := RemoveReports(ctx, s.Client, cluster); err != nil {
			return err
		}
	}
	return nil
}

// reported are the clusters that the labels of reports name, their types in lower case. A type that this process does
// not serve is not among them, because nothing is known of its clusters.
func (s *Sweeper) reported(ctx context.Context) (map[Cluster]bool, error) {
	clusters := map[Cluster]bool{}
	for _, kind := range reportKinds {
		list := kind.newList()
		if err := s.Client.List(ctx, list, client.HasLabels{kind.nameLabel, kind.typeLabel}); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(object runtime.Object) error {
			report, err := meta.Accessor(object)
			if err != nil {
				return err
			}
			labels := report.GetLabels()
			clusters[Cluster{
				NamespacedName: types.NamespacedName{Namespace: report.GetNamespace(), Name: labels[kind.nameLabel]},
				Type:           libsveltosv1beta1.ClusterType(labels[kind.typeLabel]),
			}] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !inventory.Enabled() {
		unserved := lower(Cluster{Type: libsveltosv1beta1.ClusterTypeClusterProfile}).Type
		maps.DeleteFunc(clusters, func(cluster Cluster, _ bool) bool { return cluster.Type == unserved })
	}
	return clusters, nil
}

func lower(cluster Cluster) Cluster {
	cluster.Type = libsveltosv1beta1.ClusterType(strings.ToLower(string(cluster.Type)))
	return cluster
}
