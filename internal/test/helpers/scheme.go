package helpers

import (
	"net/url"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// NewScheme returns a scheme with the types of Kubernetes, CRDs, Sveltos with the inventory, and Cluster API.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		libsveltosv1beta1.AddToScheme,
		clusterv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// hostOf returns host and port of config.Host, which may be a URL or host:port.
func hostOf(config *rest.Config) string {
	if parsed, err := url.Parse(config.Host); err == nil && parsed.Host != "" {
		return parsed.Host
	}
	return config.Host
}
