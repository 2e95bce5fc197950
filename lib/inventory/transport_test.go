package inventory

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/httpstream"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// spoke is an API server that knows tokens and client certificates.
type spoke struct {
	*httptest.Server
	connections atomic.Int32
	requests    atomic.Int32

	mu     sync.Mutex
	token  string // the one that is accepted; empty: none is needed
	common string // leaf that is accepted; empty: none is needed
	bodies []string
}

func newSpoke(t testing.TB, token string) *spoke {
	t.Helper()
	s := &spoke{token: token}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Config.ErrorLog = stdlog.New(io.Discard, "", 0) // handshakes that fail are wanted
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *spoke) accept(token, leaf string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token, s.common = token, leaf
}

func (s *spoke) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, string(body))
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token || s.common != "" && presented(r) != s.common {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	fmt.Fprint(w, "ok")
}

// presented is the client certificate of the request as PEM.
func presented(r *http.Request) string {
	if len(r.TLS.PeerCertificates) == 0 {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.TLS.PeerCertificates[0].Raw}))
}

func (s *spoke) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// reach is an access to the spoke with the plugin.
func (s *spoke) reach(p *testPlugin) Access {
	a := p.access(s.URL)
	a.CAData = s.ca()
	return a
}

// config is what a Backend makes of a source.
func config(t testing.TB, s *source) *rest.Config {
	t.Helper()
	c, err := s.Credential(t.Context())
	require.NoError(t, err)
	cfg := s.access.config()
	cfg.CertData, cfg.KeyData = c.certificate()
	cfg.WrapTransport = s.wrap
	return cfg
}

func client(t testing.TB, cfg *rest.Config) *http.Client {
	t.Helper()
	c, err := rest.HTTPClientFor(cfg)
	require.NoError(t, err)
	return c
}

func get(t testing.TB, c *http.Client, url string) int {
	t.Helper()
	resp, err := c.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	return resp.StatusCode
}

// newProxy is a forward proxy that counts the tunnels it made.
func newProxy(t testing.TB) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	tunnels := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		tunnels.Add(1)
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
		go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
	}))
	t.Cleanup(server.Close)
	return server, tunnels
}

// Case 13, directly, through a proxy, and with a client certificate.
func TestFiftyClientsShareConnectionAndRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reason string
		proxy, cert  bool
	}{
		{"direct", "client-go shares the transport of equal configs", false, false},
		{"proxy", "client-go compares no proxies, so the source shares", true, false},
		{"certificate", "equal certificates are equal configs", false, true},
		{"proxy and certificate", "both at once", true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := newSpoke(t, "the-token")
			p := newTestPlugin(t, "the-token")
			a := server.reach(p)
			if tc.cert {
				pair := newKeyPair(t, time.Hour)
				p.set("cert", pair.cert)
				p.set("key", pair.key)
				server.accept("the-token", pair.cert)
			}
			var tunnels *atomic.Int32
			if tc.proxy {
				var proxy *httptest.Server
				proxy, tunnels = newProxy(t)
				a.ProxyURL = proxy.URL
			}
			s := newSource("fleet/spoke", a, newRunner(8, 30*time.Second))
			for range 50 {
				require.Equal(t, http.StatusOK, get(t, client(t, config(t, s)), server.URL+"/version"), tc.reason)
				runtime.GC() // the client is garbage, the transport must not be
			}
			assert.EqualValues(t, 1, server.connections.Load(), tc.reason)
			assert.Len(t, p.runs(), 1)
			if tc.proxy {
				assert.EqualValues(t, 1, tunnels.Load(), "and it goes through the proxy")
			}
		})
	}
}

func TestTransportIsHeldForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &transportPool{}
		held := func() http.RoundTripper {
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.held
		}
		p.hold(&recorder{}) // not client-go's
		assert.Nil(t, held())
		rt := &http.Transport{}
		p.hold(rt)
		time.Sleep(holdFor - 1) // virtual
		p.hold(rt)
		time.Sleep(holdFor - 1)
		assert.Same(t, rt, held(), "each client prolongs it")
		time.Sleep(1)
		assert.Nil(t, held(), "no memory is kept for a cluster that nobody asks")
	})
}

