package inventory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/pkg/access"
)

// This is the only file that knows sigs.k8s.io/cluster-inventory-api/pkg/access, whose
// API changes in v0.2.0. What is wrong in v0.1.3 is kept out here: it gets its own copy
// of one provider and of one access entry, both checked, so that nothing is shared
// between clusters and there is nothing left to choose; of its answer only the exec
// recipe is taken, and put in order.

// fileConfig and fileProvider are the provider file's format.
type (
	fileConfig   = access.Config
	fileProvider = access.Provider
)

// Reserved extensions of an access entry (KEP-4322; the first is SIG Auth's).
const (
	extensionExec = "client.authentication.k8s.io/exec"
	extensionArgs = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args"
	extensionEnv  = "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs"
)

// NewFromProviders returns a backend for providers that a program configures in Go,
// where it may also set an exec plugin policy, instead of in a file. It is on, and its
// providers never change. The error is [ErrProviderFile].
func NewFromProviders(o Options, cfg *access.Config) (*Backend, error) {
	entries := make([]fileProvider, 0, len(cfg.Providers))
	for _, p := range cfg.Providers {
		if p.ExecConfig != nil {
			p.ExecConfig = p.ExecConfig.DeepCopy()
		}
		entries = append(entries, p)
	}
	list, err := checkProviders(entries)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProviderFile, err)
	}
	b := New(o)
	b.providers = fixedProviders(list)
	return b, nil
}

// checkPolicies returns what is wrong with an entry's policies for what a profile adds.
func checkPolicies(entry fileProvider) []error {
	var problems []error
	switch entry.ProfileSourcedCLIArgsPolicy {
	case "", access.ProfileSourcedCLIArgsPolicyIgnore, access.ProfileSourcedCLIArgsPolicyAppend:
	default:
		problems = append(problems, fmt.Errorf("profileSourcedCLIArgsPolicy is %q, want Ignore or Append",
			entry.ProfileSourcedCLIArgsPolicy))
	}
	switch entry.ProfileSourcedEnvVarsPolicy {
	case "", access.ProfileSourcedEnvVarsPolicyIgnore, access.ProfileSourcedEnvVarsPolicyAppendIfNotExists,
		access.ProfileSourcedEnvVarsPolicyReplace:
	default:
		problems = append(problems, fmt.Errorf("profileSourcedEnvVarsPolicy is %q, want Ignore, AppendIfNotExists or Replace",
			entry.ProfileSourcedEnvVarsPolicy))
	}
	return problems
}

// resolveAccess turns a profile's status and the provider file into one plain value. It
// is pure. deprecated tells whether the choice fell on status.credentialProviders.
func resolveAccess(cp *v1alpha1.ClusterProfile, set *providers, allowInsecure bool,
) (resolved Access, deprecated bool, err error) {

	entry, chosen, deprecated, err := choose(cp, set)
	if err != nil {
		return Access{}, deprecated, err
	}
	if err := checkCluster(&entry.Cluster, allowInsecure); err != nil {
		return Access{}, deprecated, fmt.Errorf("access provider %q: %w", entry.Name, err)
	}
	recipe, err := execRecipe(entry, chosen)
	if err != nil {
		return Access{}, deprecated, fmt.Errorf("access provider %q: %w", entry.Name, err)
	}
	return Access{
		Provider:              entry.Name,
		Server:                entry.Cluster.Server,
		CAData:                string(entry.Cluster.CertificateAuthorityData),
		TLSServerName:         entry.Cluster.TLSServerName,
		ProxyURL:              entry.Cluster.ProxyURL,
		InsecureSkipTLSVerify: entry.Cluster.InsecureSkipTLSVerify,
		DisableCompression:    entry.Cluster.DisableCompression,
		Exec:                  recipe,
	}, deprecated, nil
}

// choose picks the access entry: status.accessProviders win over the deprecated
// status.credentialProviders, and within one list the provider file's order decides. A
// provider whose plugin is missing is passed over.
func choose(cp *v1alpha1.ClusterProfile, set *providers) (*v1alpha1.AccessProvider, *provider, bool, error) {
	var missing []error
	for _, offer := range []struct {
		list       []v1alpha1.AccessProvider
		deprecated bool
	}{{cp.Status.AccessProviders, false}, {cp.Status.CredentialProviders, true}} {
		for i := range set.list {
			p := &set.list[i]
			at := slices.IndexFunc(offer.list, func(a v1alpha1.AccessProvider) bool { return a.Name == p.Name })
			switch {
			case at < 0:
			case p.unusable != nil:
				missing = append(missing, fmt.Errorf("provider %q: %w", p.Name, p.unusable))
			default:
				return offer.list[at].DeepCopy(), p, offer.deprecated, nil
			}
		}
	}
	if len(missing) > 0 {
		return nil, nil, false, fmt.Errorf("%w: %w", ErrPluginFailed, missing[0])
	}
	return nil, nil, false, fmt.Errorf("%w: the profile offers [%s], the provider file has [%s]; add one of the former to the file",
		ErrNoAccessProvider, strings.Join(offered(cp), ", "), strings.Join(configured(set), ", "))
}

