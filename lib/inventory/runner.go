package inventory

import (
	"sync"
	"time"
)

// hungShare is the part of the slots that hung clusters may use: a quarter.
const hungShare = 4

// runner bounds the plugin runs of a process, in number and in time. Clusters whose
// last run timed out have a lane of their own with a small share of the slots, so
// that they cannot keep the others waiting. Within a lane, first come is first served.
type runner struct {
	timeout time.Duration
	limit   int
	share   int // of limit, for the lane of hung clusters

	mu      sync.Mutex // guards what follows; never held over a run
	busy    int
	hung    int // of busy
	arrived uint64
	lanes   [2][]waiter // indexed by lane
}

// waiter waits for a slot.
type waiter struct {
	number uint64 // order of arrival over both lanes
	turn   chan struct{}
}

func newRunner(limit int, timeout time.Duration) *runner {
	return &runner{timeout: timeout, limit: limit, share: max(1, limit/hungShare)}
}

func lane(hung bool) int {
	if hung {
		return 1
	}
	return 0
}

// acquire waits for a slot. Each acquire needs one release with the same argument.
func (r *runner) acquire(hung bool) {
	r.mu.Lock()
	r.arrived++
	w := waiter{number: r.arrived, turn: make(chan struct{})}
	r.lanes[lane(hung)] = append(r.lanes[lane(hung)], w)
	r.admitLocked()
	r.mu.Unlock()
	<-w.turn
}

// release returns a slot.
func (r *runner) release(hung bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	r.hung -= lane(hung)
	r.admitLocked()
}

// admitLocked hands out the slots that are free to whom they are due.
func (r *runner) admitLocked() {
	for r.busy < r.limit {
		next := r.nextLocked()
		if next < 0 {
			return
		}
		close(r.lanes[next][0].turn)
		r.lanes[next] = r.lanes[next][1:]
		r.busy++
		r.hung += next
	}
}

// nextLocked returns the lane whose first waiter is due, or -1.
func (r *runner) nextLocked() int {
	others, hung := r.lanes[0], r.lanes[1]
	switch {
	case len(hung) > 0 && r.hung < r.share && (len(others) == 0 || hung[0].number < others[0].number):
		return 1
	case len(others) > 0:
		return 0
	}
	return -1
}
