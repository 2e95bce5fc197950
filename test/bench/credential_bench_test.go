//go:build bench

package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// "theirs" is client-go's own exec support throughout, but for the last one, which is
// client-go's static bearer token.

func TestFiftyClientsForOneCluster(t *testing.T) {
	const clients = 50
	theirsFleet := newFleet(t, 1)
	for range clients {
		ask(t, theirsFleet.theirs(0))
		runtime.GC() // the client is gone before the next one is made
	}
	oursFleet := newFleet(t, 1)
	b := oursFleet.backend(0)
	for range clients {
		cfg, err := b.RestConfig(t.Context(), oursFleet.profiles[0])
		require.NoError(t, err)
		ask(t, cfg)
		runtime.GC()
	}
	report("credential/50-clients/connections", float64(oursFleet.connections.Load()), float64(theirsFleet.connections.Load()))
	report("credential/50-clients/plugin-runs", float64(len(oursFleet.runs())), float64(len(theirsFleet.runs())))
	assert.EqualValues(t, 1, oursFleet.connections.Load())
	assert.Len(t, oursFleet.runs(), 1)
}

func TestThousandClustersAskedOnce(t *testing.T) {
	const clusters, workers = 1000, 50
	theirsFleet, oursFleet := newFleet(t, clusters).separate(), newFleet(t, clusters).separate()
	theirsFleet.set("sleep", "50ms") // as a plugin that asks somebody
	oursFleet.set("sleep", "50ms")
	theirsKept, theirsTook := measure(theirsFleet, func() any {
		theirsFleet.each(workers, func(i int) { ask(t, theirsFleet.theirs(i)) })
		return nil // its authenticators are in a cache of the process
	})
	oursKept, oursTook := measure(oursFleet, func() any {
		b := oursFleet.backend(0)
		oursFleet.each(workers, func(i int) {
			cfg, err := b.RestConfig(t.Context(), oursFleet.profiles[i])
			if assert.NoError(t, err) {
				ask(t, cfg)
			}
		})
		return b
	})
	report("credential/1000-clusters/plugin-runs", float64(len(oursFleet.runs())), float64(len(theirsFleet.runs())))
	report("credential/1000-clusters/plugins-at-a-time", float64(oursFleet.atATime()), float64(theirsFleet.atATime()))
	report("credential/1000-clusters/bytes-kept-for-each", oursKept/clusters, theirsKept/clusters)
	report("credential/1000-clusters/seconds", oursTook.Seconds(), theirsTook.Seconds())
	assert.Len(t, oursFleet.runs(), clusters)
	assert.LessOrEqual(t, oursFleet.atATime(), inventory.DefaultPluginConcurrency)
	assert.LessOrEqual(t, oursKept/clusters, 8192.0)
}

// measure returns the bytes that are on the heap after work and were not before, while
// what it returned is kept, and how long it took. Connections are not counted: client-go
// closes them when they have been idle for 90 s, and its timers hold what is left of
// them a little longer.
func measure(f *fleet, work func() any) (kept float64, took time.Duration) {
	before := heap()
	begin := time.Now()
	result := work()
	took = time.Since(begin)
	f.server.CloseClientConnections()
	<-time.After(100 * time.Second)
	kept = heap() - before
	runtime.KeepAlive(result)
	return kept, took
}

func heap() float64 {
	for range 5 { // transports and their connections go in steps
		runtime.GC()
		runtime.Gosched()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// answer is a transport that does nothing, so that what is around it can be measured.
type answer struct{ response *http.Response }

func (a answer) RoundTrip(*http.Request) (*http.Response, error) { return a.response, nil }

func TestOverheadOfARequestWithAWarmCredential(t *testing.T) {
	fleet := newFleet(t, 1)
	cfg, err := fleet.backend(0).RestConfig(t.Context(), fleet.profiles[0])
	require.NoError(t, err)
	next := answer{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}}
	req, err := http.NewRequest(http.MethodGet, cfg.Host+"/version", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json")
	through := func(rt http.RoundTripper) func() {
		return func() { _, _ = rt.RoundTrip(req) }
	}
	ours, theirs := through(cfg.WrapTransport(next)), through(transport.NewBearerAuthRoundTripper(fleetToken, next))

	oursTime, theirsTime := time.Hour, time.Hour
	for range 15 { // the best of many turns: the machine does other things as well
		oursTime = min(oursTime, timeOf(ours))
		theirsTime = min(theirsTime, timeOf(theirs))
	}
	oursAllocs, theirsAllocs := testing.AllocsPerRun(1000, ours), testing.AllocsPerRun(1000, theirs)
	report("credential/warm-request/ns", float64(oursTime.Nanoseconds()), float64(theirsTime.Nanoseconds()))
	report("credential/warm-request/allocations", oursAllocs, theirsAllocs)
	assert.LessOrEqual(t, oursTime-theirsTime, time.Microsecond, "more than a static token")
	assert.LessOrEqual(t, oursAllocs-theirsAllocs, 2.0, "allocations more than a static token")
}

// timeOf is how long one call takes, of many.
func timeOf(do func()) time.Duration {
	const calls = 20_000
	begin := time.Now()
	for range calls {
		do()
	}
	return time.Since(begin) / calls
}

func TestOneHungPluginAmongHundredClusters(t *testing.T) {
	const clusters, hung, limit = 100, 41, 4 * time.Second
	type times struct{ others, caller time.Duration }
	run := func(f *fleet, ask func(ctx context.Context, i int) error) times {
		f.hang(hung, "6s")
		var (
			wg  sync.WaitGroup
			mu  sync.Mutex
			got times
		)
		begin := time.Now()
		for i := range clusters {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				if i == hung {
					ctx, cancel = context.WithTimeout(ctx, time.Second)
				}
				defer cancel()
				err := ask(ctx, i)
				took := time.Since(begin)
				mu.Lock()
				defer mu.Unlock()
				if i == hung {
					got.caller = took
					return
				}
				assert.NoError(t, err)
				got.others = max(got.others, took)
			})
		}
		wg.Wait()
		return got
	}
	theirsFleet, oursFleet := newFleet(t, clusters), newFleet(t, clusters)
	theirs := run(theirsFleet, func(ctx context.Context, i int) error { return request(ctx, theirsFleet.theirs(i)) })
	b := oursFleet.backend(limit)
	ours := run(oursFleet, func(ctx context.Context, i int) error {
		cfg, err := b.RestConfig(ctx, oursFleet.profiles[i])
		if err != nil {
			return err
		}
		return request(ctx, cfg)
	})
	gone := oursFleet.awaitGroup(hung)
	report("credential/hung/others-s", ours.others.Seconds(), theirs.others.Seconds())
	report("credential/hung/caller-with-1s-deadline-s", ours.caller.Seconds(), theirs.caller.Seconds())
	report("credential/hung/group-gone-s", gone.Seconds(), theirsFleet.hungFor(hung).Seconds())
}

// ask sends one request to the cluster with a client of its own.
func ask(t *testing.T, cfg *rest.Config) {
	t.Helper()
	assert.NoError(t, request(t.Context(), cfg))
}

func request(ctx context.Context, cfg *rest.Config) error {
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	return send(ctx, c, cfg.Host)
}

func send(ctx context.Context, c *http.Client, host string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/version", nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// report prints a line that make bench shows.
func report(name string, ours, theirs float64) {
	fmt.Fprintf(os.Stdout, "bench: %s ours=%.4g theirs=%.4g ratio=%.3g\n", name, ours, theirs, ours/theirs)
}
