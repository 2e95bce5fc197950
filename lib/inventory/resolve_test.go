package inventory

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/pkg/access"
)

const testServer = "https://spoke.example:6443"

// profile is an inventory ClusterProfile that offers access.
func profile(name string, offers ...v1alpha1.AccessProvider) *v1alpha1.ClusterProfile {
	cp := &v1alpha1.ClusterProfile{}
	cp.Namespace, cp.Name, cp.UID = "fleet", name, types.UID("uid-"+name)
	cp.Status.AccessProviders = offers
	return cp
}

// offer is an access entry that can be used as it is, changed by edits.
func offer(provider string, edits ...func(*clientcmdv1.Cluster)) v1alpha1.AccessProvider {
	a := v1alpha1.AccessProvider{Name: provider, Cluster: clientcmdv1.Cluster{Server: testServer}}
	for _, edit := range edits {
		edit(&a.Cluster)
	}
	return a
}

func extension(name, raw string) func(*clientcmdv1.Cluster) {
	return func(c *clientcmdv1.Cluster) {
		c.Extensions = append(c.Extensions, clientcmdv1.NamedExtension{Name: name, Extension: runtime.RawExtension{Raw: []byte(raw)}})
	}
}

// backendFor has the providers; their command is /bin/sh unless they name another.
func backendFor(t testing.TB, o Options, entries ...access.Provider) *Backend {
	t.Helper()
	for i := range entries {
		e := &clientcmdapi.ExecConfig{}
		if entries[i].ExecConfig != nil {
			e = entries[i].ExecConfig
		}
		if e.Command == "" {
			e.Command = "/bin/sh"
		}
		if e.APIVersion == "" {
			e.APIVersion = "client.authentication.k8s.io/v1"
		}
		entries[i].ExecConfig = e
	}
	b, err := NewFromProviders(o, access.New(entries))
	require.NoError(t, err)
	return b
}

