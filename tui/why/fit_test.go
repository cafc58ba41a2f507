package why

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/fixture"
)

// draw makes a small cluster at random: nodes with taints, labels and cordons, pods on them, and one pod that wants a place.
func draw(rng *rand.Rand) (nodes []*corev1.Node, pods []*corev1.Pod, want *corev1.Pod) {
	some := func(n int) bool { return rng.IntN(n) == 0 }
	for i := range 2 + rng.IntN(5) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": fmt.Sprint(rng.IntN(2))}}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(1+rng.IntN(4)), resource.DecimalSI),
			corev1.ResourceMemory: resource.MustParse(fmt.Sprint(1+rng.IntN(8), "Gi")), corev1.ResourcePods: *resource.NewQuantity(int64(1+rng.IntN(5)), resource.DecimalSI)}
		if n.Spec.Unschedulable = some(4); n.Spec.Unschedulable && some(2) { // the controller sets the taint of a cordon soon after
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		if some(3) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: []string{"a", corev1.TaintNodeUnreachable, "b"}[rng.IntN(3)], Effect: corev1.TaintEffectNoSchedule})
		}
		if some(3) {
			n.Labels["disk"] = "ssd"
		}
		nodes = append(nodes, n)
		for j := range rng.IntN(4) {
			p := pod(fmt.Sprint("p", i, "-", j), n.Name, asks(fmt.Sprint(rng.IntN(900), "m"), fmt.Sprint(rng.IntN(900), "Mi")))
			if some(6) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
			}
			pods = append(pods, p)
		}
	}
	want = pod("want", "", asks(fmt.Sprint(rng.IntN(6000), "m"), fmt.Sprint(rng.IntN(9000), "Mi")))
	if some(3) {
		want.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if some(4) {
		want.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
	}
	if some(4) {
		want.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
	}
	return nodes, pods, want
}

func build(nodes []*corev1.Node, pods []*corev1.Pod, want *corev1.Pod) *world.World {
	w := &world.World{}
	add := func(o kinds.Object) {
		w.Apply(event.Record{Seq: w.Seq + 1, At: time.Unix(0, 0), Event: event.ObjectChanged{Type: event.Added, Revision: 1, Object: o}})
	}
	for _, n := range nodes {
		add(n)
	}
	for _, p := range pods {
		add(p)
	}
	add(want)
	return w
}

func fitsSomewhere(w *world.World, want *corev1.Pod) (string, bool) {
	p, _ := w.Pods.Get("default/" + want.Name)
	s := look(w, p)
	if len(s.free) == 0 {
		return "", false
	}
	return s.free[0], true
}

// The law of a change: done to the objects themselves, the pod fits, on the node that was named.
func TestEveryChangeThatIsOfferedLetsThePodFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	offered, none := 0, 0
	for range 1000 {
		nodes, pods, want := draw(rng)
		w := build(nodes, pods, want)
		if _, ok := fitsSomewhere(w, want); ok {
			continue
		}
		p, _ := w.Pods.Get("default/want")
		edits := look(w, p).edits(w)
		if len(edits) == 0 {
			none++
		}
		for _, e := range edits {
			offered++
			nodes2, pods2, want2 := carryOut(e, nodes, pods, want)
			w2 := build(nodes2, pods2, want2)
			n, _ := w2.Nodes.Get(e.node)
			need := needOf(want2)
			if l := need.check(w2, n, edit{}); l.kinds() != 0 {
				t.Fatalf("%+v was offered, and then it lacks %+v", e, l)
			}
		}
	}
	if offered < 300 || none > offered/4 {
		t.Errorf("only %d changes were offered, and %d times none", offered, none)
	}
}

