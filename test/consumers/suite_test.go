package consumers

import (
	"context"
	"flag"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	"github.com/projectsveltos/libsveltos/lib/sveltos_upgrade"
)

const (
	capi     = libsveltosv1beta1.ClusterTypeCapi
	sveltos  = libsveltosv1beta1.ClusterTypeSveltos
	third    = libsveltosv1beta1.ClusterTypeClusterProfile
	version  = "v1.14.0"
	patience = 30 * time.Second
	tick     = 50 * time.Millisecond
)

func TestMain(m *testing.M) { helpers.Main(m) }

// fleet is a namespace of the hub with clusters of all types.
type fleet struct {
	*testing.T
	hub       *helpers.Cluster
	namespace string
	// kubeconfig of the hub and the provider file, for other processes.
	kubeconfig, providers string
}

// newFleet is a fleet whose namespace is called like the test.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	hub := helpers.SharedHub(t)
	f := &fleet{T: t, hub: hub, namespace: strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))}
	require.NoError(t, hub.EnsureNamespace(t.Context(), f.namespace))
	binaries, err := helpers.EnsureBinaries(t.Context(), helpers.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	f.kubeconfig, f.providers = filepath.Join(dir, "hub.kubeconfig"), filepath.Join(dir, "providers.json")
	require.NoError(t, hub.WriteKubeconfig(f.kubeconfig))
	require.NoError(t, helpers.WriteProviderFile(f.providers, helpers.SecretReader(binaries.KubeconfigSecretReader, f.kubeconfig)))
	f.serveInventory(true)
	t.Cleanup(func() { f.serveInventory(false) })
	return f
}

// serveInventory is whether the controllers are started with the provider file.
func (f *fleet) serveInventory(on bool) {
	f.Helper()
	file := ""
	if on {
		file = f.providers
	}
	require.NoError(f, flag.Set(inventory.ProviderFileFlag, file))
}

var (
	prepareMu sync.Mutex
	prepared  = map[string]bool{}
)

// spoke returns one of the spokes, with the CRDs and the version of the agent, which runs there.
func spoke(t *testing.T, name string) *helpers.Cluster {
	t.Helper()
	cluster := helpers.SharedSpoke(t, name)
	prepareMu.Lock()
	defer prepareMu.Unlock()
	if prepared[name] {
		return cluster
	}
	root, err := helpers.Root()
	require.NoError(t, err)
	dirs, err := external.CRDPaths(t.Context(), root, external.Libsveltos)
	require.NoError(t, err)
	paths := []string{}
	for _, kind := range []string{"eventreports", "classifierreports"} {
		paths = append(paths, filepath.Join(dirs[0], "lib.projectsveltos.io_"+kind+".yaml"))
	}
	_, err = envtest.InstallCRDs(cluster.Config, envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true})
	require.NoError(t, err)
	agentStarts(t, cluster, version)
	prepared[name] = true
	return cluster
}

// agentStarts leaves behind what the agent on a spoke says of itself.
func agentStarts(t *testing.T, cluster *helpers.Cluster, version string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // it may be put back when the test has ended
	require.NoError(t, cluster.EnsureNamespace(ctx, Namespace))
	require.NoError(t, sveltos_upgrade.StoreSveltosAgentVersion(ctx, cluster.Client, Namespace, version, "", "", third, false, logr.Discard()))
}

func (f *fleet) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: f.namespace, Name: name}
}

func (f *fleet) cluster(name string, clusterType libsveltosv1beta1.ClusterType) Cluster {
	return Cluster{NamespacedName: f.key(name), Type: clusterType}
}

// create creates an object that goes with the test.
func create(t *testing.T, cluster *helpers.Cluster, object client.Object) {
	t.Helper()
	require.NoError(t, cluster.Client.Create(t.Context(), object))
	t.Cleanup(func() { _ = cluster.Client.Delete(context.Background(), object) })
}

// join puts a healthy spoke into the inventory.
func (f *fleet) join(name string, spoke *helpers.Cluster) {
	f.Helper()
	secret := helpers.KubeconfigSecret(f.key(name+"-access"), spoke.Kubeconfig)
	create(f.T, f.hub, secret)
	cp := helpers.InventoryClusterProfile(f.key(name), map[string]string{"fleet": f.namespace},
		helpers.SecretReaderAccess(spoke, client.ObjectKeyFromObject(secret)))
	require.NoError(f, helpers.CreateWithStatus(f.Context(), f.hub.Client, cp))
	f.Cleanup(func() { _ = f.hub.Client.Delete(context.Background(), cp) })
	f.health(name, metav1.ConditionTrue)
}

// joinSveltos registers a spoke as a SveltosCluster.
func (f *fleet) joinSveltos(name string, spoke *helpers.Cluster) {
	f.Helper()
	cluster, secret := helpers.SveltosCluster(f.key(name), nil, spoke.Kubeconfig)
	create(f.T, f.hub, secret)
	require.NoError(f, helpers.CreateWithStatus(f.Context(), f.hub.Client, cluster))
	f.Cleanup(func() { _ = f.hub.Client.Delete(context.Background(), cluster) })
}

// joinCAPI registers a spoke as a Cluster of Cluster API.
func (f *fleet) joinCAPI(name string, spoke *helpers.Cluster) {
	f.Helper()
	create(f.T, f.hub, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name + "-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: name}},
		Data:       map[string][]byte{"value": spoke.Kubeconfig},
	})
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.example", Kind: "Infra", Name: name}
	create(f.T, f.hub, cluster)
}

func (f *fleet) health(name string, status metav1.ConditionStatus) {
	f.Helper()
	require.NoError(f, helpers.SetControlPlaneHealthy(f.Context(), f.hub.Client, f.key(name), status))
}

func (f *fleet) get(name string) *inventoryv1alpha1.ClusterProfile {
	f.Helper()
	cp := &inventoryv1alpha1.ClusterProfile{}
	require.NoError(f, f.hub.Client.Get(f.Context(), f.key(name), cp))
	return cp
}

// edit changes the metadata of an inventory ClusterProfile.
func (f *fleet) edit(name string, change func(*inventoryv1alpha1.ClusterProfile)) {
	f.Helper()
	cp := f.get(name)
	before := cp.DeepCopy()
	change(cp)
	require.NoError(f, f.hub.Client.Patch(f.Context(), cp, client.MergeFrom(before)))
}

// start runs a manager with what add puts into it until the test ends, or stop is called.
func (f *fleet) start(hub *rest.Config, add func(manager.Manager) error) (mgr manager.Manager, stop func()) {
	f.Helper()
	scheme, err := helpers.NewScheme()
	require.NoError(f, err)
	unique := true
	mgr, err = manager.New(hub, manager.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &unique},
	})
	require.NoError(f, err)
	require.NoError(f, add(mgr))
	ctx, cancel := context.WithCancel(f.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(f, <-done)
	})
	f.Cleanup(stop)
	return mgr, stop
}

// collecting starts a Collector.
func collecting(mgr manager.Manager) error {
	return mgr.Add(&Collector{Client: mgr.GetClient(), Version: version, Interval: tick})
}

// reported are the names of the EventReports of the fleet on the hub.
func (f *fleet) reported() []string {
	f.Helper()
	list := &libsveltosv1beta1.EventReportList{}
	require.NoError(f, f.hub.Client.List(f.Context(), list, client.InNamespace(f.namespace)))
	names := []string{}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// eventually waits until the condition holds.
func (f *fleet) eventually(condition func() bool, what string) {
	f.Helper()
	require.Eventually(f, condition, patience, tick, what)
}
