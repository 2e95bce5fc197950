// Package clustercache keeps, for each cluster, what clients of it are made from: its
// rest.Config, and on first use a discovery client and a REST mapper.
//
// It is libsveltos' package of the same name with a third cluster type. CAPI Clusters and
// SveltosClusters go to upstream's manager untouched. For inventory ClusterProfiles:
//
//   - A hit makes no API call and takes no lock that anything else may hold over I/O.
//     Callers get a copy; connections are shared, because equal configurations share
//     client-go's transport.
//   - A miss is built once however many callers wait for it, on a context of its own, so
//     that a caller who gives up takes nothing from the others. One cluster that does not
//     answer delays nobody else.
//   - An entry ends when the watch says that the access of its object has changed or that
//     it is gone; the watch does so before it tells any controller. Without a watch, and
//     whenever the provider file has changed, an entry is compared with its object again,
//     at most every 30 s: by UID and chosen access, never by built configurations, so that
//     heartbeats rebuild nothing.
//   - A configuration that holds a client certificate ends with it.
//
// What it trades: without a watch a changed access is noticed up to 30 s late.
package clustercache
