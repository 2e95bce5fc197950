package clusterproxy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

func names(refs []corev1.ObjectReference) []string {
	out := []string{}
	for _, r := range refs {
		out = append(out, fmt.Sprintf("%s:%s/%s", r.Kind, r.Namespace, r.Name))
	}
	return out
}

func matching(t *testing.T, c client.Client, namespace string) []string {
	t.Helper()
	refs, err := GetMatchingClusters(t.Context(), c, prod, namespace, "", logr.Discard())
	require.NoError(t, err)
	return names(refs)
}

func deleting(cp *inventoryv1alpha1.ClusterProfile) {
	now := metav1.NewTime(time.Unix(1, 0))
	cp.DeletionTimestamp, cp.Finalizers = &now, []string{"a/b"}
}

func TestMatching(t *testing.T) {
	enable(t)
	c := hubWith(t,
		cluster("healthy", healthy),
		cluster("elsewhere", healthy, inNamespace("other")),
		cluster("unknown", unknown),
		cluster("false", health(metav1.ConditionFalse)),
		cluster("absent"),
		cluster("deleting", healthy, deleting),
		cluster("other-label", healthy, func(cp *inventoryv1alpha1.ClusterProfile) { cp.Labels["env"] = "dev" }),
	)
	assert.ElementsMatch(t, []string{"ClusterProfile:fleet/healthy", "ClusterProfile:other/elsewhere"}, matching(t, c, ""))
	assert.Equal(t, []string{"ClusterProfile:other/elsewhere"}, matching(t, c, "other"))

	refs, err := GetMatchingClusters(t.Context(), c, prod, "other", "", logr.Discard())
	require.NoError(t, err)
	assert.Equal(t, []corev1.ObjectReference{{Namespace: "other", Name: "elsewhere", Kind: "ClusterProfile",
		APIVersion: "multicluster.x-k8s.io/v1alpha1"}}, refs, "exactly these fields: references are map keys")
}

// Case 22.
func TestEmptyAndNilSelector(t *testing.T) {
	enable(t)
	c := hubWith(t, cluster("a", healthy))
	refs, err := GetMatchingClusters(t.Context(), c, &metav1.LabelSelector{}, "", "", logr.Discard())
	require.NoError(t, err)
	assert.Empty(t, refs)
	_, err = GetMatchingClusters(t.Context(), c, nil, "", "", logr.Discard())
	require.EqualError(t, err, "selector is nil")
	_, err = GetMatchingClusters(t.Context(), c, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "env", Operator: "Near"}}}, "", "", logr.Discard())
	require.Error(t, err)
}

// Case 20.
func TestListsFollowTheShardAnnotation(t *testing.T) {
	enable(t)
	c := hubWith(t, cluster("a"), cluster("b", annotation(libsveltosv1beta1.ShardAnnotation, "one")), cluster("c", deleting))
	shard := func(key string) []string {
		refs, err := GetListOfClustersForShardKey(t.Context(), c, "", "", key, logr.Discard())
		require.NoError(t, err)
		return names(refs)
	}
	assert.Equal(t, []string{"ClusterProfile:fleet/a"}, shard(""))
	assert.Equal(t, []string{"ClusterProfile:fleet/b"}, shard("one"))
	all, err := GetListOfClusters(t.Context(), c, "", "", logr.Discard())
	require.NoError(t, err)
	assert.Equal(t, []string{"ClusterProfile:fleet/a", "ClusterProfile:fleet/b"}, names(all), "healthy or not, but not deleted")

	b := cluster("b")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(b), b))
	b.Annotations[libsveltosv1beta1.ShardAnnotation] = "two"
	require.NoError(t, c.Update(t.Context(), b))
	assert.Empty(t, shard("one"))
	assert.Equal(t, []string{"ClusterProfile:fleet/b"}, shard("two"))
}

func TestOnboardAnnotationIsCAPIsAlone(t *testing.T) {
	enable(t)
	c := hubWith(t, cluster("a", healthy))
	refs, err := GetMatchingClusters(t.Context(), c, prod, "", "onboard", logr.Discard())
	require.NoError(t, err)
	assert.Equal(t, []string{"ClusterProfile:fleet/a"}, names(refs))
	refs, err = GetListOfClusters(t.Context(), c, "", "onboard", logr.Discard())
	require.NoError(t, err)
	assert.Equal(t, []string{"ClusterProfile:fleet/a"}, names(refs))
}

