package inventory

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// reloadInterval is how often, at most, the provider file is looked at. A ConfigMap
// mount follows its ConfigMap within about a minute, so this adds nothing a person
// would notice.
const reloadInterval = time.Second

// providers is one good version of the provider file, never changed once published.
type providers struct {
	// list is in the operator's order, which decides.
	list []provider
	// revision identifies what was read and which commands were found.
	revision string
}

// providerFile is the provider file as it changes under a running process. The last
// good version stays in use while a new one is bad.
type providerFile struct {
	path string
	now  func() time.Time

	good    atomic.Pointer[providers]
	nextDue atomic.Int64 // Unix nanoseconds; before that, good is taken as it is

	mu      sync.Mutex // held while the file is read
	content []byte     // what was last read, good or bad
	cause   error      // why content is bad; nil when it is good
}

func newProviderFile(path string) *providerFile {
	return &providerFile{path: path, now: time.Now}
}

// fixedProviders never changes.
func fixedProviders(list []provider) *providerFile {
	f := newProviderFile("")
	f.good.Store(&providers{list: list, revision: revision(nil, list)})
	f.nextDue.Store(math.MaxInt64)
	return f
}

// current returns the version in use. While another goroutine reads the file, callers
// go on with the version they have; only the very first read is waited for.
func (f *providerFile) current() (*providers, error) {
	good := f.good.Load()
	if good != nil && f.now().UnixNano() < f.nextDue.Load() {
		return good, nil
	}
	if good == nil {
		f.mu.Lock()
	} else if !f.mu.TryLock() {
		return good, nil
	}
	defer f.mu.Unlock()
	if good = f.good.Load(); f.now().UnixNano() >= f.nextDue.Load() {
		f.reloadLocked()
		f.nextDue.Store(f.now().Add(reloadInterval).UnixNano())
		good = f.good.Load()
	}
	if good == nil {
		return nil, f.cause
	}
	return good, nil
}

// reloadLocked reads the file and publishes it when it is new and good. A file whose
// commands are not all there is looked at again, for a plugin that arrives late.
func (f *providerFile) reloadLocked() {
	content, err := os.ReadFile(f.path)
	if err != nil {
		f.refuseLocked(nil, fmt.Errorf("%w: %w; mount the file that --%s names, or correct the path",
			ErrProviderFile, err, ProviderFileFlag))
		return
	}
	good := f.good.Load()
	same := f.content != nil && bytes.Equal(content, f.content)
	if same && (f.cause != nil || good.complete()) {
		return
	}
	list, err := parseProviders(content)
	if err != nil {
		f.refuseLocked(content, fmt.Errorf("%w: %s: %w", ErrProviderFile, f.path, err))
		return
	}
	next := &providers{list: list, revision: revision(content, list)}
	f.content, f.cause = content, nil
	if good != nil && good.revision == next.revision {
		return
	}
	f.good.Store(next)
	recordReload(resultSuccess)
	for i := range list {
		if list[i].unusable != nil {
			log.Error(list[i].unusable, "access provider is unusable, the others are served", "provider", list[i].Name)
		}
	}
	log.Info("provider file loaded", "path", f.path, "providers", len(list))
}

// refuseLocked remembers a bad version and reports it, once for each version.
func (f *providerFile) refuseLocked(content []byte, cause error) {
	known := f.cause != nil && f.cause.Error() == cause.Error()
	f.content, f.cause = content, cause
	if known {
		return
	}
	recordReload(resultFailure)
	if f.good.Load() != nil {
		log.Error(cause, "provider file refused, the last good version stays in use", "path", f.path)
	}
}

// complete tells whether every command was found.
func (p *providers) complete() bool {
	for i := range p.list {
		if p.list[i].unusable != nil {
			return false
		}
	}
	return true
}

func revision(content []byte, list []provider) string {
	h := sha256.New()
	h.Write(content)
	for i := range list {
		fmt.Fprintf(h, "\x00%s\x00%v", list[i].command, list[i].unusable)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
