package inventory

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
)

// checkCluster refuses what a status may not ask for. It is written by another party:
// its server is sent a credential, so it must be the one that the certificate vouches
// for, and nothing of this process's own disk may be read for it.
func checkCluster(c *clientcmdv1.Cluster, allowInsecure bool) error {
	if err := checkServer(c.Server); err != nil {
		return err
	}
	if err := checkProxy(c.ProxyURL); err != nil {
		return err
	}
	if c.CertificateAuthority != "" && len(c.CertificateAuthorityData) == 0 {
		return fmt.Errorf("%w: certificate-authority names a file of the controller's own disk; "+
			"write certificate-authority-data", ErrRefused)
	}
	if len(c.CertificateAuthorityData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.CertificateAuthorityData) {
		return fmt.Errorf("%w: certificate-authority-data holds no PEM certificate", ErrRefused)
	}
	if strings.ContainsFunc(c.TLSServerName, notHost) {
		return fmt.Errorf("%w: tls-server-name %q is no host name", ErrRefused, c.TLSServerName)
	}
	switch {
	case !c.InsecureSkipTLSVerify:
	case !allowInsecure:
		return fmt.Errorf("%w: insecure-skip-tls-verify is not allowed; write certificate-authority-data, "+
			"or start the controller with --%s", ErrRefused, AllowInsecureTLSFlag)
	case len(c.CertificateAuthorityData) > 0:
		return fmt.Errorf("%w: insecure-skip-tls-verify contradicts certificate-authority-data; write one of them", ErrRefused)
	}
	return nil
}

func checkServer(server string) error {
	if server == "" {
		return fmt.Errorf("%w: server is empty; the cluster manager must write the URL of the API server", ErrRefused)
	}
	u, err := parseURL(server)
	switch {
	case err != nil:
		return fmt.Errorf("%w: server %w", ErrRefused, err)
	case u.Scheme != "https":
		return fmt.Errorf("%w: server %q is not https, so a credential cannot be sent to it", ErrRefused, u.Redacted())
	case u.User != nil:
		return fmt.Errorf("%w: server %q holds a user; credentials come from the plugin only", ErrRefused, u.Redacted())
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fmt.Errorf("%w: server %q has a query or a fragment", ErrRefused, u.Host)
	}
	return nil
}

func checkProxy(proxy string) error {
	if proxy == "" {
		return nil
	}
	u, err := parseURL(proxy)
	switch {
	case err != nil:
		return fmt.Errorf("%w: proxy-url %w", ErrRefused, err)
	case !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme):
		return fmt.Errorf("%w: proxy-url %q is none of http, https, socks5", ErrRefused, u.Redacted())
	}
	return nil
}

// parseURL takes absolute URLs with a host. Its errors do not repeat the input, which
// may hold a password.
func parseURL(text string) (*url.URL, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return nil, errors.New("holds white space or control characters")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("is no URL")
	}
	if u.Scheme == "" || u.Opaque != "" || u.Hostname() == "" {
		return nil, errors.New("is no URL with a scheme and a host")
	}
	return u, nil
}

// notHost tells runes that no host name or IP address holds.
func notHost(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._:*", r)
}
