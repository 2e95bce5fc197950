// Package v1 is a stand-in with what the fixtures use.
package v1

import "k8s.io/apimachinery/pkg/runtime/schema"

// ObjectReference refers to an object.
type ObjectReference struct{ Kind, Namespace, Name, APIVersion string }

// GroupVersionKind splits the reference's type.
func (r *ObjectReference) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.APIVersion, Kind: r.Kind}
}
