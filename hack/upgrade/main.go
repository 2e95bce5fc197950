// Command upgrade makes a Sveltos controller ready for inventory ClusterProfiles.
//
// It edits the sources of a checkout in place, by the rules that its help lists, so that
// the diff is the pull request. Every decision is taken on type-checked code, the edits
// are computed whole and type-checked again before the first byte is written, and each
// place where a cluster type matters is printed with what became of it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// The exit codes.
const (
	exitDone    = 0 // everything was understood, and is made (or was already)
	exitWork    = 1 // report mode: there are edits to make
	exitUnknown = 2 // bad input, or a site that a person must decide
)

const usage = `usage: upgrade [-n] [--libsveltos PATH|VERSION] DIR

Makes the Sveltos controller in DIR (the root of a checkout) ready for inventory
ClusterProfiles, in place. Prints one line for each site: file:line, rule, what was done.

  R1  branches on the cluster type that move constants about are cloned
  R2  where SveltosClusters are watched, inventory ClusterProfiles are watched too
  R3  reconcilers that clean up after a SveltosCluster get a ClusterProfile twin
  R4  go.mod: the replace lines for libsveltos
  R5  bool parameters that mean "is a SveltosCluster" become a ClusterType
  R6  RBAC markers for clusterprofiles.multicluster.x-k8s.io
  R7  a full Update of a cluster becomes a merge patch
  R8  a failure to reach a cluster is written where the user looks

Sites that need no edit are printed as kept, with the reason. Sites that no rule knows are
listed at the end: they are left as they were, and the exit code is 2.

  -n, --report
        change nothing; exit 1 if there is work to do
  --libsveltos PATH|VERSION
        the libsveltos to use: a directory, a version, or module@version
        (default: the module that the tool is run from)

exit codes: 0 done or nothing to do; 1 report mode and there is work; 2 something was not
understood, or bad input (nothing is written then).

docs/upgrade.md has a worked example.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its outside passed in.
func run(args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("upgrade", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	opts := options{out: out}
	flags.BoolVar(&opts.report, "n", false, "")
	flags.BoolVar(&opts.report, "report", false, "")
	flags.StringVar(&opts.libsveltos, "libsveltos", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return exitDone
	case err != nil:
		fmt.Fprintf(errOut, "upgrade: %v\n\n%s", err, usage)
		return exitUnknown
	case flags.NArg() != 1:
		fmt.Fprintf(errOut, "upgrade: give exactly one directory\n\n%s", usage)
		return exitUnknown
	}
	opts.dir = flags.Arg(0)
	code, err := upgrade(opts)
	if err != nil {
		fmt.Fprintf(errOut, "upgrade: %v\n", err)
		return exitUnknown
	}
	return code
}
