package main

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestImportNames(t *testing.T) {
	tests := []struct {
		reason string
		pkgs   map[string]string
		used   taken
		want   map[string]string
	}{
		{
			reason: "the package name, where it says something",
			pkgs:   map[string]string{"a.b/go-logr/logr": "logr", "context": "context"},
			want:   map[string]string{"a.b/go-logr/logr": "logr", "context": "context"},
		},
		{
			reason: "a version says nothing without what it is a version of",
			pkgs:   map[string]string{"k8s.io/api/core/v1": "v1", "k8s.io/x/meta/v1beta1": "v1beta1"},
			want:   map[string]string{"k8s.io/api/core/v1": "corev1", "k8s.io/x/meta/v1beta1": "metav1beta1"},
		},
		{
			reason: "the first path keeps the short name, so that runs agree",
			pkgs:   map[string]string{"text/template": "template", "html/template": "template", "a.b/html/template": "template"},
			want:   map[string]string{"a.b/html/template": "template", "html/template": "htmltemplate", "text/template": "texttemplate"},
		},
		{
			reason: "identifiers of the package and predeclared ones are in use",
			pkgs:   map[string]string{"x.y/errs/error": "error", "io": "io", "x.y/api/v1": "v1"},
			used:   taken{"io": true, "apiv1": true},
			want:   map[string]string{"x.y/errs/error": "errserror", "io": "io2", "x.y/api/v1": "apiv12"},
		},
		{
			reason: "a parent that is no identifier",
			pkgs:   map[string]string{"gopkg.in/3d-kit.x/v2": "v2", "-/v2": "v2"},
			want:   map[string]string{"-/v2": "v2", "gopkg.in/3d-kit.x/v2": "dkitxv2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			used := taken{}
			maps.Copy(used, tt.used)
			assert.Equal(t, tt.want, importNames(tt.pkgs, used))
		})
	}
}

func TestFreeTakesTheName(t *testing.T) {
	used := taken{}
	assert.Equal(t, "a", used.free("a", "b"))
	assert.Equal(t, "b", used.free("a", "b"))
	assert.Equal(t, "b2", used.free("a", "b"))
	assert.Equal(t, "b3", used.free("a", "b"))
}

func TestIsInternal(t *testing.T) {
	for path, want := range map[string]bool{
		"a.b/internal": true, "a.b/internal/c": true, "internal/abi": true, "vendor/golang.org/x/net": true,
		"a.b/internals": false, "a.b/vendor": false,
	} {
		assert.Equal(t, want, isInternal(path), path)
	}
}
