package v1beta1

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	ClusterTypeClusterProfile = ClusterType("ClusterProfile")

	InventoryClusterProfileKind = "ClusterProfile"
)

// InventoryGroupVersion of the inventory.
var InventoryGroupVersion = schema.GroupVersion{Group: "multicluster.x-k8s.io", Version: "v1alpha1"}
