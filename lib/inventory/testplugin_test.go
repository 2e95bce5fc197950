package inventory

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	execV1      = "client.authentication.k8s.io/v1"
	execV1beta1 = "client.authentication.k8s.io/v1beta1"
)

// buildTestPlugin builds internal/testplugin once, into the folder of test binaries.
var buildTestPlugin = sync.OnceValues(func() (string, error) {
	path, err := filepath.Abs("../../bin/testplugin")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", path, "./internal/testplugin")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// testPlugin is a real plugin with a script and a log of its own.
type testPlugin struct {
	t    testing.TB
	path string
	dir  string
}

// newTestPlugin returns a plugin that prints the token given, or whatever its options
// say when it is empty.
func newTestPlugin(t testing.TB, token string) *testPlugin {
	t.Helper()
	path, err := buildTestPlugin()
	require.NoError(t, err)
	p := &testPlugin{t: t, path: path, dir: t.TempDir()}
	if token != "" {
		p.set("token", token)
	}
	return p
}

// set gives a file of the plugin's script.
func (p *testPlugin) set(name, value string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(value), 0o600))
}

// access is an access with this plugin.
func (p *testPlugin) access(server string) Access {
	return Access{
		Provider: "test-provider",
		Server:   server,
		Exec: Exec{
			APIVersion: execV1,
			Command:    p.path,
			env:        encodeList([]EnvVar{{"PLUGIN_DIR", p.dir}}),
		},
	}
}

// source is a credential source with this plugin.
func (p *testPlugin) source(server string, timeout time.Duration) *source {
	return newSource("fleet/"+filepath.Base(p.dir), p.access(server), newRunner(DefaultPluginConcurrency, timeout))
}

// pluginRecord is a line of the plugin's log.
type pluginRecord struct {
	Event string
	Time  time.Time
	PID   int
	PGID  int
	Argv  []string
	Env   []string
	Info  string
}

func (p *testPlugin) records(event string) []pluginRecord {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(p.t, err)
	var out []pluginRecord
	for line := range bytes.Lines(data) {
		var r pluginRecord
		if json.Unmarshal(line, &r) == nil && r.Event == event { // the last line may be half written
			out = append(out, r)
		}
	}
	return out
}

// runs are the runs so far.
func (p *testPlugin) runs() []pluginRecord {
	p.t.Helper()
	return p.records("start")
}

// groupAlive tells whether a process of the group is still running. Zombies, which
// only wait for their parent, are not.
func groupAlive(t testing.TB, pgid int) bool {
	t.Helper()
	if syscall.Kill(-pgid, 0) != nil {
		return false
	}
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, entry := range entries {
		data, err := os.ReadFile(entry)
		if err != nil {
			continue // it has just ended
		}
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // state ppid pgrp ...
		if len(fields) > 2 && string(fields[2]) == strconv.Itoa(pgid) && string(fields[0]) != "Z" {
			return true
		}
	}
	return false
}