// Case 27: both are used; a rotated certificate reaches new configs, and clients that
// exist as well.
func TestRotatedCertificateReachesAllClients(t *testing.T) {
	t.Parallel()
	server := newSpoke(t, "the-token")
	p := newTestPlugin(t, "the-token")
	first, second := newKeyPair(t, time.Hour), newKeyPair(t, time.Hour)
	rotate := func(pair keyPair) {
		p.set("cert", pair.cert)
		p.set("key", pair.key)
		server.accept("the-token", pair.cert)
	}
	rotate(first)
	s := newSource("fleet/spoke", server.reach(p), newRunner(8, 30*time.Second))
	oldConfig := config(t, s)
	old := client(t, oldConfig)
	require.Equal(t, http.StatusOK, get(t, old, server.URL), "token and certificate are both presented")
	own := rest.CopyConfig(oldConfig)
	own.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	changed := client(t, own)

	rotate(second)
	assert.Equal(t, http.StatusOK, get(t, old, server.URL), "the client that exists goes on")
	assert.Len(t, p.runs(), 2)
	newConfig := config(t, s)
	assert.Equal(t, second.cert, string(newConfig.CertData))
	assert.Equal(t, first.cert, string(oldConfig.CertData), "what was handed out is not edited")
	assert.Equal(t, http.StatusOK, get(t, client(t, newConfig), server.URL))
	assert.Equal(t, http.StatusUnauthorized, get(t, changed, server.URL), "a dialer of the caller's own is not bypassed")
	assert.WithinDuration(t, time.Now().Add(time.Hour), s.certificateExpiry(), time.Minute)
}

func TestRejectedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	server := newSpoke(t, "token-1")
	p := newTestPlugin(t, "token-%n")
	s := newSource("fleet/spoke", server.reach(p), newRunner(8, 30*time.Second))
	c := client(t, config(t, s))
	require.Equal(t, http.StatusOK, get(t, c, server.URL))

	server.accept("token-2", "")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			resp, err := c.Post(server.URL, "text/plain", strings.NewReader("the whole body"))
			if assert.NoError(t, err) {
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				_ = resp.Body.Close()
			}
		})
	}
	wg.Wait()
	assert.Len(t, p.runs(), 2, "one run however many were rejected")
	for _, body := range server.bodies[1:] {
		assert.Equal(t, "the whole body", body, "each attempt sends all of it")
	}
	assert.EqualValues(t, 1, server.connections.Load(), "a rejected response gives its connection back")
}

func TestBodyThatCannotBeReplayed(t *testing.T) {
	t.Parallel()
	server := newSpoke(t, "token-2")
	p := newTestPlugin(t, "token-%n")
	s := newSource("fleet/spoke", server.reach(p), newRunner(8, 30*time.Second))
	c := client(t, config(t, s))
	stream := func() int {
		resp, err := c.Post(server.URL, "text/plain", io.MultiReader(strings.NewReader("once")))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	assert.Equal(t, http.StatusUnauthorized, stream(), "the caller decides")
	require.Eventually(t, func() bool { return len(p.runs()) == 2 }, 10*time.Second, time.Millisecond, "but the next one has it better")
	require.Eventually(t, func() bool { return stream() == http.StatusOK }, 10*time.Second, time.Millisecond)
	assert.Len(t, p.runs(), 2)
}

// recorder is a transport that answers with what it is told.
type recorder struct {
	mu       sync.Mutex
	requests []*http.Request
	answer   func(*http.Request) int
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req)
	return &http.Response{StatusCode: r.answer(req), Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
}

func ok(*http.Request) int           { return http.StatusOK }
func unauthorized(*http.Request) int { return http.StatusUnauthorized }

func TestTokenGoesToItsServerOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		server, url, reason string
		want                bool
	}{
		{"https://spoke.example", "https://spoke.example/version", "its own", true},
		{"https://spoke.example/clusters/a", "https://spoke.example/clusters/a/version", "a server with a path", true},
		{"https://spoke.example", "https://SPOKE.example:443/version", "the same server, spelt otherwise", true},
		{"https://spoke.example:443", "https://spoke.example/version", "the same server, default port", true},
		{"https://[::1]:6443", "https://[::1]:6443/version", "IPv6", true},
		{"https://spoke.example", "https://spoke.example:8443/version", "another port", false},
		{"https://spoke.example", "https://evil.example/version", "another host", false},
		{"https://spoke.example", "https://spoke.example.evil.example/", "a longer name", false},
		{"https://spoke.example", "http://spoke.example:443/version", "not encrypted", false},
		{"https://spoke.example", "https://user@evil.example/spoke.example", "confusing", false},
		{"http://spoke.example", "http://spoke.example/", "a server that Access would not have let through", false},
		{"", "https:///version", "no server at all", false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := &fakePlugin{}
			s := p.source(newRunner(1, time.Second))
			s.servers = newEndpoint(tc.server)
			next := &recorder{answer: ok}
			req := httptest.NewRequest(http.MethodGet, tc.url, nil)
			_, err := s.wrap(next).RoundTrip(req)
			require.NoError(t, err)
			got := next.requests[0].Header.Get("Authorization")
			assert.Equal(t, tc.want, got == "Bearer token-1", tc.reason)
			assert.Equal(t, tc.want, got != "", tc.reason)
			assert.Empty(t, req.Header.Get("Authorization"), "the caller's request is not edited")
		})
	}
}

