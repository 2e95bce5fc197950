// Package builder is a stand-in with what the fixtures call.
package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Builder builds a controller.
type Builder struct{}

// Predicates filter events.
type Predicates struct{}

// WithPredicates filters events.
func WithPredicates(f func(old, new any) bool) Predicates { return Predicates{} }

// ControllerManagedBy starts a builder.
func ControllerManagedBy(m manager.Manager) *Builder { return &Builder{} }

func (b *Builder) For(obj any, _ ...Predicates) *Builder                             { return b }
func (b *Builder) Watches(obj any, h handler.EventHandler, _ ...Predicates) *Builder { return b }
func (b *Builder) WithOptions(controller.Options) *Builder                           { return b }
func (b *Builder) Named(string) *Builder                                             { return b }
func (b *Builder) Build(r reconcile.Reconciler) (controller.Controller, error)       { return nil, nil }
func (b *Builder) Complete(r reconcile.Reconciler) error                             { return nil }
