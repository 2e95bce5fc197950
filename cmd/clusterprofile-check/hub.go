package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

// snapshot is what one round needs from the hub.
type snapshot struct {
	clusters []inventoryv1alpha1.ClusterProfile
	facts
	// warnings tell what could not be read, and so is missing in the rows.
	warnings []string
}

// facts are what the hub holds beside the inventory.
type facts struct {
	// bridged are the names under which the bridge serves a cluster.
	bridged map[types.NamespacedName]bool
	// profiles are Sveltos' own ClusterProfiles and Profiles.
	profiles []sveltosProfile
}

// readHub reads the inventory and what decides about it. Only the inventory must be readable.
func readHub(ctx context.Context, hub client.Client, namespace string, selector labels.Selector) (*snapshot, error) {
	list := &inventoryv1alpha1.ClusterProfileList{}
	err := hub.List(ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
	switch {
	case absent(err):
		return nil, fmt.Errorf("the hub does not serve clusterprofiles.%s; install the CRD of the inventory",
			libsveltosv1beta1.InventoryGroupVersion.Group)
	case err != nil:
		return nil, fmt.Errorf("reading inventory ClusterProfiles of the hub: %w", err)
	}
	s := &snapshot{clusters: list.Items}
	s.facts, s.warnings = readFacts(ctx, hub)
	return s, nil
}

// readFacts reads what it can and says what it cannot.
func readFacts(ctx context.Context, hub client.Client) (facts, []string) {
	var warnings []string
	bridged, err := readBridged(ctx, hub)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("clusters that the bridge serves are not recognized: %v", err))
	}
	profiles, err := readProfiles(ctx, hub)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("matching Sveltos profiles are not complete: %v", err))
	}
	return facts{bridged: bridged, profiles: profiles}, warnings
}

func readBridged(ctx context.Context, hub client.Client) (map[types.NamespacedName]bool, error) {
	list := &libsveltosv1beta1.SveltosClusterList{}
	if err := hub.List(ctx, list, client.HasLabels{clusterproxy.BridgeLabel}); err != nil {
		if absent(err) {
			return nil, nil
		}
		return nil, err
	}
	names := map[types.NamespacedName]bool{}
	for i := range list.Items {
		names[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	return names, nil
}

// absent tells that the kind is not installed.
func absent(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
}

// nobody is a profile that offers nothing.
func nobody() *inventoryv1alpha1.ClusterProfile { return &inventoryv1alpha1.ClusterProfile{} }
