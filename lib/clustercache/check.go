package clustercache

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const (
	// compareInterval is how often, at most, an entry is compared with its object while
	// no watch tells of changes.
	compareInterval = 30 * time.Second
	// localInterval is how often, at most, a hit looks beyond the entry at all: at the
	// clock and at the provider file's revision.
	localInterval = time.Second
	// hubPause is how long a hub that did not answer is left in peace.
	hubPause = 5 * time.Second
)

var log = logf.Log.WithName("clustercache")

// check tells whether the entry may still be handed out. It is asked once in a while by
// one of the callers; the others go on with the entry meanwhile. An error means that the
// cluster cannot be had any more, and why.
func (e *entry) check(ctx context.Context, c client.Client, cluster types.NamespacedName, now time.Time) (bool, error) {
	if !e.expires.IsZero() && !now.Before(e.expires) {
		return false, nil
	}
	due := e.nextCheck.Load()
	if now.UnixNano() < due || !e.nextCheck.CompareAndSwap(due, e.soon(now)) {
		return true, nil
	}
	if e.given {
		return true, nil
	}
	revision := inventory.FromFlags().Revision()
	sameFile := *e.revision.Load() == revision
	watched := clusterproxy.InventoryWatched()
	if sameFile && (watched || now.UnixNano() < e.nextCompare.Load()) {
		return true, nil
	}
	return e.compare(ctx, c, cluster, revision, now)
}

// compare asks for the object. A hub that does not answer is no reason to give up a
// configuration that works.
func (e *entry) compare(ctx context.Context, c client.Client, cluster types.NamespacedName, revision string, now time.Time,
) (bool, error) {

	cp, err := fetch(ctx, c, cluster)
	switch {
	case apierrors.IsNotFound(err):
		inventory.FromFlags().Forget(cluster)
		return false, err
	case err != nil:
		e.nextCheck.Store(now.Add(hubPause).UnixNano())
		log.V(1).Info("the cached configuration is used without having been compared with its object", "cause", err.Error())
		return true, nil
	}
	fingerprint, err := fingerprintOf(inventory.FromFlags(), cp)
	if err != nil || fingerprint != e.fingerprint {
		return false, err
	}
	e.revision.Store(&revision)
	e.nextCompare.Store(now.Add(compareInterval).UnixNano())
	return true, nil
}

// begin sets when an entry that was just built is looked at again.
func (e *entry) begin(now time.Time) {
	e.nextCheck.Store(e.soon(now))
	e.nextCompare.Store(now.Add(compareInterval).UnixNano())
}

func (e *entry) soon(now time.Time) int64 {
	next := now.Add(localInterval)
	if !e.expires.IsZero() && e.expires.Before(next) {
		next = e.expires
	}
	return next.UnixNano()
}