func offered(cp *v1alpha1.ClusterProfile) []string {
	var names []string
	for _, list := range [][]v1alpha1.AccessProvider{cp.Status.AccessProviders, cp.Status.CredentialProviders} {
		for i := range list {
			if !slices.Contains(names, list[i].Name) {
				names = append(names, list[i].Name)
			}
		}
	}
	return names
}

func configured(set *providers) []string {
	names := make([]string, 0, len(set.list))
	for i := range set.list {
		names = append(names, set.list[i].Name)
	}
	return names
}

// execRecipe lets pkg/access combine one provider with one access entry, both of them
// copies that are thrown away, and puts its answer in order.
func execRecipe(entry *v1alpha1.AccessProvider, p *provider) (Exec, error) {
	own := p.fileProvider
	own.ExecConfig = p.ExecConfig.DeepCopy()
	if err := keepAllowedExtensions(&entry.Cluster, own); err != nil {
		return Exec{}, err
	}
	alone := &v1alpha1.ClusterProfile{}
	alone.Status.AccessProviders = []v1alpha1.AccessProvider{*entry}
	cfg, err := access.New([]access.Provider{own}).BuildConfigFromCP(alone)
	if err != nil {
		return Exec{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	built := cfg.ExecProvider
	config, err := execExtension(built.Config)
	if err != nil {
		return Exec{}, err
	}
	env := make([]EnvVar, 0, len(built.Env))
	for _, v := range built.Env {
		env = append(env, EnvVar{Name: v.Name, Value: v.Value})
	}
	if own.ProfileSourcedEnvVarsPolicy != "" && own.ProfileSourcedEnvVarsPolicy != access.ProfileSourcedEnvVarsPolicyIgnore {
		slices.SortFunc(env, func(a, b EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	}
	return Exec{
		APIVersion:         built.APIVersion,
		Command:            p.command,
		ProvideClusterInfo: built.ProvideClusterInfo,
		Config:             config,
		args:               encodeList(built.Args),
		env:                encodeList(env),
	}, nil
}

// keepAllowedExtensions leaves in the entry the exec extension, and those through which
// the profile adds arguments and variables only where the provider's policy takes them,
// checked and rewritten in the one form that pkg/access reads safely.
func keepAllowedExtensions(cluster *clientcmdv1.Cluster, p fileProvider) error {
	args := p.ProfileSourcedCLIArgsPolicy == access.ProfileSourcedCLIArgsPolicyAppend
	env := p.ProfileSourcedEnvVarsPolicy == access.ProfileSourcedEnvVarsPolicyAppendIfNotExists ||
		p.ProfileSourcedEnvVarsPolicy == access.ProfileSourcedEnvVarsPolicyReplace
	var kept []clientcmdv1.NamedExtension
	seen := map[string]bool{}
	for _, ext := range cluster.Extensions {
		var err error
		switch {
		case ext.Name == extensionExec:
			if !json.Valid(ext.Extension.Raw) {
				err = fmt.Errorf("%w: extension %s is no JSON", ErrRefused, ext.Name)
			}
		case ext.Name == extensionArgs && args:
			ext.Extension, err = rewrite[[]string](ext, checkArgs)
		case ext.Name == extensionEnv && env:
			ext.Extension, err = rewrite[map[string]string](ext, checkEnv)
		default:
			continue
		}
		if err != nil {
			return err
		}
		if seen[ext.Name] {
			return fmt.Errorf("%w: extension %s is given twice", ErrRefused, ext.Name)
		}
		seen[ext.Name] = true
		if len(ext.Extension.Raw) > 0 {
			kept = append(kept, ext)
		}
	}
	cluster.Extensions = kept
	return nil
}

// rewrite decodes an extension strictly, checks it and encodes it again. An extension
// that says nothing (null, empty) is dropped.
func rewrite[T []string | map[string]string](ext clientcmdv1.NamedExtension, check func(T) error) (runtime.RawExtension, error) {
	var value T
	if len(ext.Extension.Raw) > 0 {
		if err := json.Unmarshal(ext.Extension.Raw, &value); err != nil {
			return runtime.RawExtension{}, fmt.Errorf("%w: extension %s: %w", ErrRefused, ext.Name, err)
		}
	}
	if len(value) == 0 {
		return runtime.RawExtension{}, nil
	}
	if err := check(value); err != nil {
		return runtime.RawExtension{}, fmt.Errorf("%w: extension %s: %w", ErrRefused, ext.Name, err)
	}
	raw, err := json.Marshal(value)
	return runtime.RawExtension{Raw: raw}, err
}

func checkArgs(args []string) error {
	for _, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("an argument holds a NUL byte")
		}
	}
	return nil
}

func checkEnv(env map[string]string) error {
	for name, value := range env {
		if !validEnvName(name) || strings.ContainsRune(value, 0) {
			return fmt.Errorf("%q is no name of a variable, or its value holds a NUL byte", name)
		}
		if name == execInfoEnv {
			return fmt.Errorf("%s belongs to the plugin protocol and cannot be set", name)
		}
	}
	return nil
}

// execExtension is the JSON that the plugin finds in its cluster info.
func execExtension(config runtime.Object) (string, error) {
	switch c := config.(type) {
	case nil:
		return "", nil
	case *runtime.Unknown:
		return string(c.Raw), nil
	default:
		return "", fmt.Errorf("%w: extension %s has the unexpected form %T", ErrRefused, extensionExec, config)
	}
}
