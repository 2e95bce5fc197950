// Package roles keeps the kubeconfigs of tenant admins in Secrets of the hub, one for
// each cluster and ServiceAccount, as libsveltos does.
//
// Upstream finds such a Secret by the cluster's name alone, so that two clusters of one
// namespace and name but of different types share a tenant's kubeconfig: whatever is
// deployed as that tenant to one of them goes to the other. Here a Secret belongs to one
// cluster type:
//
//   - for CAPI Clusters and SveltosClusters it has upstream's labels, so that a controller
//     that is built with upstream finds it, and one more that names the type; a Secret
//     without that label was written by upstream and is taken over by the first type that
//     writes it;
//   - for inventory ClusterProfiles the cluster's name is in a label of its own, which
//     upstream does not look for.
package roles

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/k8s_utils"
)

const (
	// Labels and data key that upstream uses.
	clusterNameLabel             = "projectsveltos.io/role-cluster"
	serviceAccountNameLabel      = "projectsveltos.io/role-service-account-name"
	serviceAccountNamespaceLabel = "projectsveltos.io/role-service-account-namespace"
	kubeconfigKey                = "kubeconfig"
	roleRequestValue             = "ok"

	// clusterTypeLabel names the cluster type, in lower case.
	clusterTypeLabel = "projectsveltos.io/role-cluster-type"
	// inventoryNameLabel is clusterNameLabel for an inventory ClusterProfile.
	inventoryNameLabel = "projectsveltos.io/role-inventory-clusterprofile"
)

// subject is whose kubeconfig for which cluster a Secret holds.
type subject struct {
	namespace, cluster              string
	serviceAccountNamespace, saName string
	clusterType                     libsveltosv1beta1.ClusterType
}

// GetSecret returns the Secret that holds the kubeconfig of the ServiceAccount for the
// cluster, or nil if there is none.
func GetSecret(ctx context.Context, c client.Client,
	clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName string,
	clusterType libsveltosv1beta1.ClusterType) (*corev1.Secret, error) {

	s := subject{clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName, clusterType}
	return s.find(ctx, c)
}

// GetKubeconfig returns the kubeconfig of the ServiceAccount for the cluster, or nil if
// there is none.
func GetKubeconfig(ctx context.Context, c client.Client,
	clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName string,
	clusterType libsveltosv1beta1.ClusterType) ([]byte, error) {

	secret, err := GetSecret(ctx, c, clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName, clusterType)
	if err != nil || secret == nil {
		return nil, err
	}
	return secret.Data[kubeconfigKey], nil
}

// CreateSecret stores the kubeconfig of the ServiceAccount for the cluster, makes owner
// one of the Secret's owners, and returns the Secret. It writes only what has changed.
func CreateSecret(ctx context.Context, c client.Client,
	clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName string,
	clusterType libsveltosv1beta1.ClusterType, kubeconfig []byte, owner client.Object) (*corev1.Secret, error) {

	s := subject{clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName, clusterType}
	secret, err := s.find(ctx, c)
	if err != nil {
		return nil, err
	}
	if secret == nil {
		secret = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: clusterNamespace, Name: s.secretName(), Labels: s.labels()},
			Data:       map[string][]byte{kubeconfigKey: kubeconfig},
		}
		if err := controllerutil.SetOwnerReference(owner, secret, c.Scheme()); err != nil {
			return nil, err
		}
		if err := c.Create(ctx, secret); err != nil {
			return nil, err
		}
		return secret, nil
	}
	typed := secret.Labels[clusterTypeLabel] == s.typeValue()
	if typed && k8s_utils.IsOwnerReference(secret, owner) && reflect.DeepEqual(secret.Data[kubeconfigKey], kubeconfig) {
		return secret, nil
	}
	k8s_utils.AddOwnerReference(secret, owner)
	secret.Labels[clusterTypeLabel] = s.typeValue()
	secret.Data = map[string][]byte{kubeconfigKey: kubeconfig}
	return secret, c.Update(ctx, secret)
}

// DeleteSecret takes owner from the owners of the Secret that holds the kubeconfig of the
// ServiceAccount for the cluster, and deletes it when no owner is left.
func DeleteSecret(ctx context.Context, c client.Client,
	clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName string,
	clusterType libsveltosv1beta1.ClusterType, owner client.Object) error {

	s := subject{clusterNamespace, clusterName, serviceAccountNamespace, serviceAccountName, clusterType}
	secret, err := s.find(ctx, c)
	if err != nil || secret == nil {
		return err
	}
	k8s_utils.RemoveOwnerReference(secret, owner)
	if len(secret.GetOwnerReferences()) > 0 {
		return c.Update(ctx, secret)
	}
	return client.IgnoreNotFound(c.Delete(ctx, secret))
}

// find returns the subject's Secret, or one that upstream wrote and that has no type.
func (s subject) find(ctx context.Context, c client.Client) (*corev1.Secret, error) {
	labels := s.labels()
	delete(labels, clusterTypeLabel)
	list := &corev1.SecretList{}
	if err := c.List(ctx, list, client.InNamespace(s.namespace), client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	var own, untyped []*corev1.Secret
	for i := range list.Items {
		switch list.Items[i].Labels[clusterTypeLabel] {
		case s.typeValue():
			own = append(own, &list.Items[i])
		case "":
			untyped = append(untyped, &list.Items[i])
		}
	}
	if len(own) == 0 {
		own = untyped
	}
	switch len(own) {
	case 0:
		return nil, nil
	case 1:
		return own[0], nil
	default:
		return nil, fmt.Errorf("%d Secrets hold the kubeconfig of ServiceAccount %s/%s for %s cluster %s/%s; delete all but one",
			len(own), s.serviceAccountNamespace, s.saName, s.clusterType, s.namespace, s.cluster)
	}
}

func (s subject) labels() map[string]string {
	labels := map[string]string{
		clusterNameLabel:                   s.cluster,
		clusterTypeLabel:                   s.typeValue(),
		serviceAccountNameLabel:            s.saName,
		serviceAccountNamespaceLabel:       s.serviceAccountNamespace,
		libsveltosv1beta1.RoleRequestLabel: roleRequestValue,
	}
	if s.clusterType == libsveltosv1beta1.ClusterTypeClusterProfile {
		delete(labels, clusterNameLabel)
		labels[inventoryNameLabel] = s.cluster
	}
	return labels
}

func (s subject) typeValue() string { return strings.ToLower(string(s.clusterType)) }

// secretName is unique for the subject within its namespace.
func (s subject) secretName() string {
	sum := sha256.Sum256([]byte(strings.Join(
		[]string{s.typeValue(), s.cluster, s.serviceAccountNamespace, s.saName}, "/")))
	return fmt.Sprintf("sveltos-%x", sum)
}
