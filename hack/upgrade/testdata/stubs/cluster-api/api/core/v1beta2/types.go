// Package v1beta2 is a stand-in with what the fixtures use.
package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClusterKind is the kind of a Cluster.
const ClusterKind = "Cluster"

// GroupVersion of Cluster API.
var GroupVersion = schema.GroupVersion{Group: "cluster.x-k8s.io", Version: "v1beta2"}

// Cluster is a Cluster API cluster.
type Cluster struct{ metav1.Meta }

// ClusterList is a list of them.
type ClusterList struct{ Items []Cluster }
