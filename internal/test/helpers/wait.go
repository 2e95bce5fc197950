package helpers

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollInterval is how often a wait looks again.
const pollInterval = 100 * time.Millisecond

// callGrace is what a call that began in time gets beyond the timeout, so that its own deadline does not hide the cause.
const callGrace = 5 * time.Second

// ErrTimeout says that something did not happen in time.
var ErrTimeout = errors.New("timed out")

// WaitFor polls until done returns true, and says every few seconds that it is still waiting. An error of done does
// not end the wait, as a server may be busy for a moment; the last one is part of the error after the timeout.
func WaitFor(ctx context.Context, what string, timeout time.Duration, progress Progress,
	done func(context.Context) (bool, error)) error {

	start := time.Now()
	defer keepAlive(progress, "still waiting for "+what, start)()
	deadline, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	calls, cancelCalls := context.WithTimeout(ctx, timeout+callGrace)
	defer cancelCalls()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		ok, err := done(calls)
		if ok && err == nil {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-deadline.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(fmt.Errorf("%w after %s waiting for %s", ErrTimeout, timeout, what), last)
		case <-ticker.C:
		}
	}
}
