package main

import (
	"fmt"
	"io"
	"sort"
)

// status says what became of a site.
type status int

const (
	// changed: the rule edits this site.
	changed status = iota
	// kept: the site was understood and needs no edit.
	kept
	// done: an earlier run, or a person, made the edit already.
	done
	// unknown: the form is not one that the rules know; a person must decide.
	unknown
)

// site is one place of the checkout where a cluster type matters.
type site struct {
	file   string // relative to the checkout
	line   int
	rule   string
	status status
	what   string
}

func (s site) String() string {
	text := s.what
	switch s.status {
	case kept:
		text = "kept: " + text
	case done:
		text = "done already: " + text
	case unknown:
		text = "NOT UNDERSTOOD: " + text
	}
	return fmt.Sprintf("%s:%d %s %s", s.file, s.line, s.rule, text)
}

// report is all sites of a run.
type report struct {
	sites []site
}

func (r *report) count(st status) int {
	n := 0
	for _, s := range r.sites {
		if s.status == st {
			n++
		}
	}
	return n
}

func (r *report) sort() {
	sort.SliceStable(r.sites, func(i, j int) bool {
		a, b := r.sites[i], r.sites[j]
		if a.file != b.file {
			return a.file < b.file
		}
		return a.line < b.line
	})
}

// print writes one line for each site, then those that were not understood once more,
// because they are the ones a reader has to act on.
func (r *report) print(w io.Writer) {
	r.sort()
	for _, s := range r.sites {
		fmt.Fprintln(w, s)
	}
	if r.count(unknown) == 0 {
		return
	}
	fmt.Fprintf(w, "\nnot understood, decide these by hand:\n")
	for _, s := range r.sites {
		if s.status == unknown {
			fmt.Fprintf(w, "  %s:%d %s\n", s.file, s.line, s.what)
		}
	}
}
