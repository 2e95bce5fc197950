package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// server is the API server of one cluster, over one connection.
type server struct {
	config *rest.Config
	http   *http.Client
}

func connect(cfg *rest.Config) (*server, error) {
	cfg.WarningHandler = rest.NoWarnings{} // warnings of a foreign server go to nobody's terminal
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	return &server{config: cfg, http: httpClient}, nil
}

// version returns the version that the server reports and how long it took to answer.
func (s *server) version(ctx context.Context) (string, time.Duration, error) {
	c, err := discovery.NewDiscoveryClientForConfigAndClient(s.config, s.http)
	if err != nil {
		return "", 0, err
	}
	begin := time.Now()
	data, err := c.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	took := time.Since(begin)
	if err != nil {
		return "", took, describe(err)
	}
	var info version.Info
	if json.Unmarshal(data, &info) != nil || info.GitVersion == "" {
		return "", took, errors.New("it answers, but not as a Kubernetes API server does; correct the server's URL and path")
	}
	return short(oneLine(info.GitVersion)), took, nil
}

// whoAmI returns the name under which the server knows us.
func (s *server) whoAmI(ctx context.Context) (string, error) {
	c, err := authenticationclient.NewForConfigAndClient(s.config, s.http)
	if err != nil {
		return "", err
	}
	review, err := c.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", describe(err)
	}
	return short(oneLine(review.Status.UserInfo.Username)), nil
}

// wanted is what add-ons usually create, and in this order a hint at what is missing.
var wanted = []authorizationv1.ResourceAttributes{
	{Verb: "create", Resource: "namespaces"},
	{Verb: "create", Resource: "configmaps"},
	{Verb: "create", Group: "apps", Resource: "deployments"},
	{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"},
	{Verb: "create", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
}

// denied lists what of wanted may not be done, none for who may do everything.
func (s *server) denied(ctx context.Context) ([]string, error) {
	all, err := s.may(ctx, authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"})
	if err != nil || all {
		return nil, err
	}
	var denied []string
	for _, a := range wanted {
		allowed, err := s.may(ctx, a)
		if err != nil {
			return nil, err
		}
		if !allowed {
			denied = append(denied, a.Verb+" "+resource(a))
		}
	}
	return denied, nil
}

func resource(a authorizationv1.ResourceAttributes) string {
	if a.Group == "" {
		return a.Resource
	}
	return a.Resource + "." + a.Group
}

func (s *server) may(ctx context.Context, a authorizationv1.ResourceAttributes) (bool, error) {
	c, err := authorizationclient.NewForConfigAndClient(s.config, s.http)
	if err != nil {
		return false, err
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a}}
	answer, err := c.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, describe(err)
	}
	return answer.Status.Allowed, nil
}

// describe adds a remedy to an error of a request. Of an answer only the status is kept: a server may repeat in the
// text what it was sent, and that is a credential.
func describe(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := int(status.Status().Code)
		return fmt.Errorf("it answers %d %s%s", code, http.StatusText(code), statusHint(code))
	}
	if request := (*url.Error)(nil); errors.As(err, &request) {
		err = request.Err // the reader knows which server was asked
	}
	if hint := connectionHint(err); hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

func statusHint(code int) string {
	switch code {
	case http.StatusUnauthorized:
		return ": it does not accept the credential; see whether the plugin gives one for this cluster"
	case http.StatusForbidden:
		return ": it accepts the credential, and its owner may not read /version; bind the role system:public-info-viewer"
	case http.StatusNotFound:
		return ": there is no API server at this path; correct the server's URL"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ": what stands before the API server does not reach it"
	}
	return ""
}

// connectionHint is what to look at when no answer came.
func connectionHint(err error) string {
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		network *net.OpError
	)
	switch {
	case errors.As(err, &dns):
		return "the name is not known here; if only a proxy knows it, the access entry needs proxy-url"
	case errors.As(err, &unknown):
		return "certificate-authority-data is not what signed the server's certificate"
	case errors.As(err, &host):
		return "the certificate is for another name; the access entry may need tls-server-name"
	case errors.As(err, &invalid):
		return "renew the server's certificate"
	case errors.As(err, &record):
		return "the server does not speak TLS there"
	case errors.Is(err, context.DeadlineExceeded):
		return "nothing answers; see whether a firewall is between, and whether the access entry needs proxy-url"
	case errors.As(err, &network):
		return "see whether the address is right and reachable from here"
	}
	return ""
}
