package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gap stands in a text for a part that is not known before the program runs.
const gap = "\x00"

// texts returns the strings of the hand-written code below lib, with constant parts of a concatenation put together.
func texts(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(root, "lib"), func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			expression, ok := node.(ast.Expr)
			if !ok {
				return true
			}
			text := fold(expression)
			if text == gap {
				return true
			}
			found = append(found, text)
			return false
		})
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// fold is the text of a string literal or of a concatenation, with gaps.
func fold(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return text
		}
	case *ast.BinaryExpr:
		left, right := fold(e.X), fold(e.Y)
		if e.Op == token.ADD && (left != gap || right != gap) {
			return left + right
		}
	}
	return gap
}

// firstColumn returns what stands in code in the first column of a page's tables.
func firstColumn(page string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestMessagesAreReal fails when the code says it otherwise than troubleshooting.md.
func TestMessagesAreReal(t *testing.T) {
	others := []string{"Unauthorized", "forbidden", "x509:"} // said by Kubernetes and Go
	source := texts(t)
	messages := firstColumn(pages(t)[filepath.Join(root, "docs", "troubleshooting.md")])
	require.Greater(t, len(messages), 30)
	for _, message := range messages {
		said := slices.ContainsFunc(source, func(text string) bool { return strings.Contains(text, message) })
		assert.True(t, said || slices.Contains(others, message), "no code says %q", message)
	}
}

// TestMetricsAreComplete compares metrics.md with the names in the code, both ways.
func TestMetricsAreComplete(t *testing.T) {
	name := regexp.MustCompile(`^clusterprofile_[a-z_]+$`)
	inCode := map[string]bool{}
	for _, text := range texts(t) {
		if name.MatchString(text) {
			inCode[text] = true
		}
	}
	inDocs := map[string]bool{}
	for _, text := range firstColumn(pages(t)[filepath.Join(root, "docs", "metrics.md")]) {
		if name.MatchString(text) {
			inDocs[text] = true
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(inCode)), slices.Collect(maps.Keys(inDocs)))
}
