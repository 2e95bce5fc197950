package clusterproxy

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Reasons for which an inventory ClusterProfile is never matched.
const (
	ignoredLongName = "name_too_long"
	ignoredBridged  = "served_by_bridge"
)

var (
	log = logf.Log.WithName("clusterproxy")

	ignoredTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "clusterprofile_ignored_total",
		Help: "Inventory ClusterProfiles that Sveltos leaves alone, by reason; each object counts once.",
	}, []string{"reason"})

	ignoredMu sync.Mutex // guards ignored
	ignored   = map[types.UID]string{}
)

func init() {
	metrics.Registry.MustRegister(ignoredTotal)
}

// ignore tells, once for each object and reason, that it is left alone.
func ignore(cp *inventoryv1alpha1.ClusterProfile, reason, why string) {
	ignoredMu.Lock()
	told := ignored[cp.UID] == reason
	ignored[cp.UID] = reason
	ignoredMu.Unlock()
	if told {
		return
	}
	ignoredTotal.WithLabelValues(reason).Inc()
	log.Info("inventory ClusterProfile is left alone: "+why, "namespace", cp.Namespace, "name", cp.Name)
}

func forgetIgnored(uid types.UID) {
	ignoredMu.Lock()
	defer ignoredMu.Unlock()
	delete(ignored, uid)
}
