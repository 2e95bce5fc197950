package inventory

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/pkg/apis/clientauthentication/install"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientauthenticationv1beta1 "k8s.io/client-go/pkg/apis/clientauthentication/v1beta1"
	"k8s.io/client-go/rest"
)

const (
	// minReuse is how long a credential is used at least, whatever its expiry says: a
	// plugin whose clock is behind would otherwise be started for each request.
	minReuse = 10 * time.Second
	// maxRefreshLead bounds how long before its expiry a credential is replaced.
	maxRefreshLead = 5 * time.Minute
	// refreshShare is the last part of its life in which a credential is replaced in
	// the background: one fifth.
	refreshShare = 5
)

// Credential is what a plugin answered, for one cluster. It is immutable, and it
// cannot be printed: its secrets are behind a pointer, out of reach of fmt and of
// reflection-based loggers, and its own printing methods tell only what kind it is.
type Credential struct {
	secret *secret
	expiry time.Time // zero: valid until the server says otherwise

	refreshAt time.Time // replaced in the background from here on; zero: never
	usableTo  time.Time // not handed out from here on; zero: no end
}

// secret is the part of a credential that must never be seen.
type secret struct {
	unprintable
	bearer  string // value of the Authorization header, empty without a token
	certPEM string // empty without a client certificate
	keyPEM  string
}

// String tells what the credential consists of.
func (c Credential) String() string {
	kind := "empty"
	switch {
	case c.secret == nil:
	case c.secret.bearer != "" && c.secret.certPEM != "":
		kind = "token and client certificate"
	case c.secret.bearer != "":
		kind = "token"
	case c.secret.certPEM != "":
		kind = "client certificate"
	}
	if c.expiry.IsZero() {
		return "Credential(" + kind + ")"
	}
	return fmt.Sprintf("Credential(%s, expires %s)", kind, c.expiry.UTC().Format(time.RFC3339))
}

// GoString is String.
func (c Credential) GoString() string { return c.String() }

// Format prints String whatever the verb and flags.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalJSON prints what String prints.
func (c Credential) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// certificate returns the client certificate and its key as PEM, or nil twice.
func (c *Credential) certificate() (certPEM, keyPEM []byte) {
	if c.secret.certPEM == "" {
		return nil, nil
	}
	return []byte(c.secret.certPEM), []byte(c.secret.keyPEM)
}

// fresh tells whether the credential can be handed out with nothing else to do.
func (c *Credential) fresh(now time.Time) bool {
	return c != nil && (c.refreshAt.IsZero() || now.Before(c.refreshAt))
}

// usable tells whether the credential can still be handed out.
func (c *Credential) usable(now time.Time) bool {
	return c != nil && (c.usableTo.IsZero() || now.Before(c.usableTo))
}

// newCredential returns a credential that was obtained now. The key pair must have
// been checked.
func newCredential(token, certPEM, keyPEM string, expiry, now time.Time) *Credential {
	c := &Credential{secret: &secret{certPEM: certPEM, keyPEM: keyPEM}, expiry: expiry}
	if token != "" {
		c.secret.bearer = "Bearer " + token
	}
	if expiry.IsZero() {
		return c
	}
	life := expiry.Sub(now)
	if life <= minReuse {
		c.usableTo = now.Add(minReuse)
		c.refreshAt = c.usableTo
		return c
	}
	c.usableTo = expiry
	c.refreshAt = expiry.Add(-min(life/refreshShare, maxRefreshLead))
	return c
}

// The codecs of KEP-541, set up as client-go sets up its own.
var (
	execScheme = runtime.NewScheme()
	execCodecs = serializer.NewCodecFactory(execScheme)

	execVersions = map[string]schema.GroupVersion{
		clientauthenticationv1.SchemeGroupVersion.String():      clientauthenticationv1.SchemeGroupVersion,
		clientauthenticationv1beta1.SchemeGroupVersion.String(): clientauthenticationv1beta1.SchemeGroupVersion,
	}
)

