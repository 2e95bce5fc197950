package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// manyClusters is from where on progress is told where nobody watches, too.
	manyClusters = 50

	terminalPace = 100 * time.Millisecond
	logPace      = 5 * time.Second
)

// progress tells how far a round is: on a terminal in one line that is overwritten, elsewhere in a line now and then,
// and only when there are many clusters.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	pace     time.Duration

	mu       sync.Mutex // guards what follows
	last     time.Time
	count    int
	problems int
}

func newProgress(out io.Writer, total int) *progress {
	p := &progress{out: out, terminal: isTerminal(out), total: total, pace: logPace, last: time.Now()}
	if p.terminal {
		p.pace, p.last = terminalPace, time.Time{}
	}
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// done counts one cluster.
func (p *progress) done(ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if !ok {
		p.problems++
	}
	if !p.terminal && p.total < manyClusters || time.Since(p.last) < p.pace {
		return
	}
	p.last = time.Now()
	line := fmt.Sprintf("probed %d of %d clusters, %d with problems", p.count, p.total, p.problems)
	if p.terminal {
		fmt.Fprint(p.out, "\r"+line)
	} else {
		fmt.Fprintln(p.out, line)
	}
}

// end wipes the line from a terminal.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.count > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
