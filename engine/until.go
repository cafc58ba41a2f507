package engine

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
)

// reasons of Event objects that the cluster's components give. Source: the recorders in kubernetes/kubernetes, as far as components here use them.
var reasons = []string{"BackOff", "Created", "Evicted", "Failed", "FailedCreate", "FailedDelete", "FailedScheduling", "Killing", "LeaderElection", "NodeAllocatableEnforced",
	"NodeHasNoDiskPressure", "NodeHasSufficientMemory", "NodeHasSufficientPID", "NodeNotReady", "NodeNotSchedulable", "NodeReady", "NodeSchedulable", "OutOfcpu", "OutOfmemory", "OutOfpods",
	"Preempted", "Pulled", "Pulling", "Rebooted", "RegisteredNode", "RemovingNode", "SandboxChanged", "ScalingReplicaSet", "Scheduled", "Started", "Starting", "SuccessfulCreate",
	"SuccessfulDelete", "TaintManagerEviction", "Unhealthy"}

// canComeTrue reports whether anything could ever match: waiting for a typing error would be waiting for ever.
func canComeTrue(what string) error {
	same := func(s string) bool { return strings.EqualFold(s, what) }
	if same("anomaly") || same("quiet") || slices.ContainsFunc(reasons, same) || slices.ContainsFunc(journal.FactNames(), same) {
		return nil
	}
	return fmt.Errorf("nothing is called %q; wait for quiet, anomaly, a fact (%s …) or the reason of an Event (%s …)", what, "NodeJudged, RaftRole, ContainerChanged", "Scheduled, NodeNotReady, Killing")
}

// matches reports whether a record is what "until WHAT" waits for: a fact of that name, an Event object with that reason, or, for "anomaly", a fact that tells of something
// that is not as it should be. Case does not matter.
func matches(r event.Record, what string) bool {
	if strings.EqualFold(what, "anomaly") {
		return event.Alarms(r.Event)
	}
	if strings.EqualFold(r.Event.Name(), what) {
		return true
	}
	if c, ok := r.Event.(event.ObjectChanged); ok && c.Type != event.Deleted {
		if ev, ok := c.Object.(*corev1.Event); ok {
			return strings.EqualFold(ev.Reason, what)
		}
	}
	return false
}
