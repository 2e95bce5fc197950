// Command clusterprofile-check says, for each cluster of the SIG Multicluster inventory, whether Sveltos can match and
// reach it, and if not, why. It reads the hub, runs the credential plugins and asks each cluster for its version; it
// changes nothing.
//
//	clusterprofile-check --clusterprofile-provider-file=FILE            one row for each inventory ClusterProfile
//	clusterprofile-check --clusterprofile-provider-file=FILE --watch    again and again, printing rows that change
//	clusterprofile-check --clusterprofile-provider-file=FILE explain NS/NAME   step by step, where one cluster stops
//
// It uses the code that the controllers use, so give it the provider file and the flags that the controllers have, on
// a machine that has the plugins. A credential is never printed.
//
// Exit status: 0, no cluster has a problem; 1, at least one has; 2, wrong usage, or the hub or the provider file
// cannot be used.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// Exit statuses.
const (
	exitOK       = 0
	exitProblem  = 1 // at least one cluster has a problem
	exitUnusable = 2 // wrong usage, or the hub or the provider file cannot be used
)

var errInterrupted = errors.New("interrupted")

// hubPatience bounds one round of reading the hub.
const hubPatience = time.Minute

func main() {
	ctrllog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, flag.CommandLine, os.Args[1:], os.Stdout, os.Stderr)
	stop() // a second ^C does not wait
	waitForPlugins(pluginFlag())
	os.Exit(code)
}

// run is main with everything given. The flags of lib/inventory are read from flag.CommandLine, whatever fs is.
func run(ctx context.Context, fs *flag.FlagSet, args []string, stdout, stderr io.Writer) int {
	o, err := parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printUsage(fs, stdout)
		return exitOK
	case err != nil:
		return unusable(stderr, err)
	}
	if err := boundPlugins(o.timeout); err != nil {
		return unusable(stderr, err)
	}
	c := &checker{options: o, backend: inventory.FromFlags(), stdout: stdout, stderr: stderr}
	if err := usableProviders(c.backend); err != nil {
		return unusable(stderr, err)
	}
	if c.hub, err = newHub(); err != nil {
		return unusable(stderr, err)
	}
	ok, err := c.do(ctx)
	switch {
	case err != nil:
		return unusable(stderr, err)
	case !ok:
		return exitProblem
	}
	return exitOK
}

func unusable(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "clusterprofile-check:", oneLine(err.Error()))
	return exitUnusable
}

// checker is one invocation.
type checker struct {
	options
	backend        *inventory.Backend
	hub            client.Client
	stdout, stderr io.Writer
}

// do does what was asked for and tells whether no cluster has a problem.
func (c *checker) do(ctx context.Context) (bool, error) {
	switch {
	case c.explain.Name != "":
		return c.explainOne(ctx)
	case c.watch:
		return c.watchAll(ctx)
	default:
		rows, err := c.round(ctx)
		if err != nil {
			return false, err
		}
		return allOK(rows), printRows(c.stdout, c.output, rows)
	}
}

// round reads the hub once and probes all clusters that are asked for, side by side.
func (c *checker) round(ctx context.Context) ([]Row, error) {
	hubCtx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	s, err := readHub(hubCtx, c.hub, c.namespace, c.selector)
	if err != nil {
		return nil, err
	}
	for _, warning := range s.warnings {
		fmt.Fprintln(c.stderr, "warning:", oneLine(warning))
	}
	p := newProgress(c.stderr, len(s.clusters))
	defer p.end()
	rows := c.probeAll(ctx, s, p)
	if ctx.Err() != nil { // what the rows say is about the interruption
		return nil, errInterrupted
	}
	return rows, nil
}

// usableProviders returns why no cluster at all can be reached: no provider file, or one that is refused.
func usableProviders(b *inventory.Backend) error {
	_, err := b.Resolve(nobody())
	if errors.Is(err, inventory.ErrNotConfigured) || errors.Is(err, inventory.ErrProviderFile) {
		return errors.Unwrap(err) // the profile's name says nothing here
	}
	return nil
}

func newHub() (client.Client, error) {
	cfg, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no access to a hub: %w; name a kubeconfig with --%s or KUBECONFIG", err, config.KubeconfigFlagName)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), libsveltosv1beta1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	hub, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	return hub, nil
}
