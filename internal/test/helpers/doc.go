// Package helpers starts the real parts that this repository is tested and demonstrated with: kube-apiserver and
// etcd as hub and spokes, the credential plugins of cluster-inventory-api, and addon-controller as a process.
//
// A test asks for a cluster and gets one that is usable; it is stopped when the test ends:
//
//	hub := helpers.StartHub(t)
//	spoke := helpers.StartSpoke(t, "spoke-1")
//
// A package with many tests shares its clusters: TestMain calls Main, the tests call SharedHub and SharedSpoke.
//
// Programs that are no tests use NewCluster, BuildAddonController and StartProcess, which are what the test helpers
// are made of. Every binary is built from Go modules, once, into the git-ignored folder bin; KUBEBUILDER_ASSETS is
// honoured for kube-apiserver and etcd. All servers listen on loopback only.
package helpers
