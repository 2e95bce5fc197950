// Package plat is built for every platform.
package plat

func Everywhere() {}
