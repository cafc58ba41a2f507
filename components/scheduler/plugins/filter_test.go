package plugins

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/internal/fixture"
)

// cluster makes the picture of some nodes and the pods on them.
func cluster(nodes, pods []string) *framework.Cluster {
	c := framework.NewCluster()
	for _, n := range nodes {
		c.SetNode(fixture.Node(n))
	}
	for _, p := range pods {
		c.SetPod(fixture.Pod(p))
	}
	return c
}

// verdict asks one plugin about the node w1: "" when it passes.
func verdict(pl framework.FilterPlugin, pod *corev1.Pod, c *framework.Cluster) (reasons string, forGood bool) {
	res := pl.PreFilter(framework.NewPodInfo(pod), c)
	if res.Refused != nil {
		return strings.Join(res.Refused.Reasons, ", "), true
	}
	n, _ := c.Node("w1")
	if res.Filter == nil {
		return "", false
	}
	st := res.Filter.Filter(n)
	if st == nil {
		return "", false
	}
	return strings.Join(st.Reasons, ", "), st.Code == framework.UnschedulableAndUnresolvable
}

func TestFilters(t *testing.T) {
	const (
		cordonedText = "node(s) were unschedulable"
		taintedText  = "node(s) had untolerated taint(s)"
		affinityText = "node(s) didn't match Pod's node affinity/selector"
		portsText    = "node(s) didn't have free ports for the requested pod ports"
		skewText     = "node(s) didn't match pod topology spread constraints"
	)
	for _, c := range []struct {
		what    string
		plugin  framework.FilterPlugin
		pod     string
		node    string // w1
		others  []string
		placed  []string
		reasons string
		forGood bool
	}{
		{"a cordoned node is refused for good", NodeUnschedulable{}, "p:", "w1: cordoned", nil, nil, cordonedText, true},
		{"a pod may tolerate cordons", NodeUnschedulable{}, "p: tolerates node.kubernetes.io/unschedulable", "w1: cordoned", nil, nil, "", false},
		{"a node that is not cordoned passes", NodeUnschedulable{}, "p:", "w1:", nil, nil, "", false},
		{"a pod that names another node is refused", NodeName{}, "p: on w2", "w1:", nil, nil, "node(s) didn't match the requested node name", true},
		{"a pod that names this node passes", NodeName{}, "p: on w1", "w1:", nil, nil, "", false},
		{"a NoSchedule taint refuses", TaintToleration{}, "p:", "w1: taint a=b:NoSchedule", nil, nil, taintedText, true},
		{"a NoExecute taint refuses", TaintToleration{}, "p:", "w1: taint a=b:NoExecute", nil, nil, taintedText, true},
		{"a PreferNoSchedule taint does not", TaintToleration{}, "p:", "w1: taint a=b:PreferNoSchedule", nil, nil, "", false},
		{"a toleration lets the pod in", TaintToleration{}, "p: tolerates a", "w1: taint a=b:NoSchedule", nil, nil, "", false},
		{"one of two taints tolerated is not enough", TaintToleration{}, "p: tolerates a", "w1: taint a=b:NoSchedule, taint c=d:NoSchedule", nil, nil, taintedText, true},
		{"a node selector that the node lacks refuses", NodeAffinity{}, "p: selector disk=ssd", "w1:", nil, nil, affinityText, true},
		{"a node selector that the node has passes", NodeAffinity{}, "p: selector disk=ssd", "w1: label disk=ssd", nil, nil, "", false},
		{"a required node by name passes it", NodeAffinity{}, "p: node w1", "w1:", nil, nil, "", false},
		{"a required node by name refuses others", NodeAffinity{}, "p: node w2", "w1:", nil, nil, affinityText, true},
		{"a host port in use refuses, but not for good", NodePorts{}, "p: port 80", "w1:", nil, []string{"q: port 80, on w1"}, portsText, false},
		{"another host port passes", NodePorts{}, "p: port 80", "w1:", nil, []string{"q: port 81, on w1"}, "", false},
		{"the same host port on another node passes", NodePorts{}, "p: port 80", "w1:", []string{"w2:"}, []string{"q: port 80, on w2"}, "", false},
		{"what is just left fits", NodeResourcesFit{}, "p: cpu 3", "w1:", nil, []string{"q: cpu 1, on w1"}, "", false},
		{"a milli-cpu more does not", NodeResourcesFit{}, "p: cpu 3001m", "w1:", nil, []string{"q: cpu 1, on w1"}, "Insufficient cpu", false},
		{"more than the node has is refused for good", NodeResourcesFit{}, "p: cpu 4001m", "w1:", nil, nil, "Insufficient cpu", true},
		{"everything that is lacking is named", NodeResourcesFit{}, "p: cpu 2, memory 6Gi, ephemeral-storage 1Gi, example.com/gpu 1", "w1: pods 1", nil,
			[]string{"q: cpu 3, memory 3Gi, on w1"}, "Too many pods, Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage, Insufficient example.com/gpu", true},
		{"a full node lacks room for a pod that asks for nothing", NodeResourcesFit{}, "p:", "w1: pods 1", nil, []string{"q: on w1"}, "Too many pods", false},
		{"a pod that asks for nothing fits on an overcommitted node", NodeResourcesFit{}, "p:", "w1:", nil, []string{"q: cpu 9, on w1"}, "", false},
		{"an even spread lets a pod in", PodTopologySpread{}, "p: label app=a, spread zone", "w1: zone a", []string{"w2: zone b"},
			[]string{"q: label app=a, on w1", "r: label app=a, on w2"}, "", false},
		{"a zone ahead by one refuses, but not for good", PodTopologySpread{}, "p: label app=a, spread zone", "w1: zone a", []string{"w2: zone b"},
			[]string{"q: label app=a, on w1"}, skewText, false},
		{"terminating pods do not count", PodTopologySpread{}, "p: label app=a, spread zone", "w1: zone a", []string{"w2: zone b"},
			[]string{"q: label app=a, on w1, deleting"}, "", false},
		{"pods of other namespaces do not count", PodTopologySpread{}, "p: label app=a, spread zone", "w1: zone a", []string{"w2: zone b"},
			[]string{"q: label app=a, on w1, namespace n"}, "", false},
		{"nodes outside the node selector do not count", PodTopologySpread{}, "p: label app=a, spread zone, selector disk=ssd", "w1: zone a, label disk=ssd",
			[]string{"w2: zone b"}, []string{"q: label app=a, on w1"}, "", false},
		{"a node without the label is refused for good", PodTopologySpread{}, "p: label app=a, spread zone", "w1:", nil, nil,
			skewText + " (missing required label)", true},
		{"a pod to be near to is in the zone", InterPodAffinity{}, "p: near zone app=db", "w1: zone a", []string{"w2: zone a"}, []string{"q: label app=db, on w2"}, "", false},
		{"a pod to be near to is elsewhere", InterPodAffinity{}, "p: near zone app=db", "w1: zone a", []string{"w2: zone b"}, []string{"q: label app=db, on w2"},
			"node(s) didn't match pod affinity rules", true},
		{"the first of a group that keeps together goes anywhere", InterPodAffinity{}, "p: label app=db, near zone app=db", "w1: zone a", nil, nil, "", false},
		{"but not to a node without the label", InterPodAffinity{}, "p: label app=db, near zone app=db", "w1:", nil, nil, "node(s) didn't match pod affinity rules", true},
		{"a pod to be away from is here", InterPodAffinity{}, "p: away host app=db", "w1:", nil, []string{"q: label app=db, on w1"},
			"node(s) didn't match pod anti-affinity rules", false},
		{"a pod to be away from is of another namespace", InterPodAffinity{}, "p: away host app=db", "w1:", nil, []string{"q: label app=db, on w1, namespace n"}, "", false},
		{"a pod here does not want this one", InterPodAffinity{}, "p: label app=db", "w1:", nil, []string{"q: away host app=db, on w1"},
			"node(s) didn't satisfy existing pods anti-affinity rules", false},
		{"a pod elsewhere does not want this one", InterPodAffinity{}, "p: label app=db", "w1:", []string{"w2:"}, []string{"q: away host app=db, on w2"}, "", false},
	} {
		got, forGood := verdict(c.plugin, fixture.Pod(c.pod), cluster(append([]string{c.node}, c.others...), c.placed))
		if got != c.reasons || forGood != c.forGood {
			t.Errorf("%s: got %q (for good: %v), want %q (%v)", c.what, got, forGood, c.reasons, c.forGood)
		}
	}
}

