// Package names makes names.
package names

import (
	"fmt"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// SummaryName is called by other modules too.
func SummaryName(kind, profile, cluster string, isSveltosCluster bool) string {
	clusterType := libsveltosv1beta1.ClusterTypeCapi
	if isSveltosCluster {
		clusterType = libsveltosv1beta1.ClusterTypeSveltos
	}
	// the rest knows types only
	return fmt.Sprintf("%s-%s-%s-%s", kind, profile, Prefix(clusterType), cluster)
}

// Prefix of a type.
func Prefix(clusterType libsveltosv1beta1.ClusterType) string {
	prefix := "capi"
	if clusterType == libsveltosv1beta1.ClusterTypeSveltos {
		prefix = "sveltos"
	}
	return prefix
}

// Key tests the bool itself.
func Key(name string, sveltos bool, parts ...string) string {
	prefix := "capi--"
	if sveltos {
		prefix = "sveltos--"
	}
	return fmt.Sprint(prefix, name, parts)
}

// Both passes the bool on.
func Both(name string, sveltos bool) string {
	return Key(name, sveltos) + label(name, sveltos)
}

func label(name string, sveltos bool) string {
	if sveltos {
		return name + string(libsveltosv1beta1.ClusterTypeSveltos)
	}
	return name + string(libsveltosv1beta1.ClusterTypeCapi)
}
