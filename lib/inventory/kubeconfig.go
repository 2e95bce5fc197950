package inventory

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// Kubeconfig returns a kubeconfig for the cluster: one cluster entry with server and CA,
// one user that gets its credential from the exec plugin, and no credential. It works
// where the plugin of the provider file is. Errors are those of [Backend.Resolve].
func (b *Backend) Kubeconfig(cp *v1alpha1.ClusterProfile) ([]byte, error) {
	a, err := b.Resolve(cp)
	if err != nil {
		return nil, err
	}
	const entry = "cluster"
	cluster := &clientcmdapi.Cluster{
		Server:                a.Server,
		TLSServerName:         a.TLSServerName,
		InsecureSkipTLSVerify: a.InsecureSkipTLSVerify,
		ProxyURL:              a.ProxyURL,
		DisableCompression:    a.DisableCompression,
	}
	if a.CAData != "" {
		cluster.CertificateAuthorityData = []byte(a.CAData)
	}
	exec := a.Exec.execConfig()
	if exec.Config != nil { // travels as an extension of the cluster
		cluster.Extensions = map[string]runtime.Object{extensionExec: exec.Config}
	}
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{entry: cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{entry: {Exec: exec}},
		Contexts:       map[string]*clientcmdapi.Context{entry: {Cluster: entry, AuthInfo: entry}},
		CurrentContext: entry,
	})
}