func TestAbsurdQuantitiesFitNowhere(t *testing.T) {
	for _, q := range []string{"1e19", "9999999999999999999999Ei", "9223372036854775807", "1e300"} {
		pod := fixture.Pod("p:")
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(q)
		if got, forGood := verdict(NodeResourcesFit{}, pod, cluster([]string{"w1: cpu 1000000"}, nil)); got != "Insufficient cpu" || !forGood {
			t.Errorf("cpu %s: got %q", q, got)
		}
		pod = fixture.Pod("p:")
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse(q)
		c := framework.NewCluster()
		n := fixture.Node("w1:")
		n.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse(q)
		c.SetNode(n)
		if got, _ := verdict(NodeResourcesFit{}, pod, c); got != "Insufficient memory" {
			t.Errorf("memory %s on a node of the same: got %q", q, got)
		}
	}
}

func TestWhatWakesAPod(t *testing.T) {
	labelled := func(s string) *framework.Change {
		return &framework.Change{Kind: framework.NodeLabels, OldNode: fixture.Node("w1:"), NewNode: fixture.Node(s)}
	}
	for _, c := range []struct {
		what   string
		plugin framework.Waker
		pod    string
		change *framework.Change
		want   bool
	}{
		{"the label it selects by wakes it", NodeAffinity{}, "p: selector disk=ssd", labelled("w1: label disk=ssd"), true},
		{"another label does not", NodeAffinity{}, "p: selector disk=ssd", labelled("w1: label disk=hdd"), false},
		{"a label does not help where resources lack", NodeResourcesFit{}, "p: cpu 3", labelled("w1: label disk=ssd"), false},
		{"a pod that left helps where resources lack", NodeResourcesFit{}, "p: cpu 3",
			&framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q: on w1")}, true},
		{"a new node that is large enough helps", NodeResourcesFit{}, "p: cpu 3",
			&framework.Change{Kind: framework.NodeAdded, NewNode: fixture.Node("w2:")}, true},
		{"a new node that is too small does not", NodeResourcesFit{}, "p: cpu 5",
			&framework.Change{Kind: framework.NodeAdded, NewNode: fixture.Node("w2:")}, false},
		{"a node that grew in what the pod wants helps", NodeResourcesFit{}, "p: cpu 5",
			&framework.Change{Kind: framework.NodeAllocatable, OldNode: fixture.Node("w1:"), NewNode: fixture.Node("w1: cpu 8")}, true},
		{"a node that grew in something else does not", NodeResourcesFit{}, "p: cpu 3",
			&framework.Change{Kind: framework.NodeAllocatable, OldNode: fixture.Node("w1:"), NewNode: fixture.Node("w1: memory 16Gi")}, false},
		{"a taint that goes wakes it", TaintToleration{}, "p:",
			&framework.Change{Kind: framework.NodeTaints, OldNode: fixture.Node("w1: taint a=b:NoSchedule"), NewNode: fixture.Node("w1:")}, true},
		{"a taint that comes does not", TaintToleration{}, "p:",
			&framework.Change{Kind: framework.NodeTaints, OldNode: fixture.Node("w1:"), NewNode: fixture.Node("w1: taint a=b:NoSchedule")}, false},
		{"one of two taints going does not", TaintToleration{}, "p:", &framework.Change{Kind: framework.NodeTaints,
			OldNode: fixture.Node("w1: taint a=b:NoSchedule, taint c=d:NoSchedule"), NewNode: fixture.Node("w1: taint c=d:NoSchedule")}, false},
		{"uncordoning wakes it", NodeUnschedulable{}, "p:",
			&framework.Change{Kind: framework.NodeTaints, OldNode: fixture.Node("w1: cordoned"), NewNode: fixture.Node("w1:")}, true},
		{"cordoning does not", NodeUnschedulable{}, "p:",
			&framework.Change{Kind: framework.NodeTaints, OldNode: fixture.Node("w1:"), NewNode: fixture.Node("w1: cordoned")}, false},
		{"its port becoming free wakes it", NodePorts{}, "p: port 80", &framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q: port 80")}, true},
		{"another port becoming free does not", NodePorts{}, "p: port 80", &framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q: port 81")}, false},
		{"a matching pod elsewhere evens the spread", PodTopologySpread{}, "p: label app=a, spread zone",
			&framework.Change{Kind: framework.PodPlaced, NewPod: fixture.Pod("q: label app=a")}, true},
		{"a pod that does not match does not", PodTopologySpread{}, "p: label app=a, spread zone",
			&framework.Change{Kind: framework.PodPlaced, NewPod: fixture.Pod("q: label app=b")}, false},
		{"a pod to be near to came", InterPodAffinity{}, "p: near zone app=db", &framework.Change{Kind: framework.PodPlaced, NewPod: fixture.Pod("q: label app=db")}, true},
		{"some other pod came", InterPodAffinity{}, "p: near zone app=db", &framework.Change{Kind: framework.PodPlaced, NewPod: fixture.Pod("q: label app=web")}, false},
		{"a pod to be away from went", InterPodAffinity{}, "p: away host app=db", &framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q: label app=db")}, true},
		{"a pod that did not want it went", InterPodAffinity{}, "p: label app=db", &framework.Change{Kind: framework.PodGone, OldPod: fixture.Pod("q: away host app=db")}, true},
	} {
		if got := c.plugin.Wakes(c.change, framework.NewPodInfo(fixture.Pod(c.pod))); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
