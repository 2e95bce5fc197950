package firewall

import (
	"cmp"
	"context"
	"flag"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/clustercache"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const (
	fleet = "fleet"
	// internalName is how the spoke is named; no name server knows it.
	internalName = "spoke-1.internal"
	internalPort = "6443"

	manyClients = 50
	requestTime = time.Minute // two busy cores
)

func TestMain(m *testing.M) {
	// A proxy of the machine that the tests run on must not be one more way to the spoke.
	direct := strings.Trim(cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy"))+",.internal", ",")
	if err := os.Setenv("NO_PROXY", direct); err != nil {
		helpers.Stderr("%v", err)
		os.Exit(1)
	}
	helpers.Main(m)
}

// site is a hub whose controllers use the library, and a spoke behind a firewall.
type site struct {
	*testing.T
	hub, spoke *helpers.Cluster
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, hub: helpers.SharedHub(t), spoke: helpers.SharedSpoke(t, "spoke-1")}
	require.NoError(t, s.hub.EnsureNamespace(t.Context(), fleet))
	binaries, err := helpers.EnsureBinaries(t.Context(), helpers.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	kubeconfig, providers := filepath.Join(dir, "hub.kubeconfig"), filepath.Join(dir, "providers.json")
	require.NoError(t, s.hub.WriteKubeconfig(kubeconfig))
	require.NoError(t, helpers.WriteProviderFile(providers, helpers.SecretReader(binaries.KubeconfigSecretReader, kubeconfig)))
	require.NoError(t, flag.Set(inventory.ProviderFileFlag, providers))
	t.Cleanup(func() { require.NoError(t, flag.Set(inventory.ProviderFileFlag, "")) })
	return s
}

func cluster(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: fleet, Name: name}
}

// register writes the inventory ClusterProfile of the spoke with what change makes of its ordinary access entry, and
// a Secret with the kubeconfig that its plugin reads.
func (s *site) register(name string, kubeconfig []byte, change func(*inventoryv1alpha1.AccessProvider)) types.NamespacedName {
	s.Helper()
	key := cluster(name)
	secret := helpers.KubeconfigSecret(cluster(name+"-kubeconfig"), kubeconfig)
	require.NoError(s, s.hub.Client.Create(s.Context(), secret))
	access := helpers.SecretReaderAccess(s.spoke, client.ObjectKeyFromObject(secret))
	change(&access)
	profile := helpers.InventoryClusterProfile(key, nil, access)
	require.NoError(s, helpers.CreateWithStatus(s.Context(), s.hub.Client, profile))
	s.Cleanup(func() {
		require.NoError(s, s.hub.Client.Delete(context.Background(), profile))
		require.NoError(s, s.hub.Client.Delete(context.Background(), secret))
		clustercache.GetManager().RemoveCluster(fleet, name, libsveltosv1beta1.ClusterTypeClusterProfile)
	})
	return key
}

// client is what a Sveltos controller gets for the cluster.
func (s *site) client(cluster types.NamespacedName) client.Client {
	s.Helper()
	c, err := clustercache.GetManager().GetKubernetesClient(s.Context(), s.hub.Client, cluster.Namespace, cluster.Name, "", "",
		libsveltosv1beta1.ClusterTypeClusterProfile, logr.Discard())
	require.NoError(s, err)
	return c
}

// deliver creates a ConfigMap through the library and finds it on the spoke.
func (s *site) deliver(cluster types.NamespacedName) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), requestTime)
	defer cancel()
	delivered := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: cluster.Name}}
	require.NoError(s, s.client(cluster).Create(ctx, delivered))
	s.Cleanup(func() { require.NoError(s, s.spoke.Client.Delete(context.Background(), delivered)) })
	found := &corev1.ConfigMap{}
	require.NoError(s, s.spoke.Client.Get(ctx, client.ObjectKeyFromObject(delivered), found))
	assert.Equal(s, delivered.UID, found.UID, "it must be on this very spoke")
}

// fails asserts that a request through the library comes back with an error that holds the text.
func (s *site) fails(cluster types.NamespacedName, text string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), requestTime)
	defer cancel()
	assert.ErrorContains(s, s.client(cluster).List(ctx, &corev1.NamespaceList{}), text)
}

// askFromManyClients has clients of their own, built in both ways that controllers build them, ask all at once.
func (s *site) askFromManyClients(cluster types.NamespacedName) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), requestTime)
	defer cancel()
	errs := make([]error, 2*manyClients)
	var all sync.WaitGroup
	for i := range manyClients {
		fromCache := s.client(cluster)
		cfg, err := clustercache.GetManager().GetKubernetesRestConfig(ctx, s.hub.Client, cluster.Namespace, cluster.Name, "", "",
			libsveltosv1beta1.ClusterTypeClusterProfile, logr.Discard())
		require.NoError(s, err)
		own, err := client.New(cfg, client.Options{Scheme: s.hub.Client.Scheme()})
		require.NoError(s, err)
		for j, c := range []client.Client{fromCache, own} {
			all.Go(func() { errs[2*i+j] = c.List(ctx, &corev1.NamespaceList{}) })
		}
	}
	all.Wait()
	for i, err := range errs {
		require.NoError(s, err, "client %d", i)
	}
}

