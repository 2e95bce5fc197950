package inventory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakePlugin stands in for a process where the test needs virtual time.
type fakePlugin struct {
	takes time.Duration
	ttl   time.Duration // 0: no expiry
	err   atomic.Pointer[error]
	runs  atomic.Int32
}

func (p *fakePlugin) fail(err error) { p.err.Store(&err) }

func (p *fakePlugin) fetch(ctx context.Context, _ Access) (*Credential, error) {
	n := p.runs.Add(1)
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: run %d", ErrPluginTimeout, n)
	}
	if err := p.err.Load(); err != nil && *err != nil {
		return nil, fmt.Errorf("%w: run %d: %w", ErrPluginFailed, n, *err)
	}
	now := time.Now()
	var expiry time.Time
	if p.ttl != 0 {
		expiry = now.Add(p.ttl)
	}
	return newCredential(fmt.Sprintf("token-%d", n), "", "", expiry, now), nil
}

func (p *fakePlugin) source(r *runner) *source {
	s := newSource("fleet/spoke", Access{Provider: "fake", Server: "https://spoke.example"}, r)
	s.fetch = p.fetch
	return s
}

func mustToken(t *testing.T, s *source) string {
	t.Helper()
	c, err := s.Credential(t.Context())
	require.NoError(t, err)
	return c.secret.bearer
}

func TestCallersShareOneRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{takes: 10 * time.Second}
		s := p.source(newRunner(8, 30*time.Second))
		var wg sync.WaitGroup
		begin := time.Now()
		for i := range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Second)
				defer cancel()
				_, err := s.Credential(ctx)
				if i < 9 {
					assert.ErrorIs(t, err, context.DeadlineExceeded, "each waits as long as its own context lasts")
					assert.Equal(t, time.Duration(i+1)*time.Second, time.Since(begin))
				} else if i > 9 {
					assert.NoError(t, err)
					assert.Equal(t, 10*time.Second, time.Since(begin))
				}
			})
		}
		wg.Wait()
		assert.Equal(t, "Bearer token-1", mustToken(t, s))
		assert.EqualValues(t, 1, p.runs.Load())
	})
}

func TestRunGoesOnWithoutItsCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{takes: 10 * time.Second}
		s := p.source(newRunner(8, 30*time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second) // virtual
			cancel()
		}()
		_, err := s.Credential(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = s.Credential(ctx)
		require.ErrorIs(t, err, context.Canceled, "a context that is over joins nothing")
		time.Sleep(10 * time.Second) // virtual
		c, err := s.Credential(ctx)
		require.NoError(t, err, "what is there is handed out, even so")
		assert.Equal(t, "Bearer token-1", c.secret.bearer)
	})
}

func TestDeadContextStartsNothing(t *testing.T) {
	t.Parallel()
	p := &fakePlugin{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.source(newRunner(8, time.Second)).Credential(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, p.runs.Load())
}

func TestBackoffAfterFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		p.fail(errors.New("no session"))
		s := p.source(newRunner(8, 30*time.Second))
		run := int32(0)
		for _, pause := range []time.Duration{2, 4, 8, 16, 32, 64, 120, 120} {
			run++
			_, err := s.Credential(t.Context())
			require.ErrorContains(t, err, fmt.Sprintf("run %d: no session", run))
			time.Sleep(pause*time.Second - 1) // virtual
			_, again := s.Credential(t.Context())
			require.Equal(t, err, again, "the same cause during the pause of %d s", pause)
			require.Equal(t, run, p.runs.Load())
			time.Sleep(1)
		}
		p.fail(nil)
		assert.Equal(t, fmt.Sprintf("Bearer token-%d", run+1), mustToken(t, s), "the pause is over, and so is the failure")
		assert.Zero(t, s.pause, "and forgotten")
	})
}

func TestRefreshBeforeExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{takes: 3 * time.Second, ttl: 10 * time.Minute}
		s := p.source(newRunner(8, 30*time.Second))
		require.Equal(t, "Bearer token-1", mustToken(t, s))
		time.Sleep(8*time.Minute - 1) // virtual
		require.Equal(t, "Bearer token-1", mustToken(t, s))
		synctest.Wait()
		require.EqualValues(t, 1, p.runs.Load(), "not yet in the last fifth of its life")

		time.Sleep(1)
		for range 10 {
			begin := time.Now()
			require.Equal(t, "Bearer token-1", mustToken(t, s), "handed out while the next one is fetched")
			require.Zero(t, time.Since(begin), "nobody waits")
		}
		time.Sleep(4 * time.Second)
		require.Equal(t, "Bearer token-2", mustToken(t, s))
		require.EqualValues(t, 2, p.runs.Load())

		time.Sleep(time.Hour)
		begin := time.Now()
		require.Equal(t, "Bearer token-3", mustToken(t, s), "nobody asked in time: now it is waited for")
		assert.Equal(t, 3*time.Second, time.Since(begin))
	})
}

