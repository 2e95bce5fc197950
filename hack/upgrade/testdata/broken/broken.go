// Package fixture does not compile.
package fixture

import libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"

func kind(t libsveltosv1beta1.ClusterType) string {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		return libsveltosv1beta1.NoSuchKind
	}
	return ""
}
