// Package byhand is written by hand.
package byhand

// Hand is declared here.
func Hand() {}
