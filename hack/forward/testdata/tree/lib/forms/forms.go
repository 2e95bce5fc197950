package forms

import "fmt"

// Replaced is the tree's.
func Replaced(s string) string { return fmt.Sprint(s) }

// ReplacedVar is the tree's, declared in a group, as a variable.
var (
	a, ReplacedVar = 1, a
)

// Dot is a method here, so the function of this name is still upstream's.
func (own) Dot() {}

type own struct{}

// io and corev1 take import names.
func io() {}
