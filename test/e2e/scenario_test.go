//go:build e2e

package e2e

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

const (
	scenarioLabel = "e2e"
	cleanupWithin = 90 * time.Second
)

// scenario is one story on the shared hub, in a namespace and with labels of its own.
type scenario struct {
	*testing.T
	group *group
	// name is the namespace of its clusters, the name of its add-on, and the value of its label.
	name string
	// finalized are the objects on the hub that may carry finalizers of the controller.
	finalized []client.Object
	// patience replaces the usual limit of a wait where it is longer.
	patience time.Duration
}

// scenario begins a story.
func (g *group) scenario(t *testing.T) *scenario {
	t.Helper()
	name := strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(t.Name(), "-"))
	s := &scenario{T: t, group: g, name: strings.Trim(name[:min(len(name), 50)], "-")}
	require.NoError(t, g.hub.EnsureNamespace(t.Context(), s.name))
	t.Cleanup(s.cleanUp)
	return s
}

func (s *scenario) labels() map[string]string { return map[string]string{scenarioLabel: s.name} }

func (s *scenario) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.name, Name: name}
}

// addon is the ConfigMap that the scenario's add-on consists of.
func (s *scenario) addon() types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: s.name}
}

// inventory creates an inventory ClusterProfile for a spoke, with its credential in a Secret. It is not healthy yet.
func (s *scenario) inventory(spoke *helpers.Cluster) types.NamespacedName {
	s.Helper()
	secret := s.key(spoke.Name + "-kubeconfig")
	s.create(helpers.KubeconfigSecret(secret, spoke.Kubeconfig))
	return s.inventoryWith(spoke.Name, helpers.SecretReaderAccess(spoke, secret))
}

// inventoryWith creates an inventory ClusterProfile with the given access provider. It is not healthy yet.
func (s *scenario) inventoryWith(name string, access inventoryv1alpha1.AccessProvider) types.NamespacedName {
	s.Helper()
	profile := helpers.InventoryClusterProfile(s.key(name), s.labels(), access)
	require.NoError(s, helpers.CreateWithStatus(s.Context(), s.group.hub.Client, profile))
	s.finalized = append(s.finalized, profile)
	return client.ObjectKeyFromObject(profile)
}

// sveltosCluster registers a spoke the stock way.
func (s *scenario) sveltosCluster(spoke *helpers.Cluster) types.NamespacedName {
	s.Helper()
	cluster, secret := helpers.SveltosCluster(s.key(spoke.Name), s.labels(), spoke.Kubeconfig)
	s.create(secret)
	require.NoError(s, helpers.CreateWithStatus(s.Context(), s.group.hub.Client, cluster))
	s.finalized = append(s.finalized, cluster)
	return client.ObjectKeyFromObject(cluster)
}

// deploy creates the scenario's add-on and a Sveltos ClusterProfile that selects all clusters of the scenario.
func (s *scenario) deploy() {
	s.Helper()
	policyKey := s.key("policy")
	policy, err := addons.Policy(policyKey, s.addon(), map[string]string{"scenario": s.name})
	require.NoError(s, err)
	s.create(policy)
	profile := addons.Profile(s.name, s.labels(), policyKey)
	require.NoError(s, s.group.hub.Client.Create(s.Context(), profile))
	s.finalized = append(s.finalized, profile)
}

// health writes the ControlPlaneHealthy condition.
func (s *scenario) health(cluster types.NamespacedName, status metav1.ConditionStatus) {
	s.Helper()
	require.NoError(s, helpers.SetControlPlaneHealthy(s.Context(), s.group.hub.Client, cluster, status))
}

// create creates an object that needs no clean-up: names are unique, and the hub ends with the run.
func (s *scenario) create(object client.Object) {
	s.Helper()
	require.NoError(s, s.group.hub.Client.Create(s.Context(), object))
}

// delete deletes an object on the hub, which may be gone already.
func (s *scenario) delete(ctx context.Context, object client.Object) {
	s.Helper()
	require.NoError(s, client.IgnoreNotFound(s.group.hub.Client.Delete(ctx, object)))
}

// cleanUp deletes everything and waits until it is gone, while the controller still runs. Clusters go too, so that a
// cluster that cannot be reached does not hold up its add-on.
func (s *scenario) cleanUp() {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupWithin)
	defer cancel()
	for _, object := range s.finalized {
		s.delete(ctx, object)
	}
	for _, object := range s.finalized {
		s.deleteAndWait(object)
	}
}

