//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

// byHelm: a chart from a repository on loopback reaches the spoke and leaves it again.
func byHelm(s *scenario) {
	spoke, cluster := s.healthyCluster()
	profile := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"clusterSelector": map[string]any{"matchLabels": map[string]any{scenarioLabel: s.name}},
		"helmCharts":      s.charts(),
	}}}
	profile.SetGroupVersionKind(addons.GroupVersion.WithKind("ClusterProfile"))
	profile.SetName(s.name)
	s.create(profile)
	s.finalized = append(s.finalized, profile)

	key := types.NamespacedName{Namespace: s.name, Name: "hello-chart"}
	s.eventually("the chart's ConfigMap on the spoke", func(ctx context.Context) (bool, error) {
		configMap := &corev1.ConfigMap{}
		err := spoke.Client.Get(ctx, key, configMap)
		return err == nil && configMap.Data["greeting"] == "from "+cluster.Name, nil
	})
	s.unlabel(cluster)
	s.eventually("the chart to go from the spoke", func(ctx context.Context) (bool, error) {
		return spoke.Client.Get(ctx, key, &corev1.ConfigMap{}) != nil, nil
	})
}

// charts is the chart of a repository on loopback, for the field helmCharts.
func (s *scenario) charts() []any {
	s.Helper()
	return []any{map[string]any{
		"repositoryURL": chartRepository(s), "repositoryName": "loopback", "chartName": "loopback/hello", "chartVersion": "0.1.0",
		"releaseName": "hello", "releaseNamespace": s.name, "helmChartAction": "Install",
		"values": "greeting: from {{ .Cluster.metadata.name }}",
	}}
}

// chartRepository serves a Helm repository with one chart, and returns its URL.
func chartRepository(s *scenario) string {
	s.Helper()
	chart := chartArchive(s, map[string]string{
		"hello/Chart.yaml":  "apiVersion: v2\nname: hello\nversion: 0.1.0\n",
		"hello/values.yaml": "greeting: none\n",
		"hello/templates/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-chart\n" +
			"data:\n  greeting: {{ .Values.greeting | quote }}\n",
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = fmt.Fprintf(w, "apiVersion: v1\nentries:\n  hello:\n  - apiVersion: v2\n    name: hello\n    version: 0.1.0\n"+
				"    urls: [\"http://%s/hello-0.1.0.tgz\"]\n", r.Host)
		case "/hello-0.1.0.tgz":
			_, _ = w.Write(chart)
		default:
			http.NotFound(w, r)
		}
	}))
	s.Cleanup(server.Close)
	return server.URL
}

func chartArchive(s *scenario, files map[string]string) []byte {
	s.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for _, name := range []string{"hello/Chart.yaml", "hello/values.yaml", "hello/templates/configmap.yaml"} {
		require.NoError(s, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}))
		_, err := archive.Write([]byte(files[name]))
		require.NoError(s, err)
	}
	require.NoError(s, archive.Close())
	require.NoError(s, zipped.Close())
	return buffer.Bytes()
}

// byDriftDetection: Sveltos puts its drift-detection-manager on the spoke and tells it which cluster it serves. No
// kubelet runs it here; the object is what is looked at.
func byDriftDetection(s *scenario) {
	spoke := helpers.StartSpoke(s, "drift")
	cluster := s.inventory(spoke)
	s.health(cluster, metav1.ConditionTrue)
	s.deployTo("ClusterProfile", "", map[string]string{"by": "drift"}, map[string]any{
		"clusterSelector": map[string]any{"matchLabels": map[string]any{scenarioLabel: s.name}},
		"syncMode":        "ContinuousWithDriftDetection",
	})
	deployment := &appsv1.Deployment{}
	s.eventually("drift-detection-manager on the spoke", func(ctx context.Context) (bool, error) {
		return spoke.Client.Get(ctx, types.NamespacedName{
			Namespace: helpers.SveltosNamespace, Name: "drift-detection-manager"}, deployment) == nil, nil
	})
	arguments := strings.ToLower(strings.Join(deployment.Spec.Template.Spec.Containers[0].Args, " "))
	assert.Contains(s, arguments, "--cluster-type=clusterprofile")
	assert.Contains(s, arguments, "--cluster-name="+cluster.Name)
	assert.Contains(s, arguments, "--cluster-namespace="+cluster.Namespace)
}
