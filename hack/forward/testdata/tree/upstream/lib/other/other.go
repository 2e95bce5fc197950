// Package other is imported by forms with a dot.
package other

type Thing struct{ Size int }

func (t *Thing) Grow(by int) {}
