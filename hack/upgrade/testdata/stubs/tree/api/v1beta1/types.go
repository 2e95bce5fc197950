// Package v1beta1 is a stand-in with what the fixtures use.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClusterType is a type of clusters.
type ClusterType string

const (
	ClusterTypeSveltos = ClusterType("Sveltos")
	ClusterTypeCapi    = ClusterType("Capi")

	SveltosClusterKind = "SveltosCluster"
	ClusterSetKind     = "ClusterSet"
)

// GroupVersion of libsveltos.
var GroupVersion = schema.GroupVersion{Group: "lib.projectsveltos.io", Version: "v1beta1"}

// SveltosCluster is a cluster registered with Sveltos.
type SveltosCluster struct {
	metav1.Meta
	Spec   struct{ PullMode bool }
	Status struct{ Ready bool }
}

// SveltosClusterList is a list of them.
type SveltosClusterList struct{ Items []SveltosCluster }

// ClusterSet is a set of clusters.
type ClusterSet struct{ metav1.Meta }
