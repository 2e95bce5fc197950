//go:build bench

package bench

import (
	"context"
	"encoding/pem"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	"github.com/projectsveltos/libsveltos/lib/clustercache"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// "theirs" is upstream's cache of SveltosClusters throughout.

const (
	namespace = "fleet"
	sick      = "sick"
)

// benchCA is a certificate of the usual size, about 1 KiB as PEM.
var benchCA = func() []byte {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}()

// hub is a hub whose reads can be held up, and counts those of inventory clusters.
type hub struct {
	client.Client
	gets atomic.Int32
	hold func(name string)
	runs string // one line for each plugin run
}

func newHub(t *testing.T, clusters int) *hub {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(s))
	require.NoError(t, libsveltosv1beta1.AddToScheme(s))
	objects := []client.Object{inventoryCluster(sick)}
	for i := range clusters {
		objects = append(objects, inventoryCluster(numbered(i)))
	}
	h := &hub{hold: func(string) {}}
	h.Client = interceptor.NewClient(fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*inventoryv1alpha1.ClusterProfile); ok {
				h.gets.Add(1)
			}
			h.hold(key.Name)
			return c.Get(ctx, key, o, opts...)
		},
	})
	dir := t.TempDir()
	h.runs = filepath.Join(dir, "runs")
	credential := filepath.Join(dir, "credential")
	require.NoError(t, os.WriteFile(credential, []byte(
		`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}`), 0o600))
	file := filepath.Join(dir, "providers.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"providers":[{"name":"cat","execConfig":`+
		`{"apiVersion":"client.authentication.k8s.io/v1","command":"cat","args":[%q]}}]}`, credential), 0o600))
	require.NoError(t, flag.Set(inventory.ProviderFileFlag, file))
	t.Cleanup(func() { require.NoError(t, flag.Set(inventory.ProviderFileFlag, "")) })
	return h
}

func numbered(i int) string { return fmt.Sprintf("cluster-%d", i) }

func inventoryCluster(name string) *inventoryv1alpha1.ClusterProfile {
	cp := &inventoryv1alpha1.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}}
	cp.Status.AccessProviders = []inventoryv1alpha1.AccessProvider{
		{Name: "cat", Cluster: clientcmdv1.Cluster{Server: "https://" + name + ".example", CertificateAuthorityData: benchCA}}}
	return cp
}

func (h *hub) ours(ctx context.Context, name string) (*rest.Config, error) {
	return clustercache.GetManager().GetKubernetesRestConfig(ctx, h, namespace, name, "", "",
		libsveltosv1beta1.ClusterTypeClusterProfile, logr.Discard())
}

func (h *hub) theirs(ctx context.Context, name string) (*rest.Config, error) {
	return upstream.GetManager().GetKubernetesRestConfig(ctx, h, namespace, name, "", "",
		libsveltosv1beta1.ClusterTypeSveltos, logr.Discard())
}

type getConfig func(ctx context.Context, name string) (*rest.Config, error)

func (h *hub) warm(t *testing.T, clusters int) {
	t.Helper()
	for i := range clusters {
		config, err := h.ours(t.Context(), numbered(i))
		require.NoError(t, err)
		upstream.GetManager().StoreRestConfig(namespace, numbered(i), libsveltosv1beta1.ClusterTypeSveltos, config)
	}
	h.gets.Store(0)
}

