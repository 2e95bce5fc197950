package firewall

import (
	"context"
	"encoding/pem"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// clustersPath is the path below which the hub's end of the tunnels serves each cluster.
const clustersPath = "/clusters/spoke-1"

// silent drops what servers say of connections that end.
var silent = stdlog.New(io.Discard, "", 0)

// overOneConnection is HTTP/2 without TLS, which both ends of a tunnel speak.
func overOneConnection() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// tunnelHub is the hub's end: agents dial its port, clients its URL.
type tunnelHub struct {
	// Server terminates TLS for the clients.
	*httptest.Server
	// agents is the address that agents dial.
	agents string
	// dialled counts the agents, opened the connections that were asked of them.
	dialled, opened atomic.Int32

	conns chan net.Conn
}

func newTunnelHub(t *testing.T) *tunnelHub {
	t.Helper()
	h := &tunnelHub{conns: make(chan net.Conn, 1)}
	h.agents = serve(t, func(conn net.Conn) {
		h.dialled.Add(1)
		h.conns <- conn
	})
	through := &http.Transport{Protocols: overOneConnection(), DialContext: h.take}
	t.Cleanup(through.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Transport: through,
		ErrorLog:  silent,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "spoke-1"}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	}
	mux := http.NewServeMux()
	mux.Handle(clustersPath+"/", http.StripPrefix(clustersPath, proxy))
	h.Server = httptest.NewUnstartedServer(mux)
	h.EnableHTTP2 = true
	h.Config.ErrorLog = silent
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// take is the dialler of the hub's end: it hands out the connection that an agent has made, and makes none.
func (h *tunnelHub) take(context.Context, string, string) (net.Conn, error) {
	select {
	case conn := <-h.conns:
		h.opened.Add(1)
		return conn, nil
	default:
		return nil, errNoWay
	}
}

func (h *tunnelHub) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
}

// runAgent is the spoke's end: it listens nowhere, dials the hub's end, and passes what comes out of that one
// connection on to the API server, with the credential that the client has put in.
func runAgent(t *testing.T, hub string, spoke *helpers.Cluster) {
	t.Helper()
	apiServer, err := url.Parse("https://" + address(t, spoke))
	require.NoError(t, err)
	anonymous, err := rest.TransportFor(&rest.Config{
		Host: apiServer.String(), TLSClientConfig: rest.TLSClientConfig{CAData: spoke.Config.CAData},
	})
	require.NoError(t, err)
	conn, err := net.Dial("tcp", hub)
	require.NoError(t, err)
	server := &http.Server{
		Protocols: overOneConnection(),
		ErrorLog:  silent,
		Handler: &httputil.ReverseProxy{
			Transport:     anonymous,
			ErrorLog:      silent,
			FlushInterval: -1, // watches are streams
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(apiServer) },
		},
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(newOnce(conn)) }()
}

// once is a listener with one connection, which is there already.
type once struct {
	conns chan net.Conn
	close func()
	addr  net.Addr
}

var _ net.Listener = once{}

func newOnce(conn net.Conn) once {
	conns := make(chan net.Conn, 1)
	conns <- conn
	return once{conns: conns, close: sync.OnceFunc(func() { close(conns) }), addr: conn.LocalAddr()}
}

func (o once) Accept() (net.Conn, error) {
	if conn, ok := <-o.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (o once) Close() error {
	o.close()
	return nil
}

func (o once) Addr() net.Addr { return o.addr }
