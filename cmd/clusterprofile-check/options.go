package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Values of -o.
const (
	outputTable = ""
	outputWide  = "wide"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

const (
	defaultTimeout  = 15 * time.Second
	defaultInterval = 5 * time.Second
	defaultParallel = 16
)

var errUsage = errors.New("wrong usage")

// options are the command line, without what belongs to lib/inventory and controller-runtime.
type options struct {
	namespace string
	selector  labels.Selector
	output    string
	watch     bool
	interval  time.Duration
	timeout   time.Duration
	parallel  int
	// explain names the cluster that is to be explained; empty for all clusters.
	explain types.NamespacedName
}

// parse reads the command line. Flags may stand before, between and after the other words.
func parse(fs *flag.FlagSet, args []string) (options, error) {
	o, selector := options{}, ""
	fs.Init("clusterprofile-check", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the caller prints the error
	fs.Usage = func() {}
	for _, name := range []string{"n", "namespace"} {
		fs.StringVar(&o.namespace, name, "", "Look at this namespace only. Not set: all.")
	}
	for _, name := range []string{"l", "selector"} {
		fs.StringVar(&selector, name, "", "Look only at inventory ClusterProfiles whose labels match, such as env=prod.")
	}
	fs.StringVar(&o.output, "o", outputTable, "Output: wide, json or yaml. Not set: a table.")
	fs.BoolVar(&o.watch, "watch", false, "Go on until interrupted, and print a row again when it has changed.")
	fs.DurationVar(&o.interval, "interval", defaultInterval, "Pause between two rounds of --watch.")
	fs.DurationVar(&o.timeout, "timeout", defaultTimeout, "Time limit for one cluster: its plugin and its API server together.")
	fs.IntVar(&o.parallel, "parallel", defaultParallel, "How many clusters are probed at a time.")
	words, err := words(fs, args)
	if err != nil {
		return o, err
	}
	if o.selector, err = labels.Parse(selector); err != nil {
		return o, fmt.Errorf("%w: --selector: %w", errUsage, err)
	}
	if o.explain, err = explained(words); err != nil {
		return o, err
	}
	return o, o.check()
}

func printUsage(fs *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, "Usage: clusterprofile-check [flags] [explain NAMESPACE/NAME]\n\n")
	fs.SetOutput(w)
	fs.PrintDefaults()
}

// words parses the flags and returns what is none.
func words(fs *flag.FlagSet, args []string) ([]string, error) {
	var words []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		if fs.NArg() == 0 {
			return words, nil
		}
		words = append(words, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// explained returns the cluster that "explain NAMESPACE/NAME" names, or nothing without words.
func explained(words []string) (types.NamespacedName, error) {
	var none types.NamespacedName
	switch {
	case len(words) == 0:
		return none, nil
	case words[0] != "explain":
		return none, fmt.Errorf("%w: %q is no command; the only one is explain NAMESPACE/NAME", errUsage, words[0])
	case len(words) != 2:
		return none, fmt.Errorf("%w: explain takes one NAMESPACE/NAME", errUsage)
	}
	namespace, name, found := strings.Cut(words[1], "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return none, fmt.Errorf("%w: explain takes NAMESPACE/NAME, not %q", errUsage, words[1])
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// check refuses what makes no sense.
func (o options) check() error {
	switch {
	case !slices.Contains([]string{outputTable, outputWide, outputJSON, outputYAML}, o.output):
		return fmt.Errorf("%w: -o %q is none of wide, json, yaml", errUsage, o.output)
	case o.timeout <= 0 || o.interval <= 0 || o.parallel <= 0:
		return fmt.Errorf("%w: --timeout, --interval and --parallel must be greater than 0", errUsage)
	case o.watch && o.explain.Name != "":
		return fmt.Errorf("%w: explain and --watch do not go together", errUsage)
	}
	return nil
}
