package clusterproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// Bounds of the background writer.
const (
	latchWriters    = 4
	latchPatchLimit = 10 * time.Second
	latchRetryMin   = 500 * time.Millisecond
	latchRetryMax   = 30 * time.Second
)

// latches is the process's memory of which inventory ClusterProfiles have matched.
var latches = newLatchBook()

// latchState is how far one latch has come.
type latchState int

const (
	latchPending latchState = iota // in memory, to be written
	latchWritten                   // written; the cache may still show the object without it
	latchRefused                   // the API server refused the patch: memory is all there is
)

type latch struct {
	state    latchState
	version  uint64 // resourceVersion of the object that the write produced
	client   client.Client
	failures int
}

// latchKey is one object: one that is created anew under the same name has another UID
// and starts without a latch.
type latchKey struct {
	types.NamespacedName
	uid types.UID
}

func latchKeyOf(cp *inventoryv1alpha1.ClusterProfile) latchKey {
	return latchKey{NamespacedName: client.ObjectKeyFromObject(cp), uid: cp.UID}
}

// latchBook keeps a cluster matched once it has matched: in memory at once, and as an
// annotation of the object within seconds, so that a restart knows it too. The writing
// is done in the background by a few goroutines that exist only while there is work, so
// that adopting a fleet does not stall a reconcile. What the object itself says is
// forgotten here.
type latchBook struct {
	mu      sync.Mutex // guards the fields below; never held over I/O
	latches map[latchKey]*latch
	queue   []latchKey // to be written now
	pending int        // how many latches are in state latchPending
	writers int
	warned  bool
	changed *sync.Cond // pending has fallen
}

func newLatchBook() *latchBook {
	b := &latchBook{latches: map[latchKey]*latch{}}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// set latches the cluster, which is healthy and matches.
func (b *latchBook) set(c client.Client, cp *inventoryv1alpha1.ClusterProfile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := latchKeyOf(cp)
	if b.knownLocked(key, cp) || annotated(cp) {
		return
	}
	l := &latch{client: c}
	b.latches[key] = l
	if cp.UID == "" { // no API server made this object
		l.state = latchRefused
		return
	}
	b.pending++
	b.enqueueLocked(key)
}

// has tells whether the cluster, which is not healthy now, has matched before. The
// annotation removed by hand ends that.
func (b *latchBook) has(cp *inventoryv1alpha1.ClusterProfile) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.knownLocked(latchKeyOf(cp), cp) || annotated(cp)
}

// knownLocked tells whether memory holds a latch that the object does not speak of yet.
func (b *latchBook) knownLocked(key latchKey, cp *inventoryv1alpha1.ClusterProfile) bool {
	l, known := b.latches[key]
	if known && l.state == latchWritten && seenAfter(cp, l.version) {
		delete(b.latches, key) // from here on the annotation alone counts
		return false
	}
	return known
}

// forget drops what is known of an object that is gone.
func (b *latchBook) forget(key latchKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropLocked(key)
}

func (b *latchBook) dropLocked(key latchKey) {
	if l, known := b.latches[key]; known && l.state == latchPending {
		b.pending--
		b.changed.Broadcast()
	}
	delete(b.latches, key)
}

// flush waits until everything that is pending is written, or ctx is done.
func (b *latchBook) flush(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.pending > 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("%d clusters have matched and carry no annotation %s yet; "+
				"a restart withdraws the add-ons of those that are not healthy then",
				b.pending, libsveltosv1beta1.InventoryMatchedAnnotation)
		}
		b.changed.Wait()
	}
	return nil
}

func (b *latchBook) enqueueLocked(key latchKey) {
	b.queue = append(b.queue, key)
	if b.writers < latchWriters {
		b.writers++
		go b.write()
	}
}

// write works until there is nothing to be written now.
func (b *latchBook) write() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 {
		key := b.queue[0]
		b.queue = b.queue[1:]
		l, known := b.latches[key]
		if !known || l.state != latchPending {
			continue
		}
		b.mu.Unlock()
		version, err := patchLatch(l.client, key)
		b.mu.Lock()
		if b.latches[key] == l {
			b.settleLocked(key, l, version, err)
		}
	}
	b.writers--
}

func (b *latchBook) settleLocked(key latchKey, l *latch, version uint64, err error) {
	switch {
	case err == nil:
		l.state, l.version = latchWritten, version
	case apierrors.IsNotFound(err), apierrors.IsConflict(err): // gone, or another object by now
		b.dropLocked(key)
		return
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsMethodNotSupported(err):
		l.state = latchRefused
		b.warnLocked(key.NamespacedName, err)
	default:
		l.failures++
		time.AfterFunc(min(latchRetryMin<<min(l.failures, 10), latchRetryMax), func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.enqueueLocked(key)
		})
		return
	}
	b.pending--
	b.changed.Broadcast()
}

// warnLocked says once what a restart would risk.
func (b *latchBook) warnLocked(target types.NamespacedName, err error) {
	if b.warned {
		return
	}
	b.warned = true
	log.Error(err, "cannot write the annotation "+libsveltosv1beta1.InventoryMatchedAnnotation+" on inventory ClusterProfiles; "+
		"if this controller is restarted while a cluster is not healthy, its add-ons are withdrawn. "+
		"Allow it to patch clusterprofiles.multicluster.x-k8s.io, or let another Sveltos controller do it",
		"namespace", target.Namespace, "name", target.Name)
}

// patchLatch writes the annotation and returns the resourceVersion of the result. The
// UID makes the patch fail on another object of the same name; fields that this
// program's types do not know stay as they are.
func patchLatch(c client.Client, key latchKey) (uint64, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         key.uid,
		"annotations": map[string]string{libsveltosv1beta1.InventoryMatchedAnnotation: string(key.uid)},
	}})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), latchPatchLimit)
	defer cancel()
	cp := &inventoryv1alpha1.ClusterProfile{}
	cp.Namespace, cp.Name = key.Namespace, key.Name
	if err := c.Patch(ctx, cp, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return 0, err
	}
	version, _ := resourceVersion(cp)
	return version, nil
}

func annotated(cp *inventoryv1alpha1.ClusterProfile) bool {
	return cp.UID != "" && cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] == string(cp.UID)
}

// seenAfter tells whether the object was read after the write that produced version
// (resourceVersions of one resource are ordered integers, KEP-5504). Where that cannot
// be told the object counts as old.
func seenAfter(cp *inventoryv1alpha1.ClusterProfile, version uint64) bool {
	seen, ok := resourceVersion(cp)
	return ok && version != 0 && seen >= version
}

func resourceVersion(cp *inventoryv1alpha1.ClusterProfile) (uint64, bool) {
	v, err := strconv.ParseUint(cp.ResourceVersion, 10, 64)
	return v, err == nil
}
