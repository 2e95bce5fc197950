package inventory

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// variant is a way of describing a plugin and its cluster.
type variant struct {
	name  string
	apply func(*Access)
}

func env(more ...EnvVar) func(*Access) {
	return func(a *Access) { a.Exec.env = encodeList(append(a.Exec.Env(), more...)) }
}

func execData(json string) func(*Access) {
	return func(a *Access) { a.Exec.Config = json }
}

func args(list ...string) func(*Access) {
	return func(a *Access) { a.Exec.args = encodeList(list) }
}

func variants(proxy string) []variant {
	noCA := func(a *Access) { a.CAData = "" }
	insecure := func(a *Access) { a.CAData, a.InsecureSkipTLSVerify = "", true }
	viaProxy := func(a *Access) { a.ProxyURL = proxy }
	serverName := func(a *Access) { a.TLSServerName = "example.com" }
	uncompressed := func(a *Access) { a.DisableCompression = true }
	all := func(changes ...func(*Access)) func(*Access) {
		return func(a *Access) {
			for _, change := range changes {
				change(a)
			}
		}
	}
	return []variant{
		{"plain", all()},
		{"no CA", noCA},
		{"insecure", insecure},
		{"proxy", viaProxy},
		{"server name", serverName},
		{"no compression", uncompressed},
		{"server with a path", func(a *Access) { a.Server += "/v1/projects/p/" }},
		{"args", args("--cluster", "a b", "", "--flag=\"x\"")},
		{"env", env(EnvVar{"B", "2"}, EnvVar{"A", "1=1"}, EnvVar{"EMPTY", ""})},
		{"env that is there", env(EnvVar{"HOME", "/elsewhere"}, EnvVar{"PATH", "/nowhere"})},
		{"env twice", env(EnvVar{"A", "1"}, EnvVar{"A", "2"})},
		{"env of the protocol", env(EnvVar{execInfoEnv, "forged"})},
		{"exec object", execData(`{"clusterName":"spoke-1"}`)},
		{"exec object, nested and spaced", execData(`{ "b": {"z": [1, 2.50, null, true]},  "a": "<&>\u00e9" }`)},
		{"exec list", execData(`["x"]`)},
		{"all", all(viaProxy, serverName, uncompressed, args("-v"), env(EnvVar{"A", "1"}), execData(`{"a":{}}`))},
		{"all insecure", all(insecure, viaProxy, uncompressed, args("-v"), env(EnvVar{"A", "1"}), execData(`{"a":{}}`))},
	}
}

// A plugin cannot tell whether client-go has started it or this package.
func TestPluginSeesWhatClientGoShows(t *testing.T) {
	t.Parallel()
	server := newSpoke(t, "the-token")
	proxy, _ := newProxy(t)
	count := 0
	for _, version := range []string{execV1, execV1beta1} {
		for _, info := range []bool{false, true} {
			for _, v := range variants(proxy.URL) {
				count++
				name := version[len(version)-2:] + map[bool]string{true: " with info ", false: " without info "}[info] + v.name
				t.Run(name, func(t *testing.T) { compareWithClientGo(t, server, version, info, v) })
			}
		}
	}
	assert.GreaterOrEqual(t, count, 30)
}

func compareWithClientGo(t *testing.T, server *spoke, version string, info bool, v variant) {
	t.Parallel()
	p := newTestPlugin(t, "the-token")
	a := server.reach(p)
	a.Exec.APIVersion, a.Exec.ProvideClusterInfo = version, info
	v.apply(&a)

	cfg := a.config()
	cfg.ExecProvider = a.Exec.execConfig()
	askTheirs(t, cfg, a)
	theirs := p.runs()
	require.NotEmpty(t, theirs, "client-go has started the plugin")

	c, err := fetchCredential(t.Context(), a)
	require.NoError(t, err)
	assert.Equal(t, "Bearer the-token", c.secret.bearer)
	ours := p.runs()[len(theirs):]
	require.Len(t, ours, 1)

	assert.Equal(t, theirs[0].Info, ours[0].Info, execInfoEnv)
	assert.NotEmpty(t, ours[0].Info)
	assert.Equal(t, theirs[0].Argv, ours[0].Argv, "argv")
	slices.Sort(theirs[0].Env)
	slices.Sort(ours[0].Env)
	assert.Equal(t, theirs[0].Env, ours[0].Env, "environment")
}

// askTheirs sends a request with client-go's exec support. Whether the server can be
// verified does not matter, the plugin is asked first.
func askTheirs(t *testing.T, cfg *rest.Config, a Access) {
	t.Helper()
	c, err := rest.HTTPClientFor(cfg)
	require.NoError(t, err)
	resp, err := c.Get(a.Server)
	if err != nil {
		require.True(t, a.CAData == "" && !a.InsecureSkipTLSVerify, "%s: %v", a, err)
		return
	}
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// What client-go refuses is refused here too.
func TestAnswersThatClientGoRefuses(t *testing.T) {
	t.Parallel()
	server := newSpoke(t, "the-token")
	for _, stdout := range []string{
		"", "{}", "null", "plain text", `{"kind":"ExecCredential","apiVersion":"` + execV1beta1 + `","status":{"token":"t"}}`,
		`{"kind":"ExecCredential","apiVersion":"` + execV1 + `"}`,
		`{"kind":"ExecCredential","apiVersion":"` + execV1 + `","status":{}}`,
		`{"kind":"ExecCredential","apiVersion":"` + execV1 + `","status":{"clientKeyData":"k"}}`,
		`{"kind":"ExecCredential","apiVersion":"` + execV1 + `","status":{"token":"t","expirationTimestamp":"soon"}}`,
		`{"status":{"token":"t"}}`,
	} {
		p := newTestPlugin(t, "")
		p.set("stdout", stdout+" ")
		a := server.reach(p)
		cfg := a.config()
		cfg.ExecProvider = a.Exec.execConfig()
		c, err := rest.HTTPClientFor(cfg)
		require.NoError(t, err)
		_, theirs := c.Get(server.URL)
		_, ours := fetchCredential(t.Context(), a)
		assert.Error(t, theirs, stdout)
		assert.ErrorIs(t, ours, ErrPluginFailed, stdout)
	}
}
