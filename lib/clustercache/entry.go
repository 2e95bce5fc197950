package clustercache

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// entry is what is cached of one inventory ClusterProfile. Its configuration never
// changes; another one is another entry.
type entry struct {
	config *rest.Config
	// fingerprint is of the object's UID and the chosen access.
	fingerprint string
	// expires is when config stops working, zero for never.
	expires time.Time
	// given: config came from StoreRestConfig and has no object to be compared with.
	given bool

	// revision of the provider file that the entry was last found good with.
	revision atomic.Pointer[string]
	// nextCheck and nextCompare are when the entry is looked at, and compared with its
	// object, again, in Unix nanoseconds.
	nextCheck, nextCompare atomic.Int64

	mu     sync.Mutex // guards what is made on first use; never held over I/O
	http   *http.Client
	lazy   meta.RESTMapper
	lookup *discoverer
}

// build fetches the object and makes its entry.
func build(ctx context.Context, c client.Client, cluster types.NamespacedName) (*entry, error) {
	backend := inventory.FromFlags()
	revision := backend.Revision()
	cp, err := fetch(ctx, c, cluster)
	if err != nil {
		return nil, err
	}
	fingerprint, err := fingerprintOf(backend, cp)
	if err != nil {
		return nil, err
	}
	config, err := backend.RestConfig(ctx, cp)
	if err != nil {
		return nil, err
	}
	e := &entry{config: config, fingerprint: fingerprint, expires: backend.Expiry(cp)}
	e.revision.Store(&revision)
	return e, nil
}

func fetch(ctx context.Context, c client.Client, cluster types.NamespacedName) (*inventoryv1alpha1.ClusterProfile, error) {
	object, err := clusterproxy.GetCluster(ctx, c, cluster.Namespace, cluster.Name, libsveltosv1beta1.ClusterTypeClusterProfile)
	if err != nil {
		return nil, err
	}
	return object.(*inventoryv1alpha1.ClusterProfile), nil
}

func fingerprintOf(backend *inventory.Backend, cp *inventoryv1alpha1.ClusterProfile) (string, error) {
	access, err := backend.Resolve(cp)
	if err != nil {
		return "", err
	}
	return string(cp.UID) + "/" + access.Fingerprint(), nil
}

// copied returns a copy of the configuration. It shares what rest.CopyConfig shares, the
// bytes of the certificates, and costs less.
func (e *entry) copied() *rest.Config {
	config := *e.config
	return &config
}

// client returns a new client for the cluster. All of them share one http.Client and one
// mapper, which learns of new kinds by itself.
func (e *entry) client(scheme *runtime.Scheme) (client.Client, error) {
	httpClient, mapper, err := e.shared()
	if err != nil {
		return nil, err
	}
	return client.New(e.copied(), client.Options{Scheme: scheme, HTTPClient: httpClient, Mapper: mapper})
}

func (e *entry) shared() (*http.Client, meta.RESTMapper, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lazy == nil {
		httpClient, err := rest.HTTPClientFor(e.config)
		if err != nil {
			return nil, nil, err
		}
		mapper, err := apiutil.NewDynamicRESTMapper(e.config, httpClient)
		if err != nil {
			return nil, nil, err
		}
		e.http, e.lazy = httpClient, mapper
	}
	return e.http, e.lazy, nil
}

func (e *entry) discoverer() (*discoverer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lookup == nil {
		d, err := newDiscoverer(e.config)
		if err != nil {
			return nil, err
		}
		e.lookup = d
	}
	return e.lookup, nil
}

// made returns the discoverer if there is one.
func (e *entry) made() *discoverer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lookup
}

func (e *entry) resetMapper() {
	e.mu.Lock()
	e.lazy = nil
	e.mu.Unlock()
	if d := e.made(); d != nil {
		d.mapper.Reset()
	}
}

func (e *entry) invalidateDiscovery() {
	if d := e.made(); d != nil {
		d.client.Invalidate()
	}
}
