// Package fixture deploys to clusters in steps.
package fixture

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

//+kubebuilder:rbac:groups=lib.projectsveltos.io,resources=sveltosclusters,verbs=get;list;watch

type summary struct{ message string }

type reconciler struct{ client.Client }

func (r *reconciler) setFailureMessage(s *summary, message string)         { s.message = message }
func (r *reconciler) setNextReconcileTime(s *summary, after time.Duration) {}

// reach is two calls away from the cluster.
func (r *reconciler) reach(ctx context.Context, ref *corev1.ObjectReference) error {
	return r.open(ctx, ref)
}

func (r *reconciler) open(ctx context.Context, ref *corev1.ObjectReference) error {
	_, err := clusterproxy.GetKubernetesClient(ctx, r.Client, ref.Namespace, ref.Name, clusterproxy.GetClusterType(ref))
	return err
}

func (r *reconciler) count(context.Context) error { return nil }

// silent says nothing of why it stops.
func (r *reconciler) silent(ctx context.Context, s *summary, ref *corev1.ObjectReference) bool {
	err := r.reach(ctx, ref)
	if err != nil {
		// the cluster may come back
		r.setNextReconcileTime(s, time.Minute)
		return false
	}
	return true
}

// telling does already.
func (r *reconciler) telling(ctx context.Context, s *summary, ref *corev1.ObjectReference) bool {
	err := r.reach(ctx, ref)
	if err != nil {
		r.setFailureMessage(s, err.Error())
		r.setNextReconcileTime(s, time.Minute)
		return false
	}
	return true
}

// local has nothing to do with a cluster.
func (r *reconciler) local(ctx context.Context, s *summary) bool {
	err := r.count(ctx)
	if err != nil {
		r.setNextReconcileTime(s, time.Minute)
		return false
	}
	return true
}
