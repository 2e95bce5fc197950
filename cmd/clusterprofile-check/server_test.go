package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// secretToken is what a test server is sent, and repeats.
const secretToken = "very-secret-9f2b7c41d8e64a03"

// tlsServer answers what the handler says, and returns the configuration that reaches it.
func tlsServer(t *testing.T, handler http.HandlerFunc) *rest.Config {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = stdlog.New(io.Discard, "", 0) // handshakes that fail are wanted
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &rest.Config{Host: s.URL, BearerToken: secretToken, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

// echo answers with a status and with what it was sent, as a careless or hostile server does.
func echo(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		fmt.Fprintf(w, "you sent %s", r.Header.Get("Authorization"))
	}
}

func TestServerErrorsSayWhatToDo(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		config func(*testing.T) *rest.Config
		want   []string
	}{
		"401": {
			"the credential is at fault", func(t *testing.T) *rest.Config { return tlsServer(t, echo(401)) },
			[]string{"401 Unauthorized", "does not accept the credential"},
		},
		"500": {
			"the body may hold the credential", func(t *testing.T) *rest.Config { return tlsServer(t, echo(500)) },
			[]string{"500 Internal Server Error"},
		},
		"404": {
			"a wrong path", func(t *testing.T) *rest.Config { return tlsServer(t, echo(404)) },
			[]string{"404 Not Found", "correct the server's URL"},
		},
		"no API server": {
			"some web server", func(t *testing.T) *rest.Config { return tlsServer(t, echo(200)) },
			[]string{"not as a Kubernetes API server does"},
		},
		"other authority": {
			"the inventory holds an old CA", func(t *testing.T) *rest.Config {
				cfg := tlsServer(t, echo(200))
				cfg.CAData = nil
				return cfg
			}, []string{"certificate-authority-data is not what signed"},
		},
		"other name": {
			"a tunnel ends under another name", func(t *testing.T) *rest.Config {
				cfg := tlsServer(t, echo(200))
				cfg.ServerName = "spoke-1.invalid"
				return cfg
			}, []string{"tls-server-name"},
		},
		"closed port": {
			"nobody listens", func(t *testing.T) *rest.Config {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				require.NoError(t, l.Close())
				return &rest.Config{Host: "https://" + l.Addr().String()}
			}, []string{"connection refused", "reachable from here"},
		},
		"silent server": {
			"a firewall that drops", func(t *testing.T) *rest.Config {
				return tlsServer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			}, []string{"proxy-url"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s, err := connect(tc.config(t))
			require.NoError(t, err)
			_, _, err = s.version(ctx)
			require.Error(t, err)
			for _, text := range tc.want {
				assert.ErrorContains(t, err, text, tc.reason)
			}
			assert.NotContains(t, err.Error(), secretToken, "no answer of a server may bring the credential to the screen")
		})
	}
}

func TestVersionOfAForeignServerIsHarmless(t *testing.T) {
	s, err := connect(tlsServer(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"gitVersion":"v1\u001b[2J%s"}`, strings.Repeat("x", 1000))
	}))
	require.NoError(t, err)
	version, _, err := s.version(t.Context())
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(version, "v1[2Jxxx"), "control characters are dropped: %q", version)
	assert.LessOrEqual(t, len(version), maxForeign+3)
}

func TestDeniedNamesWhatAddOnsNeed(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		denies []string // resources
		want   []string
	}{
		"everything": {"who may do all is not asked for each", nil, nil},
		"enough":     {"a role that is not *, and allows what is wanted", []string{"*"}, nil},
		"less": {"the group tells two resources of one name apart", []string{"*", "clusterroles", "namespaces"},
			[]string{"create namespaces", "create clusterroles.rbac.authorization.k8s.io"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := connect(tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
				review := &authorizationv1.SelfSubjectAccessReview{}
				if !assert.NoError(t, json.NewDecoder(r.Body).Decode(review)) {
					return
				}
				review.Status.Allowed = !slices.Contains(tc.denies, review.Spec.ResourceAttributes.Resource)
				w.Header().Set("Content-Type", "application/json")
				assert.NoError(t, json.NewEncoder(w).Encode(review))
			}))
			require.NoError(t, err)
			s.config.ContentType = "application/json"
			denied, err := s.denied(t.Context())
			require.NoError(t, err)
			assert.Equal(t, tc.want, denied, tc.reason)
		})
	}
}
