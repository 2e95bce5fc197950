package clusterproxy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	"github.com/projectsveltos/libsveltos/lib/roles"
)

// platformAdmin is the admin name that means "no tenant", as upstream has it.
const platformAdmin = "kubernetes-admin"

// isInventoryRef decides by group and kind: Sveltos' own ClusterProfile has the same
// kind, and a later version of the inventory API is the same cluster.
func isInventoryRef(ref *corev1.ObjectReference) bool {
	if ref.Kind != libsveltosv1beta1.InventoryClusterProfileKind {
		return false
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == libsveltosv1beta1.InventoryGroupVersion.Group
}

// inventoryRef is the reference of an inventory ClusterProfile. It has exactly these
// four fields, because controllers use references as map keys.
func inventoryRef(namespace, name string) corev1.ObjectReference {
	return corev1.ObjectReference{
		Namespace:  namespace,
		Name:       name,
		Kind:       libsveltosv1beta1.InventoryClusterProfileKind,
		APIVersion: libsveltosv1beta1.InventoryGroupVersion.String(),
	}
}

func getInventoryCluster(ctx context.Context, c client.Client, namespace, name string,
) (*inventoryv1alpha1.ClusterProfile, error) {

	if !inventory.Enabled() {
		return nil, notConfigured(namespace, name)
	}
	cp := &inventoryv1alpha1.ClusterProfile{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, cp); err != nil {
		return nil, fmt.Errorf("ClusterProfile %s/%s: %w", namespace, name, err)
	}
	// Controllers tell the types apart by it, and a client without a cache leaves it empty.
	cp.SetGroupVersionKind(libsveltosv1beta1.InventoryGroupVersion.WithKind(libsveltosv1beta1.InventoryClusterProfileKind))
	return cp, nil
}

func notConfigured(namespace, name string) error {
	return fmt.Errorf("ClusterProfile %s/%s: %w: start the controller with --%s",
		namespace, name, inventory.ErrNotConfigured, inventory.ProviderFileFlag)
}

func isInventoryClusterPaused(ctx context.Context, c client.Client, namespace, name string) (bool, error) {
	cp, err := getInventoryCluster(ctx, c, namespace, name)
	if err != nil {
		return false, err
	}
	_, paused := cp.Annotations[clusterv1.PausedAnnotation]
	return paused, nil
}

// isInventoryClusterReady is current health. A cluster that the bridge serves is never
// ready here, however it was selected.
func isInventoryClusterReady(ctx context.Context, c client.Client, namespace, name string) (bool, error) {
	cp, err := getInventoryCluster(ctx, c, namespace, name)
	if err != nil || !inventory.IsHealthy(cp) {
		return false, err
	}
	bridged, err := isBridged(ctx, c, client.ObjectKeyFromObject(cp))
	if err != nil {
		return false, err
	}
	if bridged {
		ignoreBridged(cp)
	}
	return !bridged, nil
}

func getInventoryRestConfig(ctx context.Context, c client.Client,
	namespace, name, adminNamespace, adminName string) (*rest.Config, error) {

	if isTenant(adminName) {
		kubeconfig, err := getTenantKubeconfig(ctx, c, namespace, name, adminNamespace, adminName)
		if err != nil {
			return nil, err
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("ClusterProfile %s/%s: kubeconfig of tenant %s/%s: %w",
				namespace, name, adminNamespace, adminName, err)
		}
		return config, nil
	}
	cp, err := getInventoryCluster(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	return inventory.FromFlags().RestConfig(ctx, cp)
}

func getInventoryKubeconfig(ctx context.Context, c client.Client,
	namespace, name, adminNamespace, adminName string) ([]byte, error) {

	if isTenant(adminName) {
		return getTenantKubeconfig(ctx, c, namespace, name, adminNamespace, adminName)
	}
	cp, err := getInventoryCluster(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	return inventory.FromFlags().Kubeconfig(cp)
}

func isTenant(adminName string) bool {
	return adminName != "" && adminName != platformAdmin
}

// getTenantKubeconfig never returns an empty kubeconfig, which some loaders take for
// the hub's own.
func getTenantKubeconfig(ctx context.Context, c client.Client,
	namespace, name, adminNamespace, adminName string) ([]byte, error) {

	if !inventory.Enabled() {
		return nil, notConfigured(namespace, name)
	}
	kubeconfig, err := roles.GetKubeconfig(ctx, c, namespace, name, adminNamespace, adminName, inventoryType)
	if err != nil {
		return nil, fmt.Errorf("ClusterProfile %s/%s: kubeconfig of tenant %s/%s: %w",
			namespace, name, adminNamespace, adminName, err)
	}
	if len(kubeconfig) == 0 {
		return nil, fmt.Errorf("ClusterProfile %s/%s: tenant %s/%s has no kubeconfig for it; "+
			"create a RoleRequest that selects the cluster", namespace, name, adminNamespace, adminName)
	}
	return kubeconfig, nil
}
