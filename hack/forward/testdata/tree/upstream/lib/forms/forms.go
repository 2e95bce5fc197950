// Package forms has a function of each form that is hard to forward.
package forms

import (
	"context"
	htmpl "html/template"
	"io"
	"text/template"
	"unsafe"

	apiv1 "example.com/tree/api/v1"
	. "example.com/tree/lib/other"
	otherv1 "example.com/tree/lib/other/fake"
)

type hidden struct{ N int }

func (hidden) Do() {}

type Number interface{ ~int | ~float64 }

type texty interface{ ~string | ~[]byte }

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

type List[T Number] []T

type Labels = map[string]string

type Secret = hidden

type GenericAlias[T any] = map[string]T

type Embedded[T any] struct {
	Pair[string, T]
	*Thing
}

var (
	Default, Other = &Thing{}, 2
	Handler        = func(hidden) {}
)

func NoResult()                                                {}
func Variadic(format string, args ...any) string               { return format }
func OnlyVariadic(...int)                                      {}
func Blank(_ context.Context, _ string, name string, _ ...int) {}
func Unnamed(int, arg0Type)                                    {}
func UnnamedPublic(int, string, ...Labels) (int, error)        { return 0, nil }
func Named(arg1 int, _ string) (n int, _ string, err error)    { return 0, "", nil }
func ImportNames(context context.Context, template *template.Template, fake apiv1.Kind) {
}
func UpstreamName(upstream int, upstreampkg ...string) {}
func TwoTemplates(a *template.Template, b *htmpl.Template) otherv1.Fake {
	return otherv1.Fake{}
}
func Dot(t Thing, objects []*apiv1.Object) Thing { return t }
func Funcs(f func(ctx context.Context, n int, more ...string) (ok bool), g func(int) func() error) {
}
func Composite(m map[apiv1.Kind][]*Thing, a [3]int, p unsafe.Pointer, l Labels, b byte, r rune, e error, c comparableless) {
}
func Chans(in <-chan int, out chan<- (<-chan string), both chan func()) chan (<-chan int) { return nil }
func Anonymous(opts struct {
	Name string `json:"name,omitempty"`
	io.Reader
	Nested *struct{ N int }
}, i interface {
	io.Writer
	Close() error
}) {
}
func AnonymousHidden(opts struct{ name string })  {}
func InterfaceHidden(i interface{ unexported() }) {}
func ReturnsHidden() *hidden                      { return nil }
func TakesHidden(ctx context.Context, h []hidden) {}
func TakesAliasOfHidden(s Secret)                 {}
func HiddenAlias(a alias)                         {}
func Instances(p Pair[string, List[int]], g GenericAlias[Thing], n Embedded[int]) {
}

func Sum[T Number](values ...T) (total T)           { return }
func Keys[M ~map[K]V, K comparable, V any](m M) []K { return nil }
func Quote[T texty](s T) string                     { return "" }
func Inline[T interface {
	~int
	String() string
}, E any](E) (t T) {
	return
}
func Phantom[T any]() int { return 0 }
func TypeParamNamedLikeImport[template any](t template, c context.Context) {
}

func Replaced(s string) string { return s }

type ReplacedVar struct{}

type (
	arg0Type       int
	alias          = int
	comparableless = any
)
