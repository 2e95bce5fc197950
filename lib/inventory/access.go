package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Access is how one cluster is reached and who vouches for us there: all that
// resolving an inventory ClusterProfile against the provider file yields, as one
// plain value. It holds no credential, is comparable with ==, and two equal values
// may share a connection.
type Access struct {
	// Provider is the name of the access provider that was chosen.
	Provider string
	// Server is the URL of the API server, always https. It may have a path.
	Server string
	// CAData is the PEM bundle that the server's certificate is checked against.
	// Empty: the system roots.
	CAData string
	// TLSServerName replaces the host of Server when its certificate is checked.
	TLSServerName string
	// ProxyURL is an http, https or socks5 URL. Empty: the proxy environment
	// variables of the process apply.
	ProxyURL string
	// InsecureSkipTLSVerify is only ever true where the operator allowed it.
	InsecureSkipTLSVerify bool
	// DisableCompression opts out of compressed responses.
	DisableCompression bool
	// Exec is the credential plugin.
	Exec Exec
}

// Exec is one way of starting a credential plugin (KEP-541), with nothing left to
// look up: the command is an absolute path and the lists are in their final order.
type Exec struct {
	// APIVersion is client.authentication.k8s.io/v1 or .../v1beta1.
	APIVersion string
	// Command is the absolute path of the plugin.
	Command string
	// ProvideClusterInfo tells whether the plugin is told about the cluster.
	ProvideClusterInfo bool
	// Config is the JSON of the cluster's extension
	// "client.authentication.k8s.io/exec", or empty.
	Config string

	args string // JSON list of strings, empty for none
	env  string // JSON list of [name, value] pairs, empty for none
}

// EnvVar is one environment variable of a plugin.
type EnvVar struct{ Name, Value string }

// Args are the command-line arguments.
func (e Exec) Args() []string { return decodeList[string](e.args) }

// Env are the variables that are added to the environment of this process, sorted
// by name where the cluster's status contributed to them.
func (e Exec) Env() []EnvVar { return decodeList[EnvVar](e.env) }

// String names the plugin without its environment, which may hold secrets.
func (e Exec) String() string { return e.Command }

// GoString is String, so that %#v prints no environment either.
func (e Exec) GoString() string { return e.Command }

// MarshalJSON prints what String prints.
func (e Exec) MarshalJSON() ([]byte, error) { return json.Marshal(e.Command) }

// String names the provider and the server.
func (a Access) String() string { return fmt.Sprintf("%s via %s", a.Server, a.Provider) }

// GoString is String.
func (a Access) GoString() string { return a.String() }

// Fingerprint identifies the value: equal for equal values, in this process and in
// any other, and safe to print.
func (a Access) Fingerprint() string {
	h := sha256.New()
	for _, field := range []string{
		a.Provider, a.Server, a.CAData, a.TLSServerName, a.ProxyURL,
		a.Exec.APIVersion, a.Exec.Command, a.Exec.Config, a.Exec.args, a.Exec.env,
		fmt.Sprint(a.InsecureSkipTLSVerify, a.DisableCompression, a.Exec.ProvideClusterInfo),
	} {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// config returns an anonymous rest.Config for the cluster: no credential, no plugin.
func (a Access) config() *rest.Config {
	cfg := &rest.Config{
		Host: a.Server,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: a.TLSServerName,
			Insecure:   a.InsecureSkipTLSVerify,
		},
		DisableCompression: a.DisableCompression,
	}
	if a.CAData != "" {
		cfg.CAData = []byte(a.CAData)
	}
	if a.ProxyURL != "" {
		if proxy, err := url.Parse(a.ProxyURL); err == nil {
			cfg.Proxy = http.ProxyURL(proxy)
		}
	}
	return cfg
}

// execConfig is the recipe in client-go's own words.
func (e Exec) execConfig() *clientcmdapi.ExecConfig {
	out := &clientcmdapi.ExecConfig{
		APIVersion:         e.APIVersion,
		Command:            e.Command,
		Args:               e.Args(),
		ProvideClusterInfo: e.ProvideClusterInfo,
		InteractiveMode:    clientcmdapi.NeverExecInteractiveMode,
		StdinUnavailable:   true,
	}
	for _, v := range e.Env() {
		out.Env = append(out.Env, clientcmdapi.ExecEnvVar{Name: v.Name, Value: v.Value})
	}
	if e.Config != "" {
		out.Config = &runtime.Unknown{Raw: []byte(e.Config), ContentType: runtime.ContentTypeJSON}
	}
	return out
}

func encodeList[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	data, err := json.Marshal(list)
	if err != nil { // strings always marshal
		return ""
	}
	return string(data)
}

func decodeList[T any](data string) []T {
	if data == "" {
		return nil
	}
	var out []T
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		return nil
	}
	return out
}
