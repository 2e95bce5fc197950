// Command forward writes the part of this tree that is not written by hand.
//
// For each package of upstream below api and lib it writes the file
// zz_generated.upstream.go into the directory of the same name here. That file
// forwards every exported identifier of the upstream package that no other
// file of the directory declares, so the way to change an upstream identifier
// is to declare it by hand and to run the command again.
//
//	go run ./hack/forward          write what is missing or stale, remove what is left over
//	go run ./hack/forward -check   write nothing, name each such file, exit 1 if there is one
//
// Upstream is type-checked in a temporary module in which the module path of
// this tree means upstream itself. Hence the command does not depend on the
// state of this tree: it works on an empty one, and while the hand-written
// files do not compile. They are only parsed, for the names they declare.
package main
