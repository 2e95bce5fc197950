package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/sveltos_upgrade"
	"github.com/projectsveltos/libsveltos/test/consumers"
)

// errPullMode says that the cluster asks for its configuration itself and cannot be reached from here.
var errPullMode = errors.New("the cluster is in pull mode")

// agent looks after one cluster.
type agent struct {
	cluster consumers.Cluster
	source  string // EventSource
	version string
}

// run evaluates the EventSource once.
func (a *agent) run(ctx context.Context) error {
	hub, err := hubClient()
	if err != nil {
		return err
	}
	spoke, err := a.spokeClient(ctx, hub)
	if err != nil {
		return err
	}
	source := &libsveltosv1beta1.EventSource{}
	if err := hub.Get(ctx, types.NamespacedName{Name: a.source}, source); err != nil {
		return fmt.Errorf("EventSource %s: %w", a.source, err)
	}
	matching, err := evaluate(ctx, spoke, source)
	if err != nil {
		return fmt.Errorf("EventSource %s on %s: %w", a.source, a.cluster, err)
	}
	report := &libsveltosv1beta1.EventReport{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{libsveltosv1beta1.EventSourceNameLabel: a.source}},
		Spec:       libsveltosv1beta1.EventReportSpec{EventSourceName: a.source, MatchingResources: matching},
	}
	if err := consumers.StoreEventReport(ctx, hub, a.cluster, report); err != nil {
		return err
	}
	return sveltos_upgrade.StoreSveltosAgentVersion(ctx, hub, consumers.Namespace, a.version,
		a.cluster.Namespace, a.cluster.Name, a.cluster.Type, true, logf.FromContext(ctx))
}

func hubClient() (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, libsveltosv1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	hub, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the hub: %w", err)
	}
	return client.New(hub, client.Options{Scheme: scheme})
}

// spokeClient reaches the agent's own cluster, of whatever type, through the library.
func (a *agent) spokeClient(ctx context.Context, hub client.Client) (client.Client, error) {
	spoke, err := clusterproxy.GetKubernetesRestConfig(ctx, hub, a.cluster.Namespace, a.cluster.Name, "", "",
		a.cluster.Type, logf.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	if spoke == nil {
		return nil, fmt.Errorf("%s: %w", a.cluster, errPullMode)
	}
	return client.New(spoke, client.Options{})
}

// evaluate returns what the EventSource selects by kind and namespace.
func evaluate(ctx context.Context, spoke client.Client, source *libsveltosv1beta1.EventSource) ([]corev1.ObjectReference, error) {
	var matching []corev1.ObjectReference
	for i := range source.Spec.ResourceSelectors {
		selector := &source.Spec.ResourceSelectors[i]
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: selector.Group, Version: selector.Version, Kind: selector.Kind})
		if err := spoke.List(ctx, list, client.InNamespace(selector.Namespace)); err != nil {
			return nil, err
		}
		for j := range list.Items {
			object := &list.Items[j]
			matching = append(matching, corev1.ObjectReference{
				APIVersion: object.GetAPIVersion(), Kind: object.GetKind(),
				Namespace: object.GetNamespace(), Name: object.GetName(),
			})
		}
	}
	return matching, nil
}
