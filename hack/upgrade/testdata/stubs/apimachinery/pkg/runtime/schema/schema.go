// Package schema is a stand-in with what the fixtures use.
package schema

// GroupVersion is a group with its version.
type GroupVersion struct{ Group, Version string }

func (gv GroupVersion) String() string { return gv.Group + "/" + gv.Version }

// WithKind adds a kind.
func (gv GroupVersion) WithKind(kind string) GroupVersionKind {
	return GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind}
}

// GroupVersionKind is a kind with its group and version.
type GroupVersionKind struct{ Group, Version, Kind string }

// ObjectKind is implemented by all objects.
type ObjectKind interface {
	SetGroupVersionKind(GroupVersionKind)
	GroupVersionKind() GroupVersionKind
}
