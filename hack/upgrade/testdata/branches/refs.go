// Package fixture moves the names of cluster types about in every form known.
package fixture

import (
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

const (
	ownClusterKind = "Cluster"
	typeLabel      = "example.com/cluster-type"
)

func ifElse(t libsveltosv1beta1.ClusterType) (kind, apiVersion string) {
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		kind = libsveltosv1beta1.SveltosClusterKind
		apiVersion = libsveltosv1beta1.GroupVersion.String()
	} else {
		kind = ownClusterKind // the controller's own constant
		apiVersion = clusterv1.GroupVersion.String()
	}
	return kind, apiVersion
}

func defaultOfCapi(t libsveltosv1beta1.ClusterType) *corev1.ObjectReference {
	ref := &corev1.ObjectReference{
		Kind:       clusterv1.ClusterKind,
		APIVersion: clusterv1.GroupVersion.String(),
	}
	if libsveltosv1beta1.ClusterTypeSveltos == t {
		ref.Kind = libsveltosv1beta1.SveltosClusterKind
		ref.APIVersion = libsveltosv1beta1.GroupVersion.String()
	}
	return ref
}

func defaultOfSveltos(label string) corev1.ObjectReference {
	kind := libsveltosv1beta1.SveltosClusterKind
	apiVersion := libsveltosv1beta1.GroupVersion.String()
	if label == string(libsveltosv1beta1.ClusterTypeCapi) {
		kind = "Cluster"
		apiVersion = clusterv1.GroupVersion.String()
	}
	return corev1.ObjectReference{Kind: kind, APIVersion: apiVersion}
}

func capiOrElse(t libsveltosv1beta1.ClusterType) string {
	var kind string
	if t == libsveltosv1beta1.ClusterTypeCapi {
		kind = clusterv1.ClusterKind
	} else {
		kind = libsveltosv1beta1.SveltosClusterKind
	}
	return kind
}

func equalFoldChain(label string) (t libsveltosv1beta1.ClusterType) {
	if strings.EqualFold(label, string(libsveltosv1beta1.ClusterTypeSveltos)) {
		t = libsveltosv1beta1.ClusterTypeSveltos
	} else if strings.EqualFold(label, string(libsveltosv1beta1.ClusterTypeCapi)) {
		t = libsveltosv1beta1.ClusterTypeCapi
	}
	return t
}

func equalFoldSwitch(label string, logger logr.Logger) (libsveltosv1beta1.ClusterType, error) {
	switch {
	case strings.EqualFold(label, string(libsveltosv1beta1.ClusterTypeCapi)):
		return libsveltosv1beta1.ClusterTypeCapi, nil
	case strings.EqualFold(label, string(libsveltosv1beta1.ClusterTypeSveltos)):
		logger.Info("one of ours")
		return libsveltosv1beta1.ClusterTypeSveltos, nil
	default:
		return "", fmt.Errorf("no cluster type: %q", label)
	}
}

func switchThatPanics(t libsveltosv1beta1.ClusterType) (ref corev1.ObjectReference) {
	switch t {
	case libsveltosv1beta1.ClusterTypeCapi:
		ref.Kind = "Cluster"
	case libsveltosv1beta1.ClusterTypeSveltos:
		ref.Kind = libsveltosv1beta1.SveltosClusterKind // a comment behind
	default:
		panic("no such type")
	}
	return ref
}

func leavesEarly(ref *corev1.ObjectReference) libsveltosv1beta1.ClusterType {
	if strings.EqualFold(ref.Kind, "SveltosCluster") {
		return libsveltosv1beta1.ClusterTypeSveltos
	}
	return libsveltosv1beta1.ClusterTypeCapi
}

func byKindAlone(kind string) libsveltosv1beta1.ClusterType {
	if kind == libsveltosv1beta1.SveltosClusterKind {
		return libsveltosv1beta1.ClusterTypeSveltos
	}
	return libsveltosv1beta1.ClusterTypeCapi
}

func byKindOfObject(o client.Object) (ref corev1.ObjectReference) {
	if o.GetObjectKind().GroupVersionKind().Kind == libsveltosv1beta1.SveltosClusterKind {
		ref.Kind = libsveltosv1beta1.SveltosClusterKind
	} else {
		ref.Kind = ownClusterKind
	}
	return ref
}

func byAPIVersion(ref *corev1.ObjectReference, labels map[string]string) {
	if ref.APIVersion == libsveltosv1beta1.GroupVersion.String() {
		labels[typeLabel] = string(libsveltosv1beta1.ClusterTypeSveltos)
	} else {
		labels[typeLabel] = string(libsveltosv1beta1.ClusterTypeCapi)
	}
}

// prefix must differ for each type: two clusters of one name would share their key.
func prefix(t libsveltosv1beta1.ClusterType) string {
	word := "capi"
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		word = "sveltos"
	}
	return word
}

func negativeWithNames(t libsveltosv1beta1.ClusterType) string {
	kind := libsveltosv1beta1.SveltosClusterKind
	if t != libsveltosv1beta1.ClusterTypeSveltos {
		kind = clusterv1.ClusterKind
	}
	return kind
}

func known(t libsveltosv1beta1.ClusterType) error {
	if t != libsveltosv1beta1.ClusterTypeSveltos && t != libsveltosv1beta1.ClusterTypeCapi {
		return fmt.Errorf("no cluster type: %q", t)
	}
	switch t {
	case libsveltosv1beta1.ClusterTypeSveltos, libsveltosv1beta1.ClusterTypeCapi:
		return nil
	}
	return nil
}

func fresh(t libsveltosv1beta1.ClusterType) client.Object {
	var obj client.Object
	if t == libsveltosv1beta1.ClusterTypeSveltos {
		obj = &libsveltosv1beta1.SveltosCluster{}
	} else {
		obj = &clusterv1.Cluster{}
	}
	return obj
}

var allTypes = []libsveltosv1beta1.ClusterType{
	libsveltosv1beta1.ClusterTypeSveltos,
	libsveltosv1beta1.ClusterTypeCapi,
}

var kinds = map[libsveltosv1beta1.ClusterType]string{
	libsveltosv1beta1.ClusterTypeSveltos: libsveltosv1beta1.SveltosClusterKind,
	libsveltosv1beta1.ClusterTypeCapi:    clusterv1.ClusterKind,
}
