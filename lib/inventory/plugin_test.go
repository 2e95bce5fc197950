package inventory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Case 10: the caller returns at its own deadline, the plugin and its child are gone
// at the plugin's limit.
func TestHungPluginIsKilledWithItsGroup(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	p := newTestPlugin(t, "never-printed")
	p.set("sleep", "60s")
	p.set("child", "60s")
	s := p.source("https://spoke.example", limit)

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := s.Credential(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(begin), time.Second, "the caller's deadline was 300 ms")

	require.Eventually(t, func() bool { return len(p.records("child")) == 1 }, limit, time.Millisecond, "the plugin has started its child")
	group := p.runs()[0].PGID
	assert.True(t, groupAlive(t, group), "a caller that leaves does not stop the run")
	assert.NotEqual(t, os.Getpid(), group, "the plugin has a group of its own")

	_, err = s.Credential(t.Context())
	require.ErrorIs(t, err, ErrPluginTimeout)
	require.ErrorContains(t, err, p.path)
	require.ErrorContains(t, err, PluginTimeoutFlag)
	assert.Less(t, time.Since(begin), limit+time.Second)
	assert.False(t, groupAlive(t, group), "the group is gone when the error is there")
	assert.Len(t, p.runs(), 1, "both callers shared the run")
}

func TestChildThatHoldsTheOutputDoesNotHoldTheAnswer(t *testing.T) {
	t.Parallel()
	p := newTestPlugin(t, "good-token")
	p.set("child", "60s")
	s := p.source("https://spoke.example", 30*time.Second)

	begin := time.Now()
	c, err := s.Credential(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Bearer good-token", c.secret.bearer)
	assert.Less(t, time.Since(begin), 3*time.Second)
	assert.False(t, groupAlive(t, p.runs()[0].PGID), "nothing is left behind")
}

// Case 11.
func TestFailingPluginExplainsItself(t *testing.T) {
	t.Parallel()
	p := newTestPlugin(t, "token-on-stdout-77")
	p.set("exit", "3")
	p.set("stderr", "warning: cache is stale\nplease run `fleetctl login` first; got Authorization: Bearer abcdef-not-a-word\nand token-on-stdout-77\n")

	_, err := p.source("https://spoke.example", 30*time.Second).Credential(t.Context())
	require.ErrorIs(t, err, ErrPluginFailed)
	assert.ErrorContains(t, err, "exited with status 3")
	assert.ErrorContains(t, err, "please run `fleetctl login` first")
	assert.ErrorContains(t, err, `provider "test-provider"`)
	assert.NotContains(t, err.Error(), "abcdef-not-a-word")
	assert.NotContains(t, err.Error(), "token-on-stdout-77")
	assert.NotContains(t, err.Error(), "\n")
}

// Case 12.
func TestFailingPluginIsNotStartedForEachCall(t *testing.T) {
	t.Parallel()
	failing := newTestPlugin(t, "x-token")
	failing.set("exit", "1")
	failing.set("stderr", "no session")
	missing := failing.access("https://spoke.example")
	missing.Exec.Command = filepath.Join(failing.dir, "not-there")
	folder := missing
	folder.Exec.Command = failing.dir

	for _, tc := range []struct {
		name, reason string
		access       Access
		want         string
	}{
		{"failing", "it is started at most twice", failing.access("https://spoke.example"), "no session"},
		{"missing", "the path and the remedy are named", missing, "it cannot be started: no such file or directory; install it"},
		{"directory", "a folder cannot be started", folder, "it cannot be started: permission denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSource("fleet/"+tc.name, tc.access, newRunner(1, 30*time.Second))
			_, first := s.Credential(t.Context())
			require.ErrorIs(t, first, ErrPluginFailed, tc.reason)
			require.ErrorContains(t, first, tc.want, tc.reason)
			require.ErrorContains(t, first, tc.access.Exec.Command, tc.reason)
			for range 9 {
				_, err := s.Credential(t.Context())
				require.Equal(t, first, err, "the same cause")
			}
		})
	}
	assert.LessOrEqual(t, len(failing.runs()), 2)
}

// Case 6: one hung plugin among many clusters. How fast the others are is for the
// benchmark to say; here they are all done while it still hangs.
func TestHungPluginDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	r := newRunner(2, time.Minute)
	hung := newTestPlugin(t, "x-token")
	hung.set("sleep", "60s")
	sick := newSource("fleet/hung", hung.access("https://hung.example"), r)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := sick.Credential(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	var wg sync.WaitGroup
	for i := range 20 {
		p := newTestPlugin(t, fmt.Sprintf("token-of-%d", i))
		s := newSource(fmt.Sprintf("fleet/%d", i), p.access("https://spoke.example"), r)
		wg.Go(func() {
			c, err := s.Credential(t.Context())
			if assert.NoError(t, err) {
				assert.Equal(t, fmt.Sprintf("Bearer token-of-%d", i), c.secret.bearer, "each cluster has its own")
			}
		})
	}
	wg.Wait()
	group := hung.runs()[0].PGID
	assert.True(t, groupAlive(t, group))
	require.NoError(t, syscall.Kill(-group, syscall.SIGKILL)) // the test need not wait for the limit
	_, err = sick.Credential(t.Context())
	require.ErrorContains(t, err, "signal 9")
}