func TestLongNamesNeverMatchAndSaySo(t *testing.T) {
	enable(t)
	fits, long := strings.Repeat("a", 63), strings.Repeat("b", 64)
	c := hubWith(t, cluster(fits, healthy), cluster(long, healthy))
	t.Cleanup(func() { forgetIgnored(cluster(long).UID) })
	before := testutil.ToFloat64(ignoredTotal.WithLabelValues(ignoredLongName))
	for range 3 {
		assert.Equal(t, []string{"ClusterProfile:fleet/" + fits}, matching(t, c, ""))
	}
	assert.InDelta(t, 1, testutil.ToFloat64(ignoredTotal.WithLabelValues(ignoredLongName))-before, 0, "once for each object")
}

// The bridge (projectsveltos/clusterinventory-controller) already serves the cluster.
func TestBridgedClusterIsLeftAlone(t *testing.T) {
	enable(t)
	bridge := &libsveltosv1beta1.SveltosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a",
		Labels: map[string]string{BridgeLabel: "clusterinventory-controller", "env": "prod"}},
		Status: libsveltosv1beta1.SveltosClusterStatus{Ready: true}}
	own := &libsveltosv1beta1.SveltosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "b",
		Labels: map[string]string{"env": "prod"}}, Status: libsveltosv1beta1.SveltosClusterStatus{Ready: true}}
	c := hubWith(t, cluster("a", healthy), cluster("b", healthy), bridge, own)
	for range 2 {
		assert.ElementsMatch(t, []string{"SveltosCluster:fleet/a", "SveltosCluster:fleet/b", "ClusterProfile:fleet/b"}, matching(t, c, ""))
	}
	ready, err := isInventoryClusterReady(t.Context(), c, "fleet", "a")
	require.NoError(t, err)
	assert.False(t, ready, "nor is it deployed to when it is named in clusterRefs")
	require.NoError(t, c.Delete(t.Context(), bridge))
	ready, err = isInventoryClusterReady(t.Context(), c, "fleet", "a")
	require.NoError(t, err)
	assert.True(t, ready)
	assert.ElementsMatch(t, []string{"SveltosCluster:fleet/b", "ClusterProfile:fleet/a", "ClusterProfile:fleet/b"}, matching(t, c, ""))
}

// Case 25.
func TestThreeClustersOfOneName(t *testing.T) {
	enable(t)
	ready := true
	capi := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a", Labels: prod.MatchLabels}}
	capi.Status.Initialization.ControlPlaneInitialized = &ready
	sveltos := &libsveltosv1beta1.SveltosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a", Labels: prod.MatchLabels},
		Status: libsveltosv1beta1.SveltosClusterStatus{Ready: true}}
	c := hubWith(t, capi, sveltos, cluster("a", healthy))
	// Whether CAPI is there is asked once in a process, by upstream; the CRD is not in this hub.
	assert.Subset(t, matching(t, c, ""), []string{"SveltosCluster:fleet/a", "ClusterProfile:fleet/a"})
}

// Case 23: decided at each call.
func TestAbsentCRDMeansNone(t *testing.T) {
	enable(t)
	for name, absent := range map[string]error{
		"no match": &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "multicluster.x-k8s.io", Kind: "ClusterProfile"}},
		"404":      apierrors.NewNotFound(schema.GroupResource{Group: "multicluster.x-k8s.io", Resource: "clusterprofiles"}, ""),
	} {
		t.Run(name, func(t *testing.T) {
			there := false
			c := interceptor.NewClient(hubWith(t, cluster("a", healthy)), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
					if _, ok := l.(*inventoryv1alpha1.ClusterProfileList); ok && !there {
						return absent
					}
					return c.List(ctx, l, opts...)
				},
			})
			assert.Empty(t, matching(t, c, ""))
			there = true
			assert.Equal(t, []string{"ClusterProfile:fleet/a"}, matching(t, c, ""))
			there = false
			assert.Empty(t, matching(t, c, ""))
		})
	}
}

func TestOtherListErrorsPassThrough(t *testing.T) {
	enable(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "clusterprofiles"}, "", nil)
	c := interceptor.NewClient(hubWith(t), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if _, ok := l.(*inventoryv1alpha1.ClusterProfileList); ok {
				return forbidden
			}
			return c.List(ctx, l, opts...)
		},
	})
	_, err := GetMatchingClusters(t.Context(), c, prod, "", "", logr.Discard())
	require.True(t, apierrors.IsForbidden(err), "%v: an error must not look like a fleet that is gone", err)
	_, err = GetListOfClusters(t.Context(), c, "", "", logr.Discard())
	require.True(t, apierrors.IsForbidden(err))
}
