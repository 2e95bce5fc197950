package inventory

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-inventory-api/pkg/access"
)

// script writes an executable shell script and returns its path.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	return path
}

func entryJSON(name, command string) string {
	return fmt.Sprintf(`{"name":%q,"execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":%q}}`, name, command)
}

func TestParseProvidersRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		file         string
		says         []string
	}{
		{"not JSON", "YAML would be read as something else", "providers: []", []string{"no JSON of the provider format"}},
		{"unknown key", "a key that is not read does not do what its writer expects",
			`{"providers":[{"name":"a","excConfig":{}}]}`, []string{`unknown field "providers[0].excConfig"`}},
		{"wrong case", "encoding/json would take it, the KEP's format does not have it",
			`{"Providers":[{"name":"a"}]}`, []string{`unknown field "Providers"`}},
		{"key twice", "one of the two would be lost",
			`{"providers":[{"name":"a","name":"b"}]}`, []string{`duplicate field "providers[0].name"`}},
		{"no name", "a profile cannot offer it", `{"providers":[{"execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"}}]}`,
			[]string{"provider number 1 has no name"}},
		{"name twice", "which of the two is meant",
			`{"providers":[` + entryJSON("a", "sh") + `,` + entryJSON("a", "sh") + `]}`, []string{`provider "a" is listed twice`}},
		{"no execConfig", "there is no way to get a credential", `{"providers":[{"name":"a"}]}`, []string{`provider "a": has no execConfig`}},
		{"no command", "nothing to start", `{"providers":[{"name":"a","execConfig":{"apiVersion":"client.authentication.k8s.io/v1"}}]}`,
			[]string{`provider "a": execConfig has no command`}},
		{"apiVersion gone", "client-go dropped v1alpha1",
			`{"providers":[{"name":"a","execConfig":{"apiVersion":"client.authentication.k8s.io/v1alpha1","command":"sh"}}]}`,
			[]string{`provider "a": execConfig.apiVersion is "client.authentication.k8s.io/v1alpha1"`}},
		{"args policy", "a misspelt policy must not mean Ignore silently",
			`{"providers":[{"name":"a","profileSourcedCLIArgsPolicy":"append","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"}}]}`,
			[]string{`provider "a": profileSourcedCLIArgsPolicy is "append"`}},
		{"env policy", "as before",
			`{"providers":[{"name":"a","profileSourcedEnvVarsPolicy":"Merge","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"}}]}`,
			[]string{`provider "a": profileSourcedEnvVarsPolicy is "Merge"`}},
		{"interactive", "a controller has no terminal (kubernetes 99310)",
			`{"providers":[{"name":"a","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh","interactiveMode":"Always"}}]}`,
			[]string{`provider "a": execConfig.interactiveMode is Always`}},
		{"all at once", "one round of corrections is enough",
			`{"providers":[{"name":"a"},{"name":"b","execConfig":{"command":"sh"}}]}`,
			[]string{`provider "a": has no execConfig`, `provider "b": execConfig.apiVersion`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseProviders([]byte(tc.file))
			require.Error(t, err, tc.reason)
			for _, text := range tc.says {
				assert.ErrorContains(t, err, text, tc.reason)
			}
		})
	}
}

func TestParseProvidersEmptyIsNotConfigured(t *testing.T) {
	for _, file := range []string{"", " \n", "{}", `{"providers":[]}`, `{"providers":null}`} {
		_, err := parseProviders([]byte(file))
		require.ErrorIs(t, err, ErrNotConfigured, "file %q", file)
	}
}

func TestInteractiveModesThatAreFine(t *testing.T) {
	for _, mode := range []string{"", `,"interactiveMode":"Never"`, `,"interactiveMode":"IfAvailable"`} {
		list, err := parseProviders([]byte(
			`{"providers":[{"name":"a","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"` + mode + `}}]}`))
		require.NoError(t, err)
		require.NoError(t, list[0].unusable)
	}
}

func TestCommandsAreResolvedOnceToAbsolutePaths(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "bin", "plugin")
	require.NoError(t, os.MkdirAll(filepath.Dir(good), 0o755))
	require.NoError(t, os.WriteFile(good, []byte("#!/bin/sh\n"), 0o755))
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	t.Chdir(dir)
	t.Setenv("PATH", filepath.Join(dir, "bin"))

	for _, tc := range []struct{ name, command, path, why string }{
		{"absolute", good, good, ""},
		{"bare name", "plugin", good, ""},
		{"relative, as in the upstream sample", "./bin/plugin", good, ""},
		{"missing", filepath.Join(dir, "none"), "", filepath.Join(dir, "none") + " does not exist"},
		{"directory", filepath.Join(dir, "bin"), "", filepath.Join(dir, "bin") + " is a directory"},
		{"no x bit", plain, "", plain + " is not executable"},
		{"not in PATH", "kubelogin", "", `command "kubelogin" is not in PATH`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list, err := parseProviders([]byte(`{"providers":[` + entryJSON("it", tc.command) + `,` + entryJSON("other", good) + `]}`))
			require.NoError(t, err, "one missing plugin must not refuse the file")
			assert.Equal(t, tc.path, list[0].command)
			if tc.why == "" {
				require.NoError(t, list[0].unusable)
			} else {
				require.ErrorContains(t, list[0].unusable, tc.why)
			}
			require.NoError(t, list[1].unusable, "the others keep working")
		})
	}
}

func TestPluginPolicyBinds(t *testing.T) {
	good, other := script(t, "true"), script(t, "true")
	for _, tc := range []struct {
		name   string
		policy clientcmdapi.PluginPolicy
		why    string
	}{
		{"none", clientcmdapi.PluginPolicy{}, ""},
		{"allow all", clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowAll}, ""},
		{"deny all", clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyDenyAll}, "policy is DenyAll"},
		{"on the list", clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist,
			Allowlist: []clientcmdapi.AllowlistEntry{{Command: good}}}, ""},
		{"not on the list", clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist,
			Allowlist: []clientcmdapi.AllowlistEntry{{Command: other}}}, "not on the exec plugin policy's allow-list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := NewFromProviders(Options{}, access.New([]access.Provider{{Name: "a", ExecConfig: &clientcmdapi.ExecConfig{
				APIVersion: "client.authentication.k8s.io/v1", Command: good, PluginPolicy: tc.policy}}}))
			require.NoError(t, err)
			_, err = b.Resolve(profile("p", offer("a")))
			if tc.why == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrPluginFailed)
			require.ErrorContains(t, err, tc.why)
		})
	}
	_, err := NewFromProviders(Options{}, access.New([]access.Provider{{Name: "a", ExecConfig: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: good,
		PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: "denyall"}}}}))
	require.ErrorIs(t, err, ErrProviderFile, "a policy that is not understood refuses, it does not allow")
}
