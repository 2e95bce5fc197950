package main

import (
	"bytes"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		check  func(*testing.T, options)
	}{
		"defaults": {
			reason: "without flags all clusters are shown as a table",
			check: func(t *testing.T, o options) {
				assert.Empty(t, o.namespace)
				assert.True(t, o.selector.Empty())
				assert.Equal(t, outputTable, o.output)
				assert.Equal(t, 15*time.Second, o.timeout)
				assert.Equal(t, 16, o.parallel)
			},
		},
		"short names": {
			reason: "-n and -l are what fingers know from kubectl",
			args:   []string{"-n", "fleet", "-l", "env=prod", "-o", "wide"},
			check: func(t *testing.T, o options) {
				assert.Equal(t, "fleet", o.namespace)
				assert.Equal(t, "env=prod", o.selector.String())
				assert.Equal(t, outputWide, o.output)
			},
		},
		"flags after the command": {
			reason: "people add a flag at the end of the last command line",
			args:   []string{"explain", "fleet/a", "-o", "json", "--timeout=3s"},
			check: func(t *testing.T, o options) {
				assert.Equal(t, "fleet/a", o.explain.String())
				assert.Equal(t, outputJSON, o.output)
				assert.Equal(t, 3*time.Second, o.timeout)
			},
		},
		"flags in between": {
			reason: "or in the middle",
			args:   []string{"--timeout=3s", "explain", "-o=yaml", "fleet/a"},
			check: func(t *testing.T, o options) {
				assert.Equal(t, "fleet/a", o.explain.String())
				assert.Equal(t, outputYAML, o.output)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(flag.NewFlagSet("test", flag.ContinueOnError), tc.args)
			require.NoError(t, err, tc.reason)
			tc.check(t, o)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		says   string
	}{
		"output":         {"a form that does not exist must not look like a table", []string{"-o", "xml"}, `-o "xml"`},
		"selector":       {"a selector that is none would show everything", []string{"-l", "a in b"}, "--selector"},
		"unknown flag":   {"a typing error must not be ignored", []string{"--wathc"}, "wathc"},
		"command":        {"there is one command", []string{"describe", "a/b"}, `"describe" is no command`},
		"explain":        {"explain needs a name", []string{"explain"}, "takes one NAMESPACE/NAME"},
		"explain two":    {"explain takes one cluster", []string{"explain", "a/b", "c/d"}, "takes one NAMESPACE/NAME"},
		"no namespace":   {"a name alone is ambiguous", []string{"explain", "b"}, "takes NAMESPACE/NAME"},
		"timeout":        {"no time at all reaches nothing", []string{"--timeout=0s"}, "greater than 0"},
		"parallel":       {"no worker would wait for ever", []string{"--parallel=0"}, "greater than 0"},
		"explain, watch": {"explain ends by itself", []string{"--watch", "explain", "a/b"}, "do not go together"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(flag.NewFlagSet("test", flag.ContinueOnError), tc.args)
			require.ErrorIs(t, err, errUsage, tc.reason)
			assert.ErrorContains(t, err, tc.says)
		})
	}
}

func TestHelpIsNoFault(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), flag.NewFlagSet("test", flag.ContinueOnError), []string{"-h"}, &stdout, &stderr)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout.String(), "explain NAMESPACE/NAME")
	assert.Contains(t, stdout.String(), "-timeout")
	assert.Empty(t, stderr.String())
}
