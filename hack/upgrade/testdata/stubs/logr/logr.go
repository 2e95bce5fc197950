// Package logr is a stand-in with what the fixtures call.
package logr

// Logger logs nothing.
type Logger struct{}

func (l Logger) Info(string, ...any)         {}
func (l Logger) Error(error, string, ...any) {}