// carryOut does what an edit says to copies of the objects.
func carryOut(e edit, nodes []*corev1.Node, pods []*corev1.Pod, want *corev1.Pod) ([]*corev1.Node, []*corev1.Pod, *corev1.Pod) {
	want = want.DeepCopy()
	requests := want.Spec.Containers[0].Resources.Requests
	if e.cpu != nil {
		requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(*e.cpu, resource.DecimalSI)
	}
	if e.memory != nil {
		requests[corev1.ResourceMemory] = *resource.NewQuantity(*e.memory, resource.BinarySI)
	}
	for _, t := range e.tolerate {
		want.Spec.Tolerations = append(want.Spec.Tolerations, corev1.Toleration{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	var ns []*corev1.Node
	for _, n := range nodes {
		if n.Name == e.node {
			n = n.DeepCopy()
			n.Spec.Unschedulable = n.Spec.Unschedulable && !e.uncordon
			var left []corev1.Taint
			for _, t := range n.Spec.Taints {
				if !has(e.heal, &t) && !(e.uncordon && t.Key == corev1.TaintNodeUnschedulable) {
					left = append(left, t)
				}
			}
			n.Spec.Taints = left
			for k, v := range e.label {
				n.Labels[k] = v
			}
		}
		ns = append(ns, n)
	}
	var ps []*corev1.Pod
	for _, p := range pods {
		gone := false
		for _, r := range e.remove {
			gone = gone || r.Object.Name == p.Name
		}
		if !gone {
			ps = append(ps, p)
		}
	}
	return ns, ps, want
}

func TestTheLeastThatMustChangeIsOfferedFirst(t *testing.T) {
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("10")}
	node := func(name string, change func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		n.Status.Allocatable = room
		if change != nil {
			change(n)
		}
		return n
	}
	for _, c := range []struct {
		name  string
		nodes []*corev1.Node
		pods  []*corev1.Pod
		want  *corev1.Pod
		first edit
	}{
		{"a cordon", []*corev1.Node{node("a", func(n *corev1.Node) { n.Spec.Unschedulable = true })}, nil, pod("want", ""), edit{node: "a", uncordon: true}},
		{"a cordoned node of which the taint speaks too", []*corev1.Node{node("a", func(n *corev1.Node) {
			n.Spec.Unschedulable, n.Spec.Taints = true, []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		})}, nil, pod("want", ""), edit{node: "a", uncordon: true}},
		{"a cordoned worker before a taint of the control plane", []*corev1.Node{
			node("m", func(n *corev1.Node) {
				n.Labels["node-role.kubernetes.io/control-plane"] = ""
				n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
			}),
			node("w", func(n *corev1.Node) {
				n.Spec.Unschedulable, n.Spec.Taints = true, []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
			})}, nil, pod("want", ""), edit{node: "w", uncordon: true}},
		{"the pod in the way", []*corev1.Node{node("a", nil)}, []*corev1.Pod{pod("small", "a", asks("1", "1Mi")), pod("large", "a", asks("2500m", "1Mi"))}, pod("want", "", asks("3", "1Mi")),
			edit{node: "a", cpu: new(int64)}},
		{"a label", []*corev1.Node{node("a", nil)}, nil, pod("want", "", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }), edit{node: "a", label: map[string]string{"disk": "ssd"}}},
		{"a node that can be made well before one of the control plane", []*corev1.Node{
			node("m", func(n *corev1.Node) {
				n.Labels["node-role.kubernetes.io/control-plane"] = ""
				n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
			}),
			node("w", func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}}
			})}, nil, pod("want", ""), edit{node: "w", heal: []corev1.Taint{{}}}},
	} {
		w := build(c.nodes, c.pods, c.want)
		p, _ := w.Pods.Get("default/want")
		edits := look(w, p).edits(w)
		if len(edits) == 0 {
			t.Errorf("%s: nothing is offered", c.name)
			continue
		}
		e := edits[0]
		if e.node != c.first.node || e.uncordon != c.first.uncordon || len(e.label) != len(c.first.label) || len(e.heal) != len(c.first.heal) || (e.cpu != nil) != (c.first.cpu != nil) {
			t.Errorf("%s: first is %+v", c.name, e)
		}
	}
}

func TestEveryWayBackToAQuorumLeadsThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ways := 0
	for range 1000 {
		var c council
		n := 1 + 2*rng.IntN(3)
		for i := range n {
			c.voters = append(c.voters, voter{name: fmt.Sprint("m", i), up: rng.IntN(2) == 0, muted: rng.IntN(8) == 0})
		}
		for range rng.IntN(4) {
			c.faults = append(c.faults, world.Fault{Fault: fault.Fault{Kind: fault.Cut, A: fmt.Sprint("m", rng.IntN(n)), B: []string{fault.All, fmt.Sprint("m", rng.IntN(n))}[rng.IntN(2)]}})
		}
		if c.reach() >= c.need() {
			continue
		}
		for _, ms := range c.restores() {
			ways++
			if after := c.with(ms...); after.reach() < after.need() {
				t.Fatalf("%+v does not help %+v", ms, c)
			}
			for i := range ms { // none of it is needless
				rest := append(append([]mend(nil), ms[:i]...), ms[i+1:]...)
				if after := c.with(rest...); after.reach() >= after.need() {
					t.Fatalf("%+v is more than needed for %+v", ms, c)
				}
			}
		}
	}
	if ways < 250 {
		t.Errorf("only %d ways were tried", ways)
	}
}

func BenchmarkPendingOnManyNodes(b *testing.B) {
	for _, n := range []int{10, 1000, 5000} {
		w := &world.World{}
		add := func(o kinds.Object) {
			w.Apply(event.Record{Seq: w.Seq + 1, At: time.Unix(0, 0), Event: event.ObjectChanged{Type: event.Added, Revision: 1, Object: o}})
		}
		for i := range n {
			o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
			o.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110")}
			add(o)
			for j := range 30 {
				add(pod(fmt.Sprint("p", i, "-", j), o.Name, asks("100m", "64Mi")))
			}
		}
		add(pod("want", "", asks("8", "1Gi")))
		p, _ := w.Pods.Get("default/want")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				look(w, p).edits(w)
			}
		})
	}
}

func TestPartsOfAChangeAreWordsApart(t *testing.T) {
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("10")}
	p := from(fixture.Healthy(1))
	for _, name := range []string{"master-1", "master-2", "master-3", "worker-1"} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: true}, Status: corev1.NodeStatus{Allocatable: room}}
		p.object(event.Modified, 0, n)
	}
	p.object(event.Added, 0, pod("big", "", asks("8", "1Gi")))
	p.renew()
	a := answer(t, p.frame(), podTarget("big"), "pending")
	if len(a.Changes) == 0 || !strings.Contains(a.Changes[0].Text, " and ") {
		t.Errorf("the change is %+v", a.Changes)
	}
}
