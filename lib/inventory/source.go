package inventory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	firstPause = 2 * time.Second
	longPause  = 2 * time.Minute

	// slotPatience is how long a caller waits at least for its turn to run a plugin;
	// longer if a run may take longer. When the last run for its cluster timed out it
	// waits for hungPatience only, so that hung clusters do not use up all workers of a
	// controller.
	slotPatience = 30 * time.Second
	hungPatience = time.Second
)

// source yields the credential of one cluster over time and is the only thing that
// ever has it. Reading a credential that is good takes no lock. There is one run of
// the plugin at a time: callers wait for it together, each as long as its own context
// lasts, and the run goes on without them.
type source struct {
	cluster string // namespace/name, for messages
	access  Access
	runner  *runner
	servers endpoint
	fetch   func(context.Context, Access) (*Credential, error) // test seam

	current  atomic.Pointer[Credential]
	unproven atomic.Pointer[Credential] // came after a 401, no server has accepted it yet
	pool     transportPool

	mu         sync.Mutex // guards what follows; never held over I/O or a wait
	running    *flight
	failure    error // why the last run failed, while pause lasts
	pause      backoff
	hung       bool        // the last run timed out
	rejections backoff     // runs that a 401 started and that did not help
	rejected   *Credential // the last one that was counted in rejections
}

// flight is one run of the plugin, from the moment it is asked for.
type flight struct {
	hung     bool
	after401 bool
	started  chan struct{} // closed when it has got a slot
	done     chan struct{} // closed when what follows is set

	credential *Credential
	err        error
}

// newSource returns the credential source of the cluster namespace/name. It runs
// nothing before it is asked.
func newSource(cluster string, a Access, r *runner) *source {
	return &source{cluster: cluster, access: a, runner: r, servers: newEndpoint(a.Server), fetch: fetchCredential}
}

// String names the cluster.
func (s *source) String() string { return "credential source of " + s.cluster }

// GoString is String.
func (s *source) GoString() string { return s.String() }

// Credential returns the credential of the cluster and runs the plugin where there is
// none that is good. After a failure the same error is returned for a while without a
// run. Errors: [ErrPluginFailed], [ErrPluginTimeout], or ctx's own when it ends first;
// they do not name the cluster, the caller does.
func (s *source) Credential(ctx context.Context) (*Credential, error) {
	now, c := time.Now(), s.current.Load()
	if c.fresh(now) {
		return c, nil
	}
	if c.usable(now) {
		_, _ = s.run(c, false) // in the background; a failure shows when c has expired
		return c, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, s.gaveUp(err)
	}
	f, err := s.run(c, false)
	if err != nil {
		return nil, err
	}
	return s.wait(ctx, f)
}

// renew returns a credential that is newer than the one a server has rejected with
// 401, or nil when it is too early to ask for another one.
func (s *source) renew(ctx context.Context, rejected *Credential) (*Credential, error) {
	if c := s.current.Load(); c != rejected {
		return c, nil
	}
	if !s.mayRenew(rejected) {
		return nil, nil
	}
	f, err := s.run(rejected, true)
	if err != nil {
		return nil, err
	}
	return s.wait(ctx, f)
}

// renewLater is renew for a caller that has no use for the result.
func (s *source) renewLater(rejected *Credential) {
	if s.current.Load() == rejected && s.mayRenew(rejected) {
		_, _ = s.run(rejected, true)
	}
}

// run starts a run that replaces old, or joins the one that is on its way. In the
// pause after a failure it returns the error of the last run.
func (s *source) run(old *Credential, after401 bool) (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.after401 = s.running.after401 || after401
		return s.running, nil
	}
	if c := s.current.Load(); c != old {
		return landed(c), nil
	}
	if s.pause.on(time.Now()) {
		return nil, s.failure
	}
	s.running = &flight{hung: s.hung, after401: after401, started: make(chan struct{}), done: make(chan struct{})}
	go s.fly(s.running)
	return s.running, nil
}

// landed is a flight that is over.
func landed(c *Credential) *flight {
	f := &flight{started: make(chan struct{}), done: make(chan struct{}), credential: c}
	close(f.done)
	return f
}