// In a container the controller is init, and what a plugin leaves behind becomes its
// child. Not parallel: it makes this process a reaper of orphans.
func TestNoZombiesAreCollected(t *testing.T) {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	require.Zero(t, errno)
	t.Cleanup(func() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 0, 0) })
	p := newTestPlugin(t, "x-token")
	p.set("child", "60s")
	_, err := p.source("https://spoke.example", 30*time.Second).Credential(t.Context())
	require.NoError(t, err)
	require.Len(t, p.records("child"), 1)
	assert.ErrorIs(t, syscall.Kill(-p.runs()[0].PGID, 0), syscall.ESRCH, "not even a zombie is left")
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("standard output", func(t *testing.T) {
		p := newTestPlugin(t, "x-token")
		p.set("flood", fmt.Sprint(8<<20))
		_, err := p.source("https://spoke.example", 30*time.Second).Credential(t.Context())
		require.ErrorIs(t, err, ErrPluginFailed)
		assert.ErrorContains(t, err, "more than 1024 KiB")
		assert.Empty(t, p.records("end"), "it was stopped")
	})
	t.Run("standard error", func(t *testing.T) {
		p := newTestPlugin(t, "x-token")
		p.set("stderr", strings.Repeat("chatter of a verbose plugin\n", 100_000)+"the last line helps\n")
		p.set("exit", "1")
		_, err := p.source("https://spoke.example", 30*time.Second).Credential(t.Context())
		require.ErrorContains(t, err, "the last line helps")
		assert.Less(t, len(err.Error()), maxStderr+1024)
	})
}

func TestAnswersThatAreNoCredential(t *testing.T) {
	t.Parallel()
	good := newKeyPair(t, time.Hour)
	other := newKeyPair(t, time.Hour)
	answer := func(version, status string) string {
		return fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"status":%s}`, version, status)
	}
	pair := func(cert, key string) string {
		return fmt.Sprintf(`{"clientCertificateData":%q,"clientKeyData":%q}`, cert, key)
	}
	for _, tc := range []struct{ name, stdout, want, reason string }{
		{"empty", " ", "printed nothing", "a plugin that only logs"},
		{"text", "Error: raw-token-123456", "is no ExecCredential", "neither text nor a bare token"},
		{"list", "[1,2]", "is no ExecCredential", "JSON, but no object"},
		{"other kind", `{"kind":"Status","apiVersion":"v1","token":"raw-token-123456"}`, `kind "Status" of apiVersion "v1"`, "another object"},
		{"no kind", `{"status":{"token":"raw-token-123456"}}`, "is no ExecCredential", "the decoder would quote the body"},
		{"other version", answer(execV1beta1, `{"token":"raw-token-123456"}`), execV1beta1, "the version must agree"},
		{"old version", answer("client.authentication.k8s.io/v1alpha1", `{"token":"raw-token-123456"}`), "v1alpha1", "unknown to client-go too"},
		{"no status", answer(execV1, "null"), "without a status", "not signed in"},
		{"nothing in status", answer(execV1, "{}"), "neither a token nor", "not signed in"},
		{"wrong type", answer(execV1, `{"token":{"raw-token-123456":1}}`), "wrong type", "the decoder would quote it"},
		{"line break", answer(execV1, `{"token":"raw-token-123456\n"}`), "no HTTP header", "net/http would refuse each request"},
		{"certificate only", answer(execV1, fmt.Sprintf(`{"clientCertificateData":%q}`, good.cert)), "not both", "half a pair"},
		{"key only", answer(execV1, fmt.Sprintf(`{"token":"t","clientKeyData":%q}`, good.key)), "not both", "half a pair beside a token"},
		{"no PEM", answer(execV1, pair("raw-token-123456", "x")), "no PEM pair", "not a certificate"},
		{"mixed pair", answer(execV1, pair(good.cert, other.key)), "no PEM pair", "key of another certificate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newTestPlugin(t, "")
			p.set("stdout", tc.stdout)
			p.set("stderr", "hint for the user")
			_, err := p.source("https://spoke.example", 30*time.Second).Credential(t.Context())
			require.ErrorIs(t, err, ErrPluginFailed, tc.reason)
			assert.ErrorContains(t, err, tc.want, tc.reason)
			assert.ErrorContains(t, err, "hint for the user", tc.reason)
			assert.NotContains(t, err.Error(), "raw-token-123456", tc.reason)
			assert.NotContains(t, err.Error(), "PRIVATE", tc.reason)
		})
	}
}

// client-go's decoder reads YAML as well, so a plugin may print it.
func TestYAMLIsAnAnswer(t *testing.T) {
	t.Parallel()
	p := newTestPlugin(t, "")
	p.set("stdout", "apiVersion: "+execV1+"\nkind: ExecCredential\nstatus:\n  token: from-yaml\n")
	c, err := p.source("https://spoke.example", 30*time.Second).Credential(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Bearer from-yaml", c.secret.bearer)
}

func TestUnknownProtocolVersionStartsNothing(t *testing.T) {
	t.Parallel()
	p := newTestPlugin(t, "x-token")
	a := p.access("https://spoke.example")
	a.Exec.APIVersion = "client.authentication.k8s.io/v2"
	_, err := fetchCredential(t.Context(), a)
	require.ErrorIs(t, err, ErrPluginFailed)
	assert.ErrorContains(t, err, `"client.authentication.k8s.io/v2" is none of`)
	assert.Empty(t, p.runs())
}

func TestSignalIsNamed(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "plugin.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nkill -9 $$\n"), 0o700))
	_, err := fetchCredential(t.Context(), Access{Provider: "p", Exec: Exec{APIVersion: execV1, Command: script}})
	require.ErrorIs(t, err, ErrPluginFailed)
	assert.NotErrorIs(t, err, ErrPluginTimeout, "killed, but not by us")
	assert.ErrorContains(t, err, "signal 9 (killed)")
}
