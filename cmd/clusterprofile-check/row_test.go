package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// profile is a healthy inventory ClusterProfile in namespace fleet.
func profile(name string) *inventoryv1alpha1.ClusterProfile {
	cp := &inventoryv1alpha1.ClusterProfile{}
	cp.Namespace, cp.Name, cp.UID = "fleet", name, "uid-1"
	cp.Annotations = map[string]string{}
	setHealth(cp, metav1.ConditionTrue)
	return cp
}

func setHealth(cp *inventoryv1alpha1.ClusterProfile, status metav1.ConditionStatus) {
	cp.Status.Conditions = []metav1.Condition{{
		Type: inventoryv1alpha1.ClusterConditionControlPlaneHealthy, Status: status, Reason: "Heartbeat", Message: "none for 5m",
	}}
}

func TestNewRow(t *testing.T) {
	long := strings.Repeat("x", 64)
	now := metav1.Now()
	for name, tc := range map[string]struct {
		reason   string
		cluster  string
		change   func(*inventoryv1alpha1.ClusterProfile)
		healthy  string
		problem  string // part of the only one; empty: none
		note     string // part of the only one; empty: none
		left     bool
		latched  bool
		selected bool
	}{
		"healthy": {reason: "nothing to complain about", healthy: "True", selected: true},
		"unhealthy": {
			reason: "a cluster that never matched does not match", healthy: "False", selected: true,
			change:  func(cp *inventoryv1alpha1.ClusterProfile) { setHealth(cp, metav1.ConditionFalse) },
			problem: "ControlPlaneHealthy is False (Heartbeat: none for 5m); it has never matched",
		},
		"unhealthy, latched": {
			reason: "a loss of health withdraws nothing", healthy: "Unknown", latched: true, selected: true,
			change: func(cp *inventoryv1alpha1.ClusterProfile) {
				setHealth(cp, metav1.ConditionUnknown)
				cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] = "uid-1"
			},
			problem: "it stays matched",
		},
		"latch of another object": {
			reason: "an object of another UID starts anew", healthy: "True", selected: true,
			change: func(cp *inventoryv1alpha1.ClusterProfile) {
				cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] = "uid-0"
			},
		},
		"no condition": {
			reason: "absent is no health", healthy: "absent", selected: true,
			change:  func(cp *inventoryv1alpha1.ClusterProfile) { cp.Status.Conditions = nil },
			problem: "writes no condition ControlPlaneHealthy",
		},
		"paused": {
			reason: "a pause is meant", healthy: "True", selected: true,
			change: func(cp *inventoryv1alpha1.ClusterProfile) { cp.Annotations["cluster.x-k8s.io/paused"] = "" },
			note:   "cluster.x-k8s.io/paused",
		},
		"long name": {
			reason: "it cannot be a label value", cluster: long, healthy: "True", left: true,
			problem: "64 characters",
		},
		"bridged": {
			reason: "the bridge serves it", cluster: "bridged", healthy: "True", left: true, note: "the bridge serves it",
		},
		"deleted": {
			reason: "it is on its way out", healthy: "True", left: true, note: "being deleted",
			change: func(cp *inventoryv1alpha1.ClusterProfile) { cp.DeletionTimestamp = &now },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.cluster == "" {
				tc.cluster = "spoke-1"
			}
			cp := profile(tc.cluster)
			cp.Labels = map[string]string{"env": "prod"}
			if tc.change != nil {
				tc.change(cp)
			}
			selecting := sveltosProfile{kind: "ClusterProfile", name: "deploy"}
			selecting.ClusterSelector.MatchLabels = cp.Labels
			r := newRow(cp, &facts{
				bridged:  map[types.NamespacedName]bool{{Namespace: "fleet", Name: "bridged"}: true},
				profiles: []sveltosProfile{selecting},
			})
			assert.Equal(t, tc.healthy, r.Healthy, tc.reason)
			assert.Equal(t, tc.latched, r.Latched, tc.reason)
			assert.Equal(t, tc.left, r.leftAlone, tc.reason)
			assert.Equal(t, tc.selected, len(r.Profiles) == 1, tc.reason)
			assertOne(t, tc.problem, r.Problems)
			assertOne(t, tc.note, r.Notes)
		})
	}
}

// assertOne wants one line with a text, or none for an empty text.
func assertOne(t *testing.T, text string, lines []string) {
	t.Helper()
	if text == "" {
		assert.Empty(t, lines)
	} else if assert.Len(t, lines, 1) {
		assert.Contains(t, lines[0], text)
	}
}

func TestCells(t *testing.T) {
	now := time.Now()
	soon, past := now.Add(90*time.Minute), now.Add(-time.Second)
	full := Row{
		Namespace: "fleet", Name: "a", Healthy: "True", Latched: true, Provider: "p",
		Credential: &Credential{OK: true, Expires: &soon},
		Server:     &Server{URL: "https://a/x", Version: "v1.36.3", RoundTripSeconds: 0.0123},
		Profiles:   []string{"ClusterProfile/x", "Profile/fleet/y"},
	}
	assert.Equal(t, []string{"fleet/a", "True", "yes", "p", "ok,90m", "v1.36.3", "12ms", "ClusterProfile/x,Profile/fleet/y", "-"},
		cells(&full, false, now))
	empty := Row{Namespace: "fleet", Name: "b", Healthy: "absent", Problems: []string{"first\nline\x1b[31m", "second"}}
	assert.Equal(t, []string{"fleet/b", "absent", "no", "-", "-", "-", "-", "-", "first line[31m (and 1 more)"},
		cells(&empty, false, now), "no cell is empty, and none holds what a terminal obeys")
	assert.Equal(t, []string{"-", "no", "-", "first line[31m; second"}, cells(&empty, true, now)[8:], "-o wide tells everything")
	assert.Equal(t, "error", credentialCell(&Credential{}, now))
	assert.Equal(t, "ok", credentialCell(&Credential{OK: true}, now), "not every plugin says when its credential ends")
	assert.Equal(t, "ok,expired", credentialCell(&Credential{OK: true, Expires: &past}, now))
	assert.Equal(t, "ok,364d", credentialCell(&Credential{OK: true, Expires: ptr(now.Add(364*24*time.Hour + time.Minute))}, now))
}

func ptr[T any](v T) *T { return &v }

func TestWatcherPrintsWhatChanged(t *testing.T) {
	row := func(name, healthy string, trip float64) Row {
		return Row{Namespace: "fleet", Name: name, OK: healthy == "True", Healthy: healthy, Profiles: []string{},
			Credential: &Credential{OK: true, Seconds: trip, Expires: ptr(time.Unix(int64(trip*1000), 0))},
			Server:     &Server{URL: "https://x", Version: "v1", RoundTripSeconds: trip}}
	}
	names := func(rows []Row) (out []string) {
		for _, r := range rows {
			out = append(out, r.Name)
		}
		return out
	}
	w := watcher{known: map[string]string{}}
	assert.Equal(t, []string{"a", "b"}, names(w.changed([]Row{row("a", "True", 1), row("b", "False", 1)})), "all are new")
	assert.False(t, w.ok)
	assert.Empty(t, w.changed([]Row{row("a", "True", 2), row("b", "False", 2)}), "time that passes is no change")
	assert.Equal(t, []string{"b"}, names(w.changed([]Row{row("a", "True", 2), row("b", "True", 2)})))
	assert.True(t, w.ok)
	gone := w.changed([]Row{row("b", "True", 2)})
	assert.Equal(t, []string{"a"}, names(gone))
	assert.Equal(t, []string{"it is gone"}, gone[0].Notes)
}
