package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientauthenticationv1beta1 "k8s.io/client-go/pkg/apis/clientauthentication/v1beta1"
	clientexec "k8s.io/client-go/plugin/pkg/client/auth/exec"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	kjson "sigs.k8s.io/json"
)

// provider is one entry of the provider file, checked.
type provider struct {
	fileProvider

	// command is the absolute path of the plugin.
	command string
	// unusable is why the plugin cannot be started, nil when it can.
	unusable error
}

// parseProviders reads a provider file strictly. Everything that is wrong is told at
// once, each with the name of its entry. A file without providers is
// [ErrNotConfigured].
func parseProviders(data []byte) ([]provider, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrNotConfigured)
	}
	var file fileConfig
	strict, err := kjson.UnmarshalStrict(data, &file)
	if err != nil {
		return nil, fmt.Errorf("no JSON of the provider format (KEP-4322): %w", err)
	}
	if err := errors.Join(strict...); err != nil {
		return nil, fmt.Errorf("%w; keys are case sensitive and each is written once", err)
	}
	return checkProviders(file.Providers)
}

// checkProviders checks the entries and looks their commands up.
func checkProviders(entries []fileProvider) ([]provider, error) {
	if len(entries) == 0 {
		return nil, fmt.Errorf("%w: the file lists no providers", ErrNotConfigured)
	}
	var problems []error
	seen := map[string]bool{}
	list := make([]provider, 0, len(entries))
	for i, entry := range entries {
		label := fmt.Sprintf("provider %q", entry.Name)
		if entry.Name == "" {
			label = fmt.Sprintf("provider number %d", i+1)
			problems = append(problems, fmt.Errorf("%s has no name", label))
		} else if seen[entry.Name] {
			problems = append(problems, fmt.Errorf("%s is listed twice", label))
		}
		seen[entry.Name] = true
		for _, problem := range checkProvider(entry) {
			problems = append(problems, fmt.Errorf("%s: %w", label, problem))
		}
		list = append(list, provider{fileProvider: entry})
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for i := range list {
		list[i].command, list[i].unusable = findCommand(list[i].ExecConfig)
	}
	return list, nil
}

// checkProvider returns what is wrong with an entry, whatever machine it is read on.
func checkProvider(entry fileProvider) []error {
	problems := checkPolicies(entry)
	e := entry.ExecConfig
	if e == nil {
		return append(problems, errors.New("has no execConfig, so nothing says how to get a credential"))
	}
	if e.Command == "" {
		problems = append(problems, errors.New("execConfig has no command"))
	}
	versions := []string{
		clientauthenticationv1.SchemeGroupVersion.String(),
		clientauthenticationv1beta1.SchemeGroupVersion.String(),
	}
	if !slices.Contains(versions, e.APIVersion) {
		problems = append(problems, fmt.Errorf("execConfig.apiVersion is %q, want %s", e.APIVersion, strings.Join(versions, " or ")))
	}
	switch e.InteractiveMode {
	case "", clientcmdapi.NeverExecInteractiveMode, clientcmdapi.IfAvailableExecInteractiveMode:
	case clientcmdapi.AlwaysExecInteractiveMode:
		problems = append(problems, errors.New("execConfig.interactiveMode is Always, but a controller has nobody to ask; use Never"))
	default:
		problems = append(problems, fmt.Errorf("execConfig.interactiveMode is %q, want Never or IfAvailable", e.InteractiveMode))
	}
	for _, arg := range e.Args {
		if strings.ContainsRune(arg, 0) {
			problems = append(problems, errors.New("an argument in execConfig.args holds a NUL byte"))
		}
	}
	for _, v := range e.Env {
		if !validEnvName(v.Name) || strings.ContainsRune(v.Value, 0) {
			problems = append(problems, fmt.Errorf("execConfig.env holds %q, which is no name of a variable, or its value holds a NUL byte", v.Name))
		}
	}
	if err := clientexec.ValidatePluginPolicy(e.PluginPolicy); err != nil {
		problems = append(problems, fmt.Errorf("plugin policy: %w", err))
	}
	return problems
}

func validEnvName(name string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00")
}

// findCommand resolves the command to an absolute path, as the upstream samples expect:
// a bare name in PATH, a relative path from the working directory.
func findCommand(e *clientcmdapi.ExecConfig) (string, error) {
	path := e.Command
	if filepath.Base(path) == path {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("command %q is not in PATH; mount the plugin or name its path", path)
		}
		path = found
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("command %q: %w", e.Command, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("command %s does not exist; mount the plugin there or correct the path", path)
	case err != nil:
		return "", fmt.Errorf("command %s: %w", path, err)
	case info.IsDir():
		return "", fmt.Errorf("command %s is a directory; name the file in it", path)
	case info.Mode()&0o111 == 0:
		return "", fmt.Errorf("command %s is not executable; set its x bit", path)
	}
	return path, allowed(path, e.PluginPolicy)
}

// allowed applies the exec plugin policy (kubernetes 134870), which a program that
// builds its configuration in Go may set; the provider file cannot.
func allowed(path string, policy clientcmdapi.PluginPolicy) error {
	switch policy.PolicyType {
	case clientcmdapi.PluginPolicyDenyAll:
		return fmt.Errorf("command %s is denied: the exec plugin policy is DenyAll", path)
	case clientcmdapi.PluginPolicyAllowlist:
		for _, entry := range policy.Allowlist {
			if found, err := exec.LookPath(entry.Command); err == nil {
				if found, err = filepath.Abs(found); err == nil && found == path {
					return nil
				}
			}
		}
		return fmt.Errorf("command %s is not on the exec plugin policy's allow-list", path)
	default:
		return nil
	}
}
