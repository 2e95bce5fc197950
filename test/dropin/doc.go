// Package dropin proves that this tree can stand in for upstream libsveltos.
//
// Compare takes the packages of upstream and those of the tree and lists each
// exported identifier of upstream that the tree lacks or has with another
// type or value. The test of this package runs it on the real ones:
//
//	go test ./test/dropin
//
// What "the same" means for each kind of identifier is said at Compare.
package dropin
