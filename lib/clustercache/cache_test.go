package clustercache

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	upstream "upstream.projectsveltos.io/libsveltos/lib/clustercache"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const third = libsveltosv1beta1.ClusterTypeClusterProfile

// fleet is a hub whose reads of inventory ClusterProfiles are counted, and a provider
// file whose plugin logs its runs.
type fleet struct {
	client.Client
	t     *testing.T
	gets  atomic.Int32
	onGet func(ctx context.Context) error
	file  string
	runs  string
	cache *clusterCache
}

func newFleet(t *testing.T, profiles ...client.Object) *fleet {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(s))
	require.NoError(t, libsveltosv1beta1.AddToScheme(s))
	dir := t.TempDir()
	f := &fleet{t: t, file: filepath.Join(dir, "providers.json"), runs: filepath.Join(dir, "runs"), cache: newClusterCache()}
	hub := fake.NewClientBuilder().WithScheme(s).WithObjects(profiles...).Build()
	f.Client = interceptor.NewClient(hub, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*inventoryv1alpha1.ClusterProfile); ok {
				f.gets.Add(1)
				if f.onGet != nil {
					if err := f.onGet(ctx); err != nil {
						return err
					}
				}
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	f.plugin("x")
	require.NoError(t, flag.Set(inventory.ProviderFileFlag, f.file))
	t.Cleanup(func() { require.NoError(t, flag.Set(inventory.ProviderFileFlag, "")) })
	return f
}

// plugin writes the provider file with a plugin that prints a token.
func (f *fleet) plugin(arg string) {
	f.t.Helper()
	path := filepath.Join(filepath.Dir(f.file), "plugin")
	require.NoError(f.t, os.WriteFile(path, []byte("#!/bin/sh\necho run >> "+f.runs+`
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'
`), 0o755))
	require.NoError(f.t, os.WriteFile(f.file, fmt.Appendf(nil, `{"providers":[{"name":"token","execConfig":`+
		`{"apiVersion":"client.authentication.k8s.io/v1","command":%q,"args":[%q]}}]}`, path, arg), 0o644))
}

func (f *fleet) pluginRuns() int {
	data, err := os.ReadFile(f.runs)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	require.NoError(f.t, err)
	return strings.Count(string(data), "run")
}

func (f *fleet) config(name string) (*rest.Config, error) {
	return f.cache.GetKubernetesRestConfig(f.t.Context(), f, "fleet", name, "", "", third, logr.Discard())
}

func (f *fleet) host(name string) string {
	f.t.Helper()
	config, err := f.config(name)
	require.NoError(f.t, err)
	return config.Host
}

// edit changes a profile on the hub.
func (f *fleet) edit(name string, change func(*inventoryv1alpha1.ClusterProfile)) {
	f.t.Helper()
	cp := &inventoryv1alpha1.ClusterProfile{}
	require.NoError(f.t, f.Get(f.t.Context(), types.NamespacedName{Namespace: "fleet", Name: name}, cp))
	change(cp)
	require.NoError(f.t, f.Update(f.t.Context(), cp))
	f.gets.Store(0)
}

// age makes the entry due to be compared with its object, as half a minute does.
func (f *fleet) age(name string) {
	f.t.Helper()
	e := f.cache.entries.peek(nameOf("fleet", name))
	require.NotNil(f.t, e)
	e.nextCheck.Store(0)
	e.nextCompare.Store(0)
}

func profile(name, server string) *inventoryv1alpha1.ClusterProfile {
	cp := &inventoryv1alpha1.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name, UID: types.UID("uid-" + name)}}
	cp.Status.AccessProviders = []inventoryv1alpha1.AccessProvider{{Name: "token", Cluster: clientcmdv1.Cluster{Server: server}}}
	return cp
}

func TestHitMakesNoAPICallAndHandsOutACopy(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	first, err := f.config("a")
	require.NoError(t, err)
	assert.InDelta(t, 20, first.QPS, 0, "not throttled at client-go's 5/10 (keda 3730)")
	assert.Equal(t, 40, first.Burst)
	first.Host = "https://edited"
	for range 10 {
		assert.Equal(t, "https://a", f.host("a"))
	}
	assert.EqualValues(t, 1, f.gets.Load())
	assert.Equal(t, 1, f.pluginRuns())
}

