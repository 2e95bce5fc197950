// Command build builds what the tests and the demo run, ahead of time and with progress on the terminal:
//
//	go run ./internal/test/helpers/build binaries
//	go run ./internal/test/helpers/build addon-controller addon-controller-stock
//
// "binaries" are kube-apiserver, etcd and the credential plugins. With -source only the source folder of an
// addon-controller is prepared and printed, for running the controller's own tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
)

func main() {
	sourceOnly := flag.Bool("source", false, "prepare the source folder only, and print it")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: build [-source] binaries|%s|%s|%s ...\n",
			helpers.Upgraded, helpers.StockOnTree, helpers.Stock)
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Args(), *sourceOnly); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// run builds each of the things named.
func run(ctx context.Context, names []string, sourceOnly bool) error {
	if len(names) == 0 {
		flag.Usage()
		return fmt.Errorf("nothing to build was named")
	}
	for _, name := range names {
		if err := build(ctx, name, sourceOnly); err != nil {
			return err
		}
	}
	return nil
}

// build builds one thing and prints where it is.
func build(ctx context.Context, name string, sourceOnly bool) error {
	variant := helpers.Variant(name)
	switch variant {
	case "binaries":
		_, err := helpers.EnsureBinaries(ctx, helpers.Stderr)
		return err
	case helpers.Upgraded, helpers.StockOnTree, helpers.Stock:
	default:
		flag.Usage()
		return fmt.Errorf("%q is not known", name)
	}
	work := helpers.BuildAddonController
	if sourceOnly {
		work = helpers.PrepareAddonController
	}
	path, err := work(ctx, variant, helpers.Stderr)
	if err == nil {
		fmt.Println(path)
	}
	return err
}
