// Package reconcile is a stand-in with what the fixtures call.
package reconcile

import "context"

// Request names an object.
type Request struct{ Namespace, Name string }

// Result says when to come back.
type Result struct{ Requeue bool }

// Reconciler reconciles.
type Reconciler interface {
	Reconcile(context.Context, Request) (Result, error)
}
