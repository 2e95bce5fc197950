package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// Names of steps that are spoken of in more than one place.
const (
	stepAccess      = "access"
	stepCredential  = "credential"
	stepConnection  = "connection"
	stepVersion     = "version"
	stepPermissions = "permissions"
)

// explainOne says, step by step, how far Sveltos gets with one cluster.
func (c *checker) explainOne(ctx context.Context) (bool, error) {
	e := &explanation{out: c.stdout, output: c.output}
	hubCtx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	cp := &inventoryv1alpha1.ClusterProfile{}
	err := c.hub.Get(hubCtx, c.explain, cp)
	switch {
	case meta.IsNoMatchError(err):
		return false, fmt.Errorf("the hub does not serve clusterprofiles.%s; install the CRD of the inventory",
			libsveltosv1beta1.InventoryGroupVersion.Group)
	case apierrors.IsNotFound(err):
		e.problem("found", "the hub has no ClusterProfile %s of multicluster.x-k8s.io; see whether its cluster manager writes one there", c.explain)
		return e.end()
	case err != nil:
		return false, fmt.Errorf("reading ClusterProfile %s of the hub: %w", c.explain, err)
	}
	f, warnings := readFacts(hubCtx, c.hub)
	e.ok("found", "UID %s, written by cluster manager %q", cp.UID, cp.Spec.ClusterManager.Name)
	for _, warning := range warnings {
		e.note("hub", "%s", warning)
	}
	if c.explainLeftAlone(cp, &f, e) {
		return e.end()
	}
	explainState(cp, e)
	c.explainReach(ctx, cp, e)
	explainProfiles(cp, &f, e)
	return e.end()
}

// explainLeftAlone tells whether Sveltos does not look at the cluster at all.
func (c *checker) explainLeftAlone(cp *inventoryv1alpha1.ClusterProfile, f *facts, e *explanation) bool {
	if deleting(cp) {
		e.note("deletion", "it is being deleted, so Sveltos withdraws what it delivered; finalizers: [%s]", strings.Join(cp.Finalizers, ", "))
		return true
	}
	e.ok("deletion", "it is not being deleted")
	if longName(cp) {
		e.problem("name", "%s", longNameProblem(cp))
		return true
	}
	e.ok("name", "%d characters, which fits into a label", len(cp.Name))
	if f.bridged[client.ObjectKeyFromObject(cp)] {
		e.note("bridge", "%s; delete that SveltosCluster and stop the bridge to have Sveltos serve the cluster directly", bridgedNote)
		return true
	}
	e.ok("bridge", "no SveltosCluster of the bridge stands for it")
	return false
}

// explainState is about what the object says of itself.
func explainState(cp *inventoryv1alpha1.ClusterProfile, e *explanation) {
	if problem := healthProblem(cp); problem != "" {
		e.problem("health", "%s", problem)
	} else {
		e.ok("health", "ControlPlaneHealthy is True since %s", healthCondition(cp).LastTransitionTime.UTC().Format(time.RFC3339))
	}
	value, annotated := cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation]
	switch {
	case latched(cp):
		e.ok("latch", "it has matched before, so a loss of health withdraws nothing")
	case annotated:
		e.note("latch", "the annotation %s holds %q, the UID of an earlier object of this name; this one has not matched yet",
			libsveltosv1beta1.InventoryMatchedAnnotation, short(value))
	default:
		e.note("latch", "it has not matched yet (no annotation %s)", libsveltosv1beta1.InventoryMatchedAnnotation)
	}
	if _, paused := cp.Annotations[clusterv1.PausedAnnotation]; paused {
		e.note("pause", "the annotation %s pauses it: nothing is delivered until it is removed", clusterv1.PausedAnnotation)
	} else {
		e.ok("pause", "it is not paused")
	}
	if shard, sharded := cp.Annotations[libsveltosv1beta1.ShardAnnotation]; sharded {
		e.note("shard", "only controllers with --shard-key=%s serve it", short(shard))
	} else {
		e.ok("shard", "no shard annotation: the controllers without a shard key serve it")
	}
}

