//go:build e2e

package e2e

import (
	"context"
	"flag"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-logr/logr"
	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
	"github.com/projectsveltos/libsveltos/lib/inventory"
	"github.com/projectsveltos/libsveltos/lib/sveltos_upgrade"
	"github.com/projectsveltos/libsveltos/test/consumers"
)

// byClassifierLabel is one chain from an event on the spoke to an add-on: the agent's report there, collected to the
// hub, becomes a label of the inventory object, and the label makes a Sveltos profile match. The collector and the
// labeller are those of test/consumers; addon-controller is the real one.
func byClassifierLabel(s *scenario) {
	spoke := helpers.StartSpoke(s, "classified", external.Libsveltos)
	require.NoError(s, spoke.EnsureNamespace(s.Context(), helpers.SveltosNamespace))
	require.NoError(s, sveltos_upgrade.StoreSveltosAgentVersion(s.Context(), spoke.Client, helpers.SveltosNamespace, "v1.14.0",
		"", "", third, false, logr.Discard()))
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.unlabel(cluster)
	s.deploy()
	s.eventuallyMatching(0)
	s.neverDeployed(spoke)

	s.consume()
	s.create(&libsveltosv1beta1.Classifier{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Spec: libsveltosv1beta1.ClassifierSpec{
		ClassifierLabels: []libsveltosv1beta1.ClassifierLabel{{Key: scenarioLabel, Value: s.name}}}})
	require.NoError(s, spoke.Client.Create(s.Context(), &libsveltosv1beta1.ClassifierReport{
		ObjectMeta: metav1.ObjectMeta{Namespace: helpers.SveltosNamespace, Name: s.name,
			Labels: map[string]string{libsveltosv1beta1.ClassifierlNameLabel: s.name}},
		Spec: libsveltosv1beta1.ClassifierReportSpec{ClassifierName: s.name, Match: true},
	}))
	s.eventuallyDeployed(spoke)
}

// consume runs a collector and a labeller on the hub until the story ends.
func (s *scenario) consume() {
	s.Helper()
	require.NoError(s, flag.Set(inventory.ProviderFileFlag, s.group.options.ProviderFile))
	s.Cleanup(func() { require.NoError(s, flag.Set(inventory.ProviderFileFlag, "")) })
	mgr, err := manager.New(s.group.hub.Config, manager.Options{
		Scheme: s.group.hub.Client.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}})
	require.NoError(s, err)
	require.NoError(s, mgr.Add(&consumers.Collector{Client: mgr.GetClient(), Version: "v1.14.0", Interval: time.Second}))
	require.NoError(s, (&consumers.Labeller{Client: mgr.GetClient()}).SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	s.Cleanup(func() { cancel(); assert.NoError(s, <-done) })
}
