// Package effects has no exported identifier.
package effects

func init() { println("effects") }