// address is host:port of a cluster's API server.
func address(t *testing.T, c *helpers.Cluster) string {
	t.Helper()
	if u, err := url.Parse(c.Config.Host); err == nil && u.Host != "" {
		return u.Host
	}
	return c.Config.Host
}

func TestSpokeBehindAProxy(t *testing.T) {
	for name, newProxy := range map[string]func(*testing.T, *gateway) string{
		"http-connect": connectProxy,
		"socks5":       socksProxy,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			g := &gateway{name: net.JoinHostPort(internalName, internalPort), address: address(t, s.spoke)}
			proxy := newProxy(t, g)
			behind := func(a *inventoryv1alpha1.AccessProvider) {
				a.Cluster.Server = "https://" + g.name
				a.Cluster.TLSServerName = "localhost" // what the API server's certificate says
				a.Cluster.ProxyURL = proxy
			}
			closed := s.register(name+"-closed", s.spoke.Kubeconfig, func(a *inventoryv1alpha1.AccessProvider) {
				behind(a)
				a.Cluster.ProxyURL = ""
			})
			_, err := net.DialTimeout("tcp", g.name, requestTime)
			require.Error(t, err, "no name server knows the spoke")
			s.fails(closed, internalName)
			assert.Zero(t, g.connections.Load())

			open := s.register(name, s.spoke.Kubeconfig, behind)
			s.deliver(open)
			s.askFromManyClients(open)
			assert.Equal(t, int32(1), g.connections.Load(), "%d clients share one connection through the proxy", 2*manyClients)

			elsewhere := s.register(name+"-elsewhere", s.spoke.Kubeconfig, func(a *inventoryv1alpha1.AccessProvider) {
				behind(a)
				a.Cluster.Server = "https://spoke-2.internal:" + internalPort
			})
			ctx, cancel := context.WithTimeout(t.Context(), requestTime)
			defer cancel()
			require.Error(t, s.client(elsewhere).List(ctx, &corev1.NamespaceList{}), "the proxy decides where it leads")
		})
	}
}

// tokenKubeconfig is a kubeconfig for the spoke whose user has a token: a client certificate does not pass a server that
// ends TLS.
func (s *site) tokenKubeconfig() []byte {
	s.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "sveltos"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "sveltos"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	for _, o := range []client.Object{account, binding} {
		require.NoError(s, s.spoke.Client.Create(s.Context(), o))
		s.Cleanup(func() { require.NoError(s, s.spoke.Client.Delete(context.Background(), o)) })
	}
	request := &authenticationv1.TokenRequest{}
	require.NoError(s, s.spoke.Client.SubResource("token").Create(s.Context(), account, request))
	const entry = "spoke-1"
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{entry: {Token: request.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{entry: {Cluster: entry, AuthInfo: entry}},
		CurrentContext: entry,
	})
	require.NoError(s, err)
	return kubeconfig
}

func TestSpokeBehindAReverseTunnel(t *testing.T) {
	s := newSite(t)
	tunnel := newTunnelHub(t)
	spoke := s.register("tunnel", s.tokenKubeconfig(), func(a *inventoryv1alpha1.AccessProvider) {
		a.Cluster.Server = tunnel.URL + clustersPath
		a.Cluster.CertificateAuthorityData = tunnel.ca()
	})
	s.fails(spoke, "unable to handle the request")
	assert.Zero(t, tunnel.opened.Load(), "the hub's side dials nobody")

	runAgent(t, tunnel.agents, s.spoke)
	require.Eventually(t, func() bool { return len(tunnel.conns) == 1 }, requestTime, 10*time.Millisecond)
	s.deliver(spoke)
	s.askFromManyClients(spoke)
	assert.Equal(t, int32(1), tunnel.dialled.Load(), "the spoke's side dialled once")
	assert.Equal(t, int32(1), tunnel.opened.Load(), "everything went through that connection")

	wrong := s.register("tunnel-wrong-path", s.spoke.Kubeconfig, func(a *inventoryv1alpha1.AccessProvider) {
		a.Cluster.Server = tunnel.URL + "/clusters/spoke-2"
		a.Cluster.CertificateAuthorityData = tunnel.ca()
	})
	ctx, cancel := context.WithTimeout(t.Context(), requestTime)
	defer cancel()
	require.Error(t, s.client(wrong).List(ctx, &corev1.NamespaceList{}), "the path says which cluster is meant")
}
