package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProgressIsToldWhereNobodyWatchesWhenThereIsMuch(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		total    int
		terminal bool
		want     string
	}{
		{"a log is not filled for little", manyClusters - 1, false, ""},
		{"a log that stays empty for minutes looks hung", manyClusters, false,
			"probed 1 of 50 clusters, 0 with problems\nprobed 2 of 50 clusters, 1 with problems\n"},
		{"on a terminal the line is overwritten, and gone at the end", 2, true,
			"\rprobed 1 of 2 clusters, 0 with problems\rprobed 2 of 2 clusters, 1 with problems\r\x1b[K"},
	} {
		var out bytes.Buffer
		p := newProgress(&out, tc.total)
		p.pace, p.terminal = 0, tc.terminal
		p.done(true)
		p.done(false)
		p.end()
		assert.Equal(t, tc.want, out.String(), tc.reason)
	}
}
