package predicates

import (
	"maps"

	"github.com/go-logr/logr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	logs "github.com/projectsveltos/libsveltos/lib/logsettings"
)

// InventoryClusterProfilePredicates lets through what matters of an inventory
// ClusterProfile: that it is created or deleted, and changes of its labels, of the
// annotations that Sveltos reads, of its health, and of how it is reached. Cluster
// managers write heartbeats, properties and versions into its status all the time; those
// are not passed on.
func InventoryClusterProfilePredicates(logger logr.Logger) predicate.Funcs {
	logger = logger.WithName("inventoryclusterprofilepredicate")
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok1 := e.ObjectOld.(*inventoryv1alpha1.ClusterProfile)
			now, ok2 := e.ObjectNew.(*inventoryv1alpha1.ClusterProfile)
			if !ok1 || !ok2 {
				return false
			}
			what := inventoryChange(before, now)
			if what == "" {
				return false
			}
			logger.V(logs.LogVerbose).Info("inventory ClusterProfile changed: "+what,
				"namespace", now.Namespace, "cluster", now.Name)
			return true
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// annotationsThatMatter are those that Sveltos reads of an inventory ClusterProfile.
var annotationsThatMatter = []string{
	clusterv1.PausedAnnotation,
	libsveltosv1beta1.ShardAnnotation,
	libsveltosv1beta1.InventoryMatchedAnnotation,
}

// inventoryChange names the first change that matters, or is empty.
func inventoryChange(before, now *inventoryv1alpha1.ClusterProfile) string {
	switch {
	case before == nil || now == nil:
		return "unknown before"
	case before.UID != now.UID:
		return "created anew"
	case before.DeletionTimestamp.IsZero() != now.DeletionTimestamp.IsZero():
		return "being deleted"
	case !maps.Equal(before.Labels, now.Labels):
		return "labels"
	case inventory.IsHealthy(before) != inventory.IsHealthy(now):
		return "health"
	case !inventory.SameAccess(before, now):
		return "access"
	}
	for _, name := range annotationsThatMatter {
		was, had := before.Annotations[name]
		is, has := now.Annotations[name]
		if was != is || had != has {
			return "annotation " + name
		}
	}
	return ""
}
