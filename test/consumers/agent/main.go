// Command agent is an agent that runs on the hub and looks after one cluster, as sveltos-agent does in that mode: it
// is told which cluster by its arguments, reaches it through the library, evaluates an EventSource of the hub there,
// and writes the EventReport to the hub. It does so once and ends.
//
//	agent --cluster-namespace=fleet --cluster-name=spoke-1 --cluster-type=ClusterProfile \
//	      --event-source=es1 --version=v1.14.0 --clusterprofile-provider-file=providers.json
//
// The hub is the one of the kubeconfig that KUBECONFIG or --kubeconfig names.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

func main() {
	logf.SetLogger(klog.Background())
	a := &agent{}
	flag.StringVar(&a.cluster.Namespace, "cluster-namespace", "", "Namespace of the cluster.")
	flag.StringVar(&a.cluster.Name, "cluster-name", "", "Name of the cluster.")
	clusterType := flag.String("cluster-type", "", "Type of the cluster: Capi, Sveltos or ClusterProfile.")
	flag.StringVar(&a.source, "event-source", "", "EventSource of the hub to evaluate.")
	flag.StringVar(&a.version, "version", "", "Version of the agent.")
	flag.Parse()
	a.cluster.Type = libsveltosv1beta1.ClusterType(*clusterType)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := a.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
