// Package byhand has nothing that the tree does not declare.
package byhand

func Hand() {}
