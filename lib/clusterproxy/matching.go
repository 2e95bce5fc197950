package clusterproxy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/projectsveltos/libsveltos/lib/inventory"
	"github.com/projectsveltos/libsveltos/lib/sharding"
)

// selection says which inventory ClusterProfiles are asked for.
type selection struct {
	namespace string          // empty: all
	labels    labels.Selector // nil: all
	shard     *string         // nil: all
	ready     bool            // only those that are healthy, or have matched before
}

// appendInventoryClusters appends references to the inventory ClusterProfiles that are
// asked for. None exist while the backend is off or the CRD is not installed, which is
// looked at each time. From an informer's cache nothing is copied but what is returned.
func appendInventoryClusters(ctx context.Context, c client.Client, clusters []corev1.ObjectReference, s selection,
) ([]corev1.ObjectReference, error) {

	if !inventory.Enabled() {
		return clusters, nil
	}
	list := &inventoryv1alpha1.ClusterProfileList{}
	if err := c.List(ctx, list, s.listOptions()...); err != nil {
		if isAbsent(err) {
			return clusters, nil
		}
		return nil, fmt.Errorf("listing inventory ClusterProfiles: %w", err)
	}
	if len(list.Items) == 0 {
		return clusters, nil
	}
	bridged, err := bridgedClusters(ctx, c, s.namespace)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		cp := &list.Items[i]
		if s.selects(c, cp, bridged) {
			clusters = append(clusters, inventoryRef(cp.Namespace, cp.Name))
		}
	}
	return clusters, nil
}

// listOptions lets the cache hand out its own objects: they are only looked at here.
func (s selection) listOptions() []client.ListOption {
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if s.namespace != "" {
		options = append(options, client.InNamespace(s.namespace))
	}
	if s.labels != nil {
		options = append(options, client.MatchingLabelsSelector{Selector: s.labels})
	}
	return options
}

func (s selection) selects(c client.Client, cp *inventoryv1alpha1.ClusterProfile, bridged map[types.NamespacedName]bool) bool {
	switch {
	case !cp.DeletionTimestamp.IsZero():
		return false
	case s.shard != nil && !sharding.IsShardAMatch(*s.shard, cp):
		return false
	case len(cp.Name) > validation.LabelValueMaxLength:
		ignore(cp, ignoredLongName, fmt.Sprintf("its name has %d characters, and Sveltos labels objects with the name of their "+
			"cluster, which takes %d at most; give it a shorter one", len(cp.Name), validation.LabelValueMaxLength))
		return false
	case bridged[client.ObjectKeyFromObject(cp)]:
		ignoreBridged(cp)
		return false
	case !s.ready:
		return true
	case inventory.IsHealthy(cp):
		latches.set(c, cp)
		return true
	default:
		return latches.has(cp)
	}
}
