package inventory

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fileAt is a provider file whose clock the test moves.
func fileAt(path string) (*providerFile, func(time.Duration)) {
	now := time.Unix(1_000_000, 0)
	f := newProviderFile(path)
	f.now = func() time.Time { return now }
	return f, func(d time.Duration) { now = now.Add(d) }
}

func TestProviderFileFollowsAConfigMapMount(t *testing.T) {
	mount := t.TempDir()
	version := func(name, content string) {
		dir := filepath.Join(mount, name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "providers.json"), []byte(content), 0o644))
		require.NoError(t, os.Symlink(name, filepath.Join(mount, "..tmp")))
		require.NoError(t, os.Rename(filepath.Join(mount, "..tmp"), filepath.Join(mount, "..data")))
	}
	version("..1", `{"providers":[`+entryJSON("one", "sh")+`]}`)
	require.NoError(t, os.Symlink("..data/providers.json", filepath.Join(mount, "providers.json")))
	f, pass := fileAt(filepath.Join(mount, "providers.json"))

	set, err := f.current()
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, configured(set))

	version("..2", `{"providers":[`+entryJSON("two", "sh")+`]}`)
	set, err = f.current()
	require.NoError(t, err)
	assert.Equal(t, []string{"one"}, configured(set), "not looked at before the interval is over")

	pass(reloadInterval)
	set, err = f.current()
	require.NoError(t, err)
	assert.Equal(t, []string{"two"}, configured(set))
	second := set.revision

	version("..3", `{"providers":[{"name":"broken"}]}`)
	pass(reloadInterval)
	set, err = f.current()
	require.NoError(t, err, "the last good version stays in use")
	assert.Equal(t, second, set.revision)
	require.ErrorContains(t, f.cause, `provider "broken"`, "and the bad one is remembered")

	require.NoError(t, os.Remove(filepath.Join(mount, "..data")))
	pass(reloadInterval)
	set, err = f.current()
	require.NoError(t, err, "so it does while the file is away")
	assert.Equal(t, second, set.revision)

	version("..4", `{"providers":[`+entryJSON("two", "sh")+`]}`)
	pass(reloadInterval)
	set, err = f.current()
	require.NoError(t, err)
	assert.Equal(t, second, set.revision, "the same content is the same revision")
	assert.NoError(t, f.cause)
}

func TestProviderFileThatWasNeverGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "providers.json")
	f, pass := fileAt(path)
	_, err := f.current()
	require.ErrorIs(t, err, ErrProviderFile)
	require.ErrorContains(t, err, path)

	require.NoError(t, os.WriteFile(path, []byte(`{"providers":[{}]}`), 0o644))
	pass(reloadInterval)
	_, err = f.current()
	require.ErrorIs(t, err, ErrProviderFile)
	require.ErrorContains(t, err, "provider number 1 has no name")

	require.NoError(t, os.WriteFile(path, []byte(`{"providers":[`+entryJSON("late", "sh")+`]}`), 0o644))
	pass(reloadInterval)
	set, err := f.current()
	require.NoError(t, err)
	assert.Equal(t, []string{"late"}, configured(set))
}

func TestPluginThatArrivesLateIsFound(t *testing.T) {
	dir := t.TempDir()
	command := filepath.Join(dir, "plugin")
	path := filepath.Join(dir, "providers.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"providers":[`+entryJSON("a", command)+`]}`), 0o644))
	f, pass := fileAt(path)

	set, err := f.current()
	require.NoError(t, err)
	require.Error(t, set.list[0].unusable)
	first := set.revision

	require.NoError(t, os.WriteFile(command, []byte("#!/bin/sh\n"), 0o755))
	pass(reloadInterval)
	set, err = f.current()
	require.NoError(t, err)
	require.NoError(t, set.list[0].unusable)
	assert.NotEqual(t, first, set.revision, "so that caches notice")
}

func TestProviderFileIsRaceFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "providers.json")
	contents := []string{`{"providers":[` + entryJSON("a", "sh") + `]}`, `{"providers":[{}]}`,
		`{"providers":[` + entryJSON("a", "sh") + `,` + entryJSON("b", "sh") + `]}`}
	require.NoError(t, os.WriteFile(path, []byte(contents[0]), 0o644))
	f := newProviderFile(path)
	_, err := f.current()
	require.NoError(t, err)

	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				if i == 0 {
					next := path + ".next"
					assert.NoError(t, os.WriteFile(next, []byte(contents[n%len(contents)]), 0o644))
					assert.NoError(t, os.Rename(next, path))
				}
				f.nextDue.Store(0)
				set, err := f.current()
				if assert.NoError(t, err) {
					assert.Contains(t, [][]string{{"a"}, {"a", "b"}}, configured(set), "never half a file")
				}
			}
		})
	}
	wg.Wait()
}