// explainReach takes the way that a controller takes.
func (c *checker) explainReach(ctx context.Context, cp *inventoryv1alpha1.ClusterProfile, e *explanation) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	access, err := c.backend.Resolve(cp)
	if err != nil {
		e.problem(stepAccess, "%s", c.line(cp, err))
		e.skip(stepCredential, stepConnection, stepVersion, stepPermissions)
		return
	}
	e.ok(stepAccess, "%s", describeAccess(access))
	begin := time.Now()
	cfg, err := c.backend.RestConfig(ctx, cp)
	if err != nil {
		e.problem(stepCredential, "after %s: %s", seconds(time.Since(begin).Seconds()), c.line(cp, err))
		e.skip(stepConnection, stepVersion, stepPermissions)
		return
	}
	end := "it does not say when it ends"
	if expires := c.backend.CredentialExpiry(cp); !expires.IsZero() {
		end = fmt.Sprintf("it ends at %s, in %s", expires.UTC().Format(time.RFC3339), remaining(time.Until(expires)))
	}
	e.ok(stepCredential, "%s gave one in %s; %s", access.Exec.Command, seconds(time.Since(begin).Seconds()), end)
	c.explainServer(ctx, cp, cfg, e)
}

// explainServer asks the API server.
func (c *checker) explainServer(ctx context.Context, cp *inventoryv1alpha1.ClusterProfile, cfg *rest.Config, e *explanation) {
	s, err := connect(cfg)
	if err == nil {
		_, took, asked := s.version(ctx)
		if err = asked; err == nil {
			e.ok(stepConnection, "TLS and a first request in %s", seconds(took.Seconds()))
		}
	}
	if err != nil {
		e.problem(stepConnection, "%s", c.line(cp, err))
		e.skip(stepVersion, stepPermissions)
		return
	}
	version, trip, err := s.version(ctx)
	if err != nil {
		e.problem(stepVersion, "%s", c.line(cp, err))
	} else {
		e.ok(stepVersion, "%s, round trip %s", version, seconds(trip.Seconds()))
	}
	user, err := s.whoAmI(ctx)
	if err != nil {
		e.note(stepPermissions, "they cannot be asked for: %s", c.line(cp, err))
		return
	}
	denied, err := s.denied(ctx)
	switch {
	case err != nil:
		e.note(stepPermissions, "%q; they cannot be asked for: %s", user, c.line(cp, err))
	case len(denied) > 0:
		e.note(stepPermissions, "%q may not %s; bind a role that allows what your add-ons hold", user, strings.Join(denied, ", "))
	default:
		e.ok(stepPermissions, "%q may do what add-ons usually do", user)
	}
}

func explainProfiles(cp *inventoryv1alpha1.ClusterProfile, f *facts, e *explanation) {
	names := selecters(f.profiles, cp)
	if len(names) == 0 {
		e.note("profiles", "none of the %d Sveltos profiles selects it; its labels are [%s]", len(f.profiles), labelText(cp.Labels))
		return
	}
	e.ok("profiles", "%s", strings.Join(names, ", "))
}

// describeAccess says how the cluster is reached, without passwords that a proxy-url may hold.
func describeAccess(a inventory.Access) string {
	text := fmt.Sprintf("provider %q, server %s", a.Provider, a.Server)
	if proxy, err := url.Parse(a.ProxyURL); err == nil && a.ProxyURL != "" {
		text += ", proxy " + proxy.Redacted()
	}
	if a.TLSServerName != "" {
		text += ", certificate of " + a.TLSServerName
	}
	switch {
	case a.InsecureSkipTLSVerify:
		return text + ", its certificate is not checked"
	case a.CAData == "":
		return text + ", its certificate is checked with the system's roots"
	}
	return text + ", its certificate is checked with the CA given"
}
