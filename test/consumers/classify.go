package consumers

import (
	"context"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/predicates"
)

// Labeller puts the labels of a Classifier on the clusters that match it, whatever their type, and takes them away
// from those that no longer do. Which labels it has put there is kept in the status of the hub's ClassifierReport.
type Labeller struct {
	// Client of the hub.
	Client client.Client
}

var _ reconcile.Reconciler = (*Labeller)(nil)

// SetupWithManager watches Classifiers, their reports, and the clusters: someone may take a label away.
func (r *Labeller) SetupWithManager(mgr manager.Manager) error {
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("labeller").
		For(&libsveltosv1beta1.Classifier{}).
		Watches(&libsveltosv1beta1.ClassifierReport{}, handler.EnqueueRequestsFromMapFunc(classifierOf)).
		Watches(&libsveltosv1beta1.SveltosCluster{}, handler.EnqueueRequestsFromMapFunc(r.allClassifiers),
			builder.WithPredicates(predicates.SveltosClusterPredicates(mgr.GetLogger()))).
		Build(r)
	if err != nil {
		return err
	}
	return clusterproxy.WatchInventoryClusterProfiles(mgr, c, r.allClassifiers)
}

func classifierOf(_ context.Context, report client.Object) []reconcile.Request {
	name := report.GetLabels()[libsveltosv1beta1.ClassifierlNameLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

func (r *Labeller) allClassifiers(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &libsveltosv1beta1.ClassifierList{}
	if err := r.Client.List(ctx, list); err != nil {
		logf.FromContext(ctx).Error(err, "listing Classifiers")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].Name = list.Items[i].Name
	}
	return requests
}

// Reconcile makes the labels of all clusters what the reports of the Classifier say.
func (r *Labeller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	classifier := &libsveltosv1beta1.Classifier{}
	if err := r.Client.Get(ctx, request.NamespacedName, classifier); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	reports := &libsveltosv1beta1.ClassifierReportList{}
	if err := r.Client.List(ctx, reports, client.MatchingLabels{libsveltosv1beta1.ClassifierlNameLabel: classifier.Name}); err != nil {
		return reconcile.Result{}, err
	}
	var errs []error
	for i := range reports.Items {
		errs = append(errs, r.apply(ctx, classifier, &reports.Items[i]))
	}
	return reconcile.Result{}, errors.Join(errs...)
}

// apply brings one cluster in line with one report. The status comes first: a label that it names and the cluster
// lacks is harmless, one that it does not name would stay for ever.
func (r *Labeller) apply(ctx context.Context, classifier *libsveltosv1beta1.Classifier, report *libsveltosv1beta1.ClassifierReport) error {
	if report.Spec.ClusterNamespace == "" {
		return nil // an agent's own, not a copy: the hub is a spoke too
	}
	cluster, err := clusterproxy.GetCluster(ctx, r.Client, report.Spec.ClusterNamespace, report.Spec.ClusterName, report.Spec.ClusterType)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	labels := map[string]string{}
	if report.Spec.Match {
		for _, label := range classifier.Spec.ClassifierLabels {
			labels[label.Key] = label.Value
		}
	}
	obsolete := slices.DeleteFunc(slices.Clone(report.Status.ManagedLabels), func(key string) bool {
		_, wanted := labels[key]
		return wanted
	})
	if err := r.record(ctx, report, append(slices.Sorted(maps.Keys(labels)), obsolete...)); err != nil {
		return err
	}
	if err := r.label(ctx, cluster, labels, obsolete); err != nil {
		return err
	}
	return r.record(ctx, report, slices.Sorted(maps.Keys(labels)))
}

// label changes nothing of the cluster but those labels: the object belongs to somebody else, who may use a newer
// version of its API.
func (r *Labeller) label(ctx context.Context, cluster client.Object, add map[string]string, remove []string) error {
	before, ok := cluster.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("a copy of a cluster is no object")
	}
	labels := maps.Clone(cluster.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, add)
	for _, key := range remove {
		delete(labels, key)
	}
	if maps.Equal(labels, before.GetLabels()) {
		return nil
	}
	cluster.SetLabels(labels)
	return r.Client.Patch(ctx, cluster, client.MergeFrom(before))
}

// record writes which labels of the cluster are the Classifier's.
func (r *Labeller) record(ctx context.Context, report *libsveltosv1beta1.ClassifierReport, keys []string) error {
	if slices.Equal(report.Status.ManagedLabels, keys) {
		return nil
	}
	before := report.DeepCopy()
	report.Status.ManagedLabels = keys
	return r.Client.Status().Patch(ctx, report, client.MergeFrom(before))
}
