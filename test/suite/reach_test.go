package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	upgrade "upstream.projectsveltos.io/libsveltos/lib/sveltos_upgrade"
	upstreamtemplate "upstream.projectsveltos.io/libsveltos/lib/template"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
	"github.com/projectsveltos/libsveltos/lib/clustercache"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

// kubeconfig-secretreader answers with the client certificate of the spoke's kubeconfig.
func TestSpokeIsReachedWithAClientCertificate(t *testing.T) {
	spoke := helpers.SharedSpoke(t, "spoke-1")
	f := newFleet(t, helpers.SharedHub(t))
	f.join("a", spoke)
	c, err := clusterproxy.GetKubernetesClient(t.Context(), f.hub.Client, f.namespace, "a", "", "", third, discard())
	require.NoError(t, err)
	mark(t, c, "with-certificate")
	assert.True(t, marked(t, spoke.Client, "with-certificate"))
}

// secretreader answers with a token.
func TestSpokeIsReachedWithAToken(t *testing.T) {
	hub, spoke := helpers.SharedHub(t), helpers.SharedSpoke(t, "spoke-1")
	f := newFleet(t, hub)
	binaries, err := helpers.EnsureBinaries(t.Context(), helpers.Stderr)
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	require.NoError(t, hub.WriteKubeconfig(kubeconfig))
	enable(t, helpers.Provider{Name: "secretreader", Command: binaries.SecretReader, Env: map[string]string{"KUBECONFIG": kubeconfig}})

	require.NoError(t, hub.Client.Create(t.Context(), &corev1.Secret{ // the plugin looks in the kubeconfig's namespace, default
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: f.namespace}, Data: map[string][]byte{"token": []byte(token(t, spoke, "reader"))}}))
	access := inventoryv1alpha1.AccessProvider{Name: "secretreader", Cluster: serverOf(spoke)}
	access.Cluster.Extensions = []clientcmdv1.NamedExtension{{Name: "client.authentication.k8s.io/exec",
		Extension: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"clusterName":%q}`, f.namespace)}}}
	f.create("a", access)

	c, err := clusterproxy.GetKubernetesClient(t.Context(), f.hub.Client, f.namespace, "a", "", "", third, discard())
	require.NoError(t, err)
	mark(t, c, "with-token")
	assert.True(t, marked(t, spoke.Client, "with-token"))
}

// A plugin whose token is taken back by the spoke: the request that meets the 401 is
// repeated with the new one, and nobody notices. OCM's plugin gives tokens without an
// expiry, so this is how its rotation shows.
func TestTokenThatRotates(t *testing.T) {
	hub, spoke := helpers.SharedHub(t), helpers.SharedSpoke(t, "spoke-1")
	f := newFleet(t, hub)
	dir := t.TempDir()
	current, plugin := filepath.Join(dir, "token"), filepath.Join(dir, "plugin")
	require.NoError(t, os.WriteFile(plugin, []byte(`#!/bin/sh
echo run >> `+dir+`/runs
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat `+current+`)"
`), 0o755))
	enable(t, helpers.Provider{Name: "rotating", Command: plugin})
	require.NoError(t, os.WriteFile(current, []byte(token(t, spoke, "first")), 0o600))
	f.create("a", inventoryv1alpha1.AccessProvider{Name: "rotating", Cluster: serverOf(spoke)})

	c, err := clustercache.GetManager().GetKubernetesClient(t.Context(), f.hub.Client, f.namespace, "a", "", "", third, discard())
	require.NoError(t, err)
	mark(t, c, "first-token")

	require.NoError(t, os.WriteFile(current, []byte(token(t, spoke, "second")), 0o600))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}}
	require.NoError(t, spoke.Client.Delete(t.Context(), account))
	// The API server remembers tokens that it has accepted for some seconds.
	require.Eventually(t, func() bool {
		require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}, client.Limit(1)), "no request fails meanwhile")
		runs, err := os.ReadFile(filepath.Join(dir, "runs"))
		return err == nil && strings.Count(string(runs), "run") == 2
	}, patience, tick)
	mark(t, c, "second-token")
}

// token makes a ServiceAccount that is admin of the cluster and returns a token for it.
func token(t *testing.T, cluster *helpers.Cluster, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	require.NoError(t, cluster.Client.Create(t.Context(), account))
	require.NoError(t, cluster.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "admin-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
	}))
	request := &authenticationv1.TokenRequest{}
	require.NoError(t, cluster.Client.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

// Case 25: a CAPI Cluster, a SveltosCluster and an inventory ClusterProfile of one
// namespace and name are three clusters, on three API servers.
func TestThreeClustersOfOneName(t *testing.T) {
	hub := helpers.StartHub(t, external.ClusterAPI)
	f := newFleet(t, hub)
	spokes := map[libsveltosv1beta1.ClusterType]*helpers.Cluster{
		libsveltosv1beta1.ClusterTypeCapi:    helpers.StartSpoke(t, "capi"),
		libsveltosv1beta1.ClusterTypeSveltos: helpers.SharedSpoke(t, "spoke-2"),
		third:                                helpers.SharedSpoke(t, "spoke-1"),
	}
	capiCluster(t, f, "same", spokes[libsveltosv1beta1.ClusterTypeCapi])
	sveltos, secret := helpers.SveltosCluster(f.key("same"), nil, spokes[libsveltosv1beta1.ClusterTypeSveltos].Kubeconfig)
	require.NoError(t, hub.Client.Create(t.Context(), secret))
	require.NoError(t, helpers.CreateWithStatus(t.Context(), hub.Client, sveltos))
	f.join("same", spokes[third])

	for round := range 2 { // the second from the cache
		for clusterType := range spokes {
			c, err := clustercache.GetManager().GetKubernetesClient(t.Context(), hub.Client, f.namespace, "same", "", "", clusterType, discard())
			require.NoError(t, err, clusterType)
			mark(t, c, fmt.Sprintf("three-%s-%d", strings.ToLower(string(clusterType)), round))
		}
	}
	for there, spoke := range spokes {
		for clusterType := range spokes {
			for round := range 2 {
				assert.Equal(t, there == clusterType, marked(t, spoke.Client, fmt.Sprintf("three-%s-%d", strings.ToLower(string(clusterType)), round)),
					"marks of %s on the spoke of %s", clusterType, there)
			}
		}
	}
	refs, err := clusterproxy.GetListOfClusters(t.Context(), hub.Client, f.namespace, "", discard())
	require.NoError(t, err)
	types := map[libsveltosv1beta1.ClusterType]bool{}
	for i := range refs {
		types[clusterproxy.GetClusterType(&refs[i])] = true
	}
	assert.Len(t, types, 3, "%v", refs)
}

func TestVersionConfigMapIsWrittenToTheSpoke(t *testing.T) {
	spoke := helpers.SharedSpoke(t, "spoke-1")
	f := newFleet(t, helpers.SharedHub(t))
	f.join("a", spoke)
	require.NoError(t, spoke.EnsureNamespace(t.Context(), helpers.SveltosNamespace))
	compatible := func() bool {
		return upgrade.IsSveltosAgentVersionCompatible(t.Context(), f.hub.Client, helpers.SveltosNamespace, "v1.14.0",
			f.namespace, "a", third, false, discard())
	}
	assert.False(t, compatible())
	// The agent runs on the spoke and writes there.
	c, err := clusterproxy.GetKubernetesClient(t.Context(), f.hub.Client, f.namespace, "a", "", "", third, discard())
	require.NoError(t, err)
	require.NoError(t, upgrade.StoreSveltosAgentVersion(t.Context(), c, helpers.SveltosNamespace, "v1.14.0",
		f.namespace, "a", third, false, discard()))
	assert.True(t, compatible(), "upstream's version check reaches the spoke through this tree")
	require.NoError(t, spoke.Client.Get(t.Context(), types.NamespacedName{Namespace: helpers.SveltosNamespace, Name: "sveltos-agent-version"},
		&corev1.ConfigMap{}))
}

func TestTemplateReadsTheInventoryObject(t *testing.T) {
	f := newFleet(t, helpers.SharedHub(t))
	f.create("a")
	namespace, err := upstreamtemplate.GetReferenceResourceNamespace(t.Context(), f.hub.Client, f.namespace, "a",
		"{{ .Cluster.metadata.namespace }}", third)
	require.NoError(t, err)
	assert.Equal(t, f.namespace, namespace)
	name, err := upstreamtemplate.GetReferenceResourceName(t.Context(), f.hub.Client, f.namespace, "a",
		`{{ .Cluster.metadata.name }}-{{ .Cluster.spec.clusterManager.name }}`, third)
	require.NoError(t, err)
	assert.Equal(t, "a-demo-fleet", name)
}

// One connection, however many clients are built, and a kind that is installed on the
// spoke later is found.
func TestMapperLearnsOfALaterCRD(t *testing.T) {
	spoke := helpers.StartSpoke(t, "late")
	f := newFleet(t, helpers.SharedHub(t))
	f.join("a", spoke)
	manager := clustercache.GetManager()
	mapper, err := manager.GetMapper(t.Context(), f.hub.Client, f.namespace, "a", third, discard())
	require.NoError(t, err)
	c, err := manager.GetKubernetesClient(t.Context(), f.hub.Client, f.namespace, "a", "", "", third, discard())
	require.NoError(t, err)
	gk := libsveltosv1beta1.GroupVersion.WithKind(libsveltosv1beta1.DebuggingConfigurationKind).GroupKind()
	_, err = mapper.RESTMapping(gk)
	require.Error(t, err)
	require.Error(t, c.List(t.Context(), &libsveltosv1beta1.DebuggingConfigurationList{}))

	install(t, spoke, external.Libsveltos, "debuggingconfigurations")
	require.Eventually(t, func() bool {
		_, err := mapper.RESTMapping(gk)
		return err == nil && c.List(t.Context(), &libsveltosv1beta1.DebuggingConfigurationList{}) == nil
	}, patience, tick)
}

func TestManyClientsAtOnce(t *testing.T) {
	f := newFleet(t, helpers.SharedHub(t))
	f.join("a", helpers.SharedSpoke(t, "spoke-1"))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c, err := clustercache.GetManager().GetKubernetesClient(t.Context(), f.hub.Client, f.namespace, "a", "", "", third, discard())
			if assert.NoError(t, err) {
				assert.NoError(t, c.List(t.Context(), &corev1.NamespaceList{}))
			}
		})
	}
	wg.Wait()
}
