package helpers

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollInterval is how often a wait looks again.
const pollInterval = 100 * time.Millisecond

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
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		ok, err := done(deadline)
		if ok && err == nil {
			return nil
		}
		if err != nil && deadline.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.Done():
			return errors.Join(fmt.Errorf("%w after %s waiting for %s", ErrTimeout, timeout, what), last)
		case <-ticker.C:
		}
	}
}
