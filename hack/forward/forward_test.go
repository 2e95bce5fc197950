package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/projectsveltos/libsveltos/test/dropin"
)

// The module of testdata/tree stands for this tree, the one in its folder
// upstream for libsveltos.
const (
	testTree     = "example.com/tree"
	testUpstream = "up.example/tree"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// copyTree returns the root of a copy of testdata/tree.
func copyTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("testdata/tree")))
	return root
}

// generated is testdata/tree after a first run, made once.
var generated = sync.OnceValues(func() (string, error) {
	root, err := os.MkdirTemp("", "forward-test-")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(root, os.DirFS("testdata/tree")); err != nil {
		return "", err
	}
	_, err = forward(root, false)
	return root, err
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if root, err := generated(); err == nil {
		os.RemoveAll(root)
	}
	os.Exit(code)
}

// copyGenerated returns the root of a copy of testdata/tree after a first run.
func copyGenerated(t *testing.T) string {
	t.Helper()
	from, err := generated()
	require.NoError(t, err)
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS(from)))
	return root
}

// forward runs the command on root and returns what it printed.
func forward(root string, check bool) (string, error) {
	var out bytes.Buffer
	err := run(options{dir: root, upstream: testUpstream, check: check}, &out)
	return out.String(), err
}

func put(t *testing.T, root, name, content string) {
	t.Helper()
	full := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(content), 0o600))
}

func get(t *testing.T, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(data)
}

// TestGenerate covers each tricky form by a golden file, and proves that the
// result compiles and is a drop-in.
func TestGenerate(t *testing.T) {
	t.Parallel()
	root := copyTree(t)
	out, err := forward(root, false)
	require.NoError(t, err)
	assert.Equal(t, `wrote api/v1/zz_generated.upstream.go
wrote lib/effects/zz_generated.upstream.go
wrote lib/forms/zz_generated.upstream.go
wrote lib/other/fake/zz_generated.upstream.go
wrote lib/other/zz_generated.upstream.go
wrote lib/plat/zz_generated.upstream.go
wrote lib/swapped/zz_generated.upstream.go
removed lib/gone/zz_generated.upstream.go
`, out, "no file for packages that are internal, a command, tests only or declared by hand throughout")
	assert.NoDirExists(t, filepath.Join(root, "lib/gone"), "nothing was left in it")

	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if name, wrote := strings.CutPrefix(line, "wrote "); wrote {
			compareGolden(t, name, get(t, root, name))
		}
	}

	vet := exec.Command("go", "vet", "./...")
	vet.Dir = root
	vet.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	report, err := vet.CombinedOutput()
	require.NoError(t, err, "the generated files do not compile: %s", report)

	upstream, tree, err := dropin.Load(root, testUpstream, testTree)
	require.NoError(t, err)
	diffs := dropin.Compare(upstream, tree)
	require.Len(t, diffs, 2, "only what is declared otherwise by hand differs")
	assert.Contains(t, diffs[0], "lib/forms.ReplacedVar: is var")
	assert.Contains(t, diffs[1], "lib/swapped.Option: has type")
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := name + ".golden"
	if *update {
		put(t, "testdata/golden", golden, got)
	}
	assert.Equal(t, get(t, "testdata/golden", golden), got, "%s; if the change is meant, run go test ./hack/forward -update", name)
}

func TestSecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	root := copyGenerated(t)
	for _, check := range []bool{false, true} {
		out, err := forward(root, check)
		require.NoError(t, err)
		assert.Empty(t, out)
	}
}

func TestCheckNamesEachDifference(t *testing.T) {
	t.Parallel()
	root := copyGenerated(t)
	const stale, missing, extra = "lib/plat/" + generatedName, "lib/other/" + generatedName, "lib/mine/" + generatedName
	put(t, root, stale, "package plat\n")
	require.NoError(t, os.Remove(filepath.Join(root, missing)))
	put(t, root, extra, generatedHeader+"package mine\n")

	out, err := forward(root, true)
	require.ErrorIs(t, err, errNotInSync)
	assert.Equal(t, "missing "+missing+"\nstale "+stale+"\nextra "+extra+"\n", out)
	assert.Equal(t, "package plat\n", get(t, root, stale), "a check writes nothing")
	assert.NoFileExists(t, filepath.Join(root, missing))
	assert.FileExists(t, filepath.Join(root, extra))

	_, err = forward(root, false)
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(root, extra))
	assert.FileExists(t, filepath.Join(root, "lib/mine/mine.go"), "a hand-written file is never removed")
	_, err = forward(root, true)
	require.NoError(t, err)
}