func TestFailedRefreshShowsWhenTheCredentialHasExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{ttl: 10 * time.Minute}
		s := p.source(newRunner(8, 30*time.Second))
		require.Equal(t, "Bearer token-1", mustToken(t, s))
		p.fail(errors.New("issuer is down"))
		time.Sleep(9 * time.Minute) // virtual
		for range 60 {
			require.Equal(t, "Bearer token-1", mustToken(t, s))
			time.Sleep(time.Second)
		}
		assert.EqualValues(t, 1+5, p.runs.Load(), "back-off holds for the background as well: 0, 2, 6, 14, 30 s")
		_, err := s.Credential(t.Context())
		assert.ErrorContains(t, err, "issuer is down")
	})
}

func TestBornExpiredCredentialIsUsedForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{ttl: -time.Hour}
		s := p.source(newRunner(8, 30*time.Second))
		for range 100 {
			mustToken(t, s)
			time.Sleep(time.Second) // virtual
		}
		assert.EqualValues(t, 10, p.runs.Load(), "once in 10 s, not once a call")
	})
}

func TestCredentialWithoutExpiryStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		s := p.source(newRunner(8, 30*time.Second))
		for range 3 {
			require.Equal(t, "Bearer token-1", mustToken(t, s))
			time.Sleep(30 * 24 * time.Hour) // virtual
		}
	})
}

// A cluster that hangs over and over holds neither the others nor its own callers.
func TestHungClustersStayInTheirLane(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(4, 30*time.Second)
		var hung []*source
		for range 20 {
			p := &fakePlugin{takes: time.Hour}
			hung = append(hung, p.source(r))
		}
		var wg sync.WaitGroup
		for _, s := range hung {
			wg.Go(func() { _, _ = s.Credential(t.Context()) })
		}
		wg.Wait()
		for s := range hungSources(hung) { // until each has timed out once
			_, err := s.Credential(t.Context())
			require.ErrorIs(t, err, ErrPluginTimeout)
		}
		time.Sleep(longPause) // virtual
		var gotSlot, gaveUp atomic.Int32
		for _, s := range hung {
			wg.Go(func() {
				begin := time.Now()
				_, err := s.Credential(t.Context())
				assert.ErrorIs(t, err, ErrPluginTimeout)
				switch time.Since(begin) {
				case 30 * time.Second:
					gotSlot.Add(1)
				case hungPatience:
					gaveUp.Add(1)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		healthy := &fakePlugin{}
		for range 40 {
			mustToken(t, healthy.source(r))
		}
		assert.Zero(t, time.Since(begin), "the others do not notice")
		wg.Wait()
		assert.EqualValues(t, 1, gotSlot.Load(), "their lane has one slot")
		assert.EqualValues(t, len(hung)-1, gaveUp.Load(), "whoever has not got it does not wait for it")
		for _, s := range hung {
			s.mu.Lock()
			f := s.running
			s.mu.Unlock()
			if f != nil {
				<-f.done
			}
		}
	})
}

// hungSources yields each source until it knows that it hangs.
func hungSources(all []*source) func(func(*source) bool) {
	return func(yield func(*source) bool) {
		for _, s := range all {
			for {
				s.mu.Lock()
				known := s.hung
				s.mu.Unlock()
				if known {
					break
				}
				time.Sleep(time.Second) // virtual
				if !yield(s) {
					return
				}
			}
		}
	}
}

func TestLongQueueDoesNotHoldACallerForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(1, 25*time.Second)
		first, second, last := &fakePlugin{takes: 20 * time.Second}, &fakePlugin{takes: 20 * time.Second}, &fakePlugin{}
		for _, p := range []*fakePlugin{first, second} {
			s := p.source(r)
			go func() { _, _ = s.Credential(t.Context()) }()
			synctest.Wait()
		}
		s := last.source(r)
		begin := time.Now()
		_, err := s.Credential(context.Background())
		require.ErrorIs(t, err, ErrPluginTimeout)
		require.ErrorContains(t, err, PluginConcurrencyFlag)
		assert.Equal(t, slotPatience, time.Since(begin))
		assert.Zero(t, last.runs.Load())
		assert.Equal(t, "Bearer token-1", mustToken(t, s), "its place in the queue was kept")
	})
}