func TestStormBuildsOnce(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			config, err := f.config("a")
			if assert.NoError(t, err) {
				assert.Equal(t, "https://a", config.Host)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, f.gets.Load())
	assert.Equal(t, 1, f.pluginRuns())
}

// Case 7: 20 status updates that change nothing of the access.
func TestHeartbeatsRebuildNothing(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	before := f.cache.entries.peek(nameOf("fleet", "a"))
	for i := range 20 {
		f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.Version.Kubernetes = fmt.Sprintf("v1.36.%d", i)
			cp.Status.Properties = []inventoryv1alpha1.Property{{Name: "n", Value: fmt.Sprint(i)}}
		})
		f.age("a")
		f.host("a")
	}
	assert.Same(t, before, f.cache.entries.peek(nameOf("fleet", "a")))
	assert.Equal(t, 1, f.pluginRuns())
}

func TestChangedAccessIsNoticed(t *testing.T) {
	for name, change := range map[string]func(*fleet){
		"server": func(f *fleet) {
			f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
				cp.Status.AccessProviders[0].Cluster.Server = "https://b"
			})
		},
		"created anew": func(f *fleet) {
			require.NoError(f.t, f.Delete(f.t.Context(), profile("a", "")))
			again := profile("a", "https://b")
			again.UID = "another"
			require.NoError(f.t, f.Create(f.t.Context(), again))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, profile("a", "https://a"))
			require.Equal(t, "https://a", f.host("a"))
			change(f)
			f.age("a")
			assert.Equal(t, "https://b", f.host("a"))
		})
	}
}

func TestEvictionTakesEffectAtOnce(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) {
		cp.Status.AccessProviders[0].Cluster.Server = "https://b"
	})
	f.cache.entries.evict(nameOf("fleet", "a"))
	assert.Equal(t, "https://b", f.host("a"))
}

func TestDeletedClusterIsNotFound(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	require.NoError(t, f.Delete(t.Context(), profile("a", "")))
	f.age("a")
	_, err := f.config("a")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = f.config("a")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestRefusedAccessIsNotServedFromTheCache(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	f.edit("a", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Status.AccessProviders[0].Cluster.Server = "http://a" })
	f.age("a")
	_, err := f.config("a")
	require.ErrorIs(t, err, inventory.ErrRefused)
}

func TestHubThatDoesNotAnswerIsNoReasonToForget(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	f.onGet = func(context.Context) error { return apierrors.NewServiceUnavailable("restarting") }
	f.age("a")
	assert.Equal(t, "https://a", f.host("a"))
}

func TestProviderFileChangeIsNoticed(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	first := f.cache.entries.peek(nameOf("fleet", "a"))
	f.plugin("y")
	require.Eventually(t, func() bool {
		f.host("a")
		return f.cache.entries.peek(nameOf("fleet", "a")) != first
	}, 10*time.Second, 20*time.Millisecond)
	assert.Equal(t, 2, f.pluginRuns(), "the new recipe was used")
}

// Case 6, in the cache: a cluster whose build hangs delays nobody else, and a caller who
// gives up takes nothing from the others.
func TestHangingBuildDelaysNobody(t *testing.T) {
	f := newFleet(t, profile("sick", "https://s"), profile("a", "https://a"))
	release := make(chan struct{})
	started := make(chan struct{})
	var once sync.Once
	f.onGet = func(context.Context) error {
		hang := false
		once.Do(func() { hang = true })
		if hang {
			close(started)
			<-release
		}
		return nil
	}
	impatient, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := f.cache.GetKubernetesRestConfig(impatient, f, "fleet", "sick", "", "", third, logr.Discard())
		result <- err
	}()
	<-started
	assert.Equal(t, "https://a", f.host("a"))
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)

	patient := make(chan string, 1)
	go func() {
		config, err := f.config("sick")
		if assert.NoError(t, err) {
			patient <- config.Host
		}
	}()
	close(release)
	assert.Equal(t, "https://s", <-patient)
	assert.EqualValues(t, 2, f.gets.Load(), "one for each cluster: the build went on without its first caller")
}

