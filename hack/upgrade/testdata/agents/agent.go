// Package fixture is an agent: it is told its cluster by its arguments and hands the type on without a branch.
package fixture

import (
	"context"
	"flag"

	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
)

var clusterNamespace, clusterName, clusterType string

func initFlags(fs *flag.FlagSet) {
	fs.StringVar(&clusterNamespace, "cluster-namespace", "", "cluster namespace")
	fs.StringVar(&clusterName, "cluster-name", "", "cluster name")
	fs.StringVar(&clusterType, "cluster-type", "", "cluster type")
}

type manager struct {
	clusterType libsveltosv1beta1.ClusterType
}

// reportName is what the collectors on the hub look for.
func (m *manager) reportName(source string, of func(string, string, *libsveltosv1beta1.ClusterType) string) string {
	return of(source, clusterName, &m.clusterType)
}

func managedCluster(ctx context.Context, c client.Client) (client.Client, error) {
	return clusterproxy.GetKubernetesClient(ctx, c, clusterNamespace, clusterName, libsveltosv1beta1.ClusterType(clusterType))
}
