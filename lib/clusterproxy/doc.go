// Package clusterproxy reaches the clusters that Sveltos manages, whatever their type.
//
// It is libsveltos' package of the same name with a third branch: a function that takes
// a cluster type or a cluster reference is declared here and asks one question, is this
// an inventory ClusterProfile. If so it is answered here, from the inventory alone;
// if not, upstream answers.
//
//	dispatch.go  one function of upstream, one branch
//	cluster.go   one inventory ClusterProfile: fetch, pause, readiness, configuration
//	matching.go  which inventory ClusterProfiles match, and lists of them
//	latch.go     a cluster that has matched stays matched while its health is lost
//	watch.go     tells controllers what changed
//
// Without the flag --clusterprofile-provider-file the third type does not exist: nothing
// is listed, nothing is asked for, and a reference to it is answered with
// inventory.ErrNotConfigured.
package clusterproxy
