// Package controller is a stand-in with what the fixtures call.
package controller

// Options of a controller.
type Options struct{ MaxConcurrentReconciles int }

// Controller runs a reconciler.
type Controller interface{ Watch() error }
