//go:build ignore

package plat

func Nowhere() {}
