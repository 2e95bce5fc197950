package addons

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// GroupVersion is the API of addon-controller.
var GroupVersion = schema.GroupVersion{Group: "config.projectsveltos.io", Version: "v1beta1"}

const (
	// ClusterNameLabel and ClusterTypeLabel are on every ClusterSummary.
	ClusterNameLabel = "projectsveltos.io/cluster-name"
	// ClusterTypeLabel holds the ClusterType.
	ClusterTypeLabel = "projectsveltos.io/cluster-type"
)

// Policy returns the ConfigMap on the hub that holds, as Sveltos wants it, the manifest of a ConfigMap for a cluster.
func Policy(key types.NamespacedName, deployed types.NamespacedName, data map[string]string) (*corev1.ConfigMap, error) {
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"namespace": deployed.Namespace, "name": deployed.Name},
		"data":       data,
	})
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Data:       map[string]string{"configmap.yaml": string(manifest)},
	}, nil
}

// Profile returns a Sveltos ClusterProfile that deploys a Policy to the clusters with all the labels.
func Profile(name string, labels map[string]string, policy types.NamespacedName) *unstructured.Unstructured {
	matchLabels := map[string]any{}
	for key, value := range labels {
		matchLabels[key] = value
	}
	profile := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"clusterSelector": map[string]any{"matchLabels": matchLabels},
			"policyRefs": []any{map[string]any{
				"kind": "ConfigMap", "namespace": policy.Namespace, "name": policy.Name,
			}},
		},
	}}
	profile.SetGroupVersionKind(GroupVersion.WithKind("ClusterProfile"))
	profile.SetName(name)
	return profile
}

// Summary is what a person reads in a ClusterSummary.
type Summary struct {
	Namespace   string
	Name        string
	Cluster     string
	ClusterType string
	// Statuses and Messages of the features, such as Provisioned or Failed.
	Statuses []string
	Messages []string
}

// String is one line.
func (s Summary) String() string {
	return fmt.Sprintf("ClusterSummary %s/%s for %s %s: %v %v", s.Namespace, s.Name, s.ClusterType, s.Cluster, s.Statuses, s.Messages)
}

// Summaries lists the ClusterSummaries of a hub that carry all the labels.
func Summaries(ctx context.Context, c client.Client, labels map[string]string) ([]Summary, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(GroupVersion.WithKind("ClusterSummaryList"))
	if err := c.List(ctx, list, client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	summaries := make([]Summary, 0, len(list.Items))
	for i := range list.Items {
		summaries = append(summaries, summaryOf(&list.Items[i]))
	}
	return summaries, nil
}

// summaryOf reads the fields of one ClusterSummary.
func summaryOf(object *unstructured.Unstructured) Summary {
	summary := Summary{Namespace: object.GetNamespace(), Name: object.GetName()}
	summary.Cluster, _, _ = unstructured.NestedString(object.Object, "spec", "clusterName")
	summary.ClusterType, _, _ = unstructured.NestedString(object.Object, "spec", "clusterType")
	features, _, _ := unstructured.NestedSlice(object.Object, "status", "featureSummaries")
	for _, feature := range features {
		fields, _ := feature.(map[string]any)
		if status, found, _ := unstructured.NestedString(fields, "status"); found {
			summary.Statuses = append(summary.Statuses, status)
		}
		if message, found, _ := unstructured.NestedString(fields, "failureMessage"); found {
			summary.Messages = append(summary.Messages, message)
		}
	}
	return summary
}
