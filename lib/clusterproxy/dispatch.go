package clusterproxy

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	upstream "upstream.projectsveltos.io/libsveltos/lib/clusterproxy"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

const inventoryType = libsveltosv1beta1.ClusterTypeClusterProfile

// GetCluster returns the object that stands for the cluster. For an inventory
// ClusterProfile that is a *v1alpha1.ClusterProfile of cluster-inventory-api. The object
// is nil when there is an error; errors of the API server pass through.
func GetCluster(ctx context.Context, c client.Client, clusterNamespace, clusterName string,
	clusterType libsveltosv1beta1.ClusterType) (client.Object, error) {

	if clusterType == inventoryType {
		cluster, err := getInventoryCluster(ctx, c, clusterNamespace, clusterName)
		if err != nil {
			return nil, err
		}
		return cluster, nil
	}
	cluster, err := upstream.GetCluster(ctx, c, clusterNamespace, clusterName, clusterType)
	if err != nil {
		return nil, err // upstream's object is a nil pointer in an interface then
	}
	return cluster, nil
}

// GetClusterType returns the type of the cluster that the reference names. It decides
// by group and kind.
func GetClusterType(cluster *corev1.ObjectReference) libsveltosv1beta1.ClusterType {
	if isInventoryRef(cluster) {
		return inventoryType
	}
	return upstream.GetClusterType(cluster)
}

// IsClusterPaused tells whether nothing may be deployed to the cluster for now. An
// inventory ClusterProfile has no field for it: the annotation
// cluster.x-k8s.io/paused pauses it, as it does elsewhere in Sveltos.
func IsClusterPaused(ctx context.Context, c client.Client, clusterNamespace, clusterName string,
	clusterType libsveltosv1beta1.ClusterType) (bool, error) {

	if clusterType == inventoryType {
		return isInventoryClusterPaused(ctx, c, clusterNamespace, clusterName)
	}
	return upstream.IsClusterPaused(ctx, c, clusterNamespace, clusterName, clusterType)
}

// IsClusterInPullMode tells whether the cluster fetches its configuration itself. An
// inventory ClusterProfile never does.
func IsClusterInPullMode(ctx context.Context, c client.Client, clusterNamespace, clusterName string,
	clusterType libsveltosv1beta1.ClusterType, logger logr.Logger) (bool, error) {

	if clusterType == inventoryType {
		return false, nil
	}
	return upstream.IsClusterInPullMode(ctx, c, clusterNamespace, clusterName, clusterType, logger)
}

// IsClusterReadyToBeConfigured tells whether add-ons can be deployed to the cluster now.
// For an inventory ClusterProfile: its condition ControlPlaneHealthy is True.
func IsClusterReadyToBeConfigured(ctx context.Context, c client.Client, cluster *corev1.ObjectReference,
	logger logr.Logger) (bool, error) {

	if isInventoryRef(cluster) {
		return isInventoryClusterReady(ctx, c, cluster.Namespace, cluster.Name)
	}
	return upstream.IsClusterReadyToBeConfigured(ctx, c, cluster, logger)
}

// GetSecretData returns a kubeconfig for the cluster. For an inventory ClusterProfile,
// and no tenant admin, it holds one cluster and the exec plugin that gives a credential,
// but no credential.
func GetSecretData(ctx context.Context, c client.Client, clusterNamespace, clusterName, adminNamespace, adminName string,
	clusterType libsveltosv1beta1.ClusterType, logger logr.Logger) ([]byte, error) {

	if clusterType == inventoryType {
		return getInventoryKubeconfig(ctx, c, clusterNamespace, clusterName, adminNamespace, adminName)
	}
	return upstream.GetSecretData(ctx, c, clusterNamespace, clusterName, adminNamespace, adminName, clusterType, logger)
}

// GetKubernetesRestConfig returns a rest.Config for the cluster, as the tenant admin
// where one is named. It is nil without an error for a cluster in pull mode. For an
// inventory ClusterProfile see inventory.Backend.RestConfig for the errors.
func GetKubernetesRestConfig(ctx context.Context, c client.Client,
	clusterNamespace, clusterName, adminNamespace, adminName string,
	clusterType libsveltosv1beta1.ClusterType, logger logr.Logger) (*rest.Config, error) {

	if clusterType == inventoryType {
		return getInventoryRestConfig(ctx, c, clusterNamespace, clusterName, adminNamespace, adminName)
	}
	return upstream.GetKubernetesRestConfig(ctx, c, clusterNamespace, clusterName, adminNamespace, adminName,
		clusterType, logger)
}

// GetKubernetesClient returns a client for the cluster, made from what
// GetKubernetesRestConfig returns and with the scheme of c.
func GetKubernetesClient(ctx context.Context, c client.Client,
	clusterNamespace, clusterName, adminNamespace, adminName string,
	clusterType libsveltosv1beta1.ClusterType, logger logr.Logger) (client.Client, error) {

	if clusterType == inventoryType {
		config, err := getInventoryRestConfig(ctx, c, clusterNamespace, clusterName, adminNamespace, adminName)
		if err != nil {
			return nil, err
		}
		return client.New(config, client.Options{Scheme: c.Scheme()})
	}
	return upstream.GetKubernetesClient(ctx, c, clusterNamespace, clusterName, adminNamespace, adminName,
		clusterType, logger)
}

// GetListOfClusters returns the clusters of all types that exist, healthy or not. If
// namespace is not empty, only those in it. If capiOnboardAnnotation is not empty, only
// those CAPI Clusters that carry it; it says nothing about other types.
func GetListOfClusters(ctx context.Context, c client.Client, namespace, capiOnboardAnnotation string,
	logger logr.Logger) ([]corev1.ObjectReference, error) {

	clusters, err := upstream.GetListOfClusters(ctx, c, namespace, capiOnboardAnnotation, logger)
	if err != nil {
		return nil, err
	}
	return appendInventoryClusters(ctx, c, clusters, selection{namespace: namespace})
}

// GetListOfClustersForShardKey is GetListOfClusters for the clusters of one shard, which
// the annotation sharding.projectsveltos.io/key names.
func GetListOfClustersForShardKey(ctx context.Context, c client.Client,
	namespace, capiOnboardAnnotation, shard string, logger logr.Logger) ([]corev1.ObjectReference, error) {

	clusters, err := upstream.GetListOfClustersForShardKey(ctx, c, namespace, capiOnboardAnnotation, shard, logger)
	if err != nil {
		return nil, err
	}
	return appendInventoryClusters(ctx, c, clusters, selection{namespace: namespace, shard: &shard})
}

// GetMatchingClusters returns the clusters of all types whose labels match the selector
// and that are ready; an inventory ClusterProfile that has matched before stays matched
// while its health is lost. An empty selector matches nothing, a nil one is an error.
func GetMatchingClusters(ctx context.Context, c client.Client, selector *metav1.LabelSelector,
	namespace, capiOnboardAnnotation string, logger logr.Logger) ([]corev1.ObjectReference, error) {

	clusters, err := upstream.GetMatchingClusters(ctx, c, selector, namespace, capiOnboardAnnotation, logger)
	if err != nil {
		return nil, err
	}
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return clusters, nil
	}
	labels, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	return appendInventoryClusters(ctx, c, clusters, selection{namespace: namespace, labels: labels, ready: true})
}
