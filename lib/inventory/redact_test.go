package inventory

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzcG9rZSJ9.c2lnbmF0dXJl"

func TestRedaction(t *testing.T) {
	t.Parallel()
	e := Exec{
		Config: `{"clusterName":"spoke-1","clientSecret":"s3cr3t-config","nested":[{"apiKey":"key-config-1"}]}`,
		env: encodeList([]EnvVar{
			{"CLIENT_SECRET", "hunter-secret"}, {"REGION", "europe-west1"}, {"DB_PASSWORD", "on"}, {"MULTI_TOKEN", "first-line\nsecond-line"},
		}),
	}
	r := newRedactor(e, []byte(`{"kind":"ExecCredential","status":{"token":"printed-token","clientKeyData":"-----BEGIN X-----\nbGluZQ==x\n"}}`))
	for _, tc := range []struct{ in, want, reason string }{
		{"printed-token expired", "[redacted] expired", "what it answered"},
		{"key bGluZQ==x is bad", "key [redacted] is bad", "a line of a key that it answered"},
		{"hunter-secret is wrong in europe-west1", "[redacted] is wrong in europe-west1", "a secret variable, not an ordinary one"},
		{"the light is on", "the light is on", "a value that is too short to be looked for"},
		{"bad second-line", "bad [redacted]", "a secret of more lines"},
		{"s3cr3t-config and key-config-1 of spoke-1", "[redacted] and [redacted] of spoke-1", "secret fields of the exec object"},
		{"got " + jwt, "got [redacted]", "a JWT"},
		{"Authorization: Bearer abc.def", "Authorization: Bearer [redacted]", "a header"},
		{"Basic dXNlcjpwdw==", "Basic [redacted]", "a header"},
		{"a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a; [redacted]; b", "a PEM block"},
		{"a -----BEGIN CERTIFICATE-----\nMII", "a [redacted]", "a PEM block without an end"},
		{"QUJD\n-----END RSA PRIVATE KEY-----\nb", "[redacted]; b", "a PEM block without a beginning"},
		{"https://user:pw@host/x?token=abc&y=1", "https://[redacted]@host/x?token=[redacted]&y=1", "a URL"},
		{`{"access_token":"abc","n":1}`, `{"access_token":"[redacted]","n":1}`, "JSON"},
		{"password: hunter", "password: [redacted]", "a password, even if it is a word"},
		{"token: ab12", "token: [redacted]", "a named value"},
		{"--token ab12 --token-file /f", "--token [redacted] --token-file /f", "an argument"},
		{"AKIAIOSFODNNSEVENEXA:wJ8lrX2tnFq9I/K7mDeN3/bPxRf1CYz4mPq7k0", "[redacted]:[redacted]", "a cloud's access key"},
		{"cannot get token: connection refused", "cannot get token: connection refused", "a sentence"},
		{"cannot get token: https://sts.example/x: timeout", "cannot get token: https://sts.example/x: timeout", "a sentence with a URL"},
		{`failed to get secret: secrets "spoke-1" not found`, `failed to get secret: secrets "spoke-1" not found`, "a sentence with a quote"},
		{"/opt/google-cloud-sdk/bin/gke-gcloud-auth-plugin: not found", "/opt/google-cloud-sdk/bin/gke-gcloud-auth-plugin: not found", "a path"},
		{"dial tcp: lookup abc.gr7.us-east-1.eks.amazonaws.com: no such host", "dial tcp: lookup abc.gr7.us-east-1.eks.amazonaws.com: no such host", "a host"},
		{"InvalidClientTokenIdException: UnauthorizedOperation", "InvalidClientTokenIdException: UnauthorizedOperation", "names of errors"},
		{"arn:aws:iam::123456789012:role/fleet-admin", "arn:aws:iam::123456789012:role/fleet-admin", "a role"},
		{"\x1b[31mred\x1b[0m\r\n\n\tand\x00 text\xff", "[31mred[0m; and text?", "control characters and bytes that are no text"},
	} {
		assert.Equal(t, tc.want, r.clean(tc.in), tc.reason)
	}
}

func TestWordsOfAnUnreadableAnswerAreSecrets(t *testing.T) {
	t.Parallel()
	r := newRedactor(Exec{}, []byte("token-raw-1\nanother_one; sentence"))
	assert.Equal(t, "[redacted] and [redacted] in a sentence", r.clean("token-raw-1 and another_one in a sentence"))
}

func TestRandomStringsAreRedacted(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{7})
	for range 300 {
		raw := make([]byte, 24)
		_, _ = random.Read(raw)
		for _, secret := range []string{
			base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw), hex.EncodeToString(raw),
		} {
			require.NotContains(t, redactor{}.clean("cannot use "+secret+" here"), secret)
		}
	}
}

