// Package client is a stand-in with what the fixtures call.
package client

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is any object.
type Object interface {
	GetNamespace() string
	GetName() string
	GetLabels() map[string]string
	SetLabels(map[string]string)
	GetObjectKind() schema.ObjectKind
	DeepCopyObject() any
}

// Patch is a change.
type Patch interface{ Data() []byte }

// MergeFrom is the change since obj.
func MergeFrom(obj Object) Patch { return nil }

// Reader reads.
type Reader interface {
	Get(ctx context.Context, namespace, name string, obj any) error
	List(ctx context.Context, list any) error
}

// Writer writes.
type Writer interface {
	Update(ctx context.Context, obj Object) error
	Patch(ctx context.Context, obj Object, patch Patch) error
}

// Client reads and writes.
type Client interface {
	Reader
	Writer
}
