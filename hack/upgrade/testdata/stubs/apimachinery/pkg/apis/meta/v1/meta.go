// Package v1 is a stand-in with what the fixtures use.
package v1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Meta is the metadata and the type of an object.
type Meta struct {
	Namespace, Name string
	Labels          map[string]string
	Annotations     map[string]string
	Deleted         bool
	kind            schema.GroupVersionKind
}

func (m *Meta) GetNamespace() string                             { return m.Namespace }
func (m *Meta) GetName() string                                  { return m.Name }
func (m *Meta) GetLabels() map[string]string                     { return m.Labels }
func (m *Meta) SetLabels(l map[string]string)                    { m.Labels = l }
func (m *Meta) GetObjectKind() schema.ObjectKind                 { return m }
func (m *Meta) GroupVersionKind() schema.GroupVersionKind        { return m.kind }
func (m *Meta) SetGroupVersionKind(kind schema.GroupVersionKind) { m.kind = kind }
func (m *Meta) DeepCopyObject() any                              { c := *m; return &c }
