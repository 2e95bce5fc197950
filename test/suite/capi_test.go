package suite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

// capiCluster creates a CAPI Cluster with its kubeconfig Secret.
func capiCluster(t *testing.T, f *fleet, name string, spoke *helpers.Cluster) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.example", Kind: "Infra", Name: name}
	require.NoError(t, f.hub.Client.Create(t.Context(), cluster))
	require.NoError(t, f.hub.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name + "-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: name}},
		Data:       map[string][]byte{"value": spoke.Kubeconfig},
	}))
}

// install installs those CRDs of the source whose file name holds part.
func install(t *testing.T, cluster *helpers.Cluster, source external.Source, part string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	root, err := helpers.Root()
	require.NoError(t, err)
	paths, err := external.CRDPaths(t.Context(), root, source)
	require.NoError(t, err)
	var files []string
	for _, path := range paths {
		matches, err := filepath.Glob(filepath.Join(path, "*"+part+"*"))
		require.NoError(t, err)
		files = append(files, matches...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := os.Stat(file)
		require.NoError(t, err)
	}
	crds, err := envtest.InstallCRDs(cluster.Config, envtest.CRDInstallOptions{Paths: files, ErrorIfPathMissing: true})
	require.NoError(t, err)
	return crds
}
