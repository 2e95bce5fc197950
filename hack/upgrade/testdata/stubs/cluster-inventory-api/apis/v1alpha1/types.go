// Package v1alpha1 is a stand-in with what the fixtures use.
package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterProfile is a cluster of the inventory.
type ClusterProfile struct{ metav1.Meta }
