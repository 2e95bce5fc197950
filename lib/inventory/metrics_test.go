package inventory

import (
	"bytes"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// metricsDump is what a scraper reads.
func metricsDump(t testing.TB) string {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	var out bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&out, f)
		require.NoError(t, err)
	}
	return out.String()
}

func TestRunsAreCountedByProviderAndResult(t *testing.T) {
	t.Parallel()
	count := func(provider, result string) float64 {
		return testutil.ToFloat64(pluginRuns.WithLabelValues(provider, result))
	}
	before := []float64{count("metric-good", resultSuccess), count("metric-bad", resultFailure), count("metric-hung", resultTimeout)}
	good, bad, hung := newTestPlugin(t, "the-token"), newTestPlugin(t, "x"), newTestPlugin(t, "x")
	bad.set("exit", "1")
	hung.set("sleep", "60s")
	for name, p := range map[string]*testPlugin{"metric-good": good, "metric-bad": bad, "metric-hung": hung} {
		a := p.access("https://spoke.example")
		a.Provider = name
		limit := 30 * time.Second
		if p == hung {
			limit = 50 * time.Millisecond
		}
		for range 3 {
			_, _ = newSource("fleet/secret-name", a, newRunner(1, limit)).Credential(t.Context())
		}
	}
	assert.Equal(t, before[0]+3, count("metric-good", resultSuccess))
	assert.Equal(t, before[1]+3, count("metric-bad", resultFailure))
	assert.Equal(t, before[2]+3, count("metric-hung", resultTimeout))
	dump := metricsDump(t)
	assert.Contains(t, dump, `clusterprofile_credential_plugin_runs_total{provider="metric-good",result="success"}`)
	assert.Contains(t, dump, `clusterprofile_credential_plugin_duration_seconds_count{provider="metric-hung"}`)
	assert.NotContains(t, dump, "secret-name", "no cluster in a label")
}

func TestOtherMetrics(t *testing.T) {
	t.Parallel()
	recordReload("test-result")
	recordRefused("test-reason")
	dump := metricsDump(t)
	assert.Contains(t, dump, `clusterprofile_provider_file_reloads_total{result="test-result"}`)
	assert.Contains(t, dump, `clusterprofile_refused_total{reason="test-reason"}`)
	problems, err := testutil.GatherAndLint(metrics.Registry, "clusterprofile_credential_plugin_runs_total",
		"clusterprofile_credential_plugin_duration_seconds", "clusterprofile_provider_file_reloads_total", "clusterprofile_refused_total")
	require.NoError(t, err)
	assert.Empty(t, problems, "names and units follow Prometheus' conventions")
}

func TestSecondRegistrationIsTheFirst(t *testing.T) {
	t.Parallel()
	opts := prometheus.CounterOpts{Name: "clusterprofile_test_total", Help: "For this test."}
	first := registered(prometheus.NewCounterVec(opts, []string{"x"}))
	second := registered(prometheus.NewCounterVec(opts, []string{"x"}))
	assert.Same(t, first, second)
	metrics.Registry.Unregister(first)
}
