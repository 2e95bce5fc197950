package consumers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clustercache"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/sveltos_upgrade"
)

// Namespace is where the agent of a spoke keeps its reports and its version.
const Namespace = "projectsveltos"

// ErrAgentVersion says that the agent of a spoke is of another version than the hub, or has not started yet.
var ErrAgentVersion = errors.New("the agent is of another version")

// Collector brings the reports of all clusters to the hub, again and again. A cluster that cannot be asked does not
// keep it from the others.
type Collector struct {
	// Client of the hub.
	Client client.Client
	// Version of Sveltos on the hub. Agents of another version are not listened to.
	Version string
	// Interval between two rounds.
	Interval time.Duration
}

var _ manager.Runnable = (*Collector)(nil)

// Start collects until the context ends.
func (c *Collector) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, c.round, c.Interval)
	return nil
}

func (c *Collector) round(ctx context.Context) {
	log := logf.FromContext(ctx)
	clusters, err := clusterproxy.GetListOfClustersForShardKey(ctx, c.Client, "", "", "", log)
	if err != nil {
		log.Error(err, "listing clusters")
		return
	}
	for i := range clusters {
		if err := c.collect(ctx, &clusters[i]); err != nil {
			log.Error(err, "collecting reports", "cluster", clusters[i].Name)
		}
	}
}

// collect copies the reports of one cluster.
func (c *Collector) collect(ctx context.Context, ref *corev1.ObjectReference) error {
	log := logf.FromContext(ctx)
	cluster := clusterOf(ref)
	if listen, err := c.listens(ctx, ref, cluster); err != nil || !listen {
		return err
	}
	if !sveltos_upgrade.IsSveltosAgentVersionCompatible(ctx, c.Client, Namespace, c.Version,
		cluster.Namespace, cluster.Name, cluster.Type, false, log) {
		return fmt.Errorf("%s: %w", cluster, ErrAgentVersion)
	}
	spoke, err := clustercache.GetManager().GetKubernetesClient(ctx, c.Client,
		cluster.Namespace, cluster.Name, "", "", cluster.Type, log)
	if err == nil {
		err = errors.Join(c.events(ctx, cluster, spoke), c.classifications(ctx, cluster, spoke))
	}
	if err != nil {
		clustercache.GetManager().InvalidateOnAuthError(cluster.Namespace, cluster.Name, cluster.Type, err)
	}
	return err
}

// listens tells whether the cluster may be asked now.
func (c *Collector) listens(ctx context.Context, ref *corev1.ObjectReference, cluster Cluster) (bool, error) {
	log := logf.FromContext(ctx)
	ready, err := clusterproxy.IsClusterReadyToBeConfigured(ctx, c.Client, ref, log)
	if err != nil || !ready {
		return false, err
	}
	paused, err := clusterproxy.IsClusterPaused(ctx, c.Client, cluster.Namespace, cluster.Name, cluster.Type)
	if err != nil || paused {
		return false, err
	}
	pulls, err := clusterproxy.IsClusterInPullMode(ctx, c.Client, cluster.Namespace, cluster.Name, cluster.Type, log)
	return err == nil && !pulls, err
}

// events copies the EventReports of one cluster and tells its agent that they have arrived.
func (c *Collector) events(ctx context.Context, cluster Cluster, spoke client.Client) error {
	list := &libsveltosv1beta1.EventReportList{}
	if err := spoke.List(ctx, list); err != nil {
		return err
	}
	var errs []error
	for i := range list.Items {
		found := &list.Items[i]
		if _, copied := found.Labels[libsveltosv1beta1.EventReportClusterNameLabel]; copied {
			continue // the spoke is a hub too
		}
		wanted, err := c.exists(ctx, found.Labels[libsveltosv1beta1.EventSourceNameLabel], &libsveltosv1beta1.EventSource{})
		if err == nil && wanted {
			err = errors.Join(StoreEventReport(ctx, c.Client, cluster, found), acknowledge(ctx, spoke, found))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// acknowledge marks a report of a spoke as processed, unless its agent has written it again meanwhile.
func acknowledge(ctx context.Context, spoke client.Client, report *libsveltosv1beta1.EventReport) error {
	processed := libsveltosv1beta1.ReportProcessed
	if report.Status.Phase != nil && *report.Status.Phase == processed {
		return nil
	}
	before := report.DeepCopy()
	report.Status.Phase = &processed
	err := spoke.Status().Patch(ctx, report, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // the next round sees it
	}
	return err
}

// classifications copies the ClassifierReports of one cluster.
func (c *Collector) classifications(ctx context.Context, cluster Cluster, spoke client.Client) error {
	list := &libsveltosv1beta1.ClassifierReportList{}
	if err := spoke.List(ctx, list); err != nil {
		return err
	}
	var errs []error
	for i := range list.Items {
		found := &list.Items[i]
		if _, copied := found.Labels[libsveltosv1beta1.ClassifierReportClusterNameLabel]; copied {
			continue
		}
		wanted, err := c.exists(ctx, found.Labels[libsveltosv1beta1.ClassifierlNameLabel], &libsveltosv1beta1.Classifier{})
		if err == nil && wanted {
			err = StoreClassifierReport(ctx, c.Client, cluster, found)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// exists tells whether what a report is about is still on the hub. A report without a name is left to be refused.
func (c *Collector) exists(ctx context.Context, name string, about client.Object) (bool, error) {
	if name == "" {
		return true, nil
	}
	err := c.Client.Get(ctx, types.NamespacedName{Name: name}, about)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func clusterOf(ref *corev1.ObjectReference) Cluster {
	return Cluster{
		NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name},
		Type:           clusterproxy.GetClusterType(ref),
	}
}
