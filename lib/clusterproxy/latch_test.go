package clusterproxy

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// freshLatches gives the test a memory of its own, as a restart does.
func freshLatches(t *testing.T) {
	t.Helper()
	before := latches
	latches = newLatchBook()
	t.Cleanup(func() { latches = before })
}

func flushed(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(t, latches.flush(ctx))
}

func setHealth(t *testing.T, c client.Client, name string, status metav1.ConditionStatus) {
	t.Helper()
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error { // the latch is written meanwhile
		cp := cluster(name)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(cp), cp); err != nil {
			return err
		}
		health(status)(cp)
		return c.Status().Update(t.Context(), cp)
	}))
}

func annotationOf(t *testing.T, c client.Client, name string) string {
	t.Helper()
	cp := cluster(name)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(cp), cp))
	return cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation]
}

// Case 17: a later loss of health pauses and never withdraws.
func TestMatchSurvivesLossOfHealth(t *testing.T) {
	enable(t)
	freshLatches(t)
	c := hubWith(t, cluster("a", unknown))
	matched := []string{"ClusterProfile:fleet/a"}
	assert.Empty(t, matching(t, c, ""), "not before it was healthy once")

	setHealth(t, c, "a", metav1.ConditionTrue)
	assert.Equal(t, matched, matching(t, c, ""))
	for _, status := range []metav1.ConditionStatus{metav1.ConditionUnknown, metav1.ConditionFalse, metav1.ConditionTrue, metav1.ConditionUnknown} {
		setHealth(t, c, "a", status)
		assert.Equal(t, matched, matching(t, c, ""), status)
		ref := inventoryRef("fleet", "a")
		ready, err := isInventoryClusterReady(t.Context(), c, ref.Namespace, ref.Name)
		require.NoError(t, err)
		assert.Equal(t, status == metav1.ConditionTrue, ready, "but deployment pauses")
	}
	flushed(t)
	assert.Equal(t, "uid-a", annotationOf(t, c, "a"))

	freshLatches(t)
	assert.Equal(t, matched, matching(t, c, ""), "after a restart while unhealthy")
}

func TestLatchIsInMemoryBeforeTheMatchIsReturned(t *testing.T) {
	enable(t)
	freshLatches(t)
	release := make(chan struct{})
	c := interceptor.NewClient(hubWith(t, cluster("a", healthy)), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			<-release
			return c.Patch(ctx, o, p, opts...)
		},
	})
	require.NotEmpty(t, matching(t, c, ""), "a patch that hangs does not stall the reconcile")
	setHealth(t, c, "a", metav1.ConditionUnknown)
	assert.NotEmpty(t, matching(t, c, ""))
	close(release)
	flushed(t)
	assert.Equal(t, "uid-a", annotationOf(t, c, "a"))
}

func TestRecreatedObjectStartsAnew(t *testing.T) {
	enable(t)
	freshLatches(t)
	c := hubWith(t, cluster("a", healthy))
	require.NotEmpty(t, matching(t, c, ""))
	flushed(t)

	old := cluster("a")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	require.NoError(t, c.Delete(t.Context(), old))
	again := cluster("a", unknown, annotation(libsveltosv1beta1.InventoryMatchedAnnotation, "uid-a"))
	again.UID = "another"
	require.NoError(t, c.Create(t.Context(), again))
	assert.Empty(t, matching(t, c, ""), "a copied annotation names another object")
}

func TestRemovingTheAnnotationGivesTheClusterUp(t *testing.T) {
	enable(t)
	freshLatches(t)
	c := hubWith(t, cluster("a", healthy))
	require.NotEmpty(t, matching(t, c, ""))
	flushed(t)
	setHealth(t, c, "a", metav1.ConditionUnknown)
	require.NotEmpty(t, matching(t, c, ""))

	remove := func() {
		cp := cluster("a")
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(cp), cp))
		delete(cp.Annotations, libsveltosv1beta1.InventoryMatchedAnnotation)
		require.NoError(t, c.Update(t.Context(), cp))
	}
	remove()
	assert.Empty(t, matching(t, c, ""))
	assert.Empty(t, matching(t, c, ""), "for good")

	setHealth(t, c, "a", metav1.ConditionTrue)
	require.NotEmpty(t, matching(t, c, ""))
	flushed(t)
	remove()
	require.NotEmpty(t, matching(t, c, ""), "removed while healthy it comes back")
	flushed(t)
	assert.Equal(t, "uid-a", annotationOf(t, c, "a"))
}

func TestStaleCacheDoesNotUnlatch(t *testing.T) {
	enable(t)
	freshLatches(t)
	c := hubWith(t, cluster("a", healthy))
	stale := cluster("a")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(stale), stale))
	require.NotEmpty(t, matching(t, c, ""))
	flushed(t)
	unknown(stale)
	assert.True(t, latches.has(stale), "an object that was read before the write does not speak of it yet")
}

func TestRefusedPatchKeepsTheLatchInMemory(t *testing.T) {
	enable(t)
	freshLatches(t)
	var patches atomic.Int32
	c := interceptor.NewClient(hubWith(t, cluster("a", healthy), cluster("b", healthy)), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			patches.Add(1)
			return apierrors.NewForbidden(schema.GroupResource{Resource: "clusterprofiles"}, "a", errors.New("no"))
		},
	})
	for range 5 {
		require.Len(t, matching(t, c, ""), 2)
		flushed(t)
	}
	assert.EqualValues(t, 2, patches.Load(), "asked once for each")
	assert.True(t, latches.warned)
	setHealth(t, c, "a", metav1.ConditionUnknown)
	assert.Len(t, matching(t, c, ""), 2)
}

func TestLatchIsRetried(t *testing.T) {
	enable(t)
	freshLatches(t)
	var patches atomic.Int32
	c := interceptor.NewClient(hubWith(t, cluster("a", healthy)), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if patches.Add(1) == 1 {
				return apierrors.NewServiceUnavailable("restarting")
			}
			return c.Patch(ctx, o, p, opts...)
		},
	})
	require.NotEmpty(t, matching(t, c, ""))
	flushed(t)
	assert.Equal(t, "uid-a", annotationOf(t, c, "a"))
	assert.EqualValues(t, 2, patches.Load())
}

func TestFlushSaysWhatIsNotWritten(t *testing.T) {
	enable(t)
	freshLatches(t)
	release := make(chan struct{})
	defer close(release)
	c := interceptor.NewClient(hubWith(t, cluster("a", healthy)), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			<-release
			return nil
		},
	})
	require.NotEmpty(t, matching(t, c, ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, latches.flush(ctx), "1 clusters have matched")
}

func TestObjectsWithoutUIDDoNotShareALatch(t *testing.T) {
	enable(t)
	freshLatches(t)
	none := func(cp *inventoryv1alpha1.ClusterProfile) { cp.UID = "" }
	c := hubWith(t, cluster("a", healthy, none), cluster("b", unknown, none))
	assert.Equal(t, []string{"ClusterProfile:fleet/a"}, matching(t, c, ""))
}
