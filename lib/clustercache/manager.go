package clustercache

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/client"
	upstream "upstream.projectsveltos.io/libsveltos/lib/clustercache"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	logs "github.com/projectsveltos/libsveltos/lib/logsettings"
)

// clusterCache has the method set of upstream's type of the same name.
type clusterCache struct {
	entries *store
}

var instance = newClusterCache()

func newClusterCache() *clusterCache {
	m := &clusterCache{entries: newStore()}
	clusterproxy.OnInventoryChange(m.entries.evict)
	return m
}

// GetManager returns the cache of this process.
func GetManager() *clusterCache { //nolint:revive // upstream's signature has an unexported type too
	return instance
}

func isInventory(clusterType libsveltosv1beta1.ClusterType) bool {
	return clusterType == libsveltosv1beta1.ClusterTypeClusterProfile
}

func nameOf(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// RemoveCluster drops what is cached of the cluster, its credential included.
func (m *clusterCache) RemoveCluster(clusterNamespace, clusterName string, clusterType libsveltosv1beta1.ClusterType) {
	if !isInventory(clusterType) {
		upstream.GetManager().RemoveCluster(clusterNamespace, clusterName, clusterType)
		return
	}
	cluster := nameOf(clusterNamespace, clusterName)
	m.entries.evict(cluster)
	inventory.FromFlags().Forget(cluster)
}

// RemoveSecret drops what was cached of the clusters whose kubeconfig the Secret holds.
// Inventory ClusterProfiles have none.
func (m *clusterCache) RemoveSecret(sec *corev1.ObjectReference) {
	upstream.GetManager().RemoveSecret(sec)
}

// InvalidateOnAuthError drops what is cached of the cluster if err says that its API
// server did not accept the credential, and tells whether it did. For an inventory
// ClusterProfile that is 401 only: 403 means that the credential was accepted and its
// owner may not do the thing, which a rebuilt entry would not change.
func (m *clusterCache) InvalidateOnAuthError(clusterNamespace, clusterName string,
	clusterType libsveltosv1beta1.ClusterType, err error) bool {

	if !isInventory(clusterType) {
		return upstream.GetManager().InvalidateOnAuthError(clusterNamespace, clusterName, clusterType, err)
	}
	if !apierrors.IsUnauthorized(err) {
		return false
	}
	m.entries.evict(nameOf(clusterNamespace, clusterName))
	return true
}

// GetKubernetesRestConfig returns a rest.Config for the cluster, which the caller owns.
// It is nil without an error for a cluster in pull mode. Those of tenant admins are not
// cached.
func (m *clusterCache) GetKubernetesRestConfig(ctx context.Context, mgmtClient client.Client,
	clusterNamespace, clusterName, adminNamespace, adminName string,
	clusterType libsveltosv1beta1.ClusterType, logger logr.Logger) (*rest.Config, error) {

	if !isInventory(clusterType) {
		return upstream.GetManager().GetKubernetesRestConfig(ctx, mgmtClient, clusterNamespace, clusterName,
			adminNamespace, adminName, clusterType, logger)
	}
	if adminNamespace != "" || adminName != "" {
		return clusterproxy.GetKubernetesRestConfig(ctx, mgmtClient, clusterNamespace, clusterName,
			adminNamespace, adminName, clusterType, logger)
	}
	e, err := m.entries.get(ctx, mgmtClient, nameOf(clusterNamespace, clusterName))
	if err != nil {
		return nil, err
	}
	return e.copied(), nil
}

// GetKubernetesClient returns a client for the cluster with the scheme of mgmtClient. It
// is nil without an error for a cluster in pull mode. Clients of one inventory
// ClusterProfile share a connection and a REST mapper.
func (m *clusterCache) GetKubernetesClient(ctx context.Context, mgmtClient client.Client,
	clusterNamespace, clusterName, adminNamespace, adminName string,
	clusterType libsveltosv1beta1.ClusterType, logger logr.Logger) (client.Client, error) {

	if !isInventory(clusterType) {
		return upstream.GetManager().GetKubernetesClient(ctx, mgmtClient, clusterNamespace, clusterName,
			adminNamespace, adminName, clusterType, logger)
	}
	if adminNamespace != "" || adminName != "" {
		return clusterproxy.GetKubernetesClient(ctx, mgmtClient, clusterNamespace, clusterName,
			adminNamespace, adminName, clusterType, logger)
	}
	e, err := m.entries.get(ctx, mgmtClient, nameOf(clusterNamespace, clusterName))
	if err != nil {
		return nil, err
	}
	logger.V(logs.LogVerbose).Info("return new client")
	return e.client(mgmtClient.Scheme())
}

// GetMapper returns the REST mapper of the cluster. A kind that was installed on the
// cluster later is found.
func (m *clusterCache) GetMapper(ctx context.Context, mgmtClient client.Client,
	clusterNamespace, clusterName string, clusterType libsveltosv1beta1.ClusterType,
	logger logr.Logger) (*restmapper.DeferredDiscoveryRESTMapper, error) {

	if !isInventory(clusterType) {
		return upstream.GetManager().GetMapper(ctx, mgmtClient, clusterNamespace, clusterName, clusterType, logger)
	}
	d, err := m.discovery(ctx, mgmtClient, clusterNamespace, clusterName)
	if err != nil {
		return nil, err
	}
	return d.mapper, nil
}

// GetCachedDiscoveryClient returns the discovery client of the cluster.
func (m *clusterCache) GetCachedDiscoveryClient(ctx context.Context, mgmtClient client.Client,
	clusterNamespace, clusterName string, clusterType libsveltosv1beta1.ClusterType,
	logger logr.Logger) (discovery.CachedDiscoveryInterface, error) {

	if !isInventory(clusterType) {
		return upstream.GetManager().GetCachedDiscoveryClient(ctx, mgmtClient, clusterNamespace, clusterName,
			clusterType, logger)
	}
	d, err := m.discovery(ctx, mgmtClient, clusterNamespace, clusterName)
	if err != nil {
		return nil, err
	}
	return d.client, nil
}

func (m *clusterCache) discovery(ctx context.Context, mgmtClient client.Client, namespace, name string) (*discoverer, error) {
	e, err := m.entries.get(ctx, mgmtClient, nameOf(namespace, name))
	if err != nil {
		return nil, err
	}
	return e.discoverer()
}

// ResetMapper makes the REST mapper of the cluster forget what it knows.
func (m *clusterCache) ResetMapper(clusterNamespace, clusterName string, clusterType libsveltosv1beta1.ClusterType) {
	if !isInventory(clusterType) {
		upstream.GetManager().ResetMapper(clusterNamespace, clusterName, clusterType)
		return
	}
	if e := m.entries.peek(nameOf(clusterNamespace, clusterName)); e != nil {
		e.resetMapper()
	}
}

// InvalidateDiscoveryClient makes the discovery client of the cluster forget what it
// knows.
func (m *clusterCache) InvalidateDiscoveryClient(clusterNamespace, clusterName string,
	clusterType libsveltosv1beta1.ClusterType) {

	if !isInventory(clusterType) {
		upstream.GetManager().InvalidateDiscoveryClient(clusterNamespace, clusterName, clusterType)
		return
	}
	if e := m.entries.peek(nameOf(clusterNamespace, clusterName)); e != nil {
		e.invalidateDiscovery()
	}
}

// StoreRestConfig makes config the one of the cluster, until its access changes or it is
// removed.
func (m *clusterCache) StoreRestConfig(clusterNamespace, clusterName string,
	clusterType libsveltosv1beta1.ClusterType, config *rest.Config) {

	if !isInventory(clusterType) {
		upstream.GetManager().StoreRestConfig(clusterNamespace, clusterName, clusterType, config)
		return
	}
	m.entries.put(nameOf(clusterNamespace, clusterName), &entry{config: rest.CopyConfig(config), given: true})
}