func TestResolveRefusesWhatIsNotSafe(t *testing.T) {
	const pem = "-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n"
	set := func(f func(*clientcmdv1.Cluster)) func(*clientcmdv1.Cluster) { return f }
	server := func(s string) func(*clientcmdv1.Cluster) {
		return set(func(c *clientcmdv1.Cluster) { c.Server = s })
	}
	for _, tc := range []struct {
		name, reason string
		edit         func(*clientcmdv1.Cluster)
		says         string
	}{
		{"empty server", "client-go would go to http://localhost (KubeFleet may write it)", server(""), "server is empty"},
		{"plain http", "the token would be sent in clear", server("http://spoke.example"), "is not https"},
		{"no scheme", "client-go would guess", server("spoke.example:6443"), "server"},
		{"no host", "there is nowhere to go", server("https:///path"), "no URL with a scheme and a host"},
		{"userinfo", "a credential in the status would be sent as basic auth", server("https://u:hunter2@spoke.example"), "holds a user"},
		{"query", "not the URL of an API server", server("https://spoke.example?a=b"), "query"},
		{"unix", "a socket of the controller's own machine", server("unix:///run/x.sock"), "server"},
		{"white space", "headers could be forged with it", server("https://spoke.example/\r\nX: y"), "white space"},
		{"CA path", "a file of the controller's own disk", set(func(c *clientcmdv1.Cluster) { c.CertificateAuthority = "/etc/passwd" }),
			"certificate-authority names a file"},
		{"CA is no PEM", "client-go would fail later and not say where", set(func(c *clientcmdv1.Cluster) { c.CertificateAuthorityData = []byte("x") }),
			"holds no PEM certificate"},
		{"CA is no certificate", "as before", set(func(c *clientcmdv1.Cluster) { c.CertificateAuthorityData = []byte(pem) }),
			"holds no PEM certificate"},
		{"insecure", "the token would go to whoever answers", set(func(c *clientcmdv1.Cluster) { c.InsecureSkipTLSVerify = true }),
			"--clusterprofile-allow-insecure-tls"},
		{"proxy scheme", "no such proxy", set(func(c *clientcmdv1.Cluster) { c.ProxyURL = "ftp://proxy" }), "none of http, https, socks5"},
		{"proxy without host", "as before", set(func(c *clientcmdv1.Cluster) { c.ProxyURL = "proxy" }), "proxy-url"},
		{"server name", "no host name", set(func(c *clientcmdv1.Cluster) { c.TLSServerName = "a b" }), "tls-server-name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := backendFor(t, Options{}, access.Provider{Name: "a"})
			got, err := b.Resolve(profile("p", offer("a", tc.edit)))
			require.ErrorIs(t, err, ErrRefused, tc.reason)
			assert.Zero(t, got)
			assert.ErrorContains(t, err, "ClusterProfile fleet/p: ")
			assert.ErrorContains(t, err, `access provider "a"`)
			assert.ErrorContains(t, err, tc.says)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestInsecureTLSNeedsTheOperator(t *testing.T) {
	insecure := profile("p", offer("a", func(c *clientcmdv1.Cluster) { c.InsecureSkipTLSVerify = true }))
	got, err := backendFor(t, Options{AllowInsecureTLS: true}, access.Provider{Name: "a"}).Resolve(insecure)
	require.NoError(t, err)
	assert.True(t, got.InsecureSkipTLSVerify)
}

func TestResolveKeepsWhatIsAskedFor(t *testing.T) {
	b := backendFor(t, Options{}, access.Provider{Name: "a", ExecConfig: &clientcmdapi.ExecConfig{
		Args: []string{"x", "y"}, Env: []clientcmdapi.ExecEnvVar{{Name: "Z", Value: "1"}, {Name: "A", Value: "2"}}, ProvideClusterInfo: true}})
	got, err := b.Resolve(profile("p", offer("a", func(c *clientcmdv1.Cluster) {
		c.Server = "https://gateway.example/v1/projects/1/memberships/m"
		c.TLSServerName = "spoke"
		c.ProxyURL = "socks5://proxy:1080"
		c.DisableCompression = true
	}, extension(extensionExec, `{"audience":"fleet"}`))))
	require.NoError(t, err)
	assert.Equal(t, "https://gateway.example/v1/projects/1/memberships/m", got.Server)
	assert.Equal(t, "spoke", got.TLSServerName)
	assert.Equal(t, "socks5://proxy:1080", got.ProxyURL)
	assert.True(t, got.DisableCompression)
	assert.True(t, got.Exec.ProvideClusterInfo)
	assert.Equal(t, "/bin/sh", got.Exec.Command)
	assert.Equal(t, []string{"x", "y"}, got.Exec.Args())
	assert.Equal(t, []EnvVar{{"Z", "1"}, {"A", "2"}}, got.Exec.Env(), "the operator's own order")
	assert.JSONEq(t, `{"audience":"fleet"}`, got.Exec.Config)
}

func TestWhichAccessProviderIsChosen(t *testing.T) {
	at := func(s string) func(*clientcmdv1.Cluster) {
		return func(c *clientcmdv1.Cluster) { c.Server = "https://" + s }
	}
	b := backendFor(t, Options{}, access.Provider{Name: "first"}, access.Provider{Name: "second"})
	for _, tc := range []struct {
		name        string
		now, before []v1alpha1.AccessProvider
		server      string
	}{
		{"operator's order", []v1alpha1.AccessProvider{offer("second", at("2")), offer("first", at("1"))}, nil, "https://1"},
		{"deprecated list alone", nil, []v1alpha1.AccessProvider{offer("first", at("old"))}, "https://old"},
		{"both lists, same name", []v1alpha1.AccessProvider{offer("first", at("new"))}, []v1alpha1.AccessProvider{offer("first", at("old"))}, "https://new"},
		{"both lists, different names", []v1alpha1.AccessProvider{offer("second", at("new"))}, []v1alpha1.AccessProvider{offer("first", at("old"))}, "https://new"},
		{"new list holds nothing that is configured", []v1alpha1.AccessProvider{offer("unknown", at("new"))}, []v1alpha1.AccessProvider{offer("second", at("old"))}, "https://old"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cp := profile("p", tc.now...)
			cp.Status.CredentialProviders = tc.before
			got, err := b.Resolve(cp)
			require.NoError(t, err)
			assert.Equal(t, tc.server, got.Server)
		})
	}
}

// Case 2: the deprecated list still works, and says so once for each profile.
func TestDeprecatedListIsWarnedAboutOnce(t *testing.T) {
	before := log
	t.Cleanup(func() { log = before })
	var lines []string
	log = funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	b := backendFor(t, Options{}, access.Provider{Name: "a"})
	old, other := profile("old"), profile("other")
	old.Status.CredentialProviders = []v1alpha1.AccessProvider{offer("a")}
	other.Status.CredentialProviders = old.Status.CredentialProviders
	for range 3 {
		for _, cp := range []*v1alpha1.ClusterProfile{old, other, profile("new", offer("a"))} {
			_, err := b.Resolve(cp)
			require.NoError(t, err)
		}
	}
	require.Len(t, lines, 2, "%v", lines)
	assert.Contains(t, lines[0], `"name"="old"`)
	assert.Contains(t, lines[1], `"name"="other"`)
}

func TestNoAccessProviderNamesBothSides(t *testing.T) {
	b := backendFor(t, Options{}, access.Provider{Name: "oidc"}, access.Provider{Name: "eks"})
	_, err := b.Resolve(profile("p", offer("gke"), offer("aks")))
	require.ErrorIs(t, err, ErrNoAccessProvider)
	require.ErrorContains(t, err, "ClusterProfile fleet/p: ")
	require.ErrorContains(t, err, "offers [gke, aks], the provider file has [oidc, eks]")
}

// Case 1 (kueue 11993) and its kind: each result depends on the file and that profile alone.
func TestClustersDoNotSeeEachOther(t *testing.T) {
	entry := access.Provider{Name: "a", ProfileSourcedCLIArgsPolicy: access.ProfileSourcedCLIArgsPolicyAppend,
		ProfileSourcedEnvVarsPolicy: access.ProfileSourcedEnvVarsPolicyReplace,
		ExecConfig:                  &clientcmdapi.ExecConfig{Args: []string{"get"}, Env: []clientcmdapi.ExecEnvVar{{Name: "MODE", Value: "file"}}}}
	b := backendFor(t, Options{}, entry)
	a := profile("a", offer("a", extension(extensionArgs, `["--a"]`), extension(extensionEnv, `{"A":"1","MODE":"a"}`)))
	other := profile("b", offer("a", extension(extensionArgs, `["--b"]`)))
	check := func(cp *v1alpha1.ClusterProfile, args []string, env []EnvVar) {
		got, err := b.Resolve(cp)
		if assert.NoError(t, err) {
			assert.Equal(t, args, got.Exec.Args())
			assert.Equal(t, env, got.Exec.Env())
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				check(a, []string{"get", "--a"}, []EnvVar{{"A", "1"}, {"MODE", "a"}})
				check(other, []string{"get", "--b"}, []EnvVar{{"MODE", "file"}})
			}
		})
	}
	wg.Wait()
}

