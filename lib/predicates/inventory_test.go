package predicates

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

func sample() *inventoryv1alpha1.ClusterProfile {
	cp := &inventoryv1alpha1.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a", UID: "1",
		Labels: map[string]string{"env": "prod"}, Annotations: map[string]string{"other": "x"}}}
	cp.Status.AccessProviders = []inventoryv1alpha1.AccessProvider{
		{Name: "one", Cluster: clientcmdv1.Cluster{Server: "https://1", CertificateAuthorityData: []byte("ca"), Extensions: []clientcmdv1.NamedExtension{
			{Name: "e", Extension: runtime.RawExtension{Raw: []byte("{}")}}, {Name: "f", Extension: runtime.RawExtension{Raw: []byte("{}")}}}}},
		{Name: "two", Cluster: clientcmdv1.Cluster{Server: "https://2"}},
	}
	cp.Status.Properties = []inventoryv1alpha1.Property{{Name: "p", Value: "1"}}
	setHealth(cp, metav1.ConditionTrue, "ok")
	return cp
}

func setHealth(cp *inventoryv1alpha1.ClusterProfile, status metav1.ConditionStatus, message string) {
	meta.SetStatusCondition(&cp.Status.Conditions, metav1.Condition{
		Type: inventoryv1alpha1.ClusterConditionControlPlaneHealthy, Status: status, Reason: "R", Message: message})
}

// Case 7 and its kind: what a cluster manager writes all the time is no change.
func TestInventoryClusterProfilePredicates(t *testing.T) {
	now := metav1.Now()
	for _, tc := range []struct {
		name   string
		change func(*inventoryv1alpha1.ClusterProfile)
		passes bool
	}{
		{"nothing", func(*inventoryv1alpha1.ClusterProfile) {}, false},
		{"resync", func(cp *inventoryv1alpha1.ClusterProfile) { cp.ResourceVersion = "2" }, false},
		{"property", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Status.Properties[0].Value = "2" }, false},
		{"version", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Status.Version.Kubernetes = "v1.36.3" }, false},
		{"condition message", func(cp *inventoryv1alpha1.ClusterProfile) { setHealth(cp, metav1.ConditionTrue, "still ok") }, false},
		{"another condition", func(cp *inventoryv1alpha1.ClusterProfile) {
			meta.SetStatusCondition(&cp.Status.Conditions, metav1.Condition{Type: "Joined", Status: metav1.ConditionTrue, Reason: "R"})
		}, false},
		{"display name", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Spec.DisplayName = "x" }, false},
		{"some annotation", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Annotations["other"] = "y" }, false},
		{"managed fields", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
		}, false},
		{"providers reordered", func(cp *inventoryv1alpha1.ClusterProfile) {
			p := cp.Status.AccessProviders
			p[0], p[1] = p[1], p[0]
		}, false},
		{"extensions reordered", func(cp *inventoryv1alpha1.ClusterProfile) {
			e := cp.Status.AccessProviders[0].Cluster.Extensions
			e[0], e[1] = e[1], e[0]
		}, false},
		{"unknown for false", func(cp *inventoryv1alpha1.ClusterProfile) { setHealth(cp, metav1.ConditionTrue, "") }, false},

		{"label", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Labels["env"] = "dev" }, true},
		{"label removed", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Labels = nil }, true},
		{"health lost", func(cp *inventoryv1alpha1.ClusterProfile) { setHealth(cp, metav1.ConditionUnknown, "") }, true},
		{"pause", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Annotations[clusterv1.PausedAnnotation] = "" }, true},
		{"shard", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Annotations[libsveltosv1beta1.ShardAnnotation] = "one"
		}, true},
		{"given up", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] = "1"
		}, true},
		{"server", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.AccessProviders[0].Cluster.Server = "https://3"
		}, true},
		{"CA", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.AccessProviders[0].Cluster.CertificateAuthorityData = []byte("cb")
		}, true},
		{"proxy", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.AccessProviders[1].Cluster.ProxyURL = "http://p"
		}, true},
		{"extension", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.AccessProviders[0].Cluster.Extensions[1].Extension.Raw = []byte(`{"a":1}`)
		}, true},
		{"provider added", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.AccessProviders = append(cp.Status.AccessProviders, inventoryv1alpha1.AccessProvider{Name: "three"})
		}, true},
		{"provider renamed", func(cp *inventoryv1alpha1.ClusterProfile) { cp.Status.AccessProviders[1].Name = "three" }, true},
		{"moved to the deprecated list", func(cp *inventoryv1alpha1.ClusterProfile) {
			cp.Status.CredentialProviders, cp.Status.AccessProviders = cp.Status.AccessProviders, nil
		}, true},
		{"being deleted", func(cp *inventoryv1alpha1.ClusterProfile) { cp.DeletionTimestamp = &now }, true},
		{"created anew between two lists", func(cp *inventoryv1alpha1.ClusterProfile) { cp.UID = "2" }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, after := sample(), sample()
			tc.change(after)
			p := InventoryClusterProfilePredicates(logr.Discard())
			assert.Equal(t, tc.passes, p.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
			assert.Equal(t, tc.passes, p.Update(event.UpdateEvent{ObjectOld: after, ObjectNew: before}), "and back")
		})
	}
}

func TestCreateAndDeletePass(t *testing.T) {
	p := InventoryClusterProfilePredicates(logr.Discard())
	assert.True(t, p.Create(event.CreateEvent{Object: sample()}))
	assert.True(t, p.Delete(event.DeleteEvent{Object: sample(), DeleteStateUnknown: true}), "a tombstone too")
	assert.False(t, p.Generic(event.GenericEvent{Object: sample()}))
}

func TestForeignObjectsAreNotOurs(t *testing.T) {
	p := InventoryClusterProfilePredicates(logr.Discard())
	assert.False(t, p.Update(event.UpdateEvent{ObjectOld: &clusterv1.Cluster{}, ObjectNew: &clusterv1.Cluster{}}))
	assert.False(t, p.Update(event.UpdateEvent{}))
}
