package helpers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBuildIsDoneOnceForEachStamp(t *testing.T) {
	source, bin := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte("module example.com/tool\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(source, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600))
	built := 0
	progress := func(format string, _ ...any) {
		if strings.HasPrefix(format, "built ") {
			built++
		}
	}
	for _, step := range []struct {
		stamp  string
		want   int
		reason string
	}{
		{"v1", 1, "a missing binary is built"},
		{"v1", 1, "a binary with the same stamp is taken as it is"},
		{"v2", 2, "a new version is built again"},
	} {
		build := goBuild{name: "tool", dir: source, pkg: ".", stamp: step.stamp}
		path, err := build.ensure(t.Context(), bin, progress)
		require.NoError(t, err)
		assert.FileExists(t, path)
		assert.Equal(t, step.want, built, step.reason)
	}
}

func TestFailedBuildNamesTheCauseAndLeavesNothing(t *testing.T) {
	source, bin := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte("module example.com/tool\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(source, "main.go"), []byte("package main\n\nfunc main() { broken }\n"), 0o600))
	build := goBuild{name: "tool", dir: source, pkg: ".", stamp: "v1"}

	path, err := build.ensure(t.Context(), bin, func(string, ...any) {})

	require.ErrorContains(t, err, "undefined: broken")
	assert.NoFileExists(t, path)
	assert.False(t, build.fresh(path), "the next run has to build")
}

func TestAssetsFolderWithoutABinaryIsNamed(t *testing.T) {
	assets := t.TempDir()
	t.Setenv(assetsVariable, assets)

	_, err := EnsureBinaries(t.Context(), Stderr)

	require.ErrorIs(t, err, ErrNoAsset)
	assert.ErrorContains(t, err, filepath.Join(assets, apiServerName))
}

func TestAPIServerReportsTheVersionOfItsModule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.mod")
	require.NoError(t, os.WriteFile(file, []byte("module m\n\nrequire (\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n"), 0o600))

	flags, err := apiServerVersion(file)

	require.NoError(t, err)
	for _, want := range []string{"gitVersion=v1.36.3", "gitMajor=1", "gitMinor=36"} {
		assert.Contains(t, flags, versionPackage+"."+want)
	}
}

func TestWaitFor(t *testing.T) {
	quiet := func(string, ...any) {}
	errCause := errors.New("not there yet")

	err := WaitFor(t.Context(), "a thing", 3*pollInterval, quiet, func(context.Context) (bool, error) { return false, errCause })
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorIs(t, err, errCause, "the last error is the cause")

	calls := 0
	require.NoError(t, WaitFor(t.Context(), "a thing", time.Minute, quiet, func(context.Context) (bool, error) {
		calls++
		return calls == 2, nil
	}))

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	err = WaitFor(cancelled, "a thing", time.Minute, quiet, func(context.Context) (bool, error) { return false, nil })
	assert.ErrorIs(t, err, context.Canceled, "an interrupt does not wait for the timeout")
}

func TestProcess(t *testing.T) {
	log := filepath.Join(t.TempDir(), "logs", "process.log")
	ended, err := StartProcess(ProcessOptions{Name: "ender", Path: "/bin/sh", Args: []string{"-c", "echo the reason; exit 3"}, LogFile: log})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return ended.Alive() != nil }, time.Minute, time.Millisecond)
	require.ErrorIs(t, ended.Alive(), ErrExited)
	require.ErrorContains(t, ended.Alive(), "the reason", "the end of the log says why")
	ended.Stop()

	running := RunProcess(t, ProcessOptions{Name: "sleeper", Path: "/bin/sh", Args: []string{"-c", "sleep 600"}, LogFile: log})
	require.NoError(t, running.Alive())
	running.Stop()
	assert.ErrorIs(t, running.Alive(), ErrExited)
}