func TestHalfOfASecretIsNotKept(t *testing.T) {
	t.Parallel()
	b := &tailBuffer{}
	_, _ = b.Write([]byte("secret-first-half"))
	_, _ = b.Write([]byte("-second-half " + strings.Repeat("x ", maxStderr/2-5)))
	assert.True(t, b.cut)
	assert.NotContains(t, b.String(), "half")
	long := &tailBuffer{}
	_, _ = long.Write(bytes.Repeat([]byte("s"), maxStderr+1))
	assert.NotContains(t, long.String(), "ss")
}

// printer collects everything that is printed.
type printer struct {
	mu  sync.Mutex
	out strings.Builder
}

func (p *printer) line(prefix, args string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(&p.out, prefix, args)
}

func (p *printer) print(values ...any) {
	for _, v := range values {
		data, _ := json.Marshal(v)
		p.line("value", fmt.Sprintf("%v %+v %#v %s %q %s", v, v, v, v, v, data))
		if err, ok := v.(error); ok {
			for ; err != nil; err = errors.Unwrap(err) {
				p.line("error", fmt.Sprintf("%v %#v", err, err))
			}
		}
	}
}

// verbose has klog, and so client-go, log everything to the printer.
func (p *printer) verbose(t *testing.T) logr.Logger {
	t.Helper()
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	before := flags.Lookup("v").Value.String()
	require.NoError(t, flags.Set("v", "10"))
	logger := funcr.New(p.line, funcr.Options{Verbosity: 10, LogCaller: funcr.All})
	klog.SetLogger(logger)
	t.Cleanup(func() {
		klog.ClearLogger()
		require.NoError(t, flags.Set("v", before))
	})
	return logger
}

// Everything that a failing and a succeeding run print, searched for their secrets.
// Not parallel: it turns klog up for the process.
func TestNothingSecretIsPrinted(t *testing.T) {
	p := &printer{}
	logger := p.verbose(t)
	pair := newKeyPair(t, time.Hour)
	const token, variable = "tok-7d1f-printed-on-stdout", "value-of-the-variable"
	server := newSpoke(t, token)
	server.accept(token, pair.cert)
	proxy, _ := newProxy(t)
	ctx := klog.NewContext(logr.NewContext(t.Context(), logger), logger)

	for _, exit := range []string{"0", "4"} {
		plugin := newTestPlugin(t, token)
		plugin.set("cert", pair.cert)
		plugin.set("key", pair.key)
		plugin.set("exit", exit)
		plugin.set("stderr", strings.Join([]string{"cannot sign in", token, pair.key, pair.cert, variable, jwt, "Bearer " + token}, "\n"))
		a := server.reach(plugin)
		a.ProxyURL = proxy.URL
		a.Exec.env = encodeList(append(a.Exec.Env(), EnvVar{"FLEET_TOKEN", variable}))
		s := newSource("fleet/spoke", a, newRunner(1, 30*time.Second))
		rt := s.wrap(http.DefaultTransport)
		c, err := s.Credential(ctx)
		p.print(err, a, a.Exec, s, rt, s.runner, c, newRedactor(a.Exec, []byte(token)), pluginOutput{stdout: []byte(token), stderr: token})
		logger.V(10).Info("all", "access", a, "source", s, "credential", c, "rt", rt, "error", err)
		logger.Error(err, "failed")
		if err != nil {
			require.ErrorContains(t, err, "cannot sign in")
			continue
		}
		cfg := config(t, s)
		p.print(cfg, c, *c, s.pool.made(a, c), landed(c), struct{ c *Credential }{c})
		logger.V(10).Info("config", "config", cfg)
		server.accept(token, pair.cert)
		sendAll(t, ctx, cfg.Host, client(t, cfg), server, token, pair)
	}
	p.line("metrics", metricsDump(t))

	printed := p.out.String()
	require.Contains(t, printed, "cannot sign in", "the failing run is in it")
	require.Contains(t, printed, "Response", "client-go's log is in it")
	secrets := append(strings.Split(pair.key, "\n"), strings.Split(pair.cert, "\n")...)
	for _, secret := range append(secrets, token, variable, jwt) {
		if secret != "" && !strings.HasPrefix(secret, "-----") {
			assert.NotContains(t, printed, secret)
		}
	}
}

// sendAll sends a request that is accepted and one that is rejected.
func sendAll(t *testing.T, ctx context.Context, url string, c *http.Client, server *spoke, token string, pair keyPair) {
	t.Helper()
	for _, accepted := range []string{token, "another-token"} {
		server.accept(accepted, pair.cert)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		require.NoError(t, err)
		resp, err := c.Do(req)
		require.NoError(t, err)
		assert.Equal(t, accepted == token, resp.StatusCode == http.StatusOK)
		require.NoError(t, resp.Body.Close())
	}
}
