package dropin_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/projectsveltos/libsveltos/test/dropin"
)

// upstreamSource is a small upstream: one identifier of each kind.
const upstreamSource = `package p

type Thing struct{ Name string }

func (t *Thing) Rename(name string) error { return nil }

type Pair[K, V comparable] struct { Key K; Value V }

type Kind string

const KindA Kind = "a"
const Limit = 10

var Default = &Thing{}

func New(name string, tags ...string) (*Thing, error) { return nil, nil }
func Map[T any](in []T) []T { return in }
func Quote[T texty](in T) T { return in }

type texty interface{ ~string | ~[]byte }

type manager struct{}

func (*manager) Get(name string) (*Thing, error) { return nil, nil }
func (*manager) Drop(name string)                {}
func (*manager) secret()                         {}

func GetManager() *manager { return nil }
`

// treeSource forwards all of it.
const treeSource = `package p

import up "up/lib/p"

type Thing = up.Thing
type Pair[K, V comparable] = up.Pair[K, V]
type Kind = up.Kind

const KindA = up.KindA
const Limit = up.Limit

var Default = up.Default

func New(n string, t ...string) (*Thing, error) { return up.New(n, t...) }
func Map[E any](s []E) []E { return up.Map(s) }
func Quote[T interface{ ~string | ~[]byte }](s T) T { return up.Quote(s) }

var GetManager = up.GetManager
`

// ownManager replaces the last line of treeSource by a type of the tree's own.
const ownManager = `type cache struct{}
func (*cache) Get(name string) (*Thing, error) { return nil, nil }
func (*cache) Drop(name string) {}
func (*cache) More() {}
func GetManager() *cache { return nil }`

