// Package clusterproxy is a stand-in with what the fixtures call.
package clusterproxy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// GetCluster gets a cluster of any type.
func GetCluster(ctx context.Context, c client.Client, namespace, name string,
	clusterType libsveltosv1beta1.ClusterType) (client.Object, error) {

	return nil, nil
}

// GetClusterType tells the type of a cluster.
func GetClusterType(ref *corev1.ObjectReference) libsveltosv1beta1.ClusterType { return "" }

// GetMatchingClusters matches clusters.
func GetMatchingClusters(ctx context.Context, c client.Client) ([]corev1.ObjectReference, error) {
	return nil, nil
}

// IsClusterInPullMode tells whether an agent pulls.
func IsClusterInPullMode(ctx context.Context, c client.Client, namespace, name string,
	clusterType libsveltosv1beta1.ClusterType) (bool, error) {

	return false, nil
}

// EvictWorkloadIdentityCache forgets identities.
func EvictWorkloadIdentityCache(namespace, name string) {}

// GetKubernetesClient stands for the library's.
func GetKubernetesClient(ctx context.Context, c client.Client, namespace, name string,
	clusterType libsveltosv1beta1.ClusterType) (client.Client, error) {
	return nil, nil
}
