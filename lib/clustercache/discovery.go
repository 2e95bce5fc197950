package clustercache

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// discoveryAge is how long an answer "no such kind" is believed.
const discoveryAge = 5 * time.Second

// discoverer is the discovery client and the REST mapper of one cluster.
type discoverer struct {
	client *agingDiscovery
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newDiscoverer(config *rest.Config) (*discoverer, error) {
	dc, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	aging := &agingDiscovery{CachedDiscoveryInterface: memory.NewMemCacheClient(dc)}
	aging.filled.Store(time.Now().UnixNano())
	return &discoverer{client: aging, mapper: restmapper.NewDeferredDiscoveryRESTMapper(aging)}, nil
}

// agingDiscovery is a discovery cache that does not call itself fresh for ever. The
// mapper asks it when it does not find a kind: client-go's own says "fresh" once it is
// filled, and a CRD that is installed later is never found.
type agingDiscovery struct {
	discovery.CachedDiscoveryInterface

	filled atomic.Int64 // Unix nanoseconds
}

var _ discovery.CachedDiscoveryInterface = (*agingDiscovery)(nil)

// Fresh tells whether asking again now would be pointless.
func (d *agingDiscovery) Fresh() bool {
	return time.Since(time.Unix(0, d.filled.Load())) < discoveryAge && d.CachedDiscoveryInterface.Fresh()
}

// Invalidate makes the next question go to the cluster.
func (d *agingDiscovery) Invalidate() {
	d.filled.Store(time.Now().UnixNano())
	d.CachedDiscoveryInterface.Invalidate()
}
