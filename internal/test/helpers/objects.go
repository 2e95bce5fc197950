package helpers

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

const (
	// SecretReaderProvider is the name of the access provider whose plugin is kubeconfig-secretreader.
	SecretReaderProvider = "kubeconfig-secretreader"
	// KubeconfigKey is the key of a kubeconfig in its Secret.
	KubeconfigKey = "kubeconfig"

	execExtension  = "client.authentication.k8s.io/exec"
	execAPIVersion = "client.authentication.k8s.io/v1"
	clusterManager = "demo-fleet"
)

// KubeconfigSecret returns a Secret with a kubeconfig under KubeconfigKey.
func KubeconfigSecret(key types.NamespacedName, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Data:       map[string][]byte{KubeconfigKey: kubeconfig},
	}
}

// SveltosCluster returns a SveltosCluster that is ready, and the Secret with its kubeconfig where Sveltos looks for it.
func SveltosCluster(key types.NamespacedName, labels map[string]string, kubeconfig []byte) (*libsveltosv1beta1.SveltosCluster, *corev1.Secret) {
	cluster := &libsveltosv1beta1.SveltosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels},
		Status:     libsveltosv1beta1.SveltosClusterStatus{Ready: true, ConnectionStatus: libsveltosv1beta1.ConnectionHealthy},
	}
	secret := KubeconfigSecret(types.NamespacedName{Namespace: key.Namespace, Name: key.Name + "-sveltos-kubeconfig"}, kubeconfig)
	return cluster, secret
}

// InventoryClusterProfile returns an inventory ClusterProfile without conditions and with the given access providers.
func InventoryClusterProfile(key types.NamespacedName, labels map[string]string,
	access ...inventoryv1alpha1.AccessProvider) *inventoryv1alpha1.ClusterProfile {

	return &inventoryv1alpha1.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels},
		Spec: inventoryv1alpha1.ClusterProfileSpec{
			DisplayName:    key.Name,
			ClusterManager: inventoryv1alpha1.ClusterManager{Name: clusterManager},
		},
		Status: inventoryv1alpha1.ClusterProfileStatus{
			// A real API server refuses null.
			Conditions:      []metav1.Condition{},
			AccessProviders: access,
		},
	}
}

// SecretReaderAccess is the access provider of a spoke whose credential is in the kubeconfig Secret named by secret.
func SecretReaderAccess(spoke *Cluster, secret types.NamespacedName) inventoryv1alpha1.AccessProvider {
	extension, err := json.Marshal(map[string]string{
		"name": secret.Name, "namespace": secret.Namespace, "key": KubeconfigKey,
	})
	if err != nil {
		panic(err) // strings always marshal
	}
	return inventoryv1alpha1.AccessProvider{
		Name: SecretReaderProvider,
		Cluster: clientcmdv1.Cluster{
			Server:                   spoke.Address(),
			CertificateAuthorityData: spoke.Config.CAData,
			Extensions: []clientcmdv1.NamedExtension{
				{Name: execExtension, Extension: runtime.RawExtension{Raw: extension}},
			},
		},
	}
}

// CreateWithStatus creates an object and then writes the status it was given, which a create alone drops.
func CreateWithStatus[T client.Object](ctx context.Context, c client.Client, object T) error {
	withStatus := object.DeepCopyObject().(T)
	if err := c.Create(ctx, object); err != nil {
		return err
	}
	withStatus.SetResourceVersion(object.GetResourceVersion())
	withStatus.SetUID(object.GetUID())
	return c.Status().Update(ctx, withStatus)
}

// SetControlPlaneHealthy writes the condition that a cluster manager writes.
func SetControlPlaneHealthy(ctx context.Context, c client.Client, key types.NamespacedName, status metav1.ConditionStatus) error {
	profile := &inventoryv1alpha1.ClusterProfile{}
	if err := c.Get(ctx, key, profile); err != nil {
		return err
	}
	before := profile.DeepCopy()
	meta.SetStatusCondition(&profile.Status.Conditions, metav1.Condition{
		Type:    inventoryv1alpha1.ClusterConditionControlPlaneHealthy,
		Status:  status,
		Reason:  "Reported",
		Message: "written by " + clusterManager,
	})
	return c.Status().Patch(ctx, profile, client.MergeFrom(before))
}

// Provider is one entry of a provider file.
type Provider struct {
	// Name as in accessProviders of an inventory ClusterProfile.
	Name string
	// Command of the plugin, its arguments and additions to its environment.
	Command string
	Args    []string
	Env     map[string]string
}

// SecretReader is the provider whose plugin reads kubeconfig Secrets from the hub; hubKubeconfig is a file.
func SecretReader(plugin, hubKubeconfig string) Provider {
	return Provider{
		Name:    SecretReaderProvider,
		Command: plugin,
		Env:     map[string]string{"KUBECONFIG": hubKubeconfig},
	}
}

// WriteProviderFile writes a provider file in the format of KEP-4322, replacing it in one step.
func WriteProviderFile(path string, providers ...Provider) error {
	entries := make([]map[string]any, 0, len(providers))
	for _, provider := range providers {
		env := make([]map[string]string, 0, len(provider.Env))
		for _, name := range slices.Sorted(maps.Keys(provider.Env)) {
			env = append(env, map[string]string{"name": name, "value": provider.Env[name]})
		}
		entries = append(entries, map[string]any{
			"name": provider.Name,
			"execConfig": map[string]any{
				"apiVersion":         execAPIVersion,
				"command":            provider.Command,
				"args":               provider.Args,
				"env":                env,
				"provideClusterInfo": true,
				"interactiveMode":    "Never",
			},
		})
	}
	data, err := json.MarshalIndent(map[string]any{"providers": entries}, "", "  ")
	if err != nil {
		return err
	}
	return writeFileAtomically(path, data, 0o644)
}

// WriteKubeconfig writes the cluster's kubeconfig to a file that only its owner can read.
func (c *Cluster) WriteKubeconfig(path string) error {
	return writeFileAtomically(path, c.Kubeconfig, 0o600)
}

// writeFileAtomically writes a file so that a reader sees the old content or the new, never a part.
func writeFileAtomically(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err := temporary.Write(data); err != nil {
		return err
	}
	if err := temporary.Chmod(mode); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
