// Package swapped has a type that the tree declares itself.
package swapped

type Option struct{}

type Options []Option

func Apply(o Option, all Options) *Option { return &o }
