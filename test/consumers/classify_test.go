package consumers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

// newField is a field of the inventory API that the types of this program do not have.
const newField = "networking"

// matches does what the agent on a spoke does when it has evaluated a Classifier.
func (f *fleet) matches(spoke *helpers.Cluster, classifier string, match bool) {
	f.Helper()
	report := &libsveltosv1beta1.ClassifierReport{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: classifier}}
	_, err := controllerutil.CreateOrUpdate(f.Context(), spoke.Client, report, func() error {
		report.Labels = map[string]string{libsveltosv1beta1.ClassifierlNameLabel: classifier}
		report.Spec = libsveltosv1beta1.ClassifierReportSpec{ClassifierName: classifier, Match: match}
		return nil
	})
	require.NoError(f, err)
	f.Cleanup(func() { _ = spoke.Client.Delete(context.Background(), report) })
}

func (f *fleet) classifier(name string, labels ...libsveltosv1beta1.ClassifierLabel) {
	f.Helper()
	create(f.T, f.hub, &libsveltosv1beta1.Classifier{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: libsveltosv1beta1.ClassifierSpec{ClassifierLabels: labels}})
}

// classifying starts a Collector and a Labeller, as classifier is both.
func classifying(mgr manager.Manager) error {
	if err := collecting(mgr); err != nil {
		return err
	}
	return (&Labeller{Client: mgr.GetClient()}).SetupWithManager(mgr)
}

// asController is a user with the rights that the README asks for, and none to update an inventory ClusterProfile.
func (f *fleet) asController(user string) *rest.Config {
	f.Helper()
	read := []string{"get", "list", "watch"}
	create(f.T, f.hub, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"multicluster.x-k8s.io"}, Resources: []string{"clusterprofiles"}, Verbs: append(read, "patch")},
		{APIGroups: []string{"lib.projectsveltos.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
		{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"clusters"}, Verbs: read},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: read},
	}})
	create(f.T, f.hub, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}})
	config := rest.CopyConfig(f.hub.Config)
	config.Impersonate.UserName = user
	return config
}

func (f *fleet) label(cluster, key string) string {
	f.Helper()
	return f.get(cluster).Labels[key]
}

// newerInventory installs a later version of the inventory's CRD, with one more field, for one test.
func newerInventory(t *testing.T, hub *helpers.Cluster) {
	t.Helper()
	preserve := true
	editCRD(t, hub, func(spec map[string]apiextensionsv1.JSONSchemaProps) {
		spec[newField] = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}
	})
	t.Cleanup(func() {
		editCRD(t, hub, func(spec map[string]apiextensionsv1.JSONSchemaProps) { delete(spec, newField) })
	})
}

func editCRD(t *testing.T, hub *helpers.Cluster, change func(spec map[string]apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, hub.Client.Get(ctx, types.NamespacedName{Name: "clusterprofiles.multicluster.x-k8s.io"}, crd))
	before := crd.DeepCopy()
	change(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties)
	require.NoError(t, hub.Client.Patch(ctx, crd, client.MergeFrom(before)))
}

// untyped reads an inventory ClusterProfile with all its fields.
func (f *fleet) untyped(name string) *unstructured.Unstructured {
	f.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(libsveltosv1beta1.InventoryGroupVersion.WithKind(libsveltosv1beta1.InventoryClusterProfileKind))
	require.NoError(f, f.hub.Client.Get(f.Context(), f.key(name), object))
	return object
}

func (f *fleet) hasNewField(name string) bool {
	f.Helper()
	value, found, err := unstructured.NestedString(f.untyped(name).Object, "spec", newField, "mode")
	require.NoError(f, err)
	return found && value == "flat"
}

