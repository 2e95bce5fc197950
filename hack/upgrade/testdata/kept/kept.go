// Package fixture has code on cluster types that must stay as it is.
package fixture

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

var errAbsent = errors.New("absent")

func agentHealthy(ctx context.Context, c client.Client, ref *corev1.ObjectReference) (bool, error) {
	clusterType := clusterproxy.GetClusterType(ref)
	if clusterType != libsveltosv1beta1.ClusterTypeSveltos {
		return true, nil
	}
	cluster := &libsveltosv1beta1.SveltosCluster{}
	if err := c.Get(ctx, ref.Namespace, ref.Name, cluster); err != nil {
		return false, err
	}
	return cluster.Status.Ready, nil
}

func prune(ctx context.Context, c client.Client, refs []corev1.ObjectReference) (left []corev1.ObjectReference) {
	for i := range refs {
		if clusterproxy.GetClusterType(&refs[i]) == libsveltosv1beta1.ClusterTypeSveltos {
			cluster, err := read(ctx, c, refs[i].Namespace, refs[i].Name)
			if err != nil || !cluster.Status.Ready {
				continue
			}
		}
		left = append(left, refs[i])
	}
	return left
}

func read(ctx context.Context, c client.Client, namespace, name string) (*libsveltosv1beta1.SveltosCluster, error) {
	cluster := &libsveltosv1beta1.SveltosCluster{}
	return cluster, c.Get(ctx, namespace, name, cluster)
}

func forget(t libsveltosv1beta1.ClusterType, namespace, name string) {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		clusterproxy.EvictWorkloadIdentityCache(namespace, name)
	}
}

func infrastructure(o client.Object, t libsveltosv1beta1.ClusterType) (string, error) {
	if t == libsveltosv1beta1.ClusterTypeCapi {
		return provider(o.(*clusterv1.Cluster))
	}
	return o.GetName(), nil
}

func provider(cluster *clusterv1.Cluster) (string, error) { return cluster.Name, nil }

func tolerate(t libsveltosv1beta1.ClusterType, err error) bool {
	if t == libsveltosv1beta1.ClusterTypeCapi && errors.Is(err, errAbsent) {
		return true
	}
	return err == nil
}

func count(ctx context.Context, c client.Client) (total, ready int, err error) {
	var list libsveltosv1beta1.SveltosClusterList
	if err := c.List(ctx, &list); err != nil {
		return 0, 0, err
	}
	for i := range list.Items {
		if list.Items[i].Status.Ready {
			ready++
		}
	}
	return len(list.Items), ready, nil
}

func version(name string) string {
	t := libsveltosv1beta1.ClusterTypeSveltos
	return key(name, t)
}

func key(name string, t libsveltosv1beta1.ClusterType) string { return string(t) + name }

func deploy(isPullMode bool, name string) string {
	if isPullMode {
		return version(name)
	}
	return ""
}

func isSetKind(ref *corev1.ObjectReference) bool {
	if ref.Kind != libsveltosv1beta1.ClusterSetKind || ref.APIVersion != libsveltosv1beta1.GroupVersion.String() {
		return false
	}
	return true
}

// LicenseReconciler counts licences of SveltosClusters in pull mode.
type LicenseReconciler struct{ client.Client }

func (r *LicenseReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cluster := &libsveltosv1beta1.SveltosCluster{}
	if err := r.Get(ctx, req.Namespace, req.Name, cluster); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{Requeue: cluster.Spec.PullMode}, nil
}

func (r *LicenseReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&libsveltosv1beta1.SveltosCluster{}, builder.WithPredicates(readyChanged)).
		Complete(r)
}

func readyChanged(old, new any) bool { return old != new }
