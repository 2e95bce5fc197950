package main

import (
	"go/ast"
	"regexp"
	"sort"
	"strings"
)

var (
	marker      = regexp.MustCompile(`^//(\s*)\+kubebuilder:rbac:`)
	sveltosRule = regexp.MustCompile(`groups=lib\.projectsveltos\.io,resources=sveltosclusters,`)
	capiRule    = regexp.MustCompile(`groups=cluster\.x-k8s\.io,resources=clusters,`)
	profileRule = regexp.MustCompile(`groups=multicluster\.x-k8s\.io,resources=clusterprofiles,`)
	verbs       = regexp.MustCompile(`verbs=([a-z;*]+)`)
)

// latching are the functions of libsveltos that note on the inventory object that it has
// matched, for which the controller needs the verb patch.
var latching = []string{"GetMatchingClusters", "GetListOfClusters", "GetListOfClustersForShardKey"}

// markers is rule R6: beside each marker for SveltosClusters one for the inventory.
func (a *analysis) markers() {
	needs := []string{"get", "list", "watch"}
	if a.patches || a.latches() {
		needs = append(needs, "patch")
	}
	for _, u := range a.sources() {
		present := false
		for _, c := range u.comments() {
			present = present || (marker.MatchString(c.Text) && profileRule.MatchString(c.Text))
		}
		for _, c := range u.comments() {
			if !marker.MatchString(c.Text) {
				continue
			}
			if a.patches && (sveltosRule.MatchString(c.Text) || capiRule.MatchString(c.Text)) {
				a.allowPatch(u, c)
			}
			if sveltosRule.MatchString(c.Text) && !present {
				present = true
				a.addMarker(u, c, needs)
			}
		}
	}
}

func (u *unit) comments() []*ast.Comment {
	var list []*ast.Comment
	for _, g := range u.file.Comments {
		list = append(list, g.List...)
	}
	return list
}

// latches tells whether the controller matches clusters.
func (a *analysis) latches() bool {
	for _, name := range latching {
		for _, module := range []string{libModule, upstreamModule} {
			if len(a.calls[module+"/lib/clusterproxy."+name]) > 0 {
				return true
			}
		}
	}
	return false
}

func (a *analysis) addMarker(u *unit, c *ast.Comment, needs []string) {
	space := marker.FindStringSubmatch(c.Text)[1]
	a.insert(u, u.offset(c.End()), "\n"+u.indent(c.Pos())+"//"+space+
		"+kubebuilder:rbac:groups=multicluster.x-k8s.io,resources=clusterprofiles,verbs="+strings.Join(needs, ";"))
	a.note(u, c, "R6", changed, "RBAC marker for inventory ClusterProfiles (%s)", strings.Join(needs, ", "))
}

// allowPatch adds the verb patch where update was allowed, because R7 patches what was
// updated.
func (a *analysis) allowPatch(u *unit, c *ast.Comment) {
	at := verbs.FindStringSubmatchIndex(c.Text)
	if at == nil {
		return
	}
	have := strings.Split(c.Text[at[2]:at[3]], ";")
	sort.Strings(have)
	if contains(have, "patch") || contains(have, "*") || !contains(have, "update") {
		return
	}
	a.insert(u, u.offset(c.Pos())+at[3], ";patch")
	a.note(u, c, "R6", changed, "RBAC marker gains patch, which takes the place of the full update")
}

func contains(list []string, text string) bool {
	for _, s := range list {
		if s == text {
			return true
		}
	}
	return false
}
