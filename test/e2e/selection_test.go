//go:build e2e

package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

// TestSelection: every way in which Sveltos selects clusters.
func TestSelection(t *testing.T) {
	g := startGroup(t, groupOptions{})
	g.atOnce(t, map[string]func(*scenario){
		"ClusterRefs": byClusterRefs, "ClusterSet": byClusterSet, "Set": bySet, "Template": byTemplate,
		"Helm": byHelm, "DriftDetection": byDriftDetection, "ClassifierLabel": byClassifierLabel,
		"Migration": byMigration, "BridgeAgain": byBridgeAgain,
	})
}

// healthyCluster is spoke-1 in the inventory, healthy.
func (s *scenario) healthyCluster() (*helpers.Cluster, types.NamespacedName) {
	s.Helper()
	spoke := helpers.SharedSpoke(s, "spoke-1")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	return spoke, cluster
}

// deployTo creates the scenario's add-on, selecting clusters as spec says.
func (s *scenario) deployTo(kind, namespace string, data map[string]string, spec map[string]any) *unstructured.Unstructured {
	s.Helper()
	policyKey := s.key("policy")
	policy, err := addons.Policy(policyKey, s.addon(), data)
	require.NoError(s, err)
	if _, templated := spec["template"]; templated {
		delete(spec, "template")
		policy.Annotations = map[string]string{"projectsveltos.io/template": "true"}
	}
	s.create(policy)
	profile := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	spec["policyRefs"] = []any{map[string]any{"kind": "ConfigMap", "namespace": policyKey.Namespace, "name": policyKey.Name}}
	profile.SetGroupVersionKind(addons.GroupVersion.WithKind(kind))
	profile.SetNamespace(namespace)
	profile.SetName(s.name)
	s.create(profile)
	s.finalized = append(s.finalized, profile)
	return profile
}

func byClusterRefs(s *scenario) {
	spoke, cluster := s.healthyCluster()
	s.deployTo("ClusterProfile", "", map[string]string{"by": "ref"}, map[string]any{
		"clusterRefs": []any{inventoryRef(cluster)},
	})
	s.eventuallyDeployed(spoke)
}

// inventoryRef is an entry of clusterRefs.
func inventoryRef(cluster types.NamespacedName) map[string]any {
	return map[string]any{
		"apiVersion": libsveltosv1beta1.InventoryGroupVersion.String(), "kind": libsveltosv1beta1.InventoryClusterProfileKind,
		"namespace": cluster.Namespace, "name": cluster.Name,
	}
}

func byClusterSet(s *scenario) {
	spoke, _ := s.healthyCluster()
	set := &libsveltosv1beta1.ClusterSet{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	set.Spec.ClusterSelector.LabelSelector = metav1.LabelSelector{MatchLabels: s.labels()}
	set.Spec.MaxReplicas = 1
	s.create(set)
	s.finalized = append(s.finalized, set)
	s.deployTo("ClusterProfile", "", map[string]string{"by": "set"}, map[string]any{"setRefs": []any{s.name}})
	s.eventuallyDeployed(spoke)
}

func bySet(s *scenario) {
	spoke, _ := s.healthyCluster()
	set := &libsveltosv1beta1.Set{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: s.name}}
	set.Spec.ClusterSelector.LabelSelector = metav1.LabelSelector{MatchLabels: s.labels()}
	set.Spec.MaxReplicas = 1
	s.create(set)
	s.finalized = append(s.finalized, set)
	s.deployTo("Profile", s.name, map[string]string{"by": "set"}, map[string]any{"setRefs": []any{s.name}})
	s.eventuallyDeployed(spoke)
}

// byTemplate: templates read .Cluster of the inventory object.
func byTemplate(s *scenario) {
	spoke, cluster := s.healthyCluster()
	s.deployTo("ClusterProfile", "", map[string]string{
		"cluster": "{{ .Cluster.metadata.namespace }}/{{ .Cluster.metadata.name }}",
		"manager": "{{ .Cluster.spec.clusterManager.name }}",
	}, map[string]any{
		"template":        true,
		"clusterSelector": map[string]any{"matchLabels": map[string]any{scenarioLabel: s.name}},
	})
	s.eventually("the rendered template", func(ctx context.Context) (bool, error) {
		configMap := &corev1.ConfigMap{}
		err := spoke.Client.Get(ctx, s.addon(), configMap)
		return err == nil && configMap.Data["cluster"] == cluster.String(), nil
	})
	assert.Equal(s, "demo-fleet", s.eventuallyDeployed(spoke).Data["manager"])
}
