package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSync(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		have    string
		check   bool
		wantErr error
		want    string
	}{
		{"a file that is as wanted passes the check", "new", true, nil, "new"},
		{"a stale file fails the check and stays", "old", true, errStale, "old"},
		{"a stale file is written", "old", false, nil, "new"},
		{"a missing file fails the check", "", true, errStale, ""},
		{"a missing file is written", "", false, nil, "new"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), crdFile)
			if tc.have != "" {
				require.NoError(t, os.WriteFile(path, []byte(tc.have), 0o600))
			}
			require.ErrorIs(t, sync(path, []byte("new"), tc.check), tc.wantErr)
			got, _ := os.ReadFile(path)
			assert.Equal(t, tc.want, string(got))
		})
	}
}
