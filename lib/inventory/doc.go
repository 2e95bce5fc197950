// Package inventory knows everything there is to know about one cluster of the SIG
// Multicluster inventory: a ClusterProfile of the group multicluster.x-k8s.io
// (KEP-4322), here always called the inventory ClusterProfile, because Sveltos has a
// kind of the same name.
//
// A [Backend] turns an inventory ClusterProfile into an ordinary rest.Config:
//
//	status.accessProviders ─┐
//	                        ├─ Resolve ─> Access ─> credential source ─> rest.Config
//	provider file ──────────┘             (value)   (runs the plugin)
//
// The provider file is the operator's, the status is somebody else's. Whatever the
// status asks for that is not safe is refused with a typed error before a plugin runs
// or a byte leaves. Credentials are kept in memory only, one source for each cluster,
// and never shared between clusters.
//
// What it trades: a plugin is run by this package and not by client-go, because
// client-go's exec support knows no time limit, no back-off and no isolation between
// clusters. The plugin cannot tell the difference (KEP-541).
//
// The package is a leaf: it imports nothing else of this module and knows no Sveltos
// cluster type.
package inventory
