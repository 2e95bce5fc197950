package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/internal/test/helpers"
	"github.com/projectsveltos/libsveltos/internal/test/helpers/addons"
)

const (
	profileName     = "deploy-hello"
	reconcileWithin = time.Minute
	deliverWithin   = 2 * time.Minute
	explainWithin   = 5 * time.Second
)

var (
	errDeployedEarly = errors.New("something was deployed to a cluster that is not healthy")

	clusterKey  = types.NamespacedName{Namespace: "fleet", Name: "spoke-1"}
	secretKey   = types.NamespacedName{Namespace: "fleet", Name: "spoke-1-kubeconfig"}
	policyKey   = types.NamespacedName{Namespace: "default", Name: "hello-policy"}
	deployedKey = types.NamespacedName{Namespace: "default", Name: "hello"}
	labels      = map[string]string{"env": "demo"}
)

// registerSpoke does what a cluster manager does: the credential, and the inventory object, not healthy yet.
func (d *demo) registerSpoke(ctx context.Context) (string, error) {
	if err := d.hub.EnsureNamespace(ctx, clusterKey.Namespace); err != nil {
		return "", err
	}
	secret := helpers.KubeconfigSecret(secretKey, d.spoke.Kubeconfig)
	if err := d.hub.Client.Create(ctx, secret); err != nil {
		return "", err
	}
	d.secretUID = secret.UID
	profile := helpers.InventoryClusterProfile(clusterKey, labels, helpers.SecretReaderAccess(d.spoke, secretKey))
	if err := helpers.CreateWithStatus(ctx, d.hub.Client, profile); err != nil {
		return "", err
	}
	err := helpers.SetControlPlaneHealthy(ctx, d.hub.Client, clusterKey, metav1.ConditionFalse)
	return "inventory ClusterProfile fleet/spoke-1 (env=demo, access through kubeconfig-secretreader) is there, ControlPlaneHealthy=False", err
}

// selectCluster does what a platform team does: an add-on and the clusters it is for.
func (d *demo) selectCluster(ctx context.Context) (string, error) {
	policy, err := addons.Policy(policyKey, deployedKey, map[string]string{"greeting": "hello from the hub"})
	if err != nil {
		return "", err
	}
	if err := d.hub.Client.Create(ctx, policy); err != nil {
		return "", err
	}
	err = d.hub.Client.Create(ctx, addons.Profile(profileName, labels, policyKey))
	return "Sveltos ClusterProfile deploy-hello selects clusters with env=demo and carries ConfigMap default/hello", err
}

// showNothingDeployed waits until the controller has reconciled the Sveltos ClusterProfile and then looks.
func (d *demo) showNothingDeployed(ctx context.Context) (string, error) {
	matching := 0
	err := helpers.WaitFor(ctx, "addon-controller to reconcile deploy-hello", reconcileWithin, d.say,
		func(ctx context.Context) (reconciled bool, err error) {
			matching, reconciled, err = d.controller.MatchingClusters(ctx, profileName)
			return reconciled, err
		})
	if err != nil {
		return "", err
	}
	summaries, err := addons.Summaries(ctx, d.hub.Client, nil)
	if err != nil {
		return "", err
	}
	deployed, err := d.deployed(ctx)
	if err != nil {
		return "", err
	}
	if matching != 0 || len(summaries) != 0 || deployed {
		return "", fmt.Errorf("%w: clusters matching: %d, %v, ConfigMap on spoke-1: %t", errDeployedEarly, matching, summaries, deployed)
	}
	return "nothing is deployed: addon-controller has reconciled deploy-hello and matched 0 clusters, the hub has 0 ClusterSummaries, spoke-1 has no ConfigMap default/hello", nil
}

func (d *demo) reportHealthy(ctx context.Context) (string, error) {
	err := helpers.SetControlPlaneHealthy(ctx, d.hub.Client, clusterKey, metav1.ConditionTrue)
	d.healthySince = time.Now()
	return "the cluster manager reports ControlPlaneHealthy=True", err
}

// awaitDelivery waits for the ConfigMap on the spoke and counts on the hub what must not be there.
func (d *demo) awaitDelivery(ctx context.Context) (string, error) {
	err := helpers.WaitFor(ctx, "ConfigMap default/hello on spoke-1", deliverWithin, d.say,
		func(ctx context.Context) (bool, error) {
			deployed, err := d.deployed(ctx)
			return deployed, errors.Join(err, d.controller.Alive())
		})
	if err != nil {
		return "", err
	}
	took := time.Since(d.healthySince)
	clusters := &libsveltosv1beta1.SveltosClusterList{}
	if err := d.hub.Client.List(ctx, clusters); err != nil {
		return "", err
	}
	secrets, err := d.foreignSecrets(ctx)
	if err != nil {
		return "", err
	}
	if err := d.showSummaries(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("delivered: ConfigMap default/hello on spoke-1 in %.1f s after ControlPlaneHealthy=True (SveltosClusters: %d, Secrets written by Sveltos: %d)",
		took.Seconds(), len(clusters.Items), secrets), nil
}

// deployed reports whether the add-on is on the spoke.
func (d *demo) deployed(ctx context.Context) (bool, error) {
	err := d.spoke.Client.Get(ctx, deployedKey, &corev1.ConfigMap{})
	return err == nil, client.IgnoreNotFound(err)
}

// foreignSecrets counts the Secrets on the hub that the demo has not created. Nobody else writes to this hub but
// addon-controller.
func (d *demo) foreignSecrets(ctx context.Context) (int, error) {
	secrets := &corev1.SecretList{}
	if err := d.hub.Client.List(ctx, secrets); err != nil {
		return 0, err
	}
	count := 0
	for i := range secrets.Items {
		if secrets.Items[i].UID != d.secretUID {
			count++
		}
	}
	return count, nil
}

// showSummaries prints which object on the hub stands for the delivery.
func (d *demo) showSummaries(ctx context.Context) error {
	summaries, err := addons.Summaries(ctx, d.hub.Client, map[string]string{
		addons.ClusterTypeLabel: string(libsveltosv1beta1.ClusterTypeClusterProfile),
	})
	for _, summary := range summaries {
		d.say("on the hub: ClusterSummary %s/%s for cluster type %s", summary.Namespace, summary.Name, summary.ClusterType)
	}
	return err
}

// explain adds to an error what a person needs to find the cause: the messages on the hub and the log.
func (d *demo) explain(ctx context.Context, err error) error {
	if d.controller == nil || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	summaries, listErr := addons.Summaries(ctx, d.hub.Client, nil)
	lines := []string{}
	for _, summary := range summaries {
		lines = append(lines, "  "+summary.String())
	}
	if len(lines) == 0 {
		lines = append(lines, "  there is no ClusterSummary")
	}
	return errors.Join(fmt.Errorf("%w\n%s\n  log: %s", err, strings.Join(lines, "\n"), d.controller.LogFile), listErr)
}
