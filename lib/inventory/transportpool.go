package inventory

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/transport"
)

// holdFor is how long a transport is kept for the next client: as long as client-go
// keeps an idle connection.
const holdFor = 90 * time.Second

// transportPool is the transport of one cluster that all its clients share, for the
// client certificate that was asked for last. The zero value is ready for use.
type transportPool struct {
	current atomic.Pointer[pooled]

	mu      sync.Mutex // guards what follows; one builds at a time
	held    http.RoundTripper
	release *time.Timer
}

// hold keeps the transport of a client alive for a while when the client is gone.
// client-go's cache holds it weakly, so that a controller that makes a client for each
// reconcile would have a new connection after each garbage collection.
func (p *transportPool) hold(rt http.RoundTripper) {
	if plain(rt) == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = rt
	if p.release == nil {
		p.release = time.AfterFunc(holdFor, p.letGo)
		return
	}
	p.release.Reset(holdFor)
}

func (p *transportPool) letGo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.release = nil, nil
}

type pooled struct {
	unprintable
	certPEM string
	inner   *http.Transport
	// outer keeps inner alive in client-go's cache, which holds it weakly.
	outer http.RoundTripper
}

// get returns the transport for the certificate of the credential, or nil when none
// can be made, in which case client-go has none either.
func (p *transportPool) get(a Access, c *Credential) http.RoundTripper {
	if made := p.made(a, c); made != nil {
		return made.inner
	}
	return nil
}

func (p *transportPool) made(a Access, c *Credential) *pooled {
	if made := p.current.Load(); made != nil && made.certPEM == c.secret.certPEM {
		return made
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.current.Load(); made != nil && made.certPEM == c.secret.certPEM {
		return made
	}
	made := build(a, c)
	if made != nil {
		p.current.Store(made)
	}
	return made
}

// build has client-go make the transport.
func build(a Access, c *Credential) *pooled {
	cfg := a.config()
	cfg.CertData, cfg.KeyData = c.certificate()
	settings, err := cfg.TransportConfig()
	if err != nil {
		return nil
	}
	outer, err := transport.New(settings)
	if err != nil {
		return nil
	}
	inner := innermost(outer)
	if inner == nil {
		return nil
	}
	return &pooled{certPEM: c.secret.certPEM, inner: inner, outer: outer}
}

// like tells whether rt is a transport that client-go made with the very settings of
// this cluster. A caller may have changed its copy of the rest.Config: another dialer,
// proxy, or protocol. Functions cannot be compared, but what they are can: code of the
// same address, a proxy that names the same URL.
//
// Only clients behind a proxy-url or with a client certificate ever need to know.
func (p *transportPool) like(a Access, c *Credential, rt http.RoundTripper) bool {
	if a.ProxyURL == "" && c.secret.certPEM == "" {
		return false
	}
	given := plain(rt)
	made := p.made(a, c)
	if given == nil || made == nil {
		return false
	}
	return sameSettings(given, made.inner) && sameTLS(given.TLSClientConfig, made.inner.TLSClientConfig) &&
		sameProxy(a.Server, given, made.inner)
}

func sameSettings(x, y *http.Transport) bool {
	return codeOf(x.DialContext) == codeOf(y.DialContext) &&
		codeOf(x.DialTLSContext) == codeOf(y.DialTLSContext) &&
		x.DisableCompression == y.DisableCompression
}

func sameTLS(x, y *tls.Config) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.InsecureSkipVerify == y.InsecureSkipVerify && x.ServerName == y.ServerName &&
		slices.Equal(x.NextProtos, y.NextProtos) &&
		(x.RootCAs == nil) == (y.RootCAs == nil) && (x.RootCAs == nil || x.RootCAs.Equal(y.RootCAs)) &&
		bytes.Equal(clientLeaf(x), clientLeaf(y))
}

// clientLeaf is the client certificate that a configuration of client-go presents.
func clientLeaf(c *tls.Config) []byte {
	if c.GetClientCertificate == nil {
		return nil
	}
	cert, err := c.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil || cert == nil || len(cert.Certificate) == 0 {
		return nil
	}
	return cert.Certificate[0]
}

func sameProxy(server string, x, y *http.Transport) bool {
	if x.Proxy == nil || y.Proxy == nil {
		return x.Proxy == nil && y.Proxy == nil
	}
	req, err := http.NewRequest(http.MethodGet, server, nil)
	if err != nil {
		return false
	}
	px, errX := x.Proxy(req)
	py, errY := y.Proxy(req)
	return errX == nil && errY == nil && (px == nil) == (py == nil) && (px == nil || px.String() == py.String())
}

func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// plain returns the transport in what client-go hands to WrapTransport: bare, or in
// the holder of client-go's cache. It looks through nobody else's wrappers.
func plain(rt http.RoundTripper) *http.Transport {
	if t, ok := rt.(*http.Transport); ok {
		return t
	}
	typ := reflect.TypeOf(rt)
	if typ == nil || typ.Kind() != reflect.Pointer || !strings.HasPrefix(typ.Elem().PkgPath(), "k8s.io/client-go/transport") {
		return nil
	}
	if holder, ok := rt.(utilnet.RoundTripperWrapper); ok {
		t, _ := holder.WrappedRoundTripper().(*http.Transport)
		return t
	}
	return nil
}

// innermost looks through the wrappers of client-go, which log.
func innermost(rt http.RoundTripper) *http.Transport {
	for {
		if t, ok := rt.(*http.Transport); ok {
			return t
		}
		holder, ok := rt.(utilnet.RoundTripperWrapper)
		if !ok {
			return nil
		}
		rt = holder.WrappedRoundTripper()
	}
}
