// Package fixture calls functions with a bool for the type of a cluster.
package fixture

import (
	corev1 "k8s.io/api/core/v1"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"

	"example.com/fixture/names"
)

func fromReference(ref *corev1.ObjectReference) string {
	return names.SummaryName("p", "a", ref.Name,
		ref.APIVersion == libsveltosv1beta1.GroupVersion.String())
}

func fromType(name string, t libsveltosv1beta1.ClusterType) string {
	return names.Key(name, t == libsveltosv1beta1.ClusterTypeSveltos, "x")
}

func fromVariable(ref corev1.ObjectReference) string {
	isSveltos := ref.Kind == libsveltosv1beta1.SveltosClusterKind
	return names.Both(ref.Name, isSveltos)
}
