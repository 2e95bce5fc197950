package forms

// Variadic of a test is no declaration of the package.
func fake() {}