// writeNewField does what a newer cluster manager does. An API server takes a moment to serve a changed CRD.
func (f *fleet) writeNewField(name string) {
	f.Helper()
	f.eventually(func() bool {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"`+newField+`":{"mode":"flat"}}}`))
		require.NoError(f, f.hub.Client.Patch(f.Context(), f.untyped(name), patch))
		return f.hasNewField(name)
	}, "the new field is served")
}

// From a report on a spoke to a cluster that matches a selector, by a controller that may patch the inventory's
// objects and not update them. What a newer cluster manager has written survives.
func TestClassifierLabelsTheInventoryObject(t *testing.T) {
	f := newFleet(t)
	newerInventory(t, f.hub)
	f.classifier("web", libsveltosv1beta1.ClassifierLabel{Key: "tier", Value: "web"}, libsveltosv1beta1.ClassifierLabel{Key: "class", Value: "a"})
	for _, name := range []string{"spoke-1", "spoke-2"} {
		f.join(name, spoke(t, name))
		f.writeNewField(name)
		f.matches(spoke(t, name), "web", name == "spoke-1")
	}
	before := f.untyped("spoke-1")
	mgr, _ := f.start(f.asController("classifier"), classifying)

	f.eventually(func() bool { return f.label("spoke-1", "tier") == "web" && f.label("spoke-1", "class") == "a" }, "labelled")
	report := &libsveltosv1beta1.ClassifierReport{}
	require.NoError(t, f.hub.Client.Get(t.Context(), f.key("clusterprofile--web--spoke-1"), report))
	assert.Equal(t, libsveltosv1beta1.ClassifierReportSpec{ClusterNamespace: f.namespace, ClusterName: "spoke-1",
		ClusterType: "ClusterProfile", ClassifierName: "web", Match: true}, report.Spec)
	assert.Equal(t, map[string]string{
		"projectsveltos.io/classifier-name":         "web",
		"classifier.projectsveltos.io/cluster-name": "spoke-1",
		"classifier.projectsveltos.io/cluster-type": "clusterprofile",
	}, report.Labels)
	after := f.untyped("spoke-1")
	assert.True(t, f.hasNewField("spoke-1"))
	assert.Equal(t, before.Object["spec"], after.Object["spec"])
	assert.Equal(t, before.Object["status"], after.Object["status"])
	assert.Equal(t, map[string]string{"fleet": f.namespace, "tier": "web", "class": "a"}, after.GetLabels())

	f.eventually(func() bool {
		refs, err := clusterproxy.GetMatchingClusters(t.Context(), mgr.GetClient(),
			&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web", "fleet": f.namespace}}, "", "", mgr.GetLogger())
		require.NoError(t, err)
		return len(refs) == 1 && clusterOf(&refs[0]) == f.cluster("spoke-1", third)
	}, "the labelled cluster matches, and no other")
	f.eventually(func() bool {
		err := f.hub.Client.Get(t.Context(), f.key("clusterprofile--web--spoke-2"), &libsveltosv1beta1.ClassifierReport{})
		return err == nil
	}, "the other spoke is collected too")
	assert.Empty(t, f.label("spoke-2", "tier"))

	f.edit("spoke-1", func(cp *inventoryv1alpha1.ClusterProfile) { delete(cp.Labels, "tier") })
	f.eventually(func() bool { return f.label("spoke-1", "tier") == "web" }, "the watch sees that a label was taken away")
	f.matches(spoke(t, "spoke-1"), "web", false)
	f.eventually(func() bool { return len(f.get("spoke-1").Labels) == 1 }, "no match, no labels")
	assert.True(t, f.hasNewField("spoke-1"))
	assert.Equal(t, f.namespace, f.label("spoke-1", "fleet"), "labels of others stay")
}

// Why labels are patched: what controllers do to SveltosClusters, an Update of the whole object, takes from an inventory
// ClusterProfile what its writer knows and this program does not.
func TestUpdateDropsWhatANewerWriterWrote(t *testing.T) {
	f := newFleet(t)
	newerInventory(t, f.hub)
	f.join("spoke-1", spoke(t, "spoke-1"))
	f.writeNewField("spoke-1")
	labelled := func() client.Object {
		cluster, err := clusterproxy.GetCluster(t.Context(), f.hub.Client, f.namespace, "spoke-1", third)
		require.NoError(t, err)
		cluster.SetLabels(map[string]string{"tier": "web"})
		return cluster
	}
	before := f.get("spoke-1")
	require.NoError(t, f.hub.Client.Patch(t.Context(), labelled(), client.MergeFrom(before)))
	assert.True(t, f.hasNewField("spoke-1"), "the patch keeps it")
	require.NoError(t, f.hub.Client.Update(t.Context(), labelled()))
	assert.False(t, f.hasNewField("spoke-1"), "the update drops it")
}
