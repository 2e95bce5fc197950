// Package fixture watches SveltosClusters in every form of a builder.
package fixture

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// Reconciler reconciles ClusterSets.
type Reconciler struct {
	client.Client
	ctrl controller.Controller
}

//+kubebuilder:rbac:groups=lib.projectsveltos.io,resources=clustersets,verbs=get;list
//+kubebuilder:rbac:groups=lib.projectsveltos.io,resources=sveltosclusters,verbs=get;watch;list
//+kubebuilder:rbac:groups=lib.projectsveltos.io,resources=sveltosclusters/status,verbs=get;watch;list

func (r *Reconciler) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}

func (r *Reconciler) forCluster(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// Kept keeps the controller.
func (r *Reconciler) Kept(mgr ctrl.Manager) error {
	c, err := ctrl.NewControllerManagedBy(mgr).
		For(&libsveltosv1beta1.ClusterSet{}).
		Watches(&libsveltosv1beta1.SveltosCluster{},
			handler.EnqueueRequestsFromMapFunc(r.forCluster),
			builder.WithPredicates(sveltosClusterPredicate()),
		).
		Build(r)
	if err != nil {
		return fmt.Errorf("error creating controller: %w", err)
	}

	r.ctrl = c

	return nil
}

// Dropped drops the controller.
func (r *Reconciler) Dropped(mgr ctrl.Manager) error {
	_, err := ctrl.NewControllerManagedBy(mgr).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster)).
		Build(r)
	if err != nil {
		return err
	}
	return nil
}

// Field keeps the controller in a field.
func (r *Reconciler) Field(mgr ctrl.Manager) (err error) {
	r.ctrl, err = ctrl.NewControllerManagedBy(mgr).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster)).
		Build(r)
	if err != nil {
		return err
	}
	return nil
}

// Returned returns what Complete returns.
func (r *Reconciler) Returned(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster)).
		Complete(r)
}

// Built returns what Build returns.
func (r *Reconciler) Built(mgr ctrl.Manager) (controller.Controller, error) {
	return ctrl.NewControllerManagedBy(mgr).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster)).
		Build(r)
}

// InHead completes in the head of an if.
func (r *Reconciler) InHead(mgr ctrl.Manager) error {
	if err := ctrl.NewControllerManagedBy(mgr).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster)).
		Complete(r); err != nil {
		return fmt.Errorf("set %q: %w", "up", err)
	}
	return nil
}

// InVariable keeps the builder in a variable.
func (r *Reconciler) InVariable(mgr ctrl.Manager, more bool) error {
	b := ctrl.NewControllerManagedBy(mgr).For(&libsveltosv1beta1.ClusterSet{})
	if more {
		b = b.Named("more")
	}
	b = b.Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.forCluster))
	err := b.Complete(r)
	if err != nil {
		return err
	}
	return nil
}

func sveltosClusterPredicate() func(old, new any) bool {
	return func(old, new any) bool {
		before, after := old.(*libsveltosv1beta1.SveltosCluster), new.(*libsveltosv1beta1.SveltosCluster)
		return before.Status.Ready != after.Status.Ready
	}
}