// deleteAndWait deletes an object on the hub and waits until its finalizers have let it go.
func (s *scenario) deleteAndWait(object client.Object) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cleanupWithin)
	defer cancel()
	s.delete(ctx, object)
	current := object.DeepCopyObject().(client.Object)
	err := helpers.WaitFor(ctx, "clean-up of "+object.GetName(), cleanupWithin, s.progress, func(ctx context.Context) (bool, error) {
		if s.group.supervised {
			s.group.revive(s)
		}
		err := s.group.hub.Client.Get(ctx, client.ObjectKeyFromObject(object), current)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	assert.NoError(s, err)
}

// eventually waits for something to become true.
func (s *scenario) eventually(what string, done func(context.Context) (bool, error)) {
	s.Helper()
	err := helpers.WaitFor(s.Context(), what, max(soon, s.patience), s.progress, func(ctx context.Context) (bool, error) {
		ok, err := done(ctx)
		if s.group.supervised {
			s.group.revive(s)
		}
		require.NoError(s, s.group.controller.Alive())
		return ok, err
	})
	require.NoError(s, err, "ClusterSummaries: %v", s.summaries())
}

func (s *scenario) progress(format string, args ...any) { s.Logf(format, args...) }

// eventuallyDeployed waits for the add-on on a spoke and returns it.
func (s *scenario) eventuallyDeployed(spoke *helpers.Cluster) *corev1.ConfigMap {
	s.Helper()
	configMap := &corev1.ConfigMap{}
	s.eventually("the add-on on "+spoke.Name, func(ctx context.Context) (bool, error) {
		err := spoke.Client.Get(ctx, s.addon(), configMap)
		return err == nil, client.IgnoreNotFound(err)
	})
	return configMap
}

// eventuallyWithdrawn waits until the add-on is gone from a spoke.
func (s *scenario) eventuallyWithdrawn(spoke *helpers.Cluster) {
	s.Helper()
	s.eventually("the add-on to go from "+spoke.Name, func(ctx context.Context) (bool, error) {
		err := spoke.Client.Get(ctx, s.addon(), &corev1.ConfigMap{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// eventuallyMatching waits until the controller has reconciled the add-on with that many matching clusters.
func (s *scenario) eventuallyMatching(clusters int) {
	s.Helper()
	s.eventually("addon-controller to match clusters", func(ctx context.Context) (bool, error) {
		count, reconciled, err := s.group.controller.MatchingClusters(ctx, s.name)
		return reconciled && count == clusters, err
	})
}

// eventuallyFails waits for a failureMessage in a ClusterSummary of the scenario that holds all the texts.
func (s *scenario) eventuallyFails(texts ...string) string {
	s.Helper()
	found := ""
	s.eventually("a failureMessage with "+strings.Join(texts, " and "), func(ctx context.Context) (bool, error) {
		for _, summary := range s.summaries() {
			for _, message := range summary.Messages {
				if containsAll(message, texts) {
					found = message
					return true, nil
				}
			}
		}
		return false, nil
	})
	return found
}

// eventuallyNoSummary waits until nothing on the hub stands for the clusters of that type.
func (s *scenario) eventuallyNoSummary(clusterType libsveltosv1beta1.ClusterType) {
	s.Helper()
	s.eventually("the ClusterSummary to go", func(context.Context) (bool, error) {
		return len(s.summariesOf(clusterType)) == 0, nil
	})
}

// neverDeployed looks for a moment that the add-on is not on a cluster. Call it after a sign that the controller has
// decided.
func (s *scenario) neverDeployed(cluster *helpers.Cluster) {
	s.Helper()
	assert.Never(s, func() bool {
		return cluster.Client.Get(s.Context(), s.addon(), &corev1.ConfigMap{}) == nil
	}, never, never/10, "the add-on must not be on %s", cluster.Name)
}

// summaries are the ClusterSummaries of the scenario; their namespace is that of the cluster.
func (s *scenario) summaries() []addons.Summary {
	s.Helper()
	all, err := addons.Summaries(s.Context(), s.group.hub.Client, nil)
	require.NoError(s, err)
	var own []addons.Summary
	for _, summary := range all {
		if summary.Namespace == s.name {
			own = append(own, summary)
		}
	}
	return own
}

// summariesOf are the ClusterSummaries of the scenario for a cluster type, by field and by label.
func (s *scenario) summariesOf(clusterType libsveltosv1beta1.ClusterType) []addons.Summary {
	s.Helper()
	labelled, err := addons.Summaries(s.Context(), s.group.hub.Client, map[string]string{addons.ClusterTypeLabel: string(clusterType)})
	require.NoError(s, err)
	var own []addons.Summary
	for _, summary := range labelled {
		if summary.Namespace == s.name {
			assert.Equal(s, string(clusterType), summary.ClusterType, "label and spec of %s must agree", summary)
			own = append(own, summary)
		}
	}
	return own
}

// containsAll reports whether text contains each part.
func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
