//go:build bench

package bench

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const (
	fleetToken = "token-of-the-fleet"
	execV1     = "client.authentication.k8s.io/v1"
)

// fleet is a server that stands for many clusters, one for each path, and a real
// plugin that gives credentials for them.
type fleet struct {
	t           testing.TB
	server      *httptest.Server
	connections atomic.Int32
	plugin      string
	dir         string // of the plugin's script and log
	profiles    []*v1alpha1.ClusterProfile
}

var buildPlugin = sync.OnceValues(func() (string, error) {
	path, err := filepath.Abs("../../bin/testplugin")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", path, "../../lib/inventory/internal/testplugin")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func newFleet(t testing.TB, clusters int) *fleet {
	t.Helper()
	plugin, err := buildPlugin()
	require.NoError(t, err)
	f := &fleet{t: t, plugin: plugin, dir: t.TempDir()}
	f.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+fleetToken {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	f.server.EnableHTTP2 = true
	f.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			f.connections.Add(1)
		}
	}
	f.server.StartTLS()
	t.Cleanup(f.server.Close)
	f.set("token", fleetToken)
	for i := range clusters {
		f.profiles = append(f.profiles, f.profile(i))
	}
	return f
}

func (f *fleet) set(option, value string) {
	require.NoError(f.t, os.WriteFile(filepath.Join(f.dir, option), []byte(value), 0o600))
}

// path is a cluster's part of the server, such that no path contains another.
func path(i int) string { return fmt.Sprintf("/clusters/%04d", i) }

// separate gives each cluster a bundle with a CA that no other has, so that no two of
// them share a transport. The server is one and shares its processor with the client,
// so this costs time that real clusters do not.
func (f *fleet) separate() *fleet {
	for i, cp := range f.profiles {
		cluster := &cp.Status.AccessProviders[0].Cluster
		cluster.CertificateAuthorityData = append(f.ownCA(i), cluster.CertificateAuthorityData...)
	}
	return f
}

func (f *fleet) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
}

func (f *fleet) ownCA(i int) []byte {
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(f.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(i) + 1), Subject: pkix.Name{CommonName: path(i)},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	require.NoError(f.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func (f *fleet) profile(i int) *v1alpha1.ClusterProfile {
	cp := &v1alpha1.ClusterProfile{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: fmt.Sprintf("cluster-%04d", i), UID: types.UID(fmt.Sprintf("uid-%04d", i)),
	}}
	cp.Status.AccessProviders = []v1alpha1.AccessProvider{{
		Name:    "bench",
		Cluster: clientcmdv1.Cluster{Server: f.server.URL + path(i), CertificateAuthorityData: f.ca()},
	}}
	return cp
}

// backend is ours for the fleet; limit is the time limit of the plugin, 0 the default.
func (f *fleet) backend(limit time.Duration) *inventory.Backend {
	file := filepath.Join(f.dir, "providers.json")
	data, err := json.Marshal(map[string]any{"providers": []any{map[string]any{
		"name": "bench",
		"execConfig": map[string]any{
			"apiVersion": execV1, "command": f.plugin, "provideClusterInfo": true, "interactiveMode": "Never",
			"env": []any{map[string]string{"name": "PLUGIN_DIR", "value": f.dir}},
		},
	}}})
	require.NoError(f.t, err)
	require.NoError(f.t, os.WriteFile(file, data, 0o600))
	return inventory.New(inventory.Options{ProviderFile: file, PluginTimeout: limit})
}

// theirs is the same cluster for client-go's own exec support.
func (f *fleet) theirs(i int) *rest.Config {
	return &rest.Config{
		Host:            f.server.URL + path(i),
		TLSClientConfig: rest.TLSClientConfig{CAData: f.profiles[i].Status.AccessProviders[0].Cluster.CertificateAuthorityData},
		ExecProvider: &clientcmdapi.ExecConfig{
			APIVersion: execV1, Command: f.plugin, ProvideClusterInfo: true,
			InteractiveMode: clientcmdapi.NeverExecInteractiveMode, StdinUnavailable: true,
			Env: []clientcmdapi.ExecEnvVar{{Name: "PLUGIN_DIR", Value: f.dir}},
		},
	}
}

// each calls do for each cluster from a number of goroutines.
func (f *fleet) each(workers int, do func(i int)) {
	var next atomic.Int32
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(f.profiles); i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// hang makes the plugin of one cluster, and a child of it, sleep.
func (f *fleet) hang(i int, d string) {
	f.set("sleepfor", path(i))
	f.set("child", d)
	f.set("sleep", d)
}

// record is a line of the plugin's log.
type record struct {
	Event string
	Time  time.Time
	PID   int
	PGID  int
	Info  string
}

func (f *fleet) log() []record {
	data, err := os.ReadFile(filepath.Join(f.dir, "log"))
	require.NoError(f.t, err)
	var out []record
	for line := range bytes.Lines(data) {
		var r record
		require.NoError(f.t, json.Unmarshal(line, &r))
		out = append(out, r)
	}
	return out
}

func (f *fleet) runs() []record {
	return slices.DeleteFunc(f.log(), func(r record) bool { return r.Event != "start" })
}

// atATime is the largest number of plugins that ran at the same time.
func (f *fleet) atATime() int {
	log := f.log()
	slices.SortStableFunc(log, func(a, b record) int { return a.Time.Compare(b.Time) })
	running, most := 0, 0
	for _, r := range log {
		switch r.Event {
		case "start":
			running++
		case "end":
			running--
		}
		most = max(most, running)
	}
	return most
}

func (f *fleet) hungRun(i int) record {
	for _, r := range f.runs() {
		if strings.Contains(r.Info, path(i)) {
			return r
		}
	}
	f.t.Fatal("the plugin of the hung cluster was not started")
	return record{}
}

// awaitGroup waits until no process of the plugin that hangs is running, and returns
// how long that was after its start.
func (f *fleet) awaitGroup(i int) time.Duration {
	run := f.hungRun(i)
	require.Eventually(f.t, func() bool { return !groupAlive(f.t, run.PGID) }, time.Minute, 5*time.Millisecond)
	return time.Since(run.Time)
}

// groupAlive tells whether a process of the group is running. One that has ended and
// that nobody has asked for its status is not.
func groupAlive(t testing.TB, pgid int) bool {
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

// hungFor is how long the plugin that hangs ran until it ended by itself.
func (f *fleet) hungFor(i int) time.Duration {
	start := f.hungRun(i)
	for _, r := range f.log() {
		if r.Event == "end" && r.PID == start.PID {
			return r.Time.Sub(start.Time)
		}
	}
	f.t.Fatal("the plugin of the hung cluster has not ended")
	return 0
}