func TestRedirectDoesNotTakeTheTokenAlong(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	server := httptest.NewTLSServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	p := newTestPlugin(t, "the-token")
	a := p.access(server.URL)
	a.CAData = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	s := newSource("fleet/spoke", a, newRunner(1, 30*time.Second))
	require.Equal(t, http.StatusOK, get(t, client(t, config(t, s)), server.URL))
	assert.Empty(t, seen.Load())
}

func TestRequestWithACredentialIsLeftAlone(t *testing.T) {
	t.Parallel()
	p := &fakePlugin{}
	next := &recorder{answer: unauthorized}
	req := httptest.NewRequest(http.MethodGet, "https://spoke.example/", nil)
	req.Header.Set("Authorization", "Bearer of-the-caller")
	rt := p.source(newRunner(1, time.Second)).wrap(next)
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	assert.Same(t, req, next.requests[0])
	assert.Zero(t, p.runs.Load(), "its 401 is none of ours")
	assert.Same(t, next, rt.(utilnet.RoundTripperWrapper).WrappedRoundTripper())
}

func TestFailingPluginNamesTheClusterOnce(t *testing.T) {
	t.Parallel()
	p := &fakePlugin{}
	p.fail(errors.New("no session"))
	body := &closer{Reader: strings.NewReader("x")}
	req := httptest.NewRequest(http.MethodPost, "https://spoke.example/", body)
	_, err := p.source(newRunner(1, time.Second)).wrap(&recorder{answer: ok}).RoundTrip(req)
	require.ErrorIs(t, err, ErrPluginFailed)
	assert.Equal(t, "ClusterProfile fleet/spoke: credential plugin failed: run 1: no session", err.Error())
	assert.True(t, body.closed, "a RoundTripper closes the body in any case")
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestRejectionAndFailingPlugin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		s := p.source(newRunner(1, time.Second))
		mustToken(t, s)
		p.fail(errors.New("account is locked"))
		rt := s.wrap(&recorder{answer: unauthorized})
		for range 5 {
			_, err := rt.RoundTrip(httptest.NewRequest(http.MethodGet, "https://spoke.example/", nil))
			require.ErrorIs(t, err, ErrPluginFailed)
			require.ErrorContains(t, err, "401")
			require.ErrorContains(t, err, "account is locked", "the cause, not just that it is unauthorized")
		}
		assert.EqualValues(t, 2, p.runs.Load(), "back-off holds here as well")
	})
}

