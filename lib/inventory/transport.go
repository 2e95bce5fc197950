package inventory

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/httpstream"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// maxDrain is how much of a rejected response is read so that its connection can be
// used again.
const maxDrain = 64 << 10

// wrap is for rest.Config.WrapTransport: it adds the credential of the cluster to
// each request for its API server, and to no other.
func (s *source) wrap(rt http.RoundTripper) http.RoundTripper {
	t := &roundTripper{source: s, next: rt}
	s.pool.hold(rt)
	_, t.upgrades = rt.(httpstream.UpgradeRoundTripper)
	if c := s.current.Load(); c != nil {
		t.certPEM = c.secret.certPEM
		t.replaceable = s.pool.like(s.access, c, rt)
	}
	return t
}

// roundTripper authenticates requests with what its source has at the time.
type roundTripper struct {
	source *source
	next   http.RoundTripper
	// certPEM is the client certificate that next presents.
	certPEM string
	// replaceable: next is what client-go makes of our rest.Config and nothing else,
	// so that another transport of the same settings can stand in for it.
	replaceable bool
	// upgrades: next keeps the connection of its last request, so it sends one only.
	upgrades bool
}

var _ utilnet.RoundTripperWrapper = (*roundTripper)(nil)

// WrappedRoundTripper returns what the wrapper was put around.
func (t *roundTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// String names the cluster.
func (t *roundTripper) String() string { return "transport with the " + t.source.String() }

// GoString is String.
func (t *roundTripper) GoString() string { return t.String() }

// RoundTrip sends the request with the cluster's credential. When the server answers
// 401 it gets a new one, once for all requests that were rejected, and sends the
// request again if its body can be had again. Requests that carry a credential
// already or that go to another host are passed on as they are.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(req.Header.Get("Authorization")) != 0 || !t.source.servers.matches(req.URL) {
		return t.next.RoundTrip(req)
	}
	c, err := t.source.Credential(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, t.source.about(err)
	}
	resp, err := t.send(req, c)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return t.resend(req, resp, c)
	}
	t.source.accepted(c)
	return resp, nil
}

// send sends a copy of the request with the credential.
func (t *roundTripper) send(req *http.Request, c *Credential) (*http.Response, error) {
	if c.secret.bearer != "" {
		req = utilnet.CloneRequest(req)
		req.Header.Set("Authorization", c.secret.bearer)
	}
	return t.transport(c).RoundTrip(req)
}

// resend deals with a 401: it returns the answer to a second attempt with a new
// credential, or the 401 itself where a second attempt is not possible.
func (t *roundTripper) resend(req *http.Request, rejected *http.Response, c *Credential) (*http.Response, error) {
	again, ok := replay(req)
	if !ok || t.upgrades {
		t.source.renewLater(c)
		return rejected, nil
	}
	renewed, err := t.source.renew(req.Context(), c)
	switch {
	case err != nil:
		discard(rejected)
		return nil, t.source.about(fmt.Errorf("the server rejects the credential (401) and a new one is not to be had: %w", err))
	case renewed == nil:
		return rejected, nil
	}
	discard(rejected)
	resp, err := t.send(again, renewed)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		t.source.fruitless(renewed)
	} else {
		t.source.accepted(renewed)
	}
	return resp, nil
}

// replay returns the request for a second attempt, with a body that is whole again.
func replay(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again := utilnet.CloneRequest(req)
	again.Body = body
	return again, true
}

func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	_ = resp.Body.Close()
}

// transport is what the request goes through: what client-go gave us, except that
//   - behind a proxy-url, client-go makes a new transport, and so a new connection,
//     for each client, because it cannot compare functions. All clients of the cluster
//     then share the pool's.
//   - a client certificate is part of a transport. When the plugin has rotated it,
//     clients that were built before go on with the new one.
func (t *roundTripper) transport(c *Credential) http.RoundTripper {
	if !t.replaceable || (t.source.access.ProxyURL == "" && c.secret.certPEM == t.certPEM) {
		return t.next
	}
	if rt := t.source.pool.get(t.source.access, c); rt != nil {
		return rt
	}
	return t.next
}

// endpoint is the API server that a credential is for.
type endpoint struct {
	host      string // as in the access
	canonical string // in lower case, with the port
}

// newEndpoint returns the zero endpoint, which matches nothing, for what is no https
// URL.
func newEndpoint(server string) endpoint {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return endpoint{}
	}
	return endpoint{host: u.Host, canonical: canonicalHost(u)}
}

// matches tells whether a request to u reaches the server, encrypted.
func (e endpoint) matches(u *url.URL) bool {
	if u == nil || u.Scheme != "https" || e.host == "" {
		return false
	}
	return u.Host == e.host || canonicalHost(u) == e.canonical
}

func canonicalHost(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
