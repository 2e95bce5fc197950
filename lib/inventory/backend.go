package inventory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// Defaults of [Options].
const (
	DefaultPluginTimeout     = 30 * time.Second
	DefaultPluginConcurrency = 8

	// QPS and Burst of a rest.Config for an inventory cluster, in requests per
	// second: what controller-runtime gives its own clients, not client-go's 5/10.
	QPS   = 20
	Burst = 40
)

// Options of a [Backend]. The zero value is a backend that is off.
type Options struct {
	// ProviderFile is the path of the provider file. Empty: the backend is off. It is
	// read on first use and again when it has changed.
	ProviderFile string
	// AllowInsecureTLS honours insecure-skip-tls-verify in a profile's status.
	AllowInsecureTLS bool
	// PluginTimeout is the time limit of one plugin run. Default: 30 s.
	PluginTimeout time.Duration
	// PluginConcurrency is how many plugins may run at a time. Default: 8.
	PluginConcurrency int
}

func (o Options) withDefaults() Options {
	if o.PluginTimeout <= 0 {
		o.PluginTimeout = DefaultPluginTimeout
	}
	if o.PluginConcurrency <= 0 {
		o.PluginConcurrency = DefaultPluginConcurrency
	}
	return o
}

// Backend reaches the clusters of an inventory. It is safe for concurrent use and
// holds no lock while it waits for a plugin, a file or a server.
type Backend struct {
	options   Options
	providers *providerFile
	runner    *runner

	mu      sync.Mutex // guards the maps below; never held over I/O
	sources map[types.NamespacedName]ownedSource
	warned  map[types.NamespacedName]types.UID // deprecated field, told once for each object
}

// ownedSource is the credential source of one object.
type ownedSource struct {
	uid    types.UID
	source *source
}

// New returns a backend. Nothing is read and nothing is run before the first use.
func New(o Options) *Backend {
	o = o.withDefaults()
	return &Backend{
		options:   o,
		providers: newProviderFile(o.ProviderFile),
		runner:    newRunner(o.PluginConcurrency, o.PluginTimeout),
		sources:   map[types.NamespacedName]ownedSource{},
		warned:    map[types.NamespacedName]types.UID{},
	}
}

// Enabled tells whether there are providers, or a file that should list them.
func (b *Backend) Enabled() bool {
	return b.options.ProviderFile != "" || b.providers.path == "" && b.providers.good.Load() != nil
}

// Resolve says how the cluster is reached. It runs nothing and asks nobody; the only
// I/O is reading the provider file again when it may have changed. Errors:
// [ErrNotConfigured], [ErrProviderFile], [ErrNoAccessProvider], [ErrRefused].
func (b *Backend) Resolve(cp *v1alpha1.ClusterProfile) (Access, error) {
	a, err := b.resolve(cp)
	if err != nil {
		return Access{}, about(cp, err)
	}
	return a, nil
}

func (b *Backend) resolve(cp *v1alpha1.ClusterProfile) (Access, error) {
	if !b.Enabled() {
		return Access{}, fmt.Errorf("%w: start the controller with --%s", ErrNotConfigured, ProviderFileFlag)
	}
	set, err := b.providers.current()
	if err != nil {
		return Access{}, err
	}
	a, deprecated, err := resolveAccess(cp, set, b.options.AllowInsecureTLS)
	if deprecated {
		b.warnDeprecated(cp)
	}
	if err != nil {
		recordRefused(refusal(err))
		return Access{}, err
	}
	return a, nil
}

// RestConfig returns a rest.Config for the cluster, with a credential that its plugin
// has just given or gave before. The caller owns the result. Errors: those of
// [Backend.Resolve], [ErrPluginFailed], [ErrPluginTimeout], and ctx's own error when
// the caller's time is up first.
func (b *Backend) RestConfig(ctx context.Context, cp *v1alpha1.ClusterProfile) (*rest.Config, error) {
	a, err := b.Resolve(cp)
	if err != nil {
		return nil, err
	}
	s := b.source(cp, a)
	credential, err := s.Credential(ctx)
	if err != nil {
		return nil, about(cp, err)
	}
	cfg := a.config()
	cfg.QPS, cfg.Burst = QPS, Burst
	cfg.CertData, cfg.KeyData = credential.certificate()
	cfg.WrapTransport = s.wrap
	return cfg, nil
}

// Revision identifies the version of the provider file that is in use, empty for none.
func (b *Backend) Revision() string {
	set, err := b.providers.current()
	if err != nil {
		return ""
	}
	return set.revision
}

// Expiry is when a rest.Config that RestConfig returned for the cluster stops working:
// never (the zero time), unless the plugin answered with a client certificate, which a
// rest.Config holds by value.
func (b *Backend) Expiry(cp *v1alpha1.ClusterProfile) time.Time {
	b.mu.Lock()
	owned, ok := b.sources[key(cp)]
	b.mu.Unlock()
	if !ok || owned.uid != cp.UID {
		return time.Time{}
	}
	return owned.source.certificateExpiry()
}

// CredentialExpiry is when the credential in use for the cluster ends: the zero time when
// there is none, or none that says so.
func (b *Backend) CredentialExpiry(cp *v1alpha1.ClusterProfile) time.Time {
	b.mu.Lock()
	owned, ok := b.sources[key(cp)]
	b.mu.Unlock()
	if !ok || owned.uid != cp.UID {
		return time.Time{}
	}
	return owned.source.credentialExpiry()
}

// Forget drops the credential of a cluster: it was deleted, or is to be resolved anew.
// Clients that are in use keep theirs.
func (b *Backend) Forget(cluster types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sources, cluster)
	delete(b.warned, cluster)
}

// source returns the credential source of the object for this access, a new one when
// either is another than before.
func (b *Backend) source(cp *v1alpha1.ClusterProfile, a Access) *source {
	b.mu.Lock()
	defer b.mu.Unlock()
	owned, ok := b.sources[key(cp)]
	if ok && owned.uid == cp.UID && owned.source.access == a {
		return owned.source
	}
	s := newSource(key(cp).String(), a, b.runner)
	b.sources[key(cp)] = ownedSource{uid: cp.UID, source: s}
	return s
}

func (b *Backend) warnDeprecated(cp *v1alpha1.ClusterProfile) {
	b.mu.Lock()
	uid, told := b.warned[key(cp)]
	told = told && uid == cp.UID
	b.warned[key(cp)] = cp.UID
	b.mu.Unlock()
	if !told {
		log.Info("ClusterProfile uses the deprecated status.credentialProviders; its cluster manager should write status.accessProviders",
			"namespace", cp.Namespace, "name", cp.Name)
	}
}

func key(cp *v1alpha1.ClusterProfile) types.NamespacedName {
	return types.NamespacedName{Namespace: cp.Namespace, Name: cp.Name}
}

// about adds the one thing that a cause does not know: which profile it is about.
func about(cp *v1alpha1.ClusterProfile, err error) error {
	return fmt.Errorf("ClusterProfile %s/%s: %w", cp.Namespace, cp.Name, err)
}
