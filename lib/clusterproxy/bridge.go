package clusterproxy

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// BridgeLabel is what projectsveltos/clusterinventory-controller puts on the
// SveltosCluster it makes of an inventory ClusterProfile. That cluster is served already.
const BridgeLabel = "clusterinventory.projectsveltos.io/managed-by"

// bridgedClusters are the names under which the bridge serves a cluster.
func bridgedClusters(ctx context.Context, c client.Client, namespace string) (map[types.NamespacedName]bool, error) {
	options := []client.ListOption{client.HasLabels{BridgeLabel}, client.UnsafeDisableDeepCopy}
	if namespace != "" {
		options = append(options, client.InNamespace(namespace))
	}
	list := &libsveltosv1beta1.SveltosClusterList{}
	if err := c.List(ctx, list, options...); err != nil {
		if isAbsent(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("listing SveltosClusters that the bridge made: %w", err)
	}
	names := make(map[types.NamespacedName]bool, len(list.Items))
	for i := range list.Items {
		names[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	return names, nil
}

// isBridged tells whether the bridge serves the cluster of that name.
func isBridged(ctx context.Context, c client.Client, cluster types.NamespacedName) (bool, error) {
	sveltosCluster := &libsveltosv1beta1.SveltosCluster{}
	if err := c.Get(ctx, cluster, sveltosCluster); err != nil {
		if isAbsent(err) {
			return false, nil
		}
		return false, fmt.Errorf("looking for a SveltosCluster that the bridge made: %w", err)
	}
	return hasBridgeLabel(sveltosCluster), nil
}

func ignoreBridged(cp *inventoryv1alpha1.ClusterProfile) {
	ignore(cp, ignoredBridged, "the SveltosCluster of the same name carries the label "+BridgeLabel+
		", so the bridge serves the cluster; see docs/migration.md")
}

// releases are the events by which the bridge lets go of a cluster: its SveltosCluster is
// deleted, or loses the label.
func releases() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return hasBridgeLabel(e.ObjectOld) && !hasBridgeLabel(e.ObjectNew)
		},
		DeleteFunc: func(e event.DeleteEvent) bool { return hasBridgeLabel(e.Object) },
	}
}

// releasedBy maps the SveltosCluster of the bridge to what mapFunc makes of the inventory
// ClusterProfile of the same name, which is served from now on.
func releasedBy(c client.Reader, mapFunc handler.MapFunc) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		cp := &inventoryv1alpha1.ClusterProfile{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), cp); err != nil {
			if !isAbsent(err) {
				log.Error(err, "looking for the inventory ClusterProfile that the bridge served",
					"namespace", o.GetNamespace(), "name", o.GetName())
			}
			return nil
		}
		return mapFunc(ctx, cp)
	}
}

func hasBridgeLabel(o client.Object) bool {
	_, bridged := o.GetLabels()[BridgeLabel]
	return bridged
}

// isAbsent tells whether the object, or its CRD, is not there.
func isAbsent(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}
