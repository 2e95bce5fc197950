// Package fixture has code on cluster types of which only a person can tell what is right.
package fixture

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

func flag(t libsveltosv1beta1.ClusterType) (ours bool) {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		ours = true
	}
	return ours
}

// short has no word for the type that could be replaced: a copy would share the key.
func short(t libsveltosv1beta1.ClusterType) string {
	key := "c"
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		key = "s"
	}
	return key
}

func isSveltos(ref *corev1.ObjectReference) bool {
	return ref.Kind == libsveltosv1beta1.SveltosClusterKind
}

func workForEach(t libsveltosv1beta1.ClusterType) error {
	switch t {
	case libsveltosv1beta1.ClusterTypeSveltos:
		return setUp("a")
	case libsveltosv1beta1.ClusterTypeCapi:
		return setUp("b")
	}
	return nil
}

func workOrElse(t libsveltosv1beta1.ClusterType) error {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		if err := setUp("a"); err != nil {
			return err
		}
	} else {
		return setUp("b")
	}
	return nil
}

func leavesAfterWork(t libsveltosv1beta1.ClusterType) error {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		return setUp("a")
	}
	return setUp("b")
}

// silent would leave a ClusterProfile with what is right for Cluster API.
func silent(t libsveltosv1beta1.ClusterType) string {
	who := owner("a")
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		who = owner("b")
	}
	return who
}

func owner(s string) string { return "owner of " + s }

func setUp(s string) error { return fmt.Errorf("cannot set up %s", s) }

var weights = map[libsveltosv1beta1.ClusterType]int{
	libsveltosv1beta1.ClusterTypeSveltos: 1,
	libsveltosv1beta1.ClusterTypeCapi:    2,
}

func each(ctx context.Context, c client.Client) error {
	list := &libsveltosv1beta1.SveltosClusterList{}
	if err := c.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		fmt.Println(list.Items[i].Name)
	}
	return nil
}

// Reconciler has a watch whose map function knows SveltosClusters only.
type Reconciler struct{ client.Client }

func (r *Reconciler) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}

func (r *Reconciler) forCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(o)
}

func (r *Reconciler) requests(o client.Object) []reconcile.Request {
	cluster := o.(*libsveltosv1beta1.SveltosCluster)
	return []reconcile.Request{{Name: cluster.Name}}
}

func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&clusterv1.Cluster{}).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster)).
		Complete(r)
}

// understood beside the others: what is known is upgraded all the same.
func understood(t libsveltosv1beta1.ClusterType) string {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		return libsveltosv1beta1.SveltosClusterKind
	}
	return clusterv1.ClusterKind
}
