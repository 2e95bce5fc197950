package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/yaml"
)

// nothing stands in a cell that has no value.
const nothing = "-"

// structured tells whether the output is for programs.
func structured(output string) bool { return output == outputJSON || output == outputYAML }

// printRows writes all rows in the form that was asked for.
func printRows(w io.Writer, output string, rows []Row) error {
	if structured(output) {
		return printStructured(w, output, rows)
	}
	return printTable(w, output == outputWide, true, rows)
}

func printStructured(w io.Writer, output string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if output == outputYAML {
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
	} else {
		data = append(data, '\n')
	}
	_, err = w.Write(data)
	return err
}

// printTable writes one line for each row.
func printTable(w io.Writer, wide, header bool, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	if header {
		columns := []string{"CLUSTER", "HEALTHY", "LATCHED", "PROVIDER", "CREDENTIAL", "VERSION", "ROUNDTRIP", "PROFILES"}
		if wide {
			columns = append(columns, "SERVER", "PAUSED", "SHARD")
		}
		fmt.Fprintln(t, strings.Join(append(columns, "MESSAGE"), "\t"))
	}
	for i := range rows {
		fmt.Fprintln(t, strings.Join(cells(&rows[i], wide, time.Now()), "\t"))
	}
	return t.Flush()
}

// cells are the columns of a row. Each holds something, so that the columns can be counted by programs.
func cells(r *Row, wide bool, now time.Time) []string {
	url, version, trip := nothing, nothing, nothing
	if r.Server != nil {
		url = r.Server.URL
		if r.Server.Version != "" {
			version = r.Server.Version
		}
		if r.Server.RoundTripSeconds > 0 {
			trip = seconds(r.Server.RoundTripSeconds)
		}
	}
	row := []string{
		r.Namespace + "/" + r.Name, r.Healthy, yesNo(r.Latched), orNothing(r.Provider), credentialCell(r.Credential, now),
		version, trip, orNothing(strings.Join(r.Profiles, ",")),
	}
	messages := append(append([]string{}, r.Problems...), r.Notes...)
	if wide {
		row = append(row, url, yesNo(r.Paused), orNothing(r.Shard))
	} else if len(messages) > 1 {
		messages = append(messages[:1], fmt.Sprintf("(and %d more)", len(messages)-1))
	}
	separator := "; "
	if !wide {
		separator = " "
	}
	row = append(row, orNothing(strings.Join(messages, separator)))
	for i := range row {
		row[i] = oneLine(row[i])
	}
	return row
}

// credentialCell holds no blank.
func credentialCell(c *Credential, now time.Time) string {
	switch {
	case c == nil:
		return nothing
	case !c.OK:
		return "error"
	case c.Expires == nil:
		return "ok"
	case !now.Before(*c.Expires):
		return "ok,expired"
	}
	return "ok," + remaining(c.Expires.Sub(now))
}

// remaining is a duration in its largest unit.
func remaining(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func orNothing(text string) string {
	if text == "" {
		return nothing
	}
	return text
}
