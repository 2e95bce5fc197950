// Package docs_test holds the documentation against the code: links, commands, flags, messages, metrics.
package docs_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/projectsveltos/libsveltos/lib/inventory"
)

const root = ".."

// pages are the pages for people, by path from here.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "config/*.md", "config/*/*.md", "hack/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			found[path] = string(data)
		}
	}
	require.Contains(t, found, filepath.Join(root, "README.md"))
	require.Contains(t, found, filepath.Join(root, "docs", "concepts.md"))
	return found
}

// block is one fenced block of a page.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^( *)```([a-z]*)\n(.*?)^ *```$")

// blocks returns the fenced blocks of a page, without the indentation of the list that they are in.
func blocks(page string) []block {
	var found []block
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		lines := strings.Split(m[3], "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], m[1])
		}
		found = append(found, block{m[2], strings.Join(lines, "\n")})
	}
	return found
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors are the fragments under which the headings of a page are found.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		found[strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	for path, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			data, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				err = nil
			}
			if assert.NoError(t, err, "%s links to %s", path, m[1]) && anchor != "" {
				assert.True(t, anchors(string(data))[anchor], "%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

func TestBlocksParse(t *testing.T) {
	parse := map[string]func(text string) error{
		"json": func(text string) error { var v any; return json.Unmarshal([]byte(text), &v) },
		"yaml": func(text string) error { var v any; return yaml.UnmarshalStrict([]byte(text), &v) },
		"sh": func(text string) error {
			cmd := exec.Command("bash", "-n")
			cmd.Stdin = strings.NewReader(text)
			return cmd.Run()
		},
	}
	for path, page := range pages(t) {
		for _, b := range blocks(page) {
			if check := parse[b.language]; check != nil {
				assert.NoError(t, check(b.text), "%s: block\n%s", path, b.text)
			}
		}
	}
}

var (
	makeTarget = regexp.MustCompile("`make ([a-z0-9-]+)")
	makeLine   = regexp.MustCompile("(?m)^make ([a-z0-9-]+)")
	goRun      = regexp.MustCompile(`go (?:run|test)(?: -\S+)* (\./[a-z/]+)`)
	applied    = regexp.MustCompile(`apply (?:--server-side )?-k (\S+?)[\s` + "`]")
	script     = regexp.MustCompile(`(?m)^(hack/\S+\.sh)`)
	ownFlag    = regexp.MustCompile(`--(clusterprofile-[a-z-]+)`)
)

func TestCommandsExist(t *testing.T) {
	for path, page := range pages(t) {
		targets := makeTarget.FindAllStringSubmatch(page, -1)
		for _, b := range blocks(page) {
			targets = append(targets, makeLine.FindAllStringSubmatch(b.text, -1)...)
		}
		for _, m := range targets {
			out, err := exec.Command("make", "-C", root, "-n", m[1]).CombinedOutput()
			assert.NoError(t, err, "%s: make %s: %s", path, m[1], out)
		}
		for _, m := range goRun.FindAllStringSubmatch(page, -1) {
			assert.DirExists(t, filepath.Join(root, m[1]), "%s: %s", path, m[0])
		}
		for _, m := range applied.FindAllStringSubmatch(page, -1) {
			assert.FileExists(t, filepath.Join(root, m[1], "kustomization.yaml"), "%s: %s", path, m[0])
		}
		for _, m := range script.FindAllStringSubmatch(page, -1) {
			assert.FileExists(t, filepath.Join(root, m[1]), path)
		}
		for _, m := range ownFlag.FindAllStringSubmatch(page, -1) {
			assert.NotNil(t, flag.Lookup(m[1]), "%s: flag --%s", path, m[1])
		}
	}
}

func TestFlagsAreListedAsStable(t *testing.T) {
	page := pages(t)[filepath.Join(root, "docs", "stability.md")]
	require.NotNil(t, flag.Lookup(inventory.ProviderFileFlag))
	flag.VisitAll(func(f *flag.Flag) {
		if strings.HasPrefix(f.Name, "clusterprofile-") {
			assert.Contains(t, page, "`--"+f.Name+"`")
		}
	})
}
