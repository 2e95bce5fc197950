// Package controllerruntime is a stand-in with what the fixtures call.
package controllerruntime

import (
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type (
	// Manager runs controllers.
	Manager = manager.Manager
	// Request names an object.
	Request = reconcile.Request
	// Result says when to come back.
	Result = reconcile.Result
)

// NewControllerManagedBy starts a builder.
var NewControllerManagedBy = builder.ControllerManagedBy
