package main

import (
	"encoding/json"
	"fmt"
	"go/format"
	"io"
	"os"
	"path/filepath"
)

// options of one run.
type options struct {
	dir        string
	libsveltos string
	report     bool
	out        io.Writer
}

// upgrade runs all rules on a checkout and returns the exit code.
func upgrade(opts options) (int, error) {
	co, err := openCheckout(opts.dir)
	if err != nil {
		return exitUnknown, err
	}
	if !co.requiresLibrary() {
		return exitUnknown, fmt.Errorf("%w: %s is no Sveltos controller", errNoLibrary, opts.dir)
	}
	t, err := findTree(opts.libsveltos)
	if err != nil {
		return exitUnknown, err
	}
	scratch, err := os.MkdirTemp("", "upgrade-")
	if err != nil {
		return exitUnknown, err
	}
	defer os.RemoveAll(scratch)

	check := newChecker()
	plan, rep, err := co.plan(check, t, opts.libsveltos != "", scratch)
	if err != nil {
		return exitUnknown, err
	}
	if !opts.report && len(plan) > 0 {
		if err := co.carryOut(check, plan, scratch, opts.out); err != nil {
			return exitUnknown, err
		}
	}
	return finish(opts, rep, len(plan)), nil
}

// finish prints the report and chooses the exit code.
func finish(opts options, rep *report, files int) int {
	rep.print(opts.out)
	verb := "changed"
	if opts.report {
		verb = "to change"
	}
	fmt.Fprintf(opts.out, "\n%d sites %s in %d files, %d kept, %d done already, %d not understood\n",
		rep.count(changed), verb, files, rep.count(kept), rep.count(done), rep.count(unknown))
	switch {
	case rep.count(unknown) > 0:
		return exitUnknown
	case opts.report && files > 0:
		return exitWork
	}
	return exitDone
}

// plan computes the new content of all files to change.
func (c *checkout) plan(check *checker, t tree, given bool, scratch string) (changes, *report, error) {
	before, err := c.viewWith(scratch, "before", c.modSrc)
	if err != nil {
		return nil, nil, err
	}
	pkgs, err := before.load(check)
	if err != nil {
		return nil, nil, err
	}
	list, err := units(c.dir, check.fset, pkgs)
	if err != nil {
		return nil, nil, err
	}
	a := newAnalysis(list)
	a.run()
	plan, err := a.contents()
	if err != nil {
		return nil, nil, err
	}
	mod, sites, err := c.goMod(t, given)
	if err != nil {
		return nil, nil, err
	}
	a.report.sites = append(a.report.sites, sites...)
	for _, s := range sites {
		if s.status == changed {
			plan[filepath.Join(c.dir, "go.mod")] = mod
		}
	}
	return plan, &a.report, nil
}

// contents makes all edits and returns the whole new files.
func (a *analysis) contents() (changes, error) {
	result := changes{}
	for _, u := range a.units {
		list := a.edits[u.path]
		if len(list) == 0 {
			continue
		}
		edited, err := apply(u.src, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.rel, err)
		}
		all := append(list, u.importEdits(a.imports[u.path], edited)...)
		if edited, err = apply(u.src, all); err != nil {
			return nil, fmt.Errorf("%s: %w", u.rel, err)
		}
		result[u.path] = tidyFormat(u.src, edited)
	}
	for name, content := range a.files {
		formatted, err := format.Source(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		result[name] = formatted
	}
	return result, nil
}

// viewWith is a view of the checkout with a copy of its go.mod and go.sum, so that the go
// command can complete them without touching the checkout.
func (c *checkout) viewWith(scratch, name string, mod []byte) (view, error) {
	v := view{dir: c.dir, modFile: filepath.Join(scratch, name+".mod"), vendor: c.vendor}
	if err := os.WriteFile(v.modFile, mod, 0o600); err != nil {
		return view{}, err
	}
	sum, err := os.ReadFile(filepath.Join(c.dir, "go.sum"))
	if err != nil && !os.IsNotExist(err) {
		return view{}, err
	}
	return v, os.WriteFile(filepath.Join(scratch, name+".sum"), sum, 0o600)
}

// carryOut completes go.mod for the planned sources, type-checks the result and writes it.
// Until the last step nothing in the checkout changes.
func (c *checkout) carryOut(check *checker, plan changes, scratch string, out io.Writer) error {
	modName := filepath.Join(c.dir, "go.mod")
	mod, ok := plan[modName]
	if !ok {
		mod = c.modSrc
	}
	after, err := c.viewWith(scratch, "after", mod)
	if err != nil {
		return err
	}
	after.vendor = false
	after.overlay = changes{}
	for name, content := range plan {
		if name != modName {
			after.overlay[name] = content
		}
	}
	overlay, err := writeOverlay(scratch, after.overlay)
	if err != nil {
		return err
	}
	if err := after.goCommand("mod", "tidy", "-modfile="+after.modFile, "-overlay="+overlay); err != nil {
		fmt.Fprintf(out, "go.mod could not be tidied, it is completed only as far as the build needs it (%v)\n", err)
	}
	if _, err := after.load(check); err != nil {
		return fmt.Errorf("nothing was written, because the upgraded sources do not compile against this libsveltos: %w", err)
	}
	for ext, name := range map[string]string{".mod": "go.mod", ".sum": "go.sum"} {
		content, err := os.ReadFile(filepath.Join(scratch, "after"+ext))
		if err != nil {
			return err
		}
		if len(content) > 0 {
			plan[filepath.Join(c.dir, name)] = content
		}
	}
	if c.vendor {
		return c.writeVendored(plan, after, overlay)
	}
	return plan.write()
}

// writeVendored writes the plan together with a new vendor folder.
func (c *checkout) writeVendored(plan changes, after view, overlay string) error {
	fresh, old := filepath.Join(c.dir, "vendor.upgrade"), filepath.Join(c.dir, "vendor.before")
	defer os.RemoveAll(fresh)
	err := after.goCommand("mod", "vendor", "-modfile="+after.modFile, "-overlay="+overlay, "-o", fresh)
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	vendor := filepath.Join(c.dir, "vendor")
	if err := os.Rename(vendor, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, vendor); err != nil {
		return err
	}
	if err := plan.write(); err != nil {
		_ = os.RemoveAll(vendor)
		_ = os.Rename(old, vendor)
		return err
	}
	return os.RemoveAll(old)
}

// writeOverlay writes the file by which the go command sees the planned sources.
func writeOverlay(scratch string, files changes) (string, error) {
	replace := map[string]string{}
	for i, name := range files.names() {
		copied := filepath.Join(scratch, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(copied, files[name], 0o600); err != nil {
			return "", err
		}
		replace[name] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
