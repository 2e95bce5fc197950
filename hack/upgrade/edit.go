package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"sort"
)

// edit replaces the bytes [from, to) of a file; from == to inserts.
type edit struct {
	from, to int
	text     string
}

// edits collects the changes of one run by file name. Nothing is written while they are
// collected: the new content of every file is computed whole first.
type edits map[string][]edit

func (e edits) add(file string, from, to int, text string) {
	e[file] = append(e[file], edit{from: from, to: to, text: text})
}

// apply returns src with the edits made. Insertions at one place keep the order in which
// they were added.
func apply(src []byte, list []edit) ([]byte, error) {
	sorted := append([]edit(nil), list...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].from < sorted[j].from })

	var out bytes.Buffer
	at := 0
	for _, e := range sorted {
		if e.from < at || e.to < e.from || e.to > len(src) {
			return nil, fmt.Errorf("two edits overlap at byte %d", e.from)
		}
		out.Write(src[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}

// tidyFormat formats an edited Go file, but only when the file was formatted before the
// edit: then nothing outside the edits can move.
func tidyFormat(before, after []byte) []byte {
	was, err := format.Source(before)
	if err != nil || !bytes.Equal(was, before) {
		return after
	}
	now, err := format.Source(after)
	if err != nil {
		return after
	}
	return now
}

// changes maps file names to their whole new content.
type changes map[string][]byte

// write puts all contents in place. Each is first written beside its target, and only
// when all of them are on disk are they renamed, so that a full disk or a read-only
// folder leaves the checkout as it was.
func (c changes) write() error {
	staged := make(map[string]string, len(c))
	defer func() {
		for _, tmp := range staged {
			_ = os.Remove(tmp)
		}
	}()
	for _, name := range c.names() {
		tmp, err := stage(name, c[name])
		if err != nil {
			return err
		}
		staged[name] = tmp
	}
	for _, name := range c.names() {
		if err := os.Rename(staged[name], name); err != nil {
			return err
		}
		delete(staged, name)
	}
	return nil
}

func (c changes) names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// stage writes content to a new file beside name, with the mode that name has.
func stage(name string, content []byte) (string, error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".upgrade-*")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(content)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), mode)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}