// TestStateOfTree shows what the tree may look like while forward runs.
func TestStateOfTree(t *testing.T) {
	t.Parallel()
	const plat = "lib/plat/" + generatedName
	tests := []struct {
		reason        string
		name, content string
		wantErr       string
		wantOut       string
	}{
		{
			reason:  "a hand-written file that does not type-check",
			name:    "lib/plat/plat.go",
			content: "package plat\n\nimport \"no.such/module\"\n\nfunc Everywhere() { module.X(undefined) }\n",
			wantOut: "removed " + plat,
		},
		{
			reason: "a generated file that is no Go", name: plat, content: "<<<<<<< conflict",
			wantOut: "wrote " + plat,
		},
		{
			reason: "a generated file that declares too much", name: plat, content: "package plat\n\nfunc Gone() {}\n",
			wantOut: "wrote " + plat,
		},
		{
			reason: "a hand-written file that does not parse", name: "lib/plat/plat.go", content: "package plat\n\nfunc (",
			wantErr: "plat.go:3:7: expected",
			wantOut: "wrote lib/other/" + generatedName,
		},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			root := copyGenerated(t)
			before := get(t, root, plat)
			put(t, root, tt.name, tt.content)
			if tt.wantErr != "" {
				require.NoError(t, os.Remove(filepath.Join(root, "lib/other", generatedName)))
			}

			out, err := forward(root, false)
			assert.Equal(t, tt.wantOut+"\n", out)
			if tt.wantErr == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.wantErr)
			assert.Equal(t, before, get(t, root, plat), "left alone, others are written")
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reason        string
		name, content string
		want          string
	}{
		{
			reason: "go.mod that does not say what upstream is", name: "go.mod", content: "module " + testTree + "\n",
			want: "no line requires or replaces " + testUpstream,
		},
		{
			reason: "go.mod that is none", name: "go.mod", content: "what",
			want: "unknown directive: what",
		},
		{
			reason: "upstream does not compile", name: "upstream/lib/plat/bad.go", content: "package plat\n\nvar x int = y\n",
			want: "undefined: y",
		},
		{
			reason: "a generic function whose constraint has no name here and cannot be written out",
			name:   "upstream/lib/plat/generic.go", content: "package plat\n\nfunc F[T interface{ m() }](T) {}\n",
			want: "an interface with the method m cannot be named",
		},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			root := copyTree(t)
			put(t, root, tt.name, tt.content)
			out, err := forward(root, true)
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, out, "extra lib/plat")
		})
	}
}

// TestForeignFilesStay: other modules and testdata are not of the tree.
func TestForeignFilesStay(t *testing.T) {
	t.Parallel()
	root := copyTree(t)
	foreign := []string{"lib/plat/testdata/" + generatedName, ".cache/" + generatedName, "nested/" + generatedName}
	for _, name := range foreign {
		put(t, root, name, "package foreign\n")
	}
	put(t, root, "nested/go.mod", "module example.com/nested\n")
	_, err := forward(root, false)
	require.NoError(t, err)
	for _, name := range foreign {
		assert.Equal(t, "package foreign\n", get(t, root, name))
	}
}

func TestRunsInAnyDirectoryOfTheTree(t *testing.T) {
	t.Parallel()
	root := copyTree(t)
	out, err := forward(filepath.Join(root, "lib", "mine"), false)
	require.NoError(t, err)
	assert.Contains(t, out, "wrote lib/plat/"+generatedName)
	assert.FileExists(t, filepath.Join(root, "lib/plat", generatedName))
}
