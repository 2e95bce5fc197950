// Command demo shows the main job on real parts: the real addon-controller, upgraded by hack/upgrade, delivers an add-on
// to a cluster that it knows only from an inventory ClusterProfile.
//
//	make demo              run and clean up
//	make demo ARGS=--keep  leave hub, spoke and controller running until ^C, to look around
//
// It needs Go and nothing else: kube-apiserver, etcd, the credential plugin and addon-controller are built from their
// modules, once. All it starts listens on loopback and is stopped at the end, also on ^C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// exitInterrupted is what shells report for a process that ended by ^C.
const exitInterrupted = 130

func main() {
	keep := flag.Bool("keep", false, "leave everything running until ^C")
	flag.Parse()
	ctrllog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *keep)
	switch {
	case ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)):
		os.Exit(exitCode(err))
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo failed:", err)
		os.Exit(1)
	}
}

// exitCode is 0 when ^C ended a demo that was kept running, and that of an interrupted program otherwise.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "interrupted; everything is stopped")
	return exitInterrupted
}
