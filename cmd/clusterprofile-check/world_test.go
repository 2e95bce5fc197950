package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const (
	fleet         = "fleet"
	tokenProvider = "token-printer"
	patience      = 2 * time.Minute
)

// buildCommand builds this package once, as a person would.
var buildCommand = sync.OnceValues(func() (string, error) {
	root, err := helpers.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(helpers.BinDir(root), "clusterprofile-check")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// world is a hub with an inventory in which things are wrong in several ways.
type world struct {
	*testing.T
	hub, spoke *helpers.Cluster
	binary     string
	flags      []string
	long       string // the name that is too long
}

func newWorld(t *testing.T) *world {
	t.Helper()
	binary, err := buildCommand()
	require.NoError(t, err)
	binaries, err := helpers.EnsureBinaries(t.Context(), helpers.Stderr)
	require.NoError(t, err)
	w := &world{T: t, hub: helpers.SharedHub(t), spoke: helpers.SharedSpoke(t, "spoke-1"), binary: binary,
		long: "too-long-" + strings.Repeat("x", 60)}
	dir := t.TempDir()
	kubeconfig, providers, script := filepath.Join(dir, "hub.kubeconfig"), filepath.Join(dir, "providers.json"), filepath.Join(dir, "token")
	require.NoError(t, w.hub.WriteKubeconfig(kubeconfig))
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho '"+
		`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"`+secretToken+`"}}'`+"\n"), 0o755))
	require.NoError(t, helpers.WriteProviderFile(providers, helpers.SecretReader(binaries.KubeconfigSecretReader, kubeconfig),
		helpers.Provider{Name: tokenProvider, Command: script}))
	w.flags = []string{"--kubeconfig=" + kubeconfig, "--" + inventory.ProviderFileFlag + "=" + providers, "--timeout=60s"}
	w.fill()
	return w
}

// fill writes the inventory and a Sveltos ClusterProfile that selects env=prod.
func (w *world) fill() {
	w.Helper()
	require.NoError(w, w.hub.EnsureNamespace(w.Context(), fleet))
	secret := types.NamespacedName{Namespace: fleet, Name: "spoke-1-kubeconfig"}
	w.create(helpers.KubeconfigSecret(secret, w.spoke.Kubeconfig))
	good := helpers.SecretReaderAccess(w.spoke, secret)
	unreachable := *good.DeepCopy()
	unreachable.Cluster.Server = "https://127.0.0.1:1"
	prod := map[string]string{"env": "prod"}
	w.inventory("healthy", metav1.ConditionTrue, map[string]string{"env": "prod", "tier": "one"}, good)
	w.inventory("unreachable", metav1.ConditionTrue, nil, unreachable)
	w.inventory("unhealthy", metav1.ConditionFalse, nil, good)
	w.inventory("no-provider", metav1.ConditionTrue, nil, inventoryv1alpha1.AccessProvider{Name: "somebody-else", Cluster: good.Cluster})
	w.inventory("hostile", metav1.ConditionTrue, nil, inventoryv1alpha1.AccessProvider{Name: tokenProvider, Cluster: w.hostileServer()})
	w.inventory(w.long, metav1.ConditionTrue, prod, good)
	w.create(addons.Profile("check-prod", prod, types.NamespacedName{Namespace: fleet, Name: "policy"}))
}

// hostileServer repeats the credential that it is sent.
func (w *world) hostileServer() clientcmdv1.Cluster {
	w.Helper()
	s := httptest.NewTLSServer(echo(500))
	w.Cleanup(s.Close)
	return clientcmdv1.Cluster{Server: s.URL, CertificateAuthorityData: pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}
}

func (w *world) create(o client.Object) {
	w.Helper()
	require.NoError(w, w.hub.Client.Create(w.Context(), o))
	w.Cleanup(func() { require.NoError(w, w.hub.Client.Delete(context.Background(), o)) })
}

func (w *world) inventory(name string, health metav1.ConditionStatus, labels map[string]string, access inventoryv1alpha1.AccessProvider) {
	w.Helper()
	key := types.NamespacedName{Namespace: fleet, Name: name}
	cp := helpers.InventoryClusterProfile(key, labels, access)
	require.NoError(w, helpers.CreateWithStatus(w.Context(), w.hub.Client, cp))
	w.Cleanup(func() { require.NoError(w, w.hub.Client.Delete(context.Background(), cp)) })
	require.NoError(w, helpers.SetControlPlaneHealthy(w.Context(), w.hub.Client, key, health))
}

// run runs the command to its end and looks for secrets in what it printed.
func (w *world) run(args ...string) (code int, stdout, stderr string) {
	w.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(w.Context(), w.binary, append(args, w.flags...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(w, err, &exit)
		code = exit.ExitCode()
	}
	w.Logf("clusterprofile-check %s: exit status %d\n%s%s", strings.Join(args, " "), code, &out, &errs)
	w.assertNoSecret(out.String() + errs.String())
	return code, out.String(), errs.String()
}

// assertNoSecret looks for the token, and for any line of the kubeconfig's keys and certificates, in both encodings.
func (w *world) assertNoSecret(text string) {
	w.Helper()
	assert.NotContains(w, text, secretToken)
	var config struct {
		Users []struct {
			User struct {
				Certificate string `json:"client-certificate-data"`
				Key         string `json:"client-key-data"`
				Token       string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	require.NoError(w, yaml.Unmarshal(w.spoke.Kubeconfig, &config))
	require.NotEmpty(w, config.Users[0].User.Key, "or this test looks for nothing")
	for _, encoded := range []string{config.Users[0].User.Certificate, config.Users[0].User.Key, config.Users[0].User.Token} {
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		require.NoError(w, err)
		for _, secret := range append(strings.Split(string(decoded), "\n"), encoded) {
			for at := 0; at+24 <= len(secret); at += 24 {
				assert.NotContains(w, text, secret[at:at+24])
			}
		}
	}
}
