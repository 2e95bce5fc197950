package inventory

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// IsHealthy tells whether the control plane is healthy now: the condition
// ControlPlaneHealthy is True. Absent, Unknown and False are all "no" (KEP-4322).
func IsHealthy(cp *v1alpha1.ClusterProfile) bool {
	return meta.IsStatusConditionTrue(cp.Status.Conditions, v1alpha1.ClusterConditionControlPlaneHealthy)
}
