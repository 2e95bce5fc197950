// Package fixture puts labels on clusters.
package fixture

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

//+kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;watch;list;update
//+kubebuilder:rbac:groups=lib.projectsveltos.io,resources=sveltosclusters,verbs=get;list;watch;update

type reconciler struct{ client.Client }

// direct updates what it got.
func (r *reconciler) direct(ctx context.Context, ref *corev1.ObjectReference) error {
	cluster, err := clusterproxy.GetCluster(ctx, r.Client, ref.Namespace, ref.Name, clusterproxy.GetClusterType(ref))
	if err != nil {
		return err
	}
	cluster.SetLabels(map[string]string{"a": "b"})
	return r.Update(ctx, cluster)
}

// passed hands what it got on.
func (r *reconciler) passed(ctx context.Context, ref *corev1.ObjectReference) error {
	cluster, err := clusterproxy.GetCluster(ctx, r.Client, ref.Namespace, ref.Name, clusterproxy.GetClusterType(ref))
	if err != nil {
		return err
	}
	return r.label(ctx, cluster)
}

func (r *reconciler) label(ctx context.Context, cluster client.Object) error {
	labels := cluster.GetLabels()
	delete(labels, "a")
	cluster.SetLabels(labels)
	return r.Update(ctx, cluster)
}

// generic updates an object of any kind.
func generic(ctx context.Context, c client.Client, name string, t libsveltosv1beta1.ClusterType) error {
	cluster, err := get(ctx, c, name, t)
	if err != nil {
		return err
	}
	cluster.SetLabels(nil)
	if err := c.Update(ctx, cluster); err != nil {
		return err
	}
	return nil
}

func get(ctx context.Context, c client.Client, name string, t libsveltosv1beta1.ClusterType) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	switch t {
	case libsveltosv1beta1.ClusterTypeCapi:
		u.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Cluster"))
	case libsveltosv1beta1.ClusterTypeSveltos:
		u.SetGroupVersionKind(libsveltosv1beta1.GroupVersion.WithKind(libsveltosv1beta1.SveltosClusterKind))
	default:
		return nil, errors.New("no such type")
	}
	return u, c.Get(ctx, "", name, u)
}

// other is no cluster: its full update stays.
func other(ctx context.Context, c client.Client, obj client.Object) error {
	return c.Update(ctx, obj)
}
