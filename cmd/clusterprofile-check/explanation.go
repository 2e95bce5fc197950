package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// States of a step.
const (
	stateOK      = "ok"
	stateNote    = "note"    // no fault, and yet it may be why nothing happens
	stateProblem = "problem" // the cluster is not served before this is put right
	stateSkipped = "skipped" // not reached
)

// step is one thing that was looked at. Its JSON is the output of explain -o json.
type step struct {
	Step  string `json:"step"`
	State string `json:"state"`
	Text  string `json:"text"`
}

// explanation collects steps, and prints each at once where a person reads.
type explanation struct {
	out    io.Writer
	output string
	steps  []step
}

func (e *explanation) ok(name, format string, args ...any)   { e.add(name, stateOK, format, args...) }
func (e *explanation) note(name, format string, args ...any) { e.add(name, stateNote, format, args...) }
func (e *explanation) problem(name, format string, args ...any) {
	e.add(name, stateProblem, format, args...)
}

func (e *explanation) skip(names ...string) {
	for _, name := range names {
		e.add(name, stateSkipped, "not reached")
	}
}

func (e *explanation) add(name, state, format string, args ...any) {
	s := step{Step: name, State: state, Text: oneLine(fmt.Sprintf(format, args...))}
	e.steps = append(e.steps, s)
	if !structured(e.output) {
		fmt.Fprintf(e.out, "%-8s %-12s %s\n", s.State, s.Step, s.Text)
	}
}

// end prints the sum and tells whether there is no problem.
func (e *explanation) end() (bool, error) {
	stop := slices.IndexFunc(e.steps, func(s step) bool { return s.State == stateProblem })
	if structured(e.output) {
		return stop < 0, printStructured(e.out, e.output, e.steps)
	}
	if stop < 0 {
		fmt.Fprintln(e.out, "\nno problem")
		return true, nil
	}
	fmt.Fprintf(e.out, "\nit stops at %s: %s\n", e.steps[stop].Step, e.steps[stop].Text)
	return false, nil
}

// labelText is a sorted list of name=value.
func labelText(labels map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, name+"="+labels[name])
	}
	return strings.Join(pairs, ", ")
}
