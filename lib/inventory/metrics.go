package inventory

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Values of the label result.
const (
	resultSuccess = "success"
	resultFailure = "failure"
	resultTimeout = "timeout"
)

// Metrics of this package, on controller-runtime's registry. No label names a
// cluster: a fleet has thousands, and providers are few.
var (
	pluginRuns = registered(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "clusterprofile_credential_plugin_runs_total",
		Help: "Runs of credential plugins by access provider and result (success, failure, timeout).",
	}, []string{"provider", "result"}))

	pluginDuration = registered(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "clusterprofile_credential_plugin_duration_seconds",
		Help:    "How long runs of credential plugins took, by access provider.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"provider"}))

	fileReloads = registered(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "clusterprofile_provider_file_reloads_total",
		Help: "Times that the provider file was read because it was new or had changed, by result (success, failure).",
	}, []string{"result"}))

	refusedProfiles = registered(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "clusterprofile_refused_total",
		Help: "Times that an inventory ClusterProfile was refused, by reason.",
	}, []string{"reason"}))
)

// registered registers a collector, or returns the one of the same description that is
// registered already: two copies of this package may be linked into one process.
func registered[C prometheus.Collector](c C) C {
	var already prometheus.AlreadyRegisteredError
	if err := metrics.Registry.Register(c); errors.As(err, &already) {
		if existing, ok := already.ExistingCollector.(C); ok {
			return existing
		}
	}
	return c
}

// recordRun counts one finished run of a plugin.
func recordRun(provider string, err error, took time.Duration) {
	result := resultSuccess
	switch {
	case errors.Is(err, ErrPluginTimeout):
		result = resultTimeout
	case err != nil:
		result = resultFailure
	}
	pluginRuns.WithLabelValues(provider, result).Inc()
	pluginDuration.WithLabelValues(provider).Observe(took.Seconds())
}

// recordReload counts one reading of the provider file: resultSuccess or
// resultFailure.
func recordReload(result string) { fileReloads.WithLabelValues(result).Inc() }

// recordRefused counts one refusal of a profile. The reasons are a short fixed list.
func recordRefused(reason string) { refusedProfiles.WithLabelValues(reason).Inc() }
