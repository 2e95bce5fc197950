// The fixture's command.
package main

import (
	"os"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/fixture/controllers"
)

var setupLog logr.Logger

func main() { start(nil) }

func start(mgr ctrl.Manager) {
	if err := (&controllers.SveltosClusterReconciler{
		Client: mgr.GetClient(),
		Logger: setupLog,
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "unable to create controller", "controller", "SveltosCluster")
		os.Exit(1)
	}
	if err := (&controllers.ClusterReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
}
