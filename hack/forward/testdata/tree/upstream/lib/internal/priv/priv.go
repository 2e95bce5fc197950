// Package priv is for upstream alone.
package priv

type Type struct{}