func TestResolvingTwiceGivesEqualValues(t *testing.T) {
	b := backendFor(t, Options{}, access.Provider{Name: "a", ProfileSourcedEnvVarsPolicy: access.ProfileSourcedEnvVarsPolicyAppendIfNotExists,
		ExecConfig: &clientcmdapi.ExecConfig{Env: []clientcmdapi.ExecEnvVar{{Name: "M", Value: "0"}}}})
	cp := profile("p", offer("a", extension(extensionEnv, `{"Z":"1","Y":"2","X":"3","W":"4","M":"5"}`)))
	first, err := b.Resolve(cp)
	require.NoError(t, err)
	for range 50 {
		again, err := b.Resolve(cp)
		require.NoError(t, err)
		require.True(t, first == again, "env order must not change: %v %v", first.Exec.Env(), again.Exec.Env())
		require.Equal(t, first.Fingerprint(), again.Fingerprint())
	}
	assert.Equal(t, []EnvVar{{"M", "0"}, {"W", "4"}, {"X", "3"}, {"Y", "2"}, {"Z", "1"}}, first.Exec.Env(),
		"AppendIfNotExists: the operator's value stays")
}

// Case 3 and its kind: what a profile adds to a command counts only where its provider says so.
func TestProfileSourcedArgsAndEnv(t *testing.T) {
	extra := []func(*clientcmdv1.Cluster){extension(extensionArgs, `["--evil"]`), extension(extensionEnv, `{"LD_PRELOAD":"/tmp/evil.so"}`)}
	for _, tc := range []struct {
		name string
		args access.ProfileSourcedCLIArgsPolicy
		env  access.ProfileSourcedEnvVarsPolicy
		want int
	}{
		{"default", "", "", 0},
		{"ignore", access.ProfileSourcedCLIArgsPolicyIgnore, access.ProfileSourcedEnvVarsPolicyIgnore, 0},
		{"opted in", access.ProfileSourcedCLIArgsPolicyAppend, access.ProfileSourcedEnvVarsPolicyReplace, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := backendFor(t, Options{}, access.Provider{Name: "a", ProfileSourcedCLIArgsPolicy: tc.args, ProfileSourcedEnvVarsPolicy: tc.env})
			got, err := b.Resolve(profile("p", offer("a", extra...)))
			require.NoError(t, err)
			assert.Len(t, got.Exec.Args(), tc.want)
			assert.Len(t, got.Exec.Env(), tc.want)
		})
	}
}

