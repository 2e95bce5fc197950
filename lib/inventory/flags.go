package inventory

import (
	"flag"
	"sync/atomic"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// Names of the command-line flags. They are Go flags on flag.CommandLine, registered
// when this package is loaded, as controller-runtime does with --kubeconfig.
const (
	// ProviderFileFlag is the path of the provider file (KEP-4322). Not set: the
	// backend is off.
	ProviderFileFlag = "clusterprofile-provider-file"
	// AllowInsecureTLSFlag lets a profile ask for insecure-skip-tls-verify.
	AllowInsecureTLSFlag = "clusterprofile-allow-insecure-tls"
	// PluginTimeoutFlag is the time limit of one run of a credential plugin.
	PluginTimeoutFlag = "clusterprofile-plugin-timeout"
	// PluginConcurrencyFlag is how many credential plugins may run at a time.
	PluginConcurrencyFlag = "clusterprofile-plugin-concurrency"
)

var (
	flagOptions Options
	fromFlags   atomic.Pointer[Backend]
)

func init() {
	register(flag.CommandLine, &flagOptions)
}

// register adds the flags to fs. A flag of the same name that is there already stays:
// its owner's value is then read through it.
func register(fs *flag.FlagSet, o *Options) {
	if fs.Lookup(ProviderFileFlag) == nil {
		fs.StringVar(&o.ProviderFile, ProviderFileFlag, "",
			"Path of the provider file for the clusters of the inventory (ClusterProfiles of "+
				"multicluster.x-k8s.io, KEP-4322). Not set: no inventory ClusterProfile is looked at.")
	}
	if fs.Lookup(AllowInsecureTLSFlag) == nil {
		fs.BoolVar(&o.AllowInsecureTLS, AllowInsecureTLSFlag, false,
			"Honour insecure-skip-tls-verify in the status of an inventory ClusterProfile.")
	}
	if fs.Lookup(PluginTimeoutFlag) == nil {
		fs.DurationVar(&o.PluginTimeout, PluginTimeoutFlag, DefaultPluginTimeout,
			"Time limit of one run of a credential plugin; its process group is killed then.")
	}
	if fs.Lookup(PluginConcurrencyFlag) == nil {
		fs.IntVar(&o.PluginConcurrency, PluginConcurrencyFlag, DefaultPluginConcurrency,
			"How many credential plugins may run at a time.")
	}
}

// optionsFrom reads the flags by name, so that it does not matter who registered them.
func optionsFrom(fs *flag.FlagSet) Options {
	var o Options
	value := func(name string) any {
		if f := fs.Lookup(name); f != nil {
			if g, ok := f.Value.(flag.Getter); ok {
				return g.Get()
			}
			return f.Value.String()
		}
		return nil
	}
	o.ProviderFile, _ = value(ProviderFileFlag).(string)
	o.AllowInsecureTLS, _ = value(AllowInsecureTLSFlag).(bool)
	o.PluginTimeout, _ = value(PluginTimeoutFlag).(time.Duration)
	o.PluginConcurrency, _ = value(PluginConcurrencyFlag).(int)
	return o.withDefaults()
}

// Enabled tells whether the process was started with --clusterprofile-provider-file.
func Enabled() bool {
	return FromFlags().Enabled()
}

// FromFlags returns the backend of this process, made from its flags on first use. A
// flag that is set later, as tests do, makes a new one.
func FromFlags() *Backend {
	o := optionsFrom(flag.CommandLine)
	for {
		current := fromFlags.Load()
		if current != nil && current.options == o {
			return current
		}
		next := New(o)
		if fromFlags.CompareAndSwap(current, next) {
			return next
		}
	}
}

var log = logf.Log.WithName("inventory")
