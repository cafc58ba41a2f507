package engine

import (
	"fmt"
	"slices"
	"strings"

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
	if same(event.Anomaly) || same(event.Quiet) || slices.ContainsFunc(reasons, same) || slices.ContainsFunc(journal.FactNames(), same) {
		return nil
	}
	return fmt.Errorf("nothing is called %q; wait for quiet, anomaly, a fact (%s …) or the reason of an Event (%s …)", what, "NodeJudged, RaftRole, ContainerChanged", "Scheduled, NodeNotReady, Killing")
}
