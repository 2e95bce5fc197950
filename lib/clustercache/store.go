package clustercache

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// buildLimit bounds the building of one entry, beyond the plugin's own limit.
	buildLimit = 2 * time.Minute
	// evictedTries is how often a build is begun anew because its cluster changed.
	evictedTries = 5

	shards = 64
)

// store holds the entries, and what is being built. A hit takes no lock: the entries of a
// shard are a map that is replaced and never edited. Shards keep that replacing cheap.
type store struct {
	seed  maphash.Seed
	shard [shards]shard
}

type entries map[types.NamespacedName]*entry

type shard struct {
	current atomic.Pointer[entries]

	mu      sync.Mutex // held while current is replaced, and guards flights; never held over I/O
	flights map[types.NamespacedName]*flight
}

// setLocked publishes the entry, or the lack of one where e is nil.
func (sh *shard) setLocked(cluster types.NamespacedName, e *entry) {
	before := *sh.current.Load()
	if e == nil && before[cluster] == nil {
		return
	}
	after := maps.Clone(before)
	if e == nil {
		delete(after, cluster)
	} else {
		after[cluster] = e
	}
	sh.current.Store(&after)
}

func (sh *shard) get(cluster types.NamespacedName) *entry { return (*sh.current.Load())[cluster] }

// flight is one entry being built. Evicting its cluster takes it out of the shard: those
// who wait for it then ask again, and it publishes nothing.
type flight struct {
	done  chan struct{} // closed when the fields below are set
	entry *entry
	err   error
}

func newStore() *store {
	s := &store{seed: maphash.MakeSeed()}
	for i := range s.shard {
		s.shard[i].current.Store(&entries{})
		s.shard[i].flights = map[types.NamespacedName]*flight{}
	}
	return s
}

func (s *store) of(cluster types.NamespacedName) *shard {
	return &s.shard[maphash.Comparable(s.seed, cluster)%shards]
}

// peek returns the entry as it is, or nil.
func (s *store) peek(cluster types.NamespacedName) *entry { return s.of(cluster).get(cluster) }

func (s *store) put(cluster types.NamespacedName, e *entry) {
	sh := s.of(cluster)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.setLocked(cluster, e)
	delete(sh.flights, cluster)
}

// evict ends the entry, and what is being built of it.
func (s *store) evict(cluster types.NamespacedName) {
	sh := s.of(cluster)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.setLocked(cluster, nil)
	delete(sh.flights, cluster)
}

// evictOnly ends the entry if it is still this one.
func (s *store) evictOnly(cluster types.NamespacedName, e *entry) {
	sh := s.of(cluster)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.get(cluster) == e {
		sh.setLocked(cluster, nil)
		delete(sh.flights, cluster)
	}
}

// get returns the entry of the cluster, building it if there is none.
func (s *store) get(ctx context.Context, c client.Client, cluster types.NamespacedName) (*entry, error) {
	if e := s.peek(cluster); e != nil {
		now := time.Now()
		if now.UnixNano() < e.nextCheck.Load() {
			return e, nil
		}
		good, err := e.check(ctx, c, cluster, now)
		if good {
			return e, nil
		}
		s.evictOnly(cluster, e)
		if err != nil {
			return nil, err
		}
	}
	for range evictedTries {
		f := s.join(ctx, c, cluster)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("ClusterProfile %s: waiting for its configuration: %w", cluster, ctx.Err())
		case <-f.done:
		}
		if !errors.Is(f.err, errEvicted) {
			return f.entry, f.err
		}
	}
	return nil, fmt.Errorf("ClusterProfile %s: its access keeps changing; trying again", cluster)
}

var errEvicted = errors.New("evicted while it was built")

// join returns the flight of the cluster, starting it if there is none. It goes on
// without the caller that started it.
func (s *store) join(ctx context.Context, c client.Client, cluster types.NamespacedName) *flight {
	sh := s.of(cluster)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.get(cluster); e != nil { // published since the caller looked
		f := &flight{done: make(chan struct{}), entry: e}
		close(f.done)
		return f
	}
	if f, ok := sh.flights[cluster]; ok {
		return f
	}
	f := &flight{done: make(chan struct{})}
	sh.flights[cluster] = f
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), buildLimit)
	go func() {
		defer cancel()
		e, err := build(own, c, cluster)
		sh.land(cluster, f, e, err)
	}()
	return f
}

// land publishes what a flight has brought, unless its cluster was evicted meanwhile.
func (sh *shard) land(cluster types.NamespacedName, f *flight, e *entry, err error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	defer close(f.done)
	if sh.flights[cluster] != f {
		f.err = errEvicted
		return
	}
	delete(sh.flights, cluster)
	f.entry, f.err = e, err
	if err == nil {
		e.begin(time.Now())
		sh.setLocked(cluster, e)
	}
}
