package main

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// upstreamImportName is the import name of the upstream package in its
// generated file, where nothing else has that name.
const upstreamImportName = "upstream"

// versionName matches package names that say nothing without their parent.
var versionName = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)

// taken is a set of identifiers in use.
type taken map[string]bool

// free returns the first of the candidates, then of the last one with a number
// appended, that is not in use, and takes it.
func (t taken) free(candidates ...string) string {
	for i := 0; ; i++ {
		name := candidates[len(candidates)-1]
		if i < len(candidates) {
			name = candidates[i]
		} else {
			name = fmt.Sprintf("%s%d", name, i-len(candidates)+2)
		}
		if !t[name] && token.IsIdentifier(name) && types.Universe.Lookup(name) == nil {
			t[name] = true
			return name
		}
	}
}

// importNames chooses a name for each path, the same on every run. pkgs maps
// import paths to package names.
func importNames(pkgs map[string]string, used taken) map[string]string {
	names := make(map[string]string, len(pkgs))
	for _, p := range sortedKeys(pkgs) {
		name := pkgs[p]
		long := identifier(path.Base(path.Dir(p))) + name
		if versionName.MatchString(name) {
			names[p] = used.free(long)
			continue
		}
		names[p] = used.free(name, long)
	}
	return names
}

// identifier drops from s what an identifier cannot hold.
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.TrimLeft(s, "0123456789"))
}

// paramNames names the parameters and results of s for a function whose body
// uses all parameters. Names of upstream are kept, a parameter without one gets
// argN. Results stay unnamed where upstream left them so.
func paramNames(s *types.Signature) (params, results []string) {
	params, results = tupleNames(s.Params()), tupleNames(s.Results())
	used := taken{}
	for _, name := range slices.Concat(params, results) {
		used[name] = true
	}
	for i := range s.TypeParams().Len() {
		used[s.TypeParams().At(i).Obj().Name()] = true
	}
	for i, name := range params {
		if name == "" || name == "_" {
			params[i] = used.free(fmt.Sprintf("arg%d", i), fmt.Sprintf("arg%d_", i))
		}
	}
	return params, results
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
