package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// sveltosAPI is the API of addon-controller, whose Go types are no dependency of this module.
var sveltosAPI = schema.GroupVersion{Group: "config.projectsveltos.io", Version: "v1beta1"}

// sveltosProfile is a ClusterProfile or Profile of Sveltos: what selects clusters. The latter has a namespace and
// selects in it only.
type sveltosProfile struct {
	kind, namespace, name string

	selecting
	// selected are the clusters of the sets that setRefs names.
	selected []corev1.ObjectReference
}

// selecting are the fields of a spec that select clusters.
type selecting struct {
	ClusterSelector metav1.LabelSelector     `json:"clusterSelector"`
	ClusterRefs     []corev1.ObjectReference `json:"clusterRefs"`
	SetRefs         []string                 `json:"setRefs"`
}

// String is Kind/name or Kind/namespace/name.
func (p sveltosProfile) String() string {
	if p.namespace == "" {
		return p.kind + "/" + p.name
	}
	return p.kind + "/" + p.namespace + "/" + p.name
}

// selects tells whether the profile means the cluster, by its labels, by a reference, or through a set.
func (p sveltosProfile) selects(cp *inventoryv1alpha1.ClusterProfile) bool {
	if p.namespace != "" && p.namespace != cp.Namespace {
		return false
	}
	if len(p.ClusterSelector.MatchLabels)+len(p.ClusterSelector.MatchExpressions) > 0 {
		selector, err := metav1.LabelSelectorAsSelector(&p.ClusterSelector)
		if err == nil && selector.Matches(labels.Set(cp.Labels)) {
			return true
		}
	}
	return slices.ContainsFunc(append(slices.Clone(p.ClusterRefs), p.selected...), func(ref corev1.ObjectReference) bool {
		return isInventory(&ref) && ref.Name == cp.Name &&
			(ref.Namespace == cp.Namespace || p.namespace != "") // a Profile's references are taken to its own namespace
	})
}

// isInventory decides by group and kind: Sveltos' own ClusterProfile has the same kind, and a user may name it here
// by mistake.
func isInventory(ref *corev1.ObjectReference) bool {
	return ref.GroupVersionKind().GroupKind() == libsveltosv1beta1.InventoryGroupVersion.WithKind(
		libsveltosv1beta1.InventoryClusterProfileKind).GroupKind()
}

// selecters are the names of the profiles that mean the cluster.
func selecters(profiles []sveltosProfile, cp *inventoryv1alpha1.ClusterProfile) []string {
	names := []string{}
	for i := range profiles {
		if profiles[i].selects(cp) {
			names = append(names, profiles[i].String())
		}
	}
	return names
}

// readProfiles returns none where Sveltos' CRDs are not installed.
func readProfiles(ctx context.Context, hub client.Client) ([]sveltosProfile, error) {
	sets, err := readSets(ctx, hub)
	if err != nil {
		return nil, err
	}
	var profiles []sveltosProfile
	for _, kind := range []string{"ClusterProfile", "Profile"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(sveltosAPI.WithKind(kind + "List"))
		if err := hub.List(ctx, list); err != nil {
			if absent(err) {
				continue
			}
			return nil, err
		}
		for i := range list.Items {
			p, err := profileFrom(&list.Items[i], kind, sets)
			if err != nil {
				return nil, err
			}
			profiles = append(profiles, p)
		}
	}
	return profiles, nil
}

// profileFrom reads what selects. sets are the clusters of each set, by setKey.
func profileFrom(u *unstructured.Unstructured, kind string, sets map[string][]corev1.ObjectReference) (sveltosProfile, error) {
	p := sveltosProfile{kind: kind, namespace: u.GetNamespace(), name: u.GetName()}
	spec, _, err := unstructured.NestedMap(u.Object, "spec")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &p.selecting)
	}
	if err != nil {
		return p, fmt.Errorf("%s: %w", p, err)
	}
	for _, name := range p.SetRefs {
		p.selected = append(p.selected, sets[setKey(p.namespace, name)]...)
	}
	return p, nil
}

// readSets returns what ClusterSets (no namespace) and Sets have selected.
func readSets(ctx context.Context, hub client.Client) (map[string][]corev1.ObjectReference, error) {
	selected := map[string][]corev1.ObjectReference{}
	clusterSets, sets := &libsveltosv1beta1.ClusterSetList{}, &libsveltosv1beta1.SetList{}
	for _, list := range []client.ObjectList{clusterSets, sets} {
		if err := hub.List(ctx, list); err != nil && !absent(err) {
			return nil, err
		}
	}
	for i := range clusterSets.Items {
		set := &clusterSets.Items[i]
		selected[setKey("", set.Name)] = set.Status.SelectedClusterRefs
	}
	for i := range sets.Items {
		set := &sets.Items[i]
		selected[setKey(set.Namespace, set.Name)] = set.Status.SelectedClusterRefs
	}
	return selected, nil
}

func setKey(namespace, name string) string { return namespace + "/" + name }
