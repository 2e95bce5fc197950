package helpers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

const (
	// SveltosNamespace is where Sveltos' controllers run; every hub has it.
	SveltosNamespace = "projectsveltos"

	startTimeout = 2 * time.Minute
	stopTimeout  = 30 * time.Second
)

// ErrNotReady says that an API server was started and did not become usable.
var ErrNotReady = errors.New("API server is not ready")

// ClusterOptions describe an API server to start.
type ClusterOptions struct {
	// Name is used in messages and as the name of the kubeconfig's context.
	Name string
	// CRDs are the sets of CRDs to install. None by default.
	CRDs []external.Source
	// Namespaces are created beside those that Kubernetes creates.
	Namespaces []string
}

// Hub are the options of a hub: every CRD of libsveltos and of the inventory, and the namespace of Sveltos.
// Sources in more are added, such as external.Addons and external.ClusterAPI.
func Hub(more ...external.Source) ClusterOptions {
	return ClusterOptions{
		Name:       "hub",
		CRDs:       append([]external.Source{external.Libsveltos, external.Inventory}, more...),
		Namespaces: []string{SveltosNamespace},
	}
}

// Spoke are the options of a spoke, a cluster without any CRD but those asked for.
func Spoke(name string, crds ...external.Source) ClusterOptions {
	return ClusterOptions{Name: name, CRDs: crds}
}

// Cluster is a running API server with an etcd and a certificate authority of its own.
type Cluster struct {
	// Name as given when it was started.
	Name string
	// Config has the rights of system:masters.
	Config *rest.Config
	// Client reads and writes without a cache; its scheme is NewScheme.
	Client client.Client
	// Kubeconfig holds the same access as Config: one cluster, one user with a client certificate, one context.
	Kubeconfig []byte

	env *envtest.Environment
}

// StartHub starts a hub for one test.
func StartHub(tb testing.TB, more ...external.Source) *Cluster {
	tb.Helper()
	return StartCluster(tb, Hub(more...))
}

// StartSpoke starts a spoke for one test.
func StartSpoke(tb testing.TB, name string, crds ...external.Source) *Cluster {
	tb.Helper()
	return StartCluster(tb, Spoke(name, crds...))
}

// StartCluster starts an API server for one test and stops it when the test ends.
func StartCluster(tb testing.TB, options ClusterOptions) *Cluster {
	tb.Helper()
	cluster, err := NewCluster(tb.Context(), options, Stderr)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, cluster.Stop()) })
	return cluster
}

// NewCluster starts an API server and returns once it serves its CRDs and its readiness check passes. The caller stops
// it. Binaries that are missing are built first.
func NewCluster(ctx context.Context, options ClusterOptions, progress Progress) (*Cluster, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	binaries, err := EnsureBinaries(ctx, progress)
	if err != nil {
		return nil, err
	}
	paths, err := external.CRDPaths(ctx, root, options.CRDs...)
	if err != nil {
		return nil, err
	}
	env := &envtest.Environment{
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
		CRDDirectoryPaths:        paths,
		ErrorIfCRDPathMissing:    true,
	}
	env.ControlPlane.GetAPIServer().Path = binaries.APIServer
	env.ControlPlane.Etcd = &envtest.Etcd{Path: binaries.Etcd}
	config, err := env.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", options.Name, err), env.Stop())
	}
	cluster := &Cluster{Name: options.Name, Config: config, env: env}
	if err := cluster.complete(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", options.Name, err), cluster.Stop())
	}
	return cluster, nil
}

// Stop stops the API server and its etcd.
func (c *Cluster) Stop() error {
	if err := c.env.Stop(); err != nil {
		return fmt.Errorf("stopping %s: %w", c.Name, err)
	}
	return nil
}

// complete fills in what depends on the running server and waits for it.
func (c *Cluster) complete(ctx context.Context, options ClusterOptions) error {
	scheme, err := NewScheme()
	if err != nil {
		return err
	}
	if c.Client, err = client.New(c.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if c.Kubeconfig, err = kubeconfig(c.Name, c.Config); err != nil {
		return err
	}
	if err := waitReady(ctx, c.Config); err != nil {
		return err
	}
	for _, name := range options.Namespaces {
		if err := c.EnsureNamespace(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Address is the URL of the API server, without a path.
func (c *Cluster) Address() string { return address(c.Config) }

// address returns the URL of the server of config, whose host may be a URL or host:port.
func address(config *rest.Config) string {
	host := config.Host
	if parsed, err := url.Parse(host); err == nil && parsed.Host != "" {
		host = parsed.Host
	}
	return "https://" + host
}

// EnsureNamespace creates the namespace unless it is there.
func (c *Cluster) EnsureNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Client.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// waitReady waits for the readiness check of the server, which includes its own bootstrap of roles and namespaces.
func waitReady(ctx context.Context, config *rest.Config) error {
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		last = disco.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotReady, errors.Join(err, last))
	}
	return nil
}

// kubeconfig writes the access of config as a kubeconfig with certificates inline.
func kubeconfig(name string, config *rest.Config) ([]byte, error) {
	user := name + "-admin"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			name: {Server: address(config), CertificateAuthorityData: config.CAData},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			user: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken},
		},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: user}},
		CurrentContext: name,
	})
}
