package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	upstream "upstream.projectsveltos.io/libsveltos/api/v1beta1"
)

// ClusterTypeClusterProfile is the type of the clusters of the SIG Multicluster
// inventory: ClusterProfiles of the group multicluster.x-k8s.io (KEP-4322). They are
// called inventory ClusterProfiles, because Sveltos has a kind of the same name; code
// decides by group and kind, never by kind alone.
const ClusterTypeClusterProfile = ClusterType("ClusterProfile")

// InventoryClusterProfileKind is the kind of an inventory ClusterProfile.
const InventoryClusterProfileKind = "ClusterProfile"

// InventoryGroupVersion is the group and version of an inventory ClusterProfile.
var InventoryGroupVersion = schema.GroupVersion{
	Group:   inventoryv1alpha1.GroupVersion.Group,
	Version: inventoryv1alpha1.GroupVersion.Version,
}

// InventoryMatchedAnnotation on an inventory ClusterProfile says that the cluster has
// been healthy and has matched, so that a later loss of health pauses deployment but
// does not withdraw what was deployed. Its value is the UID of the object: a new object
// of the same name starts anew. Remove it while the cluster is unhealthy to give the
// cluster up.
const InventoryMatchedAnnotation = "projectsveltos.io/inventory-matched"

// AddToScheme adds the types of this group-version, and the inventory types, to a
// scheme.
var AddToScheme = func(s *runtime.Scheme) error {
	if err := upstream.AddToScheme(s); err != nil {
		return err
	}
	return inventoryv1alpha1.AddToScheme(s)
}
