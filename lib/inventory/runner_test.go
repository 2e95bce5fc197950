package inventory

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// occupancy counts who holds a slot.
type occupancy struct{ others, hung int }

func occupy(r *runner, hung bool, count *int) {
	go func() {
		r.acquire(hung)
		*count++ // read only while all others sleep
	}()
	synctest.Wait()
}

func TestSlotsOfTheRunner(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reason     string
		limit            int
		others, hung     int
		want             occupancy
		release          func(r *runner)
		wantAfterRelease occupancy // slots ever handed out
	}{
		{
			name: "the limit is strict", limit: 8, others: 20, want: occupancy{others: 8},
			release: func(r *runner) { r.release(false) }, wantAfterRelease: occupancy{others: 9},
			reason: "one more for each that ends",
		},
		{
			name: "hung clusters have a quarter", limit: 8, hung: 20, want: occupancy{hung: 2},
			release: func(r *runner) { r.release(true) }, wantAfterRelease: occupancy{hung: 3},
			reason: "even if all others are idle",
		},
		{
			name: "the others have the rest", limit: 8, hung: 20, others: 20, want: occupancy{others: 6, hung: 2},
			release: func(r *runner) { r.release(false) }, wantAfterRelease: occupancy{others: 7, hung: 2},
			reason: "a slot of theirs goes to the next of them",
		},
		{
			name: "hung clusters are not starved", limit: 8, hung: 20, others: 20, want: occupancy{others: 6, hung: 2},
			release: func(r *runner) { r.release(true) }, wantAfterRelease: occupancy{others: 6, hung: 3},
			reason: "who came first is first",
		},
		{
			name: "one slot", limit: 1, hung: 1, others: 1, want: occupancy{hung: 1},
			release: func(r *runner) { r.release(true) }, wantAfterRelease: occupancy{others: 1, hung: 1},
			reason: "both lanes work with the smallest limit",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRunner(tc.limit, time.Second)
				var got occupancy
				for range tc.hung {
					occupy(r, true, &got.hung)
				}
				for range tc.others {
					occupy(r, false, &got.others)
				}
				assert.Equal(t, tc.want, got, tc.reason)
				tc.release(r)
				synctest.Wait()
				assert.Equal(t, tc.wantAfterRelease, got, tc.reason)
				for got != (occupancy{tc.others, tc.hung}) { // let all end, as the bubble demands
					if r.hung > 0 {
						r.release(true)
					} else {
						r.release(false)
					}
					synctest.Wait()
				}
			})
		})
	}
}
