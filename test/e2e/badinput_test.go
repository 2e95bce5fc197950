//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

// TestProviderFile: what a user reads in the ClusterSummary when the provider file is no good. The controller must
// keep running.
func TestProviderFile(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		file   func(t *testing.T) string
	}{
		"Absent": {
			reason: "the flag may be set before the ConfigMap is mounted",
			file:   func(t *testing.T) string { return filepath.Join(t.TempDir(), "no-such-providers.json") },
		},
		"Unreadable": {
			reason: "a folder stands for anything that cannot be read, whatever user the test runs as",
			file:   func(t *testing.T) string { return t.TempDir() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := test.file(t)
			s := startGroup(t, groupOptions{providerFile: file}).scenario(t)
			spoke := helpers.SharedSpoke(t, "spoke-1")
			cluster := s.inventory(spoke)
			s.health(cluster, metav1.ConditionTrue)

			s.deploy()

			message := s.eventuallyFails("ClusterProfile "+cluster.String(), file)
			t.Log(message)
			s.neverDeployed(spoke)
			s.neverDeployed(s.group.hub)
			require.NoError(t, s.group.controller.Alive(), test.reason)
		})
	}
}

// providerNotConfigured: the profile offers access through a provider that the operator has not configured.
func providerNotConfigured(s *scenario) {
	failsWith(s, "provider-of-somebody-else", "provider-of-somebody-else", helpers.SecretReaderProvider)
}

// pluginMissing: the provider is configured and its plugin is not there.
func pluginMissing(s *scenario) {
	failsWith(s, missingPluginProvider, missingPluginProvider, "no-such-plugin")
}

// failsWith offers access through the provider only and waits for a message with the name of the object and the texts.
func failsWith(s *scenario, provider string, texts ...string) {
	spoke := helpers.SharedSpoke(s, "spoke-1")
	access := helpers.SecretReaderAccess(spoke, s.key("no-secret"))
	access.Name = provider
	cluster := s.inventoryWith(spoke.Name, access)
	s.health(cluster, metav1.ConditionTrue)

	s.deploy()

	s.Log(s.eventuallyFails(append(texts, "ClusterProfile "+cluster.String())...))
	s.neverDeployed(spoke)
	s.neverDeployed(s.group.hub)
}
