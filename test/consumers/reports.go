package consumers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
)

// ErrUnlabelled says that a report does not name the EventSource or Classifier it is about.
var ErrUnlabelled = errors.New("report has no label that names its source")

// Cluster names a cluster of any type.
type Cluster struct {
	types.NamespacedName
	Type libsveltosv1beta1.ClusterType
}

// String is the type and the name.
func (c Cluster) String() string { return fmt.Sprintf("%s %s", c.Type, c.NamespacedName) }

// StoreEventReport creates or updates the hub's copy of a report that the cluster's agent has written.
func StoreEventReport(ctx context.Context, hub client.Client, cluster Cluster, found *libsveltosv1beta1.EventReport) error {
	source := found.Labels[libsveltosv1beta1.EventSourceNameLabel]
	if source == "" {
		return fmt.Errorf("EventReport %s of %s: %w: %s", found.Name, cluster, ErrUnlabelled, libsveltosv1beta1.EventSourceNameLabel)
	}
	report := &libsveltosv1beta1.EventReport{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace,
		Name:      libsveltosv1beta1.GetEventReportName(source, cluster.Name, &cluster.Type),
	}}
	_, err := controllerutil.CreateOrUpdate(ctx, hub, report, func() error {
		report.Labels = libsveltosv1beta1.GetEventReportLabels(source, cluster.Name, &cluster.Type)
		report.Spec = *found.Spec.DeepCopy()
		report.Spec.CloudEvents = nil // they stay on the spoke
		report.Spec.ClusterNamespace, report.Spec.ClusterName, report.Spec.ClusterType = cluster.Namespace, cluster.Name, cluster.Type
		return nil
	})
	return err
}

// StoreClassifierReport is StoreEventReport for a ClassifierReport. The status of the hub's copy belongs to the hub.
func StoreClassifierReport(ctx context.Context, hub client.Client, cluster Cluster, found *libsveltosv1beta1.ClassifierReport) error {
	source := found.Labels[libsveltosv1beta1.ClassifierlNameLabel]
	if source == "" {
		return fmt.Errorf("ClassifierReport %s of %s: %w: %s", found.Name, cluster, ErrUnlabelled, libsveltosv1beta1.ClassifierlNameLabel)
	}
	report := &libsveltosv1beta1.ClassifierReport{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace,
		Name:      libsveltosv1beta1.GetClassifierReportName(source, cluster.Name, &cluster.Type),
	}}
	_, err := controllerutil.CreateOrUpdate(ctx, hub, report, func() error {
		report.Labels = libsveltosv1beta1.GetClassifierReportLabels(source, cluster.Name, &cluster.Type)
		report.Spec = found.Spec
		report.Spec.ClusterNamespace, report.Spec.ClusterName, report.Spec.ClusterType = cluster.Namespace, cluster.Name, cluster.Type
		return nil
	})
	return err
}

// reportKind is a kind of report, with the labels that name the cluster it is about: the type in lower case, and
// nothing of the namespace, which is the report's own.
type reportKind struct {
	newReport            func() client.Object
	newList              func() client.ObjectList
	nameLabel, typeLabel string
}

var reportKinds = []reportKind{
	{
		newReport: func() client.Object { return &libsveltosv1beta1.EventReport{} },
		newList:   func() client.ObjectList { return &libsveltosv1beta1.EventReportList{} },
		nameLabel: libsveltosv1beta1.EventReportClusterNameLabel,
		typeLabel: libsveltosv1beta1.EventReportClusterTypeLabel,
	},
	{
		newReport: func() client.Object { return &libsveltosv1beta1.ClassifierReport{} },
		newList:   func() client.ObjectList { return &libsveltosv1beta1.ClassifierReportList{} },
		nameLabel: libsveltosv1beta1.ClassifierReportClusterNameLabel,
		typeLabel: libsveltosv1beta1.ClassifierReportClusterTypeLabel,
	},
}

// RemoveReports deletes the hub's copies of all reports of the cluster, and those of no other.
func RemoveReports(ctx context.Context, hub client.Client, cluster Cluster) error {
	var errs []error
	for _, kind := range reportKinds {
		errs = append(errs, hub.DeleteAllOf(ctx, kind.newReport(), client.InNamespace(cluster.Namespace),
			client.MatchingLabels{kind.nameLabel: cluster.Name, kind.typeLabel: strings.ToLower(string(cluster.Type))}))
	}
	return errors.Join(errs...)
}
