package firewall

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// gateway is what both proxies have in common: it alone knows where the spoke is, leads to no other place, and counts
// the connections that it makes.
type gateway struct {
	// name is host:port as the hub's side names the spoke, address is where it really is.
	name, address string
	// connections made to the spoke so far.
	connections atomic.Int32
}

var errNoWay = errors.New("no way there")

func (g *gateway) dial(name string) (net.Conn, error) {
	if name != g.name {
		return nil, fmt.Errorf("%w: %s", errNoWay, name)
	}
	conn, err := net.Dial("tcp", g.address)
	if err == nil {
		g.connections.Add(1)
	}
	return conn, err
}

// serve accepts connections on loopback until the test ends, and returns the address.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	return listener.Addr().String()
}

// pipe copies in both directions until one side ends.
func pipe(a io.ReadWriteCloser, b io.ReadWriteCloser) {
	var once sync.Once
	closeBoth := func() { _ = a.Close(); _ = b.Close() }
	go func() {
		defer once.Do(closeBoth)
		_, _ = io.Copy(a, b)
	}()
	defer once.Do(closeBoth)
	_, _ = io.Copy(b, a)
}

// buffered is a connection of which some bytes may have been read ahead.
type buffered struct {
	*bufio.Reader
	net.Conn
}

func (b buffered) Read(p []byte) (int, error) { return b.Reader.Read(p) }

// connectProxy is an HTTP proxy that knows CONNECT only.
func connectProxy(t *testing.T, g *gateway) string {
	return "http://" + serve(t, func(conn net.Conn) {
		client := buffered{bufio.NewReader(conn), conn}
		req, err := http.ReadRequest(client.Reader)
		if err != nil || req.Method != http.MethodConnect {
			_, _ = io.WriteString(conn, "HTTP/1.1 405 Method Not Allowed\r\n\r\n")
			_ = conn.Close()
			return
		}
		spoke, err := g.dial(req.Host)
		if err != nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			_ = conn.Close()
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		pipe(client, spoke)
	})
}

// Bytes of SOCKS5 (RFC 1928).
const (
	socksVersion     = 5
	socksNoAuth      = 0
	socksConnect     = 1
	socksDomain      = 3
	socksSucceeded   = 0
	socksUnreachable = 4
)

// socksProxy is a SOCKS5 proxy without authentication that knows CONNECT to a host name only.
func socksProxy(t *testing.T, g *gateway) string {
	return "socks5://" + serve(t, func(conn net.Conn) {
		client := buffered{bufio.NewReader(conn), conn}
		name, err := socksRequest(client)
		if err != nil {
			_ = conn.Close()
			return
		}
		spoke, err := g.dial(name)
		if err != nil {
			_, _ = conn.Write(socksReply(socksUnreachable))
			_ = conn.Close()
			return
		}
		_, _ = conn.Write(socksReply(socksSucceeded))
		pipe(client, spoke)
	})
}

func socksReply(code byte) []byte {
	const ipv4 = 1
	return []byte{socksVersion, code, 0, ipv4, 0, 0, 0, 0, 0, 0}
}

// socksRequest speaks the opening of a connection and returns host:port of the request.
func socksRequest(client buffered) (string, error) {
	var greeting [2]byte // version, number of methods
	if _, err := io.ReadFull(client, greeting[:]); err != nil {
		return "", err
	}
	if _, err := client.Discard(int(greeting[1])); err != nil {
		return "", err
	}
	if _, err := client.Write([]byte{socksVersion, socksNoAuth}); err != nil {
		return "", err
	}
	var head [5]byte // version, command, reserved, type of address, length of the name
	if _, err := io.ReadFull(client, head[:]); err != nil {
		return "", err
	}
	if head[0] != socksVersion || head[1] != socksConnect || head[3] != socksDomain {
		return "", fmt.Errorf("%w: SOCKS request % x", errNoWay, head)
	}
	rest := make([]byte, int(head[4])+2)
	if _, err := io.ReadFull(client, rest); err != nil {
		return "", err
	}
	host, port := rest[:len(rest)-2], binary.BigEndian.Uint16(rest[len(rest)-2:])
	return net.JoinHostPort(string(host), fmt.Sprint(port)), nil
}