func TestCompare(t *testing.T) {
	forwarded := "var GetManager = up.GetManager"
	own := strings.Replace(treeSource, forwarded, ownManager, 1)
	tests := []struct {
		reason   string
		tree     string
		old, new string
		want     string
	}{
		{reason: "a full set of forwards is a drop-in", tree: treeSource},
		{reason: "an own type with the methods of upstream's hidden one will do", tree: own},
		{
			reason: "a removed function is missed",
			tree:   treeSource, old: "func New(n string, t ...string) (*Thing, error) { return up.New(n, t...) }",
			want: "lib/p.New: is missing",
		},
		{
			reason: "a removed type is missed",
			tree:   treeSource, old: "type Kind = up.Kind", want: "lib/p.Kind: is missing",
		},
		{
			reason: "a type of the same name and shape is another type",
			tree:   treeSource, old: "type Kind = up.Kind", new: "type Kind string",
			want: "lib/p.Kind: has type tree/lib/p.Kind, upstream's up/lib/p.Kind",
		},
		{
			reason: "a method of upstream's type is lost when the type is declared anew",
			tree:   treeSource, old: "type Thing = up.Thing", new: "type Thing struct{ Name string }",
			want: "lib/p.Thing: has type",
		},
		{
			reason: "a narrower constraint refuses some arguments",
			tree:   treeSource, old: "type Pair[K, V comparable] = up.Pair[K, V]",
			new:  "type Pair[K ~string, V comparable] = up.Pair[K, V]",
			want: "lib/p.Pair: has a narrower constraint",
		},
		{
			reason: "swapped type parameters give another instance",
			tree:   treeSource, old: "type Pair[K, V comparable] = up.Pair[K, V]",
			new:  "type Pair[K, V comparable] = up.Pair[V, K]",
			want: "lib/p.Pair: has type up/lib/p.Pair[V, K]",
		},
		{
			reason: "a generic type does not stand for a plain one",
			tree:   treeSource, old: "type Kind = up.Kind", new: "type Kind[T any] = up.Kind",
			want: "lib/p.Kind: has 1 type parameters, upstream's 0",
		},
		{
			reason: "another value of a constant",
			tree:   treeSource, old: "const KindA = up.KindA", new: `const KindA Kind = "b"`,
			want: `lib/p.KindA: is "b", upstream's "a"`,
		},
		{
			reason: "the same value of another type",
			tree:   treeSource, old: "const Limit = up.Limit", new: "const Limit int = 10",
			want: "lib/p.Limit: has type int, upstream's untyped int",
		},
		{
			reason: "a variable does not stand for a constant",
			tree:   treeSource, old: "const Limit = up.Limit", new: "var Limit = up.Limit",
			want: "lib/p.Limit: is var",
		},
		{
			reason: "another type of a variable",
			tree:   treeSource, old: "var Default = up.Default", new: "var Default = *up.Default",
			want: "lib/p.Default: has type up/lib/p.Thing, upstream's *up/lib/p.Thing",
		},
		{
			reason: "a slice is no variadic parameter",
			tree:   treeSource, old: "New(n string, t ...string)", new: "New(n string, t []string)",
			want: "lib/p.New: has type",
		},
		{
			reason: "another result, where upstream's has a name",
			tree:   treeSource, old: "(*Thing, error) { return up.New(n, t...) }", new: "(any, error) { return up.New(n, t...) }",
			want: "lib/p.New: has type",
		},
		{
			reason: "a generic function that accepts less",
			tree:   treeSource, old: "func Quote[T interface{ ~string | ~[]byte }]", new: "func Quote[T ~string]",
			want: "lib/p.Quote: has a narrower constraint",
		},
		{
			reason: "a generic function that accepts more is another one too",
			tree:   treeSource, old: "func Quote[T interface{ ~string | ~[]byte }]", new: "func Quote[T any]",
			want: "lib/p.Quote: has a wider constraint",
		},
		{
			reason: "a generic function with another result",
			tree:   treeSource, old: "func Map[E any](s []E) []E {", new: "func Map[E any](s []E) E {",
			want: "lib/p.Map: has type",
		},
		{
			reason: "a function that is generic no more",
			tree:   treeSource, old: "func Map[E any](s []E) []E {", new: "func Map(s []any) []any {",
			want: "lib/p.Map: has type",
		},
		{
			reason: "a type that a call would convert to is no function",
			tree:   treeSource, old: forwarded, new: "type GetManager func()",
			want: "lib/p.GetManager: is type",
		},
		{
			reason: "an own manager without a method of upstream's",
			tree:   own, old: "func (*cache) Drop(name string) {}",
			want: "lib/p.GetManager: returns *tree/lib/p.cache, which lacks Drop(name string)",
		},
		{
			reason: "an own manager with another signature of a method",
			tree:   own, old: "Get(name string) (*Thing, error)", new: "Get(name string) (any, error)",
			want: "lib/p.GetManager: returns *tree/lib/p.cache, which lacks Get(name string)",
		},
		{
			reason: "another parameter is never overlooked, whatever the result",
			tree:   own, old: "func GetManager()", new: "func GetManager(int)",
			want: "lib/p.GetManager: has type",
		},
		{
			reason: "another package name breaks imports without a name",
			tree:   treeSource, old: "package p", new: "package q",
			want: "lib/p: package is named q, upstream's p",
		},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			source := tt.tree
			if tt.old != "" {
				require.Contains(t, source, tt.old)
				source = strings.Replace(source, tt.old, tt.new, 1)
			}
			up := check(t, "up/lib/p", upstreamSource, nil)
			tree := check(t, "tree/lib/p", source, up)
			diffs := dropin.Compare(dropin.Packages{"lib/p": up}, dropin.Packages{"lib/p": tree})
			if tt.want == "" {
				assert.Empty(t, diffs)
				return
			}
			assert.Contains(t, strings.Join(diffs, "\n"), tt.want)
		})
	}
}

func TestCompareMissesPackage(t *testing.T) {
	up := check(t, "up/lib/p", upstreamSource, nil)
	assert.Equal(t, []string{"lib/p: package is missing"}, dropin.Compare(dropin.Packages{"lib/p": up}, dropin.Packages{}))
}

// check type-checks source as the package at path. It may import imported.
func check(t *testing.T, path, source string, imported *types.Package) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	require.NoError(t, err)
	conf := types.Config{
		Importer: onlyImport{imported},
		// Types only: a changed source need not be able to forward calls.
		IgnoreFuncBodies: true,
	}
	pkg, err := conf.Check(path, fset, []*ast.File{f}, nil)
	require.NoError(t, err)
	return pkg
}

// onlyImport is an importer that knows one package.
type onlyImport struct{ pkg *types.Package }

func (i onlyImport) Import(path string) (*types.Package, error) {
	if i.pkg != nil && i.pkg.Path() == path {
		return i.pkg, nil
	}
	return importer.Default().Import(path)
}

var _ types.Importer = onlyImport{}

func ExampleCompare() {
	upstream := types.NewPackage("up/lib/p", "p")
	upstream.Scope().Insert(types.NewTypeName(token.NoPos, upstream, "Thing", types.Typ[types.Int]))
	tree := types.NewPackage("tree/lib/p", "p")
	fmt.Println(dropin.Compare(dropin.Packages{"lib/p": upstream}, dropin.Packages{"lib/p": tree}))
	// Output: [lib/p.Thing: is missing]
}