func TestCacheHit(t *testing.T) {
	const clusters = 16
	h := newHub(t, clusters)
	h.warm(t, clusters)
	// The live heap of a controller with informer caches. Without it the collector, which has next to nothing to look
	// at, runs hundreds of times a second, and what is measured is that.
	informers := make([]byte, 100<<20)
	defer goruntime.KeepAlive(informers)
	config, err := h.ours(t.Context(), numbered(0))
	require.NoError(t, err)
	copying := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rest.CopyConfig(config)
		}
	})
	serial := func(get getConfig) testing.BenchmarkResult {
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := get(b.Context(), numbered0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	ours, theirs := serial(h.ours), serial(h.theirs)
	report("cache/hit/ns", float64(ours.NsPerOp()), float64(theirs.NsPerOp()))
	report("cache/hit/ns-beyond-CopyConfig", float64(ours.NsPerOp()-copying.NsPerOp()), float64(theirs.NsPerOp()))
	report("cache/hit/allocations-beyond-CopyConfig", float64(ours.AllocsPerOp()-copying.AllocsPerOp()), float64(theirs.AllocsPerOp()))
	assert.Zero(t, ours.AllocsPerOp()-copying.AllocsPerOp())
	for _, goroutines := range []int{1, 2, 4, 16, 64} {
		report(fmt.Sprintf("cache/hit/%d-goroutines/hits-per-ms", goroutines),
			throughput(h.ours, goroutines, clusters), throughput(h.theirs, goroutines, clusters))
	}
	assert.LessOrEqual(t, h.gets.Load(), int32(clusters), "hits make no API call but for one comparison of each in 30 s")
}

var numbered0 = numbered(0)

// throughput is the hits in a millisecond of that many goroutines, each on its cluster.
func throughput(get getConfig, goroutines, clusters int) float64 {
	const hits = 1_600_000
	var wg sync.WaitGroup
	begin := time.Now()
	for g := range goroutines {
		wg.Go(func() {
			name := numbered(g % clusters)
			for range hits / goroutines {
				_, _ = get(context.Background(), name)
			}
		})
	}
	wg.Wait()
	return hits / (1000 * time.Since(begin).Seconds())
}

// One cluster whose resolution takes 10 s; what do hits and misses of the others take?
func TestCacheWithOneSickCluster(t *testing.T) {
	const clusters, hits, delay = 300, 200, 10 * time.Second
	h := newHub(t, clusters)
	h.warm(t, hits)
	started := make(chan struct{}, 2)
	h.hold = func(name string) {
		if name == sick {
			started <- struct{}{}
			<-time.After(delay)
		}
	}
	run := func(get getConfig, names func(i int) string, count int) (p99 time.Duration) {
		go func() { _, _ = get(context.Background(), sick) }()
		<-started
		var took []time.Duration
		for i := range count {
			begin := time.Now()
			_, _ = get(t.Context(), names(i)) // upstream finds no SveltosCluster on a miss; how long it waits is the point
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		return took[min(len(took)-1, len(took)*99/100)]
	}
	miss := func(i int) string { return numbered(hits + i) }
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	oursHits := run(h.ours, numbered, hits)
	theirsHits := run(h.theirs, numbered, hits)
	report("cache/sick-cluster/hit-p99-ms", ms(oursHits), ms(theirsHits))
	clustercache.GetManager().RemoveCluster(namespace, sick, libsveltosv1beta1.ClusterTypeClusterProfile)
	oursMisses := run(h.ours, miss, clusters-hits)
	theirsMisses := run(h.theirs, miss, clusters-hits)
	report("cache/sick-cluster/miss-p99-ms", ms(oursMisses), ms(theirsMisses))
}

func TestCacheStorm(t *testing.T) {
	h := newHub(t, 2)
	clustercache.GetManager().RemoveCluster(namespace, numbered(0), libsveltosv1beta1.ClusterTypeClusterProfile)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			_, err := h.ours(t.Context(), numbered(0))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	report("cache/storm-of-200/builds", float64(h.gets.Load()), 1)
	assert.EqualValues(t, 1, h.gets.Load())
}

func TestCacheMemory(t *testing.T) {
	const clusters = 10_000 // takes a plugin run each
	h := newHub(t, clusters)
	before := heap()
	var wg sync.WaitGroup
	next := make(chan string)
	for range 8 {
		wg.Go(func() {
			for name := range next {
				_, err := h.ours(t.Context(), name)
				assert.NoError(t, err)
			}
		})
	}
	for i := range clusters {
		next <- numbered(i)
	}
	close(next)
	wg.Wait()
	kept := (heap() - before) / clusters
	for i := range clusters {
		clustercache.GetManager().RemoveCluster(namespace, numbered(i), libsveltosv1beta1.ClusterTypeClusterProfile)
	}
	left := (heap() - before) / clusters
	report("cache/10000-entries/bytes-each", kept, 12<<10)
	report("cache/10000-entries/bytes-each-after-eviction", left, kept)
}
