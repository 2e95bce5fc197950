package roles

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	upstream "upstream.projectsveltos.io/libsveltos/lib/roles"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

var allTypes = []libsveltosv1beta1.ClusterType{libsveltosv1beta1.ClusterTypeCapi, libsveltosv1beta1.ClusterTypeSveltos,
	libsveltosv1beta1.ClusterTypeClusterProfile}

func hub(t *testing.T) (client.Client, *libsveltosv1beta1.RoleRequest) {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(s))
	require.NoError(t, libsveltosv1beta1.AddToScheme(s))
	owner := &libsveltosv1beta1.RoleRequest{
		TypeMeta:   metav1.TypeMeta{Kind: "RoleRequest", APIVersion: libsveltosv1beta1.GroupVersion.String()},
		ObjectMeta: metav1.ObjectMeta{Name: "owner", UID: "1"},
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(owner).Build(), owner
}

func create(t *testing.T, c client.Client, clusterType libsveltosv1beta1.ClusterType, kubeconfig string, owner client.Object) *corev1.Secret {
	t.Helper()
	secret, err := CreateSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", clusterType, []byte(kubeconfig), owner)
	require.NoError(t, err)
	return secret
}

func kubeconfig(t *testing.T, c client.Client, clusterType libsveltosv1beta1.ClusterType) string {
	t.Helper()
	data, err := GetKubeconfig(t.Context(), c, "fleet", "a", "sa-ns", "sa", clusterType)
	require.NoError(t, err)
	return string(data)
}

// Case 25: three clusters of one namespace and name have three Secrets.
func TestSecretsOfThreeTypesDoNotMeet(t *testing.T) {
	c, owner := hub(t)
	seen := map[string]bool{}
	for _, clusterType := range allTypes {
		assert.Empty(t, kubeconfig(t, c, clusterType), "before: %s", clusterType)
		seen[create(t, c, clusterType, string(clusterType), owner).Name] = true
	}
	assert.Len(t, seen, 3)
	for _, clusterType := range allTypes {
		assert.Equal(t, string(clusterType), kubeconfig(t, c, clusterType))
	}
	require.NoError(t, DeleteSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", libsveltosv1beta1.ClusterTypeClusterProfile, owner))
	assert.Empty(t, kubeconfig(t, c, libsveltosv1beta1.ClusterTypeClusterProfile))
	assert.Equal(t, "Sveltos", kubeconfig(t, c, libsveltosv1beta1.ClusterTypeSveltos), "the others stay")
	list, err := ListSecretForOwner(t.Context(), c, owner)
	require.NoError(t, err)
	assert.Len(t, list, 2)
}

func TestUpstreamReadsSecretsOfTheOldTypes(t *testing.T) {
	for _, clusterType := range allTypes[:2] {
		c, owner := hub(t)
		create(t, c, clusterType, "ours", owner)
		create(t, c, libsveltosv1beta1.ClusterTypeClusterProfile, "third", owner)
		data, err := upstream.GetKubeconfig(t.Context(), c, "fleet", "a", "sa-ns", "sa", clusterType)
		require.NoError(t, err)
		assert.Equal(t, "ours", string(data), "and never the third type's")
	}
}

func TestSecretThatUpstreamWroteIsReadAndTakenOver(t *testing.T) {
	c, owner := hub(t)
	_, err := upstream.CreateSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", libsveltosv1beta1.ClusterTypeSveltos, []byte("old"), owner)
	require.NoError(t, err)
	assert.Equal(t, "old", kubeconfig(t, c, libsveltosv1beta1.ClusterTypeSveltos))
	assert.Empty(t, kubeconfig(t, c, libsveltosv1beta1.ClusterTypeClusterProfile), "never for the third type")

	create(t, c, libsveltosv1beta1.ClusterTypeSveltos, "new", owner)
	assert.Equal(t, "new", kubeconfig(t, c, libsveltosv1beta1.ClusterTypeSveltos))
	assert.Empty(t, kubeconfig(t, c, libsveltosv1beta1.ClusterTypeCapi), "it belongs to one type now")
}

func TestSecretLivesAsLongAsAnyOwner(t *testing.T) {
	c, owner := hub(t)
	second := owner.DeepCopy()
	second.Name, second.UID = "second", "2"
	typ := libsveltosv1beta1.ClusterTypeClusterProfile
	create(t, c, typ, "k", owner)
	secret := create(t, c, typ, "k", second)
	version := secret.ResourceVersion
	assert.Equal(t, version, create(t, c, typ, "k", second).ResourceVersion, "nothing changed, nothing written")
	require.NoError(t, DeleteSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", typ, owner))
	assert.Equal(t, "k", kubeconfig(t, c, typ))
	require.NoError(t, DeleteSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", typ, second))
	got, err := GetSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", typ)
	require.NoError(t, err)
	assert.Nil(t, got)
	require.NoError(t, DeleteSecret(t.Context(), c, "fleet", "a", "sa-ns", "sa", typ, second), "none is no error")
}

func TestNamesThatRunTogetherAreTwoSecrets(t *testing.T) {
	a := subject{"fleet", "ab", "c", "d", libsveltosv1beta1.ClusterTypeClusterProfile}
	b := subject{"fleet", "a", "bc", "d", libsveltosv1beta1.ClusterTypeClusterProfile}
	assert.NotEqual(t, a.secretName(), b.secretName())
}
