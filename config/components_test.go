package config_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// controllers are the Deployments that reach inventory clusters and the container that does so, as the manifest of
// Sveltos v1.14.0 and the Helm chart name them.
var controllers = map[string]string{
	"addon-controller":   "controller",
	"classifier-manager": "manager",
	"event-manager":      "manager",
	"access-manager":     "manager",
	"hc-manager":         "manager",
}

const flag = "--" + inventory.ProviderFileFlag + "=/etc/clusterprofile/providers.json"

func convert[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	out := new(T)
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out))
	return out
}

// deployments builds an overlay and returns its Deployments as the API server would store them.
func deployments(t *testing.T, components ...string) map[string]*appsv1.Deployment {
	t.Helper()
	cluster := hub(t)
	found := map[string]*appsv1.Deployment{}
	for _, object := range build(t, overlay(t, components...)) {
		if object.GetKind() == "Deployment" {
			found[object.GetName()] = convert[appsv1.Deployment](t, dryRun(t, cluster, object))
		}
	}
	require.Len(t, found, len(controllers)+1)
	return found
}

func mountPath(c *corev1.Container, volume string) string {
	for _, mount := range c.VolumeMounts {
		if mount.Name == volume {
			return mount.MountPath
		}
	}
	return ""
}

func volume(t *testing.T, pod *corev1.PodSpec, name string) corev1.Volume {
	t.Helper()
	at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	require.GreaterOrEqual(t, at, 0, "volume %s", name)
	return pod.Volumes[at]
}

func TestComponentsReachEachController(t *testing.T) {
	const image = "registry.k8s.io/cluster-inventory-api/kubeconfig-secretreader:v0.1.3"
	for _, tc := range []struct {
		reason, plugin string
		check          func(t *testing.T, pod *corev1.PodSpec)
	}{
		{"image volume: the image of the sample is mounted", "plugin-image-volume", func(t *testing.T, pod *corev1.PodSpec) {
			v := volume(t, pod, "credential-plugin")
			require.NotNil(t, v.Image, "this API server knows image volumes")
			assert.Equal(t, image, v.Image.Reference)
		}},
		{"init container: it unpacks the image of the sample", "plugin-init-container", func(t *testing.T, pod *corev1.PodSpec) {
			require.NotNil(t, volume(t, pod, "credential-plugin").EmptyDir)
			at := slices.IndexFunc(pod.InitContainers, func(c corev1.Container) bool { return c.Name == "credential-plugin" })
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, []corev1.EnvVar{{Name: "PLUGIN_IMAGE", Value: image}}, pod.InitContainers[at].Env)
			assert.Equal(t, "/plugin", mountPath(&pod.InitContainers[at], "credential-plugin"))
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			found := deployments(t, "samples/kubeconfig-secretreader", "components/provider-file", "components/"+tc.plugin)
			for name, container := range controllers {
				pod := found[name].Spec.Template.Spec
				require.Len(t, pod.Containers, 1, "the patch must not add a container to %s", name)
				c := &pod.Containers[0]
				assert.Equal(t, container, c.Name)
				assert.Equal(t, []string{"--v=5", flag}, c.Args, name)
				assert.Equal(t, "/etc/clusterprofile", mountPath(c, "clusterprofile-providers"), name)
				assert.Equal(t, "/plugin", mountPath(c, "credential-plugin"), name)
				require.NotNil(t, volume(t, &pod, "clusterprofile-providers").Projected, name)
				tc.check(t, &pod)
			}
			assert.Equal(t, "/tmp", mountPath(&found["addon-controller"].Spec.Template.Spec.Containers[0], "tmp"), "what was there stays")
			untouched := found["sc-manager"].Spec.Template.Spec
			assert.Equal(t, []string{"--v=5"}, untouched.Containers[0].Args)
			assert.Empty(t, untouched.Volumes)
		})
	}
}

func TestRBACIsWhatEachControllerNeeds(t *testing.T) {
	read := []string{"get", "list", "watch"}
	write := append(slices.Clone(read), "patch")
	want := map[string][]string{
		"addon-controller": write, "classifier-manager": write,
		"event-manager": read, "access-manager": read, "hc-manager": read,
	}
	for _, tc := range []struct {
		reason, dir, role, binding string
	}{
		{"in all namespaces", "rbac", "ClusterRole", "ClusterRoleBinding"},
		{"in one namespace", "rbac-namespaced", "Role", "RoleBinding"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			rules, subjects := map[string][]rbacv1.PolicyRule{}, map[string][]rbacv1.Subject{}
			for _, object := range build(t, tc.dir) {
				switch object.GetKind() {
				case tc.role:
					rules[object.GetName()] = convert[rbacv1.ClusterRole](t, object).Rules
				case tc.binding:
					binding := convert[rbacv1.ClusterRoleBinding](t, object)
					assert.Equal(t, tc.role, binding.RoleRef.Kind)
					subjects[binding.RoleRef.Name] = binding.Subjects
				default:
					assert.Fail(t, "unexpected kind", object.GetKind())
				}
			}
			require.Len(t, rules, len(want))
			for name, verbs := range want {
				assert.Equal(t, []rbacv1.PolicyRule{{
					APIGroups: []string{"multicluster.x-k8s.io"}, Resources: []string{"clusterprofiles"}, Verbs: verbs,
				}}, rules[name+"-inventory"], name)
				assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: "projectsveltos"}},
					subjects[name+"-inventory"], name)
			}
		})
	}
}

func TestIdentitiesOfTheClouds(t *testing.T) {
	for _, tc := range []struct{ reason, annotation string }{
		{"eks", "eks.amazonaws.com/role-arn"},
		{"gke", "iam.gke.io/gcp-service-account"},
		{"aks", "azure.workload.identity/client-id"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			for _, object := range build(t, overlay(t, "samples/"+tc.reason, "components/provider-file")) {
				if _, ours := controllers[object.GetName()]; ours && object.GetKind() == "ServiceAccount" {
					assert.NotEmpty(t, object.GetAnnotations()[tc.annotation], object.GetName())
				}
			}
		})
	}
}
