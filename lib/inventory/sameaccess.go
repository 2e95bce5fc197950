package inventory

import (
	"bytes"
	"slices"

	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// SameAccess tells whether two versions of a profile offer the same access, whatever
// the order in which it is written. It is cheap enough for each heartbeat of a fleet.
func SameAccess(a, b *v1alpha1.ClusterProfile) bool {
	return sameEntries(a.Status.AccessProviders, b.Status.AccessProviders) &&
		sameEntries(a.Status.CredentialProviders, b.Status.CredentialProviders)
}

func sameEntries(a, b []v1alpha1.AccessProvider) bool {
	return sameSet(a, b,
		func(p *v1alpha1.AccessProvider) string { return p.Name },
		func(p, q *v1alpha1.AccessProvider) bool { return sameCluster(&p.Cluster, &q.Cluster) })
}

func sameCluster(a, b *clientcmdv1.Cluster) bool {
	return a.Server == b.Server &&
		a.TLSServerName == b.TLSServerName &&
		a.InsecureSkipTLSVerify == b.InsecureSkipTLSVerify &&
		a.CertificateAuthority == b.CertificateAuthority &&
		bytes.Equal(a.CertificateAuthorityData, b.CertificateAuthorityData) &&
		a.ProxyURL == b.ProxyURL &&
		a.DisableCompression == b.DisableCompression &&
		sameSet(a.Extensions, b.Extensions,
			func(e *clientcmdv1.NamedExtension) string { return e.Name },
			func(e, f *clientcmdv1.NamedExtension) bool { return bytes.Equal(e.Extension.Raw, f.Extension.Raw) })
}

// sameSet compares two lists whose names are unique, in any order.
func sameSet[T any](a, b []T, name func(*T) string, same func(x, y *T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		at := i
		if name(&a[i]) != name(&b[i]) {
			at = slices.IndexFunc(b, func(y T) bool { return name(&y) == name(&a[i]) })
		}
		if at < 0 || !same(&a[i], &b[at]) {
			return false
		}
	}
	return true
}
