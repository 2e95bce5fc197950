package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// watchAll repeats rounds until ctx ends, prints rows that are new or have changed, and tells whether no cluster had a
// problem in the last round. Only the first round may fail.
func (c *checker) watchAll(ctx context.Context) (bool, error) {
	rows, err := c.round(ctx)
	if err != nil {
		return false, err
	}
	w := watcher{known: map[string]string{}}
	for header := true; ; header = false {
		if ctx.Err() != nil { // the round was cut short
			return w.ok, nil
		}
		if err == nil {
			if err := c.printChanged(w.changed(rows), header); err != nil {
				return false, err
			}
		}
		select {
		case <-ctx.Done():
			return w.ok, nil
		case <-time.After(c.interval):
		}
		if rows, err = c.round(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(c.stderr, "warning:", oneLine(err.Error()))
		}
	}
}

// printChanged writes a table that goes on, or one document for each row.
func (c *checker) printChanged(rows []Row, header bool) error {
	if !structured(c.output) {
		if len(rows) == 0 && !header {
			return nil
		}
		return printTable(c.stdout, c.output == outputWide, header, rows)
	}
	for i := range rows {
		if c.output == outputYAML {
			fmt.Fprintln(c.stdout, "---")
		}
		if err := printStructured(c.stdout, c.output, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// watcher remembers what was printed.
type watcher struct {
	known map[string]string // signature by namespace/name
	ok    bool              // the last round had no problem
}

// changed returns the rows that say something new, and one for each cluster that is gone.
func (w *watcher) changed(rows []Row) []Row {
	w.ok = allOK(rows)
	var changed []Row
	now := map[string]string{}
	for i := range rows {
		key := rows[i].Namespace + "/" + rows[i].Name
		now[key] = signature(rows[i])
		if w.known[key] != now[key] {
			changed = append(changed, rows[i])
		}
	}
	for key, before := range w.known {
		if _, there := now[key]; !there {
			var row Row
			if json.Unmarshal([]byte(before), &row) == nil {
				changed = append(changed, Row{Namespace: row.Namespace, Name: row.Name, OK: true, Healthy: nothing,
					Profiles: []string{}, Notes: []string{"it is gone"}})
			}
		}
	}
	w.known = now
	return changed
}

// signature is the row without what changes all the time.
func signature(r Row) string {
	if r.Credential != nil {
		r.Credential = &Credential{OK: r.Credential.OK}
	}
	if r.Server != nil {
		r.Server = &Server{URL: r.Server.URL, Version: r.Server.Version}
	}
	data, err := json.Marshal(r)
	if err != nil { // plain data always marshals
		return ""
	}
	return string(data)
}
