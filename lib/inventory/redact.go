package inventory

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// redacted stands for a secret in a message.
const redacted = "[redacted]"

const (
	// minSecret is the length below which a known value is not looked for: replacing
	// "true" or "1" would make a message unreadable and hide nothing.
	minSecret = 6
	// longOpaque is the length from which less is asked of a string to pass for random.
	longOpaque = 32
)

// nameForm matches a name whose value is secret.
const nameForm = `[a-z0-9_.-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|key-data)`

var (
	// secretName is how the name of a variable or field tells that its value is secret.
	secretName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|private|api_?key|access_?key|(?:^|_)auth(?:_|$)|authorization|cookie|session`)

	// patterns are secrets that show by their form.
	patterns = []struct {
		form    *regexp.Regexp
		replace string
	}{
		{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]+-----.*?(-----END [A-Z0-9 ]+-----|\z)`), redacted},
		{regexp.MustCompile(`(?s)\A.*-----END [A-Z0-9 ]+-----`), redacted}, // its beginning was cut off
		{regexp.MustCompile(`eyJ[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*){0,4}`), redacted},
		{regexp.MustCompile(`(?i)\b(bearer|basic|negotiate)(\s+)[^\s"',;]{6,}`), "$1$2" + redacted},
		{regexp.MustCompile(`(?i)(` + nameForm + `["']?\s*=\s*["']?)[^\s"',;&]+`), "$1" + redacted},
		{regexp.MustCompile(`(?i)(["']` + nameForm + `["']\s*:\s*["'])[^"']+`), "$1" + redacted},
		{regexp.MustCompile(`(?i)(passw(?:or)?d\s*:\s*)[^\s"',;&]+`), "$1" + redacted},
		{regexp.MustCompile(`(?i)(--[a-z-]*(?:token|secret|password|passphrase)\s+)[^\s"',;-][^\s"',;]*`), "$1" + redacted},
		{regexp.MustCompile(`\bA[A-Z]IA[A-Z0-9]{16}\b`), redacted}, // id of a cloud's access key
		{regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@"']+@`), "$1" + redacted + "@"},
	}

	// named is "token: value", which may just as well be "no token: connection refused".
	named = regexp.MustCompile(`(?i)(` + nameForm + `\s*:\s*)([^\s"',;&]+)`)

	opaque    = regexp.MustCompile(`[A-Za-z0-9+/_~-]{20,}={0,2}`)
	hexKey    = regexp.MustCompile(`\b[0-9a-fA-F]{32,}\b`)
	tokenWord = regexp.MustCompile(`[^\s"'{}\[\],:;]+`)
)

// unprintable is embedded in types whose fields must not be seen.
type unprintable struct{}

// Format hides the fields whatever the verb and flags.
func (unprintable) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON hides the fields.
func (unprintable) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// redactor removes secrets from text that a plugin printed.
type redactor struct {
	unprintable
	known []string // longest first
}

// newRedactor knows the secrets of the recipe and those that the plugin printed as
// its answer.
func newRedactor(e Exec, stdout []byte) redactor {
	values := outputSecrets(stdout)
	for _, v := range e.Env() {
		if secretName.MatchString(v.Name) {
			values = append(values, v.Value)
		}
	}
	if e.Config != "" {
		var config any
		if json.Unmarshal([]byte(e.Config), &config) == nil {
			values = append(values, secretFields(config)...)
		}
	}
	var known []string
	for _, v := range values {
		for _, line := range append(strings.Split(v, "\n"), v) {
			if line = strings.TrimSpace(line); len(line) >= minSecret {
				known = append(known, line)
			}
		}
	}
	sort.Slice(known, func(i, j int) bool { return len(known[i]) > len(known[j]) })
	return redactor{known: known}
}

