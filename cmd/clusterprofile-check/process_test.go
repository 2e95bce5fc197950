package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

func TestMain(m *testing.M) { helpers.Main(m) }

// rows runs -o json and returns the rows by name.
func (w *world) rows() map[string]Row {
	w.Helper()
	code, stdout, _ := w.run("-o", "json", "-n", fleet)
	assert.Equal(w, exitProblem, code)
	var list []Row
	require.NoError(w, json.Unmarshal([]byte(stdout), &list))
	rows := map[string]Row{}
	for _, r := range list {
		rows[r.Name] = r
	}
	return rows
}

func TestCommand(t *testing.T) {
	w := newWorld(t)
	t.Run("json", w.sub((*world).testJSON))
	t.Run("table", w.sub((*world).testTable))
	t.Run("explain", w.sub((*world).testExplain))
	t.Run("exit statuses", w.sub((*world).testExitStatuses))
	t.Run("watch", w.sub((*world).testWatch))
	t.Run("hanging plugin", w.sub((*world).testHangingPlugin))
}

func (w *world) sub(f func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		copied := *w
		copied.T = t
		f(&copied)
	}
}

func (w *world) testJSON() {
	rows := w.rows()
	require.Len(w, rows, 6)

	healthy := rows["healthy"]
	assert.True(w, healthy.OK, "%v", healthy.Problems)
	assert.Equal(w, "True", healthy.Healthy)
	assert.False(w, healthy.Latched, "the command must not latch what it looks at")
	assert.Equal(w, helpers.SecretReaderProvider, healthy.Provider)
	require.NotNil(w, healthy.Credential)
	require.NotNil(w, healthy.Credential.Expires, "a client certificate ends")
	assert.True(w, healthy.Credential.Expires.After(time.Now()))
	require.NotNil(w, healthy.Server)
	assert.Regexp(w, `^v1\.\d+\.\d+`, healthy.Server.Version)
	assert.Positive(w, healthy.Server.RoundTripSeconds)
	assert.Equal(w, []string{"ClusterProfile/check-prod"}, healthy.Profiles)

	for name, problem := range map[string]string{
		"unreachable": "connection refused",
		"unhealthy":   "ControlPlaneHealthy is False",
		"no-provider": "the profile offers [somebody-else], the provider file has [" + helpers.SecretReaderProvider + ", " + tokenProvider + "]",
		"hostile":     "500 Internal Server Error",
		w.long:        "its name has 69 characters",
	} {
		assert.False(w, rows[name].OK, name)
		assertOne(w.T, problem, rows[name].Problems)
	}
	assert.True(w, rows["unreachable"].Credential.OK, "what works is told beside what does not")
	assert.NotEmpty(w, rows["unhealthy"].Server.Version, "an unhealthy cluster may answer")
	assert.Empty(w, rows["no-provider"].Provider)
	assert.Empty(w, rows[w.long].Profiles, "a profile that selects its labels does not match it")
}

func (w *world) testTable() {
	code, stdout, stderr := w.run("--namespace=" + fleet)
	assert.Equal(w, exitProblem, code)
	assert.Empty(w, stderr, "no progress where nobody watches and there is little")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(w, lines, 7)
	assert.Regexp(w, `^CLUSTER +HEALTHY +LATCHED +PROVIDER +CREDENTIAL +VERSION +ROUNDTRIP +PROFILES +MESSAGE$`, lines[0])
	assert.Regexp(w, `(?m)^fleet/healthy +True +no +kubeconfig-secretreader +ok,\d+d +v1\.\S+ +\S+s +ClusterProfile/check-prod +-$`, stdout)
	assert.Regexp(w, `(?m)^fleet/no-provider +True +no +- +- +- +- +- +no access provider`, stdout)

	code, stdout, _ = w.run("-o", "wide", "-l", "env=prod")
	assert.Equal(w, exitProblem, code, "the name that is too long is selected as well")
	assert.Contains(w, stdout, "https://", "-o wide shows the server")
	assert.NotContains(w, stdout, "fleet/unhealthy", "-l selects")

	code, stdout, _ = w.run("-o", "yaml", "-l", "env=prod")
	assert.Equal(w, exitProblem, code)
	var rows []Row
	require.NoError(w, yaml.UnmarshalStrict([]byte(stdout), &rows))
	assert.Len(w, rows, 2)
}

func (w *world) testExplain() {
	code, stdout, _ := w.run("explain", fleet+"/healthy")
	assert.Equal(w, exitOK, code)
	for _, step := range []string{"found", "deletion", "name", "bridge", "health", "pause", "shard", "access", "credential",
		"connection", "version", "permissions", "profiles"} {
		assert.Regexp(w, `(?m)^ok +`+step+` `, stdout)
	}
	assert.Regexp(w, `(?m)^note +latch `, stdout)

	for name, stop := range map[string]string{
		"unreachable": "it stops at connection: ",
		"unhealthy":   "it stops at health: ",
		"no-provider": "it stops at access: ",
		"hostile":     "it stops at connection: ",
		"nobody":      "it stops at found: ",
		w.long:        "it stops at name: ",
	} {
		code, stdout, _ = w.run("explain", fleet+"/"+name)
		assert.Equal(w, exitProblem, code, name)
		assert.Contains(w, stdout, stop)
	}

	code, stdout, _ = w.run("explain", fleet+"/no-provider", "-o", "json")
	assert.Equal(w, exitProblem, code)
	var steps []step
	require.NoError(w, json.Unmarshal([]byte(stdout), &steps))
	states := map[string]string{}
	for _, s := range steps {
		states[s.Step] = s.State
	}
	assert.Equal(w, stateProblem, states[stepAccess])
	assert.Equal(w, stateSkipped, states[stepConnection])
}