func TestExtensionsThatAreWrong(t *testing.T) {
	b := backendFor(t, Options{}, access.Provider{Name: "a", ProfileSourcedCLIArgsPolicy: access.ProfileSourcedCLIArgsPolicyAppend,
		ProfileSourcedEnvVarsPolicy: access.ProfileSourcedEnvVarsPolicyReplace,
		ExecConfig:                  &clientcmdapi.ExecConfig{Env: []clientcmdapi.ExecEnvVar{{Name: "A", Value: "1"}}}})
	for _, tc := range []struct {
		name, extension, raw string
		fine                 bool
	}{
		{"null envs, which makes pkg/access panic", extensionEnv, "null", true},
		{"null args", extensionArgs, "null", true},
		{"empty envs", extensionEnv, "", true},
		{"null exec", extensionExec, "null", true},
		{"envs as a list", extensionEnv, `["A"]`, false},
		{"args as an object", extensionArgs, `{"a":"b"}`, false},
		{"number as a value", extensionEnv, `{"A":1}`, false},
		{"no JSON", extensionExec, `{`, false},
		{"= in a name", extensionEnv, `{"A=B":"1"}`, false},
		{"empty name", extensionEnv, `{"":"1"}`, false},
		{"NUL in a value", extensionEnv, `{"A":"x\u0000y"}`, false},
		{"NUL in an argument", extensionArgs, `["x\u0000y"]`, false},
		{"protocol variable", extensionEnv, `{"KUBERNETES_EXEC_INFO":"{}"}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := b.Resolve(profile("p", offer("a", extension(tc.extension, tc.raw))))
			if tc.fine {
				require.NoError(t, err)
				assert.Equal(t, []EnvVar{{"A", "1"}}, got.Exec.Env())
				return
			}
			require.ErrorIs(t, err, ErrRefused)
			require.ErrorContains(t, err, tc.extension)
		})
	}
	_, err := b.Resolve(profile("p", offer("a", extension(extensionEnv, `{"B":"1"}`), extension(extensionEnv, `{"B":"2"}`))))
	require.ErrorIs(t, err, ErrRefused, "which of the two is meant")
}

func TestResolveDoesNotTouchItsInput(t *testing.T) {
	b := backendFor(t, Options{}, access.Provider{Name: "a"})
	cp := profile("p", offer("a", extension(extensionEnv, `{"A":"1"}`), extension(extensionExec, `{}`)))
	before := cp.DeepCopy()
	_, err := b.Resolve(cp)
	require.NoError(t, err)
	assert.Equal(t, before, cp)
}

func TestNotConfigured(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.json")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	for name, b := range map[string]*Backend{"no file": New(Options{}), "empty file": New(Options{ProviderFile: empty})} {
		t.Run(name, func(t *testing.T) {
			cp := profile("p", offer("a"))
			_, err := b.Resolve(cp)
			require.ErrorIs(t, err, ErrNotConfigured)
			_, err = b.RestConfig(t.Context(), cp)
			require.ErrorIs(t, err, ErrNotConfigured)
			_, err = b.Kubeconfig(cp)
			require.ErrorIs(t, err, ErrNotConfigured)
			assert.Zero(t, b.Expiry(cp))
			b.Forget(key(cp))
		})
	}
}

func TestKubeconfigHoldsARecipeAndNoCredential(t *testing.T) {
	b := backendFor(t, Options{}, access.Provider{Name: "a", ExecConfig: &clientcmdapi.ExecConfig{Args: []string{"x"}, ProvideClusterInfo: true}})
	data, err := b.Kubeconfig(profile("p", offer("a", extension(extensionExec, `{"name":"n"}`))))
	require.NoError(t, err)
	cfg, err := clientcmd.Load(data)
	require.NoError(t, err)
	require.Len(t, cfg.Clusters, 1)
	user := cfg.AuthInfos["cluster"]
	require.NotNil(t, user.Exec)
	assert.Equal(t, "/bin/sh", user.Exec.Command)
	assert.Empty(t, user.Token+user.Password+string(user.ClientKeyData)+string(user.ClientCertificateData))
	rest, err := clientcmd.RESTConfigFromKubeConfig(data)
	require.NoError(t, err)
	assert.Equal(t, testServer, rest.Host)
	require.NotNil(t, rest.ExecProvider)
	raw, err := json.Marshal(rest.ExecProvider.Config)
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"name":"n"`)
}

// FuzzResolve feeds arbitrary status: no panic, and nothing is accepted that is not safe.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		`{"accessProviders":[{"name":"a","cluster":{"server":"https://x"}}]}`,
		`{"accessProviders":[{"name":"a","cluster":{"server":"http://x","insecure-skip-tls-verify":true,"certificate-authority":"/x"}}]}`,
		`{"credentialProviders":[{"name":"b","cluster":{"server":"https://u:p@x","proxy-url":"http://p"}}]}`,
		`{"accessProviders":[{"name":"b","cluster":{"server":"https://x","extensions":[{"name":"` + extensionEnv + `","extension":null},{"name":"` + extensionArgs + `","extension":["a"]}]}}]}`,
		`{"accessProviders":[{"name":"a","cluster":{"server":"https://x","extensions":[{"name":"` + extensionExec + `","extension":{"a":1}}]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	open := access.Provider{Name: "b", ProfileSourcedCLIArgsPolicy: access.ProfileSourcedCLIArgsPolicyAppend,
		ProfileSourcedEnvVarsPolicy: access.ProfileSourcedEnvVarsPolicyReplace,
		ExecConfig:                  &clientcmdapi.ExecConfig{Env: []clientcmdapi.ExecEnvVar{{Name: "A", Value: "1"}}}}
	b := backendFor(f, Options{}, access.Provider{Name: "a"}, open)
	f.Fuzz(func(t *testing.T, status []byte) {
		cp := profile("p")
		if json.Unmarshal(status, &cp.Status) != nil {
			return
		}
		got, err := b.Resolve(cp)
		if err != nil {
			require.Zero(t, got)
			return
		}
		require.True(t, strings.HasPrefix(strings.ToLower(got.Server), "https://"), "server %q", got.Server)
		require.False(t, got.InsecureSkipTLSVerify)
		require.Equal(t, "/bin/sh", got.Exec.Command, "the command is the operator's")
		if got.Provider == "a" {
			require.Empty(t, got.Exec.Args())
			require.Empty(t, got.Exec.Env())
		}
		for _, v := range got.Exec.Env() {
			require.True(t, validEnvName(v.Name))
			require.NotEqual(t, execInfoEnv, v.Name)
		}
		cfg := got.config()
		require.Empty(t, cfg.CAFile+cfg.CertFile+cfg.KeyFile+cfg.BearerTokenFile)
		again, err := b.Resolve(cp)
		require.NoError(t, err)
		require.True(t, got == again)
	})
}
