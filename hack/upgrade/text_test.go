package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWordMention(t *testing.T) {
	for _, tc := range []struct {
		text   string
		want   mention
		reason string
	}{
		{"SveltosCluster", mention{sveltos, asKind}, "the kind"},
		{"Cluster", mention{capi, asKind}, "Cluster API's kind"},
		{"sveltos", mention{sveltos, asWord}, "a bare word"},
		{"sveltos-%s", mention{sveltos, asWord}, "a word with separators"},
		{"CAPI:", mention{capi, asWord}, "case does not matter"},
		{"projectsveltos.io/cluster", mention{}, "a part of a longer word is no mention"},
		{"sveltos-agent", mention{}, "another word beside it changes the meaning"},
		{"cluster", mention{}, "a kind is spelt exactly"},
	} {
		assert.Equal(t, tc.want, wordMention(tc.text, false), "%q: %s", tc.text, tc.reason)
	}
	assert.Equal(t, mention{}, wordMention("sveltos", true), "a constant of the controller counts as a kind only")
}

func TestProfileText(t *testing.T) {
	for from, want := range map[string]string{
		"sveltos": "clusterprofile", "Sveltos": "ClusterProfile", "CAPI": "CLUSTERPROFILE", "sveltos--%s": "clusterprofile--%s",
	} {
		assert.Equal(t, want, profileText(from), "the spelling of %q is kept", from)
	}
}

func TestApply(t *testing.T) {
	src := []byte("0123456789")

	got, err := apply(src, []edit{{5, 5, "b"}, {2, 4, "a"}, {5, 5, "c"}})
	require.NoError(t, err)
	assert.Equal(t, "01a4bc56789", string(got), "insertions at one place keep their order")

	_, err = apply(src, []edit{{2, 5, "a"}, {4, 6, "b"}})
	assert.ErrorContains(t, err, "overlap", "two rules must not edit the same bytes")
}

func TestTidyFormat(t *testing.T) {
	after := []byte("package p\nvar  a = 1\n")
	assert.Equal(t, "package p\n\nvar a = 1\n", string(tidyFormat([]byte("package p\n"), after)), "a formatted file stays so")
	assert.Equal(t, after, tidyFormat([]byte("package  p\n"), after), "a file that never was formatted is left as it is")
}

func TestImportInsertion(t *testing.T) {
	for _, tc := range []struct{ src, path, want, reason string }{
		{"package p\n\nimport (\n\t\"fmt\"\n\n\t\"a.io/x/b\"\n\t\"a.io/x/d\"\n)\n", "a.io/x/c",
			"package p\n\nimport (\n\t\"fmt\"\n\n\t\"a.io/x/b\"\n\t\"a.io/x/c\"\n\t\"a.io/x/d\"\n)\n", "within its group, in order"},
		{"package p\n\nimport \"a.io/x/b\"\n", "a.io/x/c",
			"package p\n\nimport \"a.io/x/b\"\nimport \"a.io/x/c\"\n", "a single import"},
		{"package p\n\nvar a = 1\n", "a.io/x/c",
			"package p\n\nimport \"a.io/x/c\"\n\nvar a = 1\n", "no import yet"},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", tc.src, parser.ParseComments)
		require.NoError(t, err)
		u := &unit{file: file, tok: fset.File(file.Pos()), src: []byte(tc.src), parents: parentsOf(file)}

		got, err := apply(u.src, []edit{u.importInsertion(tc.path, importLine(ast.NewIdent("c"), tc.path))})

		require.NoError(t, err)
		assert.Equal(t, tc.want, string(got), tc.reason)
	}
}

func TestTwinName(t *testing.T) {
	assert.Equal(t, "InventoryClusterProfileReconciler", twinName("SveltosClusterReconciler"),
		"ClusterProfileReconciler is the one of Sveltos' own kind")
	assert.Equal(t, "InventoryClusterProfileCleaner", twinName("Cleaner"), "any other name is prefixed")
}

func TestFindTree(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	own, err := findTree("")
	require.NoError(t, err, "the tests run inside the tree")
	assert.Equal(t, libModule, own.upstream.Path, "the tree says which upstream it stands on")
	assert.NotEmpty(t, own.upstream.Version)

	for _, arg := range []string{"latest", "v1.x", "testdata", "v0.0.1-none"} {
		_, err = findTree(arg)
		assert.ErrorIs(t, err, errNoTreePath, arg)
	}

	t.Chdir(t.TempDir())
	_, err = findTree("")
	assert.ErrorIs(t, err, errNoTreePath, "outside a tree the flag is needed")
}