// fly runs the plugin once and publishes what came of it.
func (s *source) fly(f *flight) {
	s.runner.acquire(f.hung)
	close(f.started)
	ctx, cancel := context.WithTimeout(context.Background(), s.runner.timeout)
	begin := time.Now()
	credential, err := s.fetch(ctx, s.access)
	took := time.Since(begin)
	cancel()
	s.runner.release(f.hung)
	recordRun(s.access.Provider, err, took)
	s.land(f, credential, err)
}

func (s *source) land(f *flight, credential *Credential, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
	s.hung = errors.Is(err, ErrPluginTimeout)
	s.failure = err
	f.credential, f.err = credential, err
	if err != nil {
		s.pause.extend(time.Now())
	} else {
		s.pause = backoff{}
		if f.after401 {
			s.unproven.Store(credential)
		}
		s.current.Store(credential)
	}
	close(f.done)
}

// wait waits for the run, with the caller's patience.
func (s *source) wait(ctx context.Context, f *flight) (*Credential, error) {
	patience := max(s.runner.timeout, slotPatience)
	if f.hung {
		patience = hungPatience
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-f.done:
		return f.credential, f.err
	case <-f.started:
	case <-ctx.Done():
		return nil, s.gaveUp(ctx.Err())
	case <-timer.C:
		return nil, fmt.Errorf("%w: %s of provider %q is still waiting for its turn behind other plugins; raise --%s if this lasts",
			ErrPluginTimeout, s.access.Exec.Command, s.access.Provider, PluginConcurrencyFlag)
	}
	select {
	case <-f.done:
		return f.credential, f.err
	case <-ctx.Done():
		return nil, s.gaveUp(ctx.Err())
	}
}

func (s *source) gaveUp(err error) error {
	return fmt.Errorf("credential plugin %s of provider %q has not answered yet: %w",
		s.access.Exec.Command, s.access.Provider, err)
}

// mayRenew tells whether a 401 may start a run now.
func (s *source) mayRenew(rejected *Credential) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unproven.Load() == rejected {
		s.countLocked(rejected)
	}
	return !s.rejections.on(time.Now())
}

// fruitless notes that a server rejected a credential that had just replaced a
// rejected one.
func (s *source) fruitless(c *Credential) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countLocked(c)
}

// countLocked counts each credential once, however many requests were rejected.
func (s *source) countLocked(c *Credential) {
	if s.rejected != c {
		s.rejected = c
		s.rejections.extend(time.Now())
	}
}

// accepted notes that a server did not reject the credential.
func (s *source) accepted(c *Credential) {
	if s.unproven.Load() != c {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unproven.CompareAndSwap(c, nil) {
		s.rejections.relax()
	}
}

// certificateExpiry is when the client certificate that was handed out last ends;
// zero when there is none or it has no end.
func (s *source) certificateExpiry() time.Time {
	c := s.current.Load()
	if c == nil || c.secret.certPEM == "" {
		return time.Time{}
	}
	return c.expiry
}

// credentialExpiry is when the credential that was handed out last ends.
func (s *source) credentialExpiry() time.Time {
	c := s.current.Load()
	if c == nil {
		return time.Time{}
	}
	return c.expiry
}

// about puts the cluster's name in front of an error of Credential.
func (s *source) about(err error) error {
	return fmt.Errorf("ClusterProfile %s: %w", s.cluster, err)
}

// backoff is a pause that doubles from firstPause to longPause.
type backoff struct {
	delay   time.Duration
	from    time.Time
	relaxed bool
}

func (b *backoff) on(now time.Time) bool { return now.Before(b.from.Add(b.delay)) }

func (b *backoff) extend(now time.Time) {
	b.delay = min(max(2*b.delay, firstPause), longPause)
	if b.relaxed {
		b.delay, b.relaxed = firstPause, false
	}
	b.from = now
}

// relax starts the doubling again. The first pause stays in force: a server that
// rejects one path and accepts all others must not have the plugin run each time.
func (b *backoff) relax() {
	b.delay = min(b.delay, firstPause)
	b.relaxed = true
}