// clean returns the text without secrets, on one line, without control characters.
func (r redactor) clean(text string) string {
	for _, secret := range r.known {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	for _, p := range patterns {
		text = p.form.ReplaceAllString(text, p.replace)
	}
	text = named.ReplaceAllStringFunc(text, hideNamed)
	text = hexKey.ReplaceAllString(text, redacted)
	text = opaque.ReplaceAllStringFunc(text, func(s string) string {
		if looksRandom(s) {
			return redacted
		}
		return s
	})
	return oneLine(text)
}

// hideNamed hides the value of "name: value" unless it is a word of a sentence or a URL.
func hideNamed(s string) string {
	m := named.FindStringSubmatch(s)
	word := strings.TrimRight(m[2], ".:;!?)")
	if strings.Contains(word, "://") || !strings.ContainsFunc(word, notLetter) {
		return s
	}
	return m[1] + redacted
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// looksRandom tells an opaque key from words, paths and host names by how often
// neighbouring characters change between lower case, upper case and digit. Names are
// rarely long, of mixed case and with digits at once, so least is asked of those.
func looksRandom(s string) bool {
	var last, pairs, changes int
	var seen [classDigit + 1]bool
	for i := range len(s) {
		class := charClass(s[i])
		if class == 0 {
			continue
		}
		seen[class] = true
		if last != 0 {
			pairs++
			if class != last {
				changes++
			}
		}
		last = class
	}
	percent := 100 * changes / max(pairs, 1)
	long := len(s) >= longOpaque
	switch {
	case seen[classUpper] && seen[classDigit]:
		return percent >= 20 || long && percent >= 12
	case seen[classDigit]:
		return percent >= 30
	}
	return long && percent >= 25
}

const (
	classLower = iota + 1
	classUpper
	classDigit
)

func charClass(b byte) int {
	switch {
	case b >= 'a' && b <= 'z':
		return classLower
	case b >= 'A' && b <= 'Z':
		return classUpper
	case b >= '0' && b <= '9':
		return classDigit
	}
	return 0
}

// outputSecrets lists the strings in a plugin's answer that are, or may be, secret:
// all of its status, or each word of it when it is no answer at all.
func outputSecrets(stdout []byte) []string {
	var answer map[string]any
	if err := yaml.Unmarshal(stdout, &answer); err == nil && answer != nil {
		delete(answer, "kind")
		delete(answer, "apiVersion")
		return leaves(answer, nil)
	}
	var out []string
	for _, word := range tokenWord.FindAllString(string(stdout), -1) {
		if strings.ContainsFunc(strings.Trim(word, ".;!?()"), notLetter) {
			out = append(out, word)
		}
	}
	return out
}

// leaves appends all strings in a JSON value.
func leaves(value any, to []string) []string {
	switch v := value.(type) {
	case string:
		return append(to, v)
	case []any:
		for _, item := range v {
			to = leaves(item, to)
		}
	case map[string]any:
		for _, item := range v {
			to = leaves(item, to)
		}
	}
	return to
}

// secretFields lists the strings in a JSON value whose field has the name of a secret.
func secretFields(value any) []string {
	var out []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			out = append(out, secretFields(item)...)
		}
	case map[string]any:
		for name, item := range v {
			if secretName.MatchString(name) {
				out = leaves(item, out)
				continue
			}
			out = append(out, secretFields(item)...)
		}
	}
	return out
}

// explainOutput says why an answer is no ExecCredential. The decoder's own errors are
// of no use here: they quote the answer.
func explainOutput(e Exec, stdout []byte) error {
	var answer map[string]any
	switch err := yaml.Unmarshal(stdout, &answer); {
	case len(strings.TrimSpace(string(stdout))) == 0:
		return fmt.Errorf("it printed nothing on standard output; it must print an ExecCredential of %s", e.APIVersion)
	case err != nil || answer["kind"] == nil && answer["apiVersion"] == nil:
		return fmt.Errorf("what it printed on standard output (%d bytes) is no ExecCredential; it must print one of %s, as JSON and nothing else",
			len(stdout), e.APIVersion)
	}
	kind, _ := answer["kind"].(string)
	version, _ := answer["apiVersion"].(string)
	if kind == "ExecCredential" && version == e.APIVersion {
		return fmt.Errorf("what it printed is not a valid ExecCredential of %s; a field has the wrong type", e.APIVersion)
	}
	r := newRedactor(e, nil)
	return fmt.Errorf("it printed kind %q of apiVersion %q; the provider file says ExecCredential of %s, so make the two agree",
		r.clean(short(kind)), r.clean(short(version)), e.APIVersion)
}

func short(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}

// oneLine joins lines and drops what a terminal would obey.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(text, "?")) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
