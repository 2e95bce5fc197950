package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/external"
)

// demo is one run: what it has started and where it keeps its files.
type demo struct {
	start time.Time
	dir   string

	binaries         *helpers.Binaries
	controllerBinary string
	hub, spoke       *helpers.Cluster
	controller       *addons.Controller
	secretUID        types.UID
	healthySince     time.Time

	printing sync.Mutex
	stops    []func()
}

// step is one line of the demo.
type step func(ctx context.Context) (line string, err error)

// run does the steps one after the other, waits for the delivery and stops everything at the end.
func run(ctx context.Context, keep bool) error {
	root, err := helpers.Root()
	if err != nil {
		return err
	}
	d := &demo{start: time.Now(), dir: filepath.Join(helpers.BuildDir(root), "demo")}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	defer d.stopAll()
	for _, next := range d.steps() {
		line, err := next(ctx)
		if err != nil {
			return d.explain(ctx, err)
		}
		d.say("%s", line)
	}
	delivered, err := d.awaitDelivery(ctx)
	if err != nil {
		return d.explain(ctx, err)
	}
	fmt.Println(delivered)
	if keep {
		d.keep(ctx)
	}
	return nil
}

// steps are what comes before the delivery.
func (d *demo) steps() []step {
	return []step{
		d.buildBinaries,
		d.buildController,
		d.startClusters,
		d.startController,
		d.registerSpoke,
		d.selectCluster,
		d.showNothingDeployed,
		d.reportHealthy,
	}
}

func (d *demo) buildBinaries(ctx context.Context) (line string, err error) {
	d.binaries, err = helpers.EnsureBinaries(ctx, d.say)
	return "kube-apiserver, etcd and the credential plugin kubeconfig-secretreader are built", err
}

func (d *demo) buildController(ctx context.Context) (line string, err error) {
	d.controllerBinary, err = helpers.BuildAddonController(ctx, helpers.Upgraded, d.say)
	return "addon-controller v1.14.0 is upgraded by hack/upgrade and built", err
}

// startClusters starts hub and spoke at the same time.
func (d *demo) startClusters(ctx context.Context) (string, error) {
	var spokeErr error
	var wait sync.WaitGroup
	wait.Go(func() { d.spoke, spokeErr = helpers.NewCluster(ctx, helpers.Spoke("spoke-1"), d.say) })
	var hubErr error
	d.hub, hubErr = helpers.NewCluster(ctx, helpers.Hub(external.Addons), d.say)
	wait.Wait()
	for _, cluster := range []*helpers.Cluster{d.hub, d.spoke} {
		if cluster != nil {
			d.stops = append(d.stops, func() { d.report(cluster.Stop()) })
		}
	}
	if err := errors.Join(hubErr, spokeErr); err != nil {
		return "", err
	}
	err := errors.Join(d.hub.WriteKubeconfig(d.kubeconfig(d.hub)), d.spoke.WriteKubeconfig(d.kubeconfig(d.spoke)))
	return fmt.Sprintf("hub (%s, with the CRDs of Sveltos and of the inventory) and spoke-1 (%s, empty) are running",
		d.hub.Address(), d.spoke.Address()), err
}

func (d *demo) startController(ctx context.Context) (string, error) {
	providerFile := filepath.Join(d.dir, "clusterprofile-provider-file.json")
	provider := helpers.SecretReader(d.binaries.KubeconfigSecretReader, d.kubeconfig(d.hub))
	if err := helpers.WriteProviderFile(providerFile, provider); err != nil {
		return "", err
	}
	controller, err := addons.Start(ctx, addons.Options{
		Binary: d.controllerBinary, Hub: d.hub, HubKubeconfig: d.kubeconfig(d.hub), Dir: d.dir, ProviderFile: providerFile,
	})
	if err != nil {
		return "", err
	}
	d.controller = controller
	d.stops = append(d.stops, controller.Stop)
	return fmt.Sprintf("addon-controller is running with --clusterprofile-provider-file (log: %s)", d.shorten(controller.LogFile)), nil
}

// kubeconfig is the file with access to a cluster.
func (d *demo) kubeconfig(cluster *helpers.Cluster) string {
	return filepath.Join(d.dir, cluster.Name+".kubeconfig")
}

// keep waits until the person has seen enough.
func (d *demo) keep(ctx context.Context) {
	d.say("everything keeps running; look around with")
	d.say("  KUBECONFIG=%s", d.shorten(d.kubeconfig(d.hub)))
	d.say("  KUBECONFIG=%s", d.shorten(d.kubeconfig(d.spoke)))
	d.say("^C stops all of it")
	<-ctx.Done()
}

// stopAll stops what was started, last first.
func (d *demo) stopAll() {
	for i := len(d.stops) - 1; i >= 0; i-- {
		d.stops[i]()
	}
}

// report prints an error that nothing can be done about any more.
func (d *demo) report(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// say prints a line with the elapsed time.
func (d *demo) say(format string, args ...any) {
	d.printing.Lock()
	defer d.printing.Unlock()
	fmt.Printf("[%6.1fs] %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, args...))
}

// shorten makes a path relative to the working directory where that is possible.
func (d *demo) shorten(path string) string {
	working, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(working, path)
	if err != nil {
		return path
	}
	return relative
}
