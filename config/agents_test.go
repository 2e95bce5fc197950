package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/patcher"
)

const agents = "components/agents-in-management-cluster"

// agentDeployment is what a Sveltos controller makes for the agent of one cluster, as far as the patches touch it.
func agentDeployment(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	labels := map[string]string{"control-plane": name}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "projectsveltos", Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "manager", Image: "docker.io/projectsveltos/" + name, Args: []string{"--cluster-type=ClusterProfile"},
				}}},
			},
		},
	}
	object := must(runtime.DefaultUnstructuredConverter.ToUnstructured(deployment))(t)
	return &unstructured.Unstructured{Object: object}
}

// TestAgentsInManagementCluster reads the ConfigMaps as the controllers do and patches a Deployment with them, with the
// code that the controllers use.
func TestAgentsInManagementCluster(t *testing.T) {
	cluster := hub(t)
	require.NoError(t, cluster.EnsureNamespace(t.Context(), "projectsveltos"))
	objects := build(t, overlay(t, "samples/kubeconfig-secretreader", "components/provider-file", "components/plugin-image-volume", agents))
	byName := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		dryRun(t, cluster, object)
		byName[object.GetKind()+" "+object.GetName()] = object
	}
	for _, tc := range []struct{ agent, controller, flag string }{
		{"sveltos-agent", "classifier-manager", "--sveltos-agent-config="},
		{"drift-detection-manager", "addon-controller", "--drift-detection-config="},
	} {
		t.Run(tc.agent, func(t *testing.T) {
			name := "clusterprofile-" + tc.agent
			controller := convert[appsv1.Deployment](t, byName["Deployment "+tc.controller])
			assert.Equal(t, []string{"--v=5", flag, tc.flag + name}, controller.Spec.Template.Spec.Containers[0].Args)

			require.Contains(t, byName, "ConfigMap "+name)
			data := convert[corev1.ConfigMap](t, byName["ConfigMap "+name]).Data
			require.Len(t, data, 1)
			patch := libsveltosv1beta1.Patch{}
			require.NoError(t, yaml.UnmarshalStrict([]byte(data["clusterprofile"]), &patch))
			patch.Target = &libsveltosv1beta1.PatchSelector{Kind: "Deployment", Group: "apps"} // the controllers' default

			renderer := &patcher.CustomPatchPostRenderer{Patches: []libsveltosv1beta1.Patch{patch}}
			patched, err := renderer.RunUnstructured([]*unstructured.Unstructured{agentDeployment(t, tc.agent)})
			require.NoError(t, err)
			require.Len(t, patched, 1)
			pod := convert[appsv1.Deployment](t, dryRun(t, cluster, patched[0])).Spec.Template.Spec
			require.Len(t, pod.Containers, 1)
			container := &pod.Containers[0]
			assert.Equal(t, "registry.example.com/"+tc.agent+":v1.14.0-inventory", container.Image)
			assert.Equal(t, []string{"--cluster-type=ClusterProfile", flag}, container.Args)
			assert.Equal(t, "/etc/clusterprofile", mountPath(container, "clusterprofile-providers"))
			assert.Equal(t, "/plugin", mountPath(container, "credential-plugin"))
			assert.Equal(t, volume(t, &controller.Spec.Template.Spec, "credential-plugin").Image,
				volume(t, &pod, "credential-plugin").Image, "the plugin is the controller's")
			require.NotNil(t, volume(t, &pod, "clusterprofile-providers").Projected)
		})
	}
	assert.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{"multicluster.x-k8s.io"}, Resources: []string{"clusterprofiles"}, Verbs: []string{"get"}}},
		convert[rbacv1.ClusterRole](t, byName["ClusterRole agents-inventory"]).Rules)
}
