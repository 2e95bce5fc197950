// Package fake has another name where forms imports it.
package fake

type Fake struct{}
