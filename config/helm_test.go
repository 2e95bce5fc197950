package config_test

import (
	goflag "flag"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// helmContainer is what the values file says of one container, in the keys of the chart.
type helmContainer struct {
	ExtraArgs                 map[string]string `json:"extraArgs"`
	ExtraArgsAgentMgmtCluster map[string]string `json:"extraArgsAgentMgmtCluster,omitempty"`
	ExtraVolumes              []struct {
		Name      string            `json:"name"`
		MountPath string            `json:"mountPath"`
		ReadOnly  bool              `json:"readOnly"`
		ConfigMap map[string]string `json:"configMap"`
	} `json:"extraVolumes"`
}

// helmController is one controller in the keys of the chart.
type helmController struct {
	Controller       *helmContainer `json:"controller,omitempty"`
	Manager          *helmContainer `json:"manager,omitempty"`
	ClusterRoleExtra struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	} `json:"clusterRoleExtra"`
	Enabled *bool `json:"enabled,omitempty"`
}

// TestHelmValues reads the values file strictly: the chart takes ConfigMap and Secret volumes and nothing else.
func TestHelmValues(t *testing.T) {
	values := map[string]helmController{}
	require.NoError(t, yaml.UnmarshalStrict(must(os.ReadFile("helm/values.yaml"))(t), &values))
	assert.False(t, *values["clusterInventory"].Enabled)
	delete(values, "clusterInventory")
	assert.ElementsMatch(t, []string{"addonController", "classifierManager", "eventManager", "hcManager", "accessManager"},
		slices.Collect(maps.Keys(values)))
	for name, controller := range values {
		container := controller.Manager
		if name == "addonController" {
			container = controller.Controller
		}
		require.NotNil(t, container, name)
		for key, value := range container.ExtraArgs {
			require.NotNil(t, goflag.Lookup(key), "flag %s", key)
			assert.Equal(t, flag, "--"+key+"="+value)
		}
		require.Len(t, container.ExtraVolumes, 1, name)
		assert.Equal(t, "/etc/clusterprofile", container.ExtraVolumes[0].MountPath)
		assert.Equal(t, "clusterprofile-providers", container.ExtraVolumes[0].ConfigMap["name"])
	}
	assert.Equal(t, []string{"get", "list", "watch", "patch"}, values["addonController"].ClusterRoleExtra.Rules[0].Verbs)
}