// A server that rejects whatever the plugin has to offer.
func TestRejectionsAreRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		s := p.source(newRunner(1, time.Second))
		next := &recorder{answer: unauthorized}
		rt := s.wrap(next)
		ask := func(want int) {
			t.Helper()
			resp, err := rt.RoundTrip(httptest.NewRequest(http.MethodGet, "https://spoke.example/", nil))
			require.NoError(t, err)
			require.Equal(t, want, resp.StatusCode)
		}
		runs := int32(1)
		for _, pause := range []time.Duration{2, 4, 8, 16, 32, 64, 120, 120} {
			runs++
			ask(http.StatusUnauthorized) // one run, and a second attempt that fails too
			require.Equal(t, runs, p.runs.Load())
			time.Sleep(pause*time.Second - 1) // virtual
			ask(http.StatusUnauthorized)
			require.Equal(t, runs, p.runs.Load(), "no run during the pause of %d s", pause)
			time.Sleep(1)
		}

		runs++
		ask(http.StatusUnauthorized) // the longest pause begins
		time.Sleep(firstPause)       // virtual
		next.answer = ok
		ask(http.StatusOK)
		last := fmt.Sprintf("Bearer token-%d", runs)
		next.answer = func(r *http.Request) int {
			if r.Header.Get("Authorization") == last {
				return http.StatusUnauthorized
			}
			return http.StatusOK
		}
		runs++
		ask(http.StatusOK)
		require.Equal(t, runs, p.runs.Load(), "success ends the pause: the next rotation is followed at once")

		next.answer = unauthorized
		runs++
		ask(http.StatusUnauthorized)
		require.Equal(t, runs, p.runs.Load(), "and so is the one after it")
		current, err := s.renew(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, mustToken(t, s), current.secret.bearer, "a newer credential that is there already needs no run")
	})
}

// One path that always answers 401 must not keep the plugin running.
func TestOddPathDoesNotKeepThePluginBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		next := &recorder{answer: func(r *http.Request) int {
			if r.URL.Path == "/odd" {
				return http.StatusUnauthorized
			}
			return http.StatusOK
		}}
		rt := p.source(newRunner(1, time.Second)).wrap(next)
		for range 1000 { // 10 s
			for _, path := range []string{"/odd", "/version"} {
				_, err := rt.RoundTrip(httptest.NewRequest(http.MethodGet, "https://spoke.example"+path, nil))
				require.NoError(t, err)
			}
			time.Sleep(10 * time.Millisecond) // virtual
		}
		assert.LessOrEqual(t, p.runs.Load(), int32(7))
	})
}

// upgrader is like the round trippers of exec, attach and port-forward.
type upgrader struct{ recorder }

func (*upgrader) NewConnection(*http.Response) (httpstream.Connection, error) { return nil, nil }

func TestUpgradeIsSentOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		s := p.source(newRunner(1, time.Second))
		next := &upgrader{recorder{answer: unauthorized}}
		resp, err := s.wrap(next).RoundTrip(httptest.NewRequest(http.MethodPost, "https://spoke.example/exec", nil))
		require.NoError(t, err)
		assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
		assert.Len(t, next.requests, 1, "it would leave the connection of the first behind")
		synctest.Wait()
		assert.Equal(t, "Bearer token-2", mustToken(t, s), "the next one has a new token")
	})
}

func TestCallerLeavesWhileTheTokenIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePlugin{}
		s := p.source(newRunner(1, time.Minute))
		mustToken(t, s)
		p.takes = 30 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req := httptest.NewRequest(http.MethodGet, "https://spoke.example/", nil).WithContext(ctx)
		begin := time.Now()
		_, err := s.wrap(&recorder{answer: unauthorized}).RoundTrip(req)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begin))
		time.Sleep(time.Minute) // virtual
		assert.Equal(t, "Bearer token-2", mustToken(t, s))
	})
}

// A reverse proxy in front is a server with a path (case 26).
func TestServerWithAPath(t *testing.T) {
	t.Parallel()
	server := newSpoke(t, "the-token")
	target, err := url.Parse(server.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = server.Client().Transport
	front := httptest.NewTLSServer(http.StripPrefix("/v1/projects/p", proxy))
	t.Cleanup(front.Close)
	p := newTestPlugin(t, "the-token")
	a := p.access(front.URL + "/v1/projects/p")
	a.CAData = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}))
	s := newSource("fleet/spoke", a, newRunner(1, 30*time.Second))
	assert.Equal(t, http.StatusOK, get(t, client(t, config(t, s)), a.Server+"/version"))
}
