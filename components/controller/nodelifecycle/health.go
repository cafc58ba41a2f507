package nodelifecycle

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The clocks of the controller (k/k cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go).
const (
	// MonitorPeriod is the wait between two looks at all nodes.
	MonitorPeriod = 5 * time.Second
	// GracePeriod is how long a node that has posted status before may be silent.
	GracePeriod = 50 * time.Second
	// StartupGracePeriod is the same for a node whose kubelet never posted status.
	StartupGracePeriod = 60 * time.Second
)

// The words of conditions that this controller writes.
const (
	reasonStopped  = "NodeStatusUnknown"
	messageStopped = "Kubelet stopped posting node status."
	reasonNever    = "NodeStatusNeverUpdated"
	messageNever   = "Kubelet never posted node status."
)

// watched are the conditions that go Unknown with a silent kubelet. NetworkUnavailable is not among them: the control plane manages it.
var watched = []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

// health is what the controller remembers of a node: the last signs of life and when, by its own clock, it saw them change. Timestamps that kubelets write are
// compared with each other only, so a node's wrong clock does no harm.
type health struct {
	posted    bool        // a Ready condition was there
	heartbeat metav1.Time // of that condition
	renewed   *metav1.MicroTime
	// heard is when the controller last saw a sign of life change.
	heard time.Time
	// ready is the Ready condition as of the last pass; empty before the first and for nodes that have none.
	ready corev1.ConditionStatus
}

// observe takes in the present node and lease and reports whether the node has been silent for longer than its grace.
func (h *health) observe(node *corev1.Node, lease *coordinationv1.Lease, now time.Time, first bool) (silent bool) {
	ready := condition(node, corev1.NodeReady)
	grace := GracePeriod
	switch {
	case ready == nil:
		grace = StartupGracePeriod
		if first {
			h.heard = node.CreationTimestamp.Time
		} else if h.posted { // somebody took the condition away
			h.heard = now
		}
		h.posted = false
	case first || !h.posted || !h.heartbeat.Equal(&ready.LastHeartbeatTime):
		h.heard, h.posted, h.heartbeat = now, true, ready.LastHeartbeatTime
	}
	if lease != nil && lease.Spec.RenewTime != nil && (h.renewed == nil || h.renewed.Before(lease.Spec.RenewTime)) {
		h.heard, h.renewed = now, lease.Spec.RenewTime
	}
	return now.After(h.heard.Add(grace))
}

// condemned is a copy of node with the watched conditions Unknown; conditions that are Unknown already stay as they are.
func condemned(node *corev1.Node, now time.Time) *corev1.Node {
	n := node.DeepCopy()
	at := metav1.NewTime(now)
	stamp := at.Rfc3339Copy()
	for _, t := range watched {
		c := condition(n, t)
		switch {
		case c == nil:
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: t, Status: corev1.ConditionUnknown, Reason: reasonNever, Message: messageNever,
				LastHeartbeatTime: node.CreationTimestamp, LastTransitionTime: stamp})
		case c.Status != corev1.ConditionUnknown:
			c.Status, c.Reason, c.Message, c.LastTransitionTime = corev1.ConditionUnknown, reasonStopped, messageStopped, stamp
		}
	}
	return n
}

// condition finds a condition of node; nil when there is none.
func condition(node *corev1.Node, t corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == t {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

// readiness is the status of the Ready condition; empty when there is none.
func readiness(node *corev1.Node) corev1.ConditionStatus {
	if c := condition(node, corev1.NodeReady); c != nil {
		return c.Status
	}
	return ""
}
