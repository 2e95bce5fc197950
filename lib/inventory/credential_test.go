package inventory

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/pkg/apis/clientauthentication"
)

// keyPair is a self-signed client certificate as PEM.
type keyPair struct{ cert, key string }

func newKeyPair(t testing.TB, life time.Duration) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "tester"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(life),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return keyPair{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})),
	}
}

func TestCredentialCannotBePrinted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := newCredential("tok-visible", "CERT-visible", "KEY-visible", now.Add(time.Hour), now)
	holder := struct {
		c  *Credential
		v  Credential
		s  *secret
		sv secret
	}{c, *c, c.secret, *c.secret}
	for _, value := range []any{c, *c, &c, holder, &holder, c.secret, *c.secret, []*Credential{c}, map[string]Credential{"a": *c}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if text := fmt.Sprintf(verb, value); value != any(holder) && value != any(&holder) {
				assert.NotContains(t, text, "visible", "%s of %T", verb, value)
			}
		}
		data, err := json.Marshal(value)
		require.NoError(t, err)
		assert.NotContains(t, string(data), "visible", "JSON of %T", value)
	}
	assert.NotContains(t, fmt.Sprintf("%#v %+v", struct{ c Credential }{*c}, struct{ c *Credential }{c}), "visible",
		"fmt calls no methods of unexported fields, so the secret must be behind a pointer")
	assert.Equal(t, "Credential(token and client certificate, expires 2026-01-02T04:04:05Z)", c.String())
	assert.Equal(t, "<nil>", fmt.Sprint((*Credential)(nil)))
}

func TestLifeOfACredential(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, reason      string
		life              time.Duration // 0: no expiry
		refresh, unusable time.Duration
	}{
		{"none", "used until the server says 401", 0, 0, 0},
		{"an hour", "replaced 5 minutes before its end", time.Hour, 55 * time.Minute, time.Hour},
		{"a day", "replaced 5 minutes before its end", 24 * time.Hour, 24*time.Hour - 5*time.Minute, 24 * time.Hour},
		{"ten minutes", "replaced in the last fifth", 10 * time.Minute, 8 * time.Minute, 10 * time.Minute},
		{"born expired", "used for 10 s all the same", -time.Hour, minReuse, minReuse},
		{"a second", "used for 10 s all the same", time.Second, minReuse, minReuse},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var expiry time.Time
			if tc.life != 0 {
				expiry = now.Add(tc.life)
			}
			c := newCredential("t", "", "", expiry, now)
			if tc.life == 0 {
				assert.True(t, c.fresh(now.AddDate(100, 0, 0)), tc.reason)
				assert.True(t, c.usable(now.AddDate(100, 0, 0)), tc.reason)
				return
			}
			assert.True(t, c.fresh(now.Add(tc.refresh-1)), tc.reason)
			assert.False(t, c.fresh(now.Add(tc.refresh)), tc.reason)
			assert.True(t, c.usable(now.Add(tc.unusable-1)), tc.reason)
			assert.False(t, c.usable(now.Add(tc.unusable)), tc.reason)
		})
	}
	assert.False(t, (*Credential)(nil).fresh(now))
	assert.False(t, (*Credential)(nil).usable(now))
}

func TestEndOfTheCertificateIsAnExpiry(t *testing.T) {
	t.Parallel()
	pair := newKeyPair(t, time.Hour)
	status := clientauthentication.ExecCredentialStatus{ClientCertificateData: pair.cert, ClientKeyData: pair.key}
	c, err := credentialFromStatus(&status, time.Now())
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), c.expiry, time.Minute, "none was printed")

	early := metav1.NewTime(time.Now().Add(time.Minute))
	status.ExpirationTimestamp = &early
	c, err = credentialFromStatus(&status, time.Now())
	require.NoError(t, err)
	assert.Equal(t, early.Time, c.expiry, "the printed one is earlier")
	cert, key := c.certificate()
	assert.Equal(t, pair, keyPair{string(cert), string(key)})
}