func (w *world) testExitStatuses() {
	code, stdout, _ := w.run("-l", "tier=one")
	assert.Equal(w, exitOK, code)
	assert.Contains(w, stdout, fleet+"/healthy")
	code, _, _ = w.run("-l", "env=nowhere")
	assert.Equal(w, exitOK, code, "no cluster, no problem")

	bad := filepath.Join(w.TempDir(), "providers.json")
	require.NoError(w, os.WriteFile(bad, []byte(`{"providers":[{"nmae":"x"}]}`), 0o600))
	dead := filepath.Join(w.TempDir(), "dead.kubeconfig")
	require.NoError(w, os.WriteFile(dead, []byte(`{apiVersion: v1, kind: Config, current-context: a,
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: a, context: {cluster: a}}]}`), 0o600))
	for name, tc := range map[string]struct {
		flags []string
		says  string
	}{
		"usage":             {append([]string{"-o", "xml"}, w.flags...), "none of wide, json, yaml"},
		"no provider file":  {w.flags[:1], "--" + inventory.ProviderFileFlag},
		"bad provider file": {[]string{w.flags[0], "--" + inventory.ProviderFileFlag + "=" + bad}, "nmae"},
		"hub is gone":       {[]string{"--kubeconfig=" + dead, w.flags[1]}, "connection refused"},
		"no kubeconfig":     {[]string{"--kubeconfig=" + dead + "x", w.flags[1]}, "no access to a hub"},
	} {
		other := *w
		other.flags = tc.flags
		code, stdout, stderr := other.run()
		assert.Equal(w, exitUnusable, code, name)
		assert.Empty(w, stdout, name)
		assert.Contains(w, stderr, tc.says, name)
		assert.Equal(w, 1, strings.Count(stderr, "\n"), "one line: %s", name)
	}
}

func (w *world) testWatch() {
	p := helpers.RunProcess(w, helpers.ProcessOptions{
		Name: "clusterprofile-check", Path: w.binary, LogFile: filepath.Join(w.TempDir(), "log"),
		Args: append([]string{"--watch", "--interval=300ms", "-n", fleet}, w.flags...),
	})
	lines := func(prefix string) (found []string) {
		for line := range strings.Lines(p.LogTail(100)) {
			if strings.HasPrefix(line, prefix) {
				found = append(found, line)
			}
		}
		return found
	}
	wait := func(what string, done func() bool) {
		w.Helper()
		require.NoError(w, helpers.WaitFor(w.Context(), what, patience, helpers.Stderr,
			func(context.Context) (bool, error) { return done(), p.Alive() }))
	}
	wait("all rows", func() bool { return len(lines("fleet/")) == 6 })
	key := types.NamespacedName{Namespace: fleet, Name: "unhealthy"}
	require.NoError(w, helpers.SetControlPlaneHealthy(w.Context(), w.hub.Client, key, metav1.ConditionTrue))
	wait("the changed row", func() bool { return len(lines("fleet/unhealthy ")) == 2 })
	assert.Regexp(w, `^fleet/unhealthy +True `, lines("fleet/unhealthy ")[1])
	assert.Len(w, lines("fleet/healthy "), 1, "what has not changed is not printed again")
	assert.Len(w, lines("CLUSTER "), 1)
	p.Stop()
	w.Logf("%s", p.LogTail(100))
	w.assertNoSecret(p.LogTail(1000))
}

// testHangingPlugin has two clusters and lets one plugin run at a time. The first run fails late, so that the second,
// which never answers, could go on after its cluster's time is up. It must not outlive the command.
func (w *world) testHangingPlugin() {
	const slow = "slow"
	require.NoError(w, w.hub.EnsureNamespace(w.Context(), slow))
	dir := w.TempDir()
	script, pids, providers := filepath.Join(dir, "hang"), filepath.Join(dir, "pids"), filepath.Join(dir, "providers.json")
	require.NoError(w, os.WriteFile(script, fmt.Appendf(nil, `#!/bin/sh
echo signing in >&2
echo $$ >>%[1]s
mkdir %[1]s.first && sleep 2 && exit 3
exec sleep 600
`, pids), 0o755))
	require.NoError(w, helpers.WriteProviderFile(providers, helpers.Provider{Name: tokenProvider, Command: script}))
	for _, name := range []string{"a", "b"} {
		cp := helpers.InventoryClusterProfile(types.NamespacedName{Namespace: slow, Name: name}, nil,
			inventoryv1alpha1.AccessProvider{Name: tokenProvider, Cluster: w.hostileServer()})
		require.NoError(w, helpers.CreateWithStatus(w.Context(), w.hub.Client, cp))
		w.Cleanup(func() { require.NoError(w, w.hub.Client.Delete(context.Background(), cp)) })
	}
	w.flags = []string{w.flags[0], "--" + inventory.ProviderFileFlag + "=" + providers, "--" + inventory.PluginConcurrencyFlag + "=1"}
	begin := time.Now()
	code, stdout, _ := w.run("-n", slow, "--timeout=5s", "-o", "wide")
	assert.Equal(w, exitProblem, code)
	assert.Less(w, time.Since(begin), patience)
	assert.Contains(w, stdout, "it exited with status 3: signing in", "what the plugin said is told")
	assert.Contains(w, stdout, "--timeout is 5s")
	data, err := os.ReadFile(pids)
	require.NoError(w, err)
	require.Len(w, strings.Fields(string(data)), 2, "both have run, or this test looks for nothing")
	for _, pid := range strings.Fields(string(data)) {
		number, err := strconv.Atoi(pid)
		require.NoError(w, err)
		assert.ErrorIs(w, syscall.Kill(number, 0), syscall.ESRCH, "plugin %d is left behind", number)
	}
}
