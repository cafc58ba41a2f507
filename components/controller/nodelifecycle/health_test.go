package nodelifecycle

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nodeWith(created time.Duration, conditions ...corev1.NodeCondition) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w1", CreationTimestamp: metav1.NewTime(t0.Add(created))}}
	n.Status.Conditions = conditions
	return n
}

func readyAt(heartbeat time.Duration, s corev1.ConditionStatus) corev1.NodeCondition {
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: s, LastHeartbeatTime: metav1.NewTime(t0.Add(heartbeat))}
}

func leaseAt(renewed time.Duration) *coordinationv1.Lease {
	at := metav1.NewMicroTime(t0.Add(renewed))
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &at}}
}

func TestSilenceIsMeasuredFromWhenTheControllerSawTheLastChange(t *testing.T) {
	const s = time.Second
	year := 365 * 24 * time.Hour
	type sight struct {
		at     time.Duration
		node   *corev1.Node
		lease  *coordinationv1.Lease
		silent bool
	}
	for name, sights := range map[string][]sight{
		"a renewed lease keeps a node alive though its status is old": {
			{0, nodeWith(-year, readyAt(0, "True")), leaseAt(0), false},
			{45 * s, nodeWith(-year, readyAt(0, "True")), leaseAt(40 * s), false},
			{95 * s, nodeWith(-year, readyAt(0, "True")), leaseAt(40 * s), false},
			{96 * s, nodeWith(-year, readyAt(0, "True")), leaseAt(40 * s), true}},
		"a posted status counts as much as a lease": {
			{0, nodeWith(-year, readyAt(0, "True")), nil, false},
			{50 * s, nodeWith(-year, readyAt(49*s, "True")), nil, false},
			{100 * s, nodeWith(-year, readyAt(49*s, "True")), nil, false},
			{105 * s, nodeWith(-year, readyAt(49*s, "True")), nil, true}},
		"a node whose clock is an hour slow is not silent": {
			{0, nodeWith(-year, readyAt(-3600*s, "True")), leaseAt(-3600 * s), false},
			{50 * s, nodeWith(-year, readyAt(-3600*s, "True")), leaseAt(-3555 * s), false},
			{60 * s, nodeWith(-year, readyAt(-3600*s, "True")), leaseAt(-3555 * s), false}},
		"a new leader gives a fresh grace period to a node that has long been silent": {
			{0, nodeWith(-year, readyAt(-3000*s, "True")), leaseAt(-3000 * s), false},
			{50 * s, nodeWith(-year, readyAt(-3000*s, "True")), leaseAt(-3000 * s), false},
			{51 * s, nodeWith(-year, readyAt(-3000*s, "True")), leaseAt(-3000 * s), true}},
		"a node that never posted has sixty seconds from its creation": {
			{5 * s, nodeWith(0), nil, false},
			{60 * s, nodeWith(0), nil, false},
			{61 * s, nodeWith(0), nil, true}},
		"a node that never posted but renews its lease is left alone": {
			{5 * s, nodeWith(0), leaseAt(0), false},
			{61 * s, nodeWith(0), leaseAt(55 * s), false}},
		"a first status starts the grace of fifty seconds": {
			{55 * s, nodeWith(0), nil, false},
			{60 * s, nodeWith(0, readyAt(58*s, "True")), nil, false},
			{110 * s, nodeWith(0, readyAt(58*s, "True")), nil, false},
			{111 * s, nodeWith(0, readyAt(58*s, "True")), nil, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var h health
			for i, x := range sights {
				if got := h.observe(x.node, x.lease, t0.Add(x.at), i == 0); got != x.silent {
					t.Errorf("at %v silent is %v, want %v", x.at, got, x.silent)
				}
			}
		})
	}
}

func TestCondemnedConditions(t *testing.T) {
	network := corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: "False", Reason: "RouteCreated"}
	disk := corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: "Unknown", Reason: "kept", Message: "kept"}
	node := nodeWith(0, readyAt(0, "True"), disk, network)
	got := condemned(node, t0.Add(time.Minute))
	want := map[corev1.NodeConditionType][3]string{
		corev1.NodeReady:              {"Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."},
		corev1.NodeMemoryPressure:     {"Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status."},
		corev1.NodePIDPressure:        {"Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status."},
		corev1.NodeDiskPressure:       {"Unknown", "kept", "kept"},
		corev1.NodeNetworkUnavailable: {"False", "RouteCreated", ""},
	}
	if len(got.Status.Conditions) != len(want) {
		t.Fatalf("%d conditions", len(got.Status.Conditions))
	}
	for _, c := range got.Status.Conditions {
		if is := [3]string{string(c.Status), c.Reason, c.Message}; is != want[c.Type] {
			t.Errorf("%s is %q, want %q", c.Type, is, want[c.Type])
		}
	}
	if node.Status.Conditions[0].Status != "True" {
		t.Error("the shared node was changed")
	}
}

func TestSchedulingTaintsMirrorConditions(t *testing.T) {
	with := func(unschedulable bool, taints []corev1.Taint, cs ...corev1.NodeCondition) *corev1.Node {
		n := nodeWith(0, cs...)
		n.Spec.Unschedulable, n.Spec.Taints = unschedulable, taints
		return n
	}
	is := func(t corev1.NodeConditionType, s corev1.ConditionStatus) corev1.NodeCondition {
		return corev1.NodeCondition{Type: t, Status: s}
	}
	taint := func(key string) corev1.Taint {
		return corev1.Taint{Key: "node.kubernetes.io/" + key, Effect: "NoSchedule"}
	}
	for name, c := range map[string]struct {
		node *corev1.Node
		want string
	}{
		"a silent node":                             {with(false, nil, is("Ready", "Unknown"), is("MemoryPressure", "Unknown")), "taint node.kubernetes.io/unreachable:NoSchedule"},
		"a kubelet not ready":                       {with(false, nil, is("Ready", "False")), "taint node.kubernetes.io/not-ready:NoSchedule"},
		"full disk and network":                     {with(false, nil, is("Ready", "True"), is("DiskPressure", "True"), is("NetworkUnavailable", "True")), "taint node.kubernetes.io/disk-pressure:NoSchedule, node.kubernetes.io/network-unavailable:NoSchedule"},
		"cordoned":                                  {with(true, nil, is("Ready", "True")), "taint node.kubernetes.io/unschedulable:NoSchedule"},
		"ready again":                               {with(false, []corev1.Taint{taint("unreachable")}, is("Ready", "True")), "untaint node.kubernetes.io/unreachable:NoSchedule"},
		"from silent to unready":                    {with(false, []corev1.Taint{taint("unreachable")}, is("Ready", "False")), "taint node.kubernetes.io/not-ready:NoSchedule; untaint node.kubernetes.io/unreachable:NoSchedule"},
		"other people's taints":                     {with(false, []corev1.Taint{{Key: "dedicated", Effect: "NoSchedule"}, unreachable}, is("Ready", "True")), ""},
		"registered but never posted keeps nothing": {with(false, []corev1.Taint{taint("not-ready")}), "untaint node.kubernetes.io/not-ready:NoSchedule"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(scheduling(c.node)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
