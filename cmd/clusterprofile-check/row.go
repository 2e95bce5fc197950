package main

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	libsveltosv1beta1 "github.com/projectsveltos/libsveltos/api/v1beta1"
	"github.com/projectsveltos/libsveltos/lib/clusterproxy"
	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// healthAbsent is the health of a profile without the condition ControlPlaneHealthy.
const healthAbsent = "absent"

// Row is what is known of one inventory ClusterProfile. Its JSON is the output of -o json.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// OK: nothing keeps Sveltos from delivering to the cluster, or Sveltos is not meant to.
	OK bool `json:"ok"`
	// Healthy is the status of the condition ControlPlaneHealthy (True, False, Unknown), or absent.
	Healthy string `json:"healthy"`
	// Latched: the cluster has matched before, so a loss of health withdraws nothing.
	Latched bool `json:"latched"`
	// Paused: nothing is delivered while the annotation is there.
	Paused bool `json:"paused"`
	// Shard is the value of the shard annotation, empty without it.
	Shard string `json:"shard,omitempty"`
	// Provider is the name of the access provider that was chosen, empty without one.
	Provider string `json:"provider,omitempty"`
	// Credential and Server are absent when it did not come to that.
	Credential *Credential `json:"credential,omitempty"`
	Server     *Server     `json:"server,omitempty"`
	// Profiles are the Sveltos profiles that select the cluster, as Kind/name or Kind/namespace/name.
	Profiles []string `json:"profiles"`
	// Problems are one line each, in the order in which they are met.
	Problems []string `json:"problems,omitempty"`
	// Notes are no problems, but explain why nothing may happen.
	Notes []string `json:"notes,omitempty"`

	leftAlone bool // Sveltos does not look at the cluster, for a reason in Problems or Notes
}

// Credential is what the plugin gave.
type Credential struct {
	OK bool `json:"ok"`
	// Expires is absent where the plugin did not say.
	Expires *time.Time `json:"expires,omitempty"`
	// Seconds that the plugin took.
	Seconds float64 `json:"seconds"`
}

// Server is what the API server said.
type Server struct {
	URL     string `json:"url"`
	Version string `json:"version,omitempty"`
	// RoundTripSeconds is the time of one request on an open connection.
	RoundTripSeconds float64 `json:"roundTripSeconds,omitempty"`
}

// newRow says what the hub alone knows.
func newRow(cp *inventoryv1alpha1.ClusterProfile, f *facts) Row {
	_, paused := cp.Annotations[clusterv1.PausedAnnotation]
	r := Row{
		Namespace: cp.Namespace,
		Name:      cp.Name,
		Healthy:   health(cp),
		Latched:   latched(cp),
		Paused:    paused,
		Shard:     cp.Annotations[libsveltosv1beta1.ShardAnnotation],
		Profiles:  []string{},
	}
	switch {
	case deleting(cp):
		r.leftAlone, r.Notes = true, append(r.Notes, "it is being deleted")
	case longName(cp):
		r.leftAlone, r.Problems = true, append(r.Problems, longNameProblem(cp))
	case f.bridged[client.ObjectKeyFromObject(cp)]:
		r.leftAlone, r.Notes = true, append(r.Notes, bridgedNote)
	default:
		r.Profiles = selecters(f.profiles, cp)
		if problem := healthProblem(cp); problem != "" {
			r.Problems = append(r.Problems, problem)
		}
		if paused {
			r.Notes = append(r.Notes, "the annotation "+clusterv1.PausedAnnotation+" pauses it")
		}
	}
	return r
}

func allOK(rows []Row) bool {
	for i := range rows {
		if !rows[i].OK {
			return false
		}
	}
	return true
}

func health(cp *inventoryv1alpha1.ClusterProfile) string {
	if c := healthCondition(cp); c != nil {
		return string(c.Status)
	}
	return healthAbsent
}

func healthCondition(cp *inventoryv1alpha1.ClusterProfile) *metav1.Condition {
	return meta.FindStatusCondition(cp.Status.Conditions, inventoryv1alpha1.ClusterConditionControlPlaneHealthy)
}

// healthProblem says what the health means for delivery, nothing when it is good.
func healthProblem(cp *inventoryv1alpha1.ClusterProfile) string {
	const condition = inventoryv1alpha1.ClusterConditionControlPlaneHealthy
	consequence := "it has never matched, and does not until the condition is True"
	if latched(cp) {
		consequence = "it stays matched, and delivery waits until the condition is True"
	}
	c := healthCondition(cp)
	switch {
	case c == nil:
		return fmt.Sprintf("its cluster manager writes no condition %s; %s", condition, consequence)
	case inventory.IsHealthy(cp):
		return ""
	}
	why := c.Reason
	if c.Message != "" {
		why += ": " + c.Message
	}
	return fmt.Sprintf("%s is %s (%s); %s", condition, c.Status, why, consequence)
}

// latched tells whether the object says that it has matched before.
func latched(cp *inventoryv1alpha1.ClusterProfile) bool {
	return cp.UID != "" && cp.Annotations[libsveltosv1beta1.InventoryMatchedAnnotation] == string(cp.UID)
}

func deleting(cp *inventoryv1alpha1.ClusterProfile) bool { return !cp.DeletionTimestamp.IsZero() }

func longName(cp *inventoryv1alpha1.ClusterProfile) bool {
	return len(cp.Name) > validation.LabelValueMaxLength
}

func longNameProblem(cp *inventoryv1alpha1.ClusterProfile) string {
	return fmt.Sprintf("its name has %d characters, and Sveltos labels objects with it, which takes %d at most; "+
		"have the cluster manager give a shorter one", len(cp.Name), validation.LabelValueMaxLength)
}

const bridgedNote = "the SveltosCluster of the same name carries the label " + clusterproxy.BridgeLabel +
	", so the bridge serves it"