func init() {
	install.Install(execScheme)
}

// execVersion is the version of the protocol that the plugin is to speak.
func execVersion(e Exec) (schema.GroupVersion, error) {
	gv, ok := execVersions[e.APIVersion]
	if !ok {
		return gv, fmt.Errorf("its apiVersion %q is none of %s and %s; correct it in the provider file",
			e.APIVersion, clientauthenticationv1.SchemeGroupVersion, clientauthenticationv1beta1.SchemeGroupVersion)
	}
	return gv, nil
}

// encodeExecInfo is the value of KUBERNETES_EXEC_INFO.
func encodeExecInfo(a Access) ([]byte, error) {
	gv, err := execVersion(a.Exec)
	if err != nil {
		return nil, err
	}
	var in clientauthentication.ExecCredential
	if a.Exec.ProvideClusterInfo {
		cfg := a.config()
		cfg.ExecProvider = a.Exec.execConfig()
		if in.Spec.Cluster, err = rest.ConfigToExecCluster(cfg); err != nil {
			return nil, fmt.Errorf("the cluster cannot be described to it: %w", err)
		}
	}
	return runtime.Encode(execCodecs.LegacyCodec(gv), &in)
}

// decodeExecCredential reads what the plugin printed. Its errors quote nothing of it
// but type names.
func decodeExecCredential(e Exec, stdout []byte, now time.Time) (*Credential, error) {
	gv, err := execVersion(e)
	if err != nil {
		return nil, err
	}
	var out clientauthentication.ExecCredential
	_, gvk, err := execCodecs.UniversalDecoder(gv).Decode(stdout, nil, &out)
	if err != nil || gvk.GroupVersion() != gv {
		return nil, explainOutput(e, stdout)
	}
	if out.Status == nil {
		return nil, errors.New("it printed an ExecCredential without a status, so no credential; see whether it is signed in")
	}
	return credentialFromStatus(out.Status, now)
}

func credentialFromStatus(s *clientauthentication.ExecCredentialStatus, now time.Time) (*Credential, error) {
	hasCert, hasKey := s.ClientCertificateData != "", s.ClientKeyData != ""
	switch {
	case s.Token == "" && !hasCert && !hasKey:
		return nil, errors.New("it printed neither a token nor a client certificate; see whether it is signed in")
	case hasCert != hasKey:
		return nil, errors.New("it printed a client certificate or a key but not both; it must print the pair")
	case !validToken(s.Token):
		return nil, errors.New("it printed a token with characters that no HTTP header may hold; it must print the bare token")
	}
	var expiry time.Time
	if s.ExpirationTimestamp != nil {
		expiry = s.ExpirationTimestamp.Time
	}
	if hasCert {
		end, err := certificateEnd(s.ClientCertificateData, s.ClientKeyData)
		if err != nil {
			return nil, err
		}
		if expiry.IsZero() || end.Before(expiry) {
			expiry = end
		}
	}
	return newCredential(s.Token, s.ClientCertificateData, s.ClientKeyData, expiry, now), nil
}

// certificateEnd checks that the pair belongs together and returns when it ends.
func certificateEnd(certPEM, keyPEM string) (time.Time, error) {
	pair, err := tls.X509KeyPair([]byte(certPEM), []byte(keyPEM))
	if err != nil {
		return time.Time{}, errors.New("it printed a client certificate and a key that are no PEM pair; it must print the PEM of both")
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return time.Time{}, errors.New("it printed a client certificate that cannot be parsed")
	}
	return leaf.NotAfter, nil
}

// validToken tells whether the token can stand in a header. client-go would have each
// request refused by net/http, which then prints nothing that helps.
func validToken(token string) bool {
	for i := range len(token) {
		if b := token[i]; b < ' ' || b == 0x7f {
			return false
		}
	}
	return true
}
