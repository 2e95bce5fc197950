package main

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// checkoutOf copies a fixture, with the stand-in modules beside it, to a folder of the test.
func checkoutOf(t *testing.T, fixture string) (dir, tree string) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "stubs"), os.DirFS("testdata/stubs")))
	dir = filepath.Join(root, "checkout")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", fixture))))
	mod, err := os.ReadFile("testdata/go.mod.fixture")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600))
	for name := range goldenFiles(t, dir) {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	return dir, filepath.Join(root, "stubs", "tree")
}

func goldenFiles(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for name := range snapshot(t, dir) {
		if strings.HasSuffix(name, ".golden") {
			names[name] = true
		}
	}
	return names
}

// snapshot reads all files under dir.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		require.NoError(t, relErr)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	}))
	return files
}

func runTool(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestFixtures(t *testing.T) {
	for _, tc := range []struct {
		fixture string
		code    int
		reason  string
	}{
		{"branches", exitDone, "R1: branches that move names are cloned in every form"},
		{"kept", exitDone, "negative tests and real work stay, each with a reason"},
		{"unknown", exitUnknown, "what no rule knows is listed and left, the rest is upgraded"},
		{"watches", exitDone, "R2 and R6: each form of a builder gets the watch"},
		{"twins", exitDone, "R3: the reconciler, not its shared helpers, gets a twin, and main sets it up"},
		{"boolparams", exitDone, "R5: exported functions gain a sibling, unexported ones change, tests with them"},
		{"failures", exitDone, "R8: a step that reaches the cluster and fails tells the user, others stay as they are"},
		{"agents", exitDone, "an agent has no branch: it gets the replace lines and nothing else"},
		{"patches", exitDone, "R7: updates of clusters become patches, other updates stay"},
	} {
		t.Run(tc.fixture, func(t *testing.T) {
			dir, tree := checkoutOf(t, tc.fixture)
			before := snapshot(t, dir)

			wantReport := exitWork
			if tc.code == exitUnknown {
				wantReport = exitUnknown
			}
			code, _, errOut := runTool(t, "-n", "--libsveltos", tree, dir)
			assert.Equal(t, wantReport, code, "report mode: %s", errOut)
			assert.Equal(t, before, snapshot(t, dir), "report mode must change nothing")

			code, out, errOut := runTool(t, "--libsveltos", tree, dir)
			require.Equal(t, tc.code, code, "%s: %s", tc.reason, errOut)
			after := snapshot(t, dir)
			compareGolden(t, tc.fixture, before, after, strings.ReplaceAll(out, tree, "TREE"))

			code, out, errOut = runTool(t, "--libsveltos", tree, dir)
			assert.Equal(t, tc.code, code, "second run: %s", errOut)
			assert.Equal(t, after, snapshot(t, dir), "a second run must change nothing")
			assert.Contains(t, out, "\n0 sites changed in 0 files")
		})
	}
}

// compareGolden compares the report, and each file that the tool changed, with what is
// stored beside the fixture.
func compareGolden(t *testing.T, fixture string, before, after map[string]string, out string) {
	t.Helper()
	got := map[string]string{"report.golden": out}
	for name, content := range after {
		if content != before[name] && strings.HasSuffix(name, ".go") {
			got[name+".golden"] = content
		}
	}
	dir := filepath.Join("testdata", fixture)
	if *update {
		for name := range goldenFiles(t, dir) {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
		for name, content := range got {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
		return
	}
	stored := map[string]string{}
	all := snapshot(t, dir)
	for name := range goldenFiles(t, dir) {
		stored[name] = all[name]
	}
	assert.Equal(t, stored, got)
}

func TestBadInput(t *testing.T) {
	broken, tree := checkoutOf(t, "broken")
	good, _ := checkoutOf(t, "branches")
	empty := t.TempDir()
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "go.mod"), []byte("module example.com/other\n"), 0o600))

	for _, tc := range []struct {
		name   string
		args   []string
		want   []string
		reason string
	}{
		{"not compiling", []string{"--libsveltos", tree, broken}, []string{"does not compile", "broken.go:8:", "NoSuchKind"},
			"a message that names file and line"},
		{"no module", []string{"--libsveltos", tree, empty}, []string{"not a Go module"}, "no go.mod"},
		{"other module", []string{"--libsveltos", tree, foreign}, []string{"no Sveltos controller"}, "libsveltos is not required"},
		{"no tree", []string{"--libsveltos", empty, good}, []string{"no libsveltos tree"}, "the folder is no libsveltos"},
		{"no version", []string{"--libsveltos", "latest", good}, []string{"neither a directory nor a version"}, "not exact"},
		{"no directory", nil, []string{"exactly one directory", "usage:"}, "DIR is missing"},
		{"no such flag", []string{"--force", good}, []string{"usage:"}, "an unknown flag"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := snapshot(t, broken)
			code, _, errOut := runTool(t, tc.args...)
			assert.Equal(t, exitUnknown, code, tc.reason)
			for _, want := range tc.want {
				assert.Contains(t, errOut, want, tc.reason)
			}
			assert.Equal(t, before, snapshot(t, broken), "nothing may be written")
		})
	}
}

func TestNothingIsWrittenWhenTheResultDoesNotCompile(t *testing.T) {
	dir, tree := checkoutOf(t, "branches")
	require.NoError(t, os.Remove(filepath.Join(tree, "api", "v1beta1", "clusterprofile.go")))
	before := snapshot(t, dir)

	code, _, errOut := runTool(t, "--libsveltos", tree, dir)

	assert.Equal(t, exitUnknown, code)
	assert.Contains(t, errOut, "nothing was written")
	assert.Equal(t, before, snapshot(t, dir))
}

func TestVendorFolder(t *testing.T) {
	dir, tree := checkoutOf(t, "watches")
	vendored := view{dir: dir}
	require.NoError(t, vendored.goCommand("mod", "tidy"))
	require.NoError(t, vendored.goCommand("mod", "vendor"))

	code, _, errOut := runTool(t, "--libsveltos", tree, dir)
	require.Equal(t, exitDone, code, errOut)
	require.NoError(t, vendored.goCommand("build", "-mod=vendor", "./..."), "the vendor folder must fit the new sources")
	assert.FileExists(t, filepath.Join(dir, "vendor", "sigs.k8s.io", "cluster-inventory-api", "apis", "v1alpha1", "types.go"))

	code, out, errOut := runTool(t, "--libsveltos", tree, dir)
	assert.Equal(t, exitDone, code, errOut)
	assert.Contains(t, out, "\n0 sites changed in 0 files")
}

func TestHelp(t *testing.T) {
	code, out, _ := runTool(t, "--help")
	assert.Equal(t, exitDone, code)
	for _, rule := range []string{"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "--report", "--libsveltos", "exit codes"} {
		assert.Contains(t, out, rule)
	}
}
