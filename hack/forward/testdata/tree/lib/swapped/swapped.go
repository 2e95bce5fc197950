// Package swapped has a package comment of its own.
package swapped

// Option is not upstream's.
type Option int