func TestEvictionDuringABuildPublishesNothingOld(t *testing.T) {
	f := newFleet(t, profile("a", "https://old"))
	var once sync.Once
	f.onGet = func(context.Context) error {
		once.Do(func() {
			// The watch tells of the change after the build has begun; what it has read may be old.
			f.cache.entries.evict(nameOf("fleet", "a"))
		})
		return nil
	}
	f.host("a")
	assert.EqualValues(t, 2, f.gets.Load(), "it is read again")
}

// Case 8.
func TestGetEvictReloadAtOnce(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"), profile("b", "https://b"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				name := []string{"a", "b"}[n%2]
				switch {
				case i == 0:
					f.cache.entries.evict(nameOf("fleet", name))
				case i == 1:
					f.cache.RemoveCluster("fleet", name, third)
				case i == 2:
					f.cache.InvalidateOnAuthError("fleet", name, third, apierrors.NewUnauthorized(""))
					f.cache.ResetMapper("fleet", name, third)
					f.cache.InvalidateDiscoveryClient("fleet", name, third)
				default:
					config, err := f.config(name)
					if err != nil {
						assert.ErrorContains(t, err, "keeps changing")
						continue
					}
					assert.Equal(t, "https://"+name, config.Host)
					assert.NotNil(t, config.WrapTransport, "never half an entry")
				}
			}
		})
	}
	wg.Wait()
}

func TestInvalidateOnAuthError(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	for _, tc := range []struct {
		name    string
		err     error
		evicted bool
	}{
		{"none", nil, false},
		{"403", apierrors.NewForbidden(schema.GroupResource{}, "", nil), false},
		{"other", errors.New("x"), false},
		{"401", apierrors.NewUnauthorized(""), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f.host("a")
			assert.Equal(t, tc.evicted, f.cache.InvalidateOnAuthError("fleet", "a", third, tc.err))
			assert.Equal(t, tc.evicted, f.cache.entries.peek(nameOf("fleet", "a")) == nil)
		})
	}
}

func TestStoredConfigIsHandedOut(t *testing.T) {
	f := newFleet(t)
	given := &rest.Config{Host: "https://given"}
	f.cache.StoreRestConfig("fleet", "a", third, given)
	given.Host = "https://edited"
	assert.Equal(t, "https://given", f.host("a"))
	f.cache.RemoveCluster("fleet", "a", third)
	_, err := f.config("a")
	require.True(t, apierrors.IsNotFound(err))
}

func TestOtherTypesAreUpstreams(t *testing.T) {
	f := newFleet(t)
	manager := GetManager()
	given := &rest.Config{Host: "https://sveltos"}
	manager.StoreRestConfig("fleet", "a", libsveltosv1beta1.ClusterTypeSveltos, given)
	defer manager.RemoveCluster("fleet", "a", libsveltosv1beta1.ClusterTypeSveltos)
	for _, get := range []func(context.Context, client.Client, string, string, string, string, libsveltosv1beta1.ClusterType, logr.Logger) (*rest.Config, error){
		manager.GetKubernetesRestConfig, upstream.GetManager().GetKubernetesRestConfig} {
		config, err := get(t.Context(), f, "fleet", "a", "", "", libsveltosv1beta1.ClusterTypeSveltos, logr.Discard())
		require.NoError(t, err)
		assert.Equal(t, "https://sveltos", config.Host)
	}
	_, err := manager.GetKubernetesRestConfig(t.Context(), f, "fleet", "a", "", "", third, logr.Discard())
	require.True(t, apierrors.IsNotFound(err), "the third type of the same name is another cluster: %v", err)
}

func TestTenantsAreNotCached(t *testing.T) {
	f := newFleet(t, profile("a", "https://a"))
	f.host("a")
	_, err := f.cache.GetKubernetesRestConfig(t.Context(), f, "fleet", "a", "ns", "tenant", third, logr.Discard())
	require.ErrorContains(t, err, "tenant ns/tenant has no kubeconfig", "not the platform admin's cached configuration")
	_, err = f.cache.GetKubernetesClient(t.Context(), f, "fleet", "a", "ns", "tenant", third, logr.Discard())
	require.ErrorContains(t, err, "tenant ns/tenant has no kubeconfig")
}
