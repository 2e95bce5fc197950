//go:build ignore

package main

func NoResult() {}
