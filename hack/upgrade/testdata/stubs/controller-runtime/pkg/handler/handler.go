// Package handler is a stand-in with what the fixtures call.
package handler

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// MapFunc tells what to reconcile when an object changes.
type MapFunc func(context.Context, client.Object) []reconcile.Request

// EventHandler handles events.
type EventHandler interface{ Handle() }

// EnqueueRequestsFromMapFunc enqueues what f returns.
func EnqueueRequestsFromMapFunc(f MapFunc) EventHandler { return nil }

// EnqueueRequestForObject enqueues the object itself.
func EnqueueRequestForObject() EventHandler { return nil }
