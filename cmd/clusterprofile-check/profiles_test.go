package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

const (
	inventoryAPI = "multicluster.x-k8s.io/v1alpha1"
	prodSelector = "clusterSelector: {matchLabels: {env: prod}}"
)

func refTo(namespace, name, apiVersion string) corev1.ObjectReference {
	return corev1.ObjectReference{Kind: "ClusterProfile", APIVersion: apiVersion, Namespace: namespace, Name: name}
}

func TestSelects(t *testing.T) {
	sets := map[string][]corev1.ObjectReference{
		"/all":      {refTo("fleet", "spoke-1", inventoryAPI)},
		"fleet/own": {refTo("fleet", "spoke-1", inventoryAPI)},
	}
	for name, tc := range map[string]struct {
		reason    string
		namespace string // of a Profile; empty: a ClusterProfile
		spec      string
		want      bool
	}{
		"labels":            {"the ordinary case", "", prodSelector, true},
		"other labels":      {"labels decide", "", "clusterSelector: {matchLabels: {env: test}}", false},
		"expression":        {"expressions count too", "", "clusterSelector: {matchExpressions: [{key: env, operator: Exists}]}", true},
		"empty selector":    {"an empty selector matches nothing in Sveltos", "", "clusterSelector: {}", false},
		"no selector":       {"nothing selects nothing", "", "policyRefs: []", false},
		"Profile":           {"a Profile selects in its namespace", "fleet", prodSelector, true},
		"Profile elsewhere": {"and nowhere else", "other", prodSelector, false},
		"reference":         {"by name", "", "clusterRefs: [{kind: ClusterProfile, apiVersion: " + inventoryAPI + ", namespace: fleet, name: spoke-1}]", true},
		"later API version": {"group and kind decide", "", "clusterRefs: [{kind: ClusterProfile, apiVersion: multicluster.x-k8s.io/v1, namespace: fleet, name: spoke-1}]", true},
		"Sveltos' own kind": {"the kind alone says nothing", "", "clusterRefs: [{kind: ClusterProfile, apiVersion: config.projectsveltos.io/v1beta1, namespace: fleet, name: spoke-1}]", false},
		"SveltosCluster":    {"another cluster of the same name", "", "clusterRefs: [{kind: SveltosCluster, apiVersion: lib.projectsveltos.io/v1beta1, namespace: fleet, name: spoke-1}]", false},
		"reference in a Profile": {"addon-controller takes it to the Profile's namespace", "fleet",
			"clusterRefs: [{kind: ClusterProfile, apiVersion: " + inventoryAPI + ", namespace: elsewhere, name: spoke-1}]", true},
		"ClusterSet": {"a set that has selected it", "", "setRefs: [all]", true},
		"Set":        {"a set of the Profile's namespace", "fleet", "setRefs: [own]", true},
		"other set":  {"a set that does not exist selects nothing", "", "setRefs: [own]", false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte("spec: {"+tc.spec+"}"), &u.Object))
			u.SetNamespace(tc.namespace)
			u.SetName("deploy")
			p, err := profileFrom(u, "ClusterProfile", sets)
			require.NoError(t, err)
			cluster := profile("spoke-1")
			cluster.Labels = map[string]string{"env": "prod"}
			assert.Equal(t, tc.want, p.selects(cluster), tc.reason)
		})
	}
}

func TestProfileNames(t *testing.T) {
	assert.Equal(t, "ClusterProfile/deploy", sveltosProfile{kind: "ClusterProfile", name: "deploy"}.String())
	assert.Equal(t, "Profile/fleet/deploy", sveltosProfile{kind: "Profile", namespace: "fleet", name: "deploy"}.String())
	assert.Equal(t, inventoryAPI, libsveltosv1beta1.InventoryGroupVersion.String())
}
