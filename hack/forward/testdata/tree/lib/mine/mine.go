// Package mine exists in the tree only.
package mine
