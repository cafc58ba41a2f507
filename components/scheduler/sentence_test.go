package scheduler

import (
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/internal/fixture"
	"example.com/kubeviz/components/scheduler/plugins"
)

// picture makes an algorithm over nodes ("master m1" is one as kubeadm makes it) and pods on them.
func picture(nodes, pods []string) *algorithm {
	cl := framework.NewCluster()
	for _, n := range nodes {
		if name, ok := strings.CutPrefix(n, "master "); ok {
			cl.SetNode(fixture.Master(name))
			continue
		}
		cl.SetNode(fixture.Node(n))
	}
	for _, p := range pods {
		cl.SetPod(fixture.Pod(p))
	}
	a := newAlgorithm(plugins.Default(nil, nil), cl)
	a.rand = rand.New(rand.NewPCG(1, 2))
	return a
}

// try schedules a pod and tells the node, the sentence and the victims.
func try(a *algorithm, pod string) (node, message, victims string) {
	info := framework.NewPodInfo(fixture.Pod(pod))
	r := a.schedule(info)
	if r.chosen != nil {
		return r.chosen.Name, "", ""
	}
	c := a.postFilter(info, r)
	if c != nil {
		var names []string
		for _, v := range c.victims {
			names = append(names, v.Pod.Name)
		}
		victims = c.node.Name + ": " + strings.Join(names, ", ")
	}
	return "", r.message(), victims
}

func TestFailedSchedulingSentence(t *testing.T) {
	masters := []string{"master m1", "master m2", "master m3"}
	workers := append(masters[:3:3], "w1:", "w2:", "w3:")
	half := []string{"a: cpu 2, on w1", "b: cpu 2, on w2", "c: cpu 2, on w3"}
	for _, c := range []struct {
		what    string
		nodes   []string
		pods    []string
		pod     string
		message string
	}{
		{"a node selector that nobody has", workers, nil, "p: selector disktype=sdd",
			"0/6 nodes are available: 3 node(s) didn't match Pod's node affinity/selector, 3 node(s) had untolerated taint(s). " +
				"preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling."},
		{"workers half used by pods of the same priority", workers, half, "p: cpu 3",
			"0/6 nodes are available: 3 Insufficient cpu, 3 node(s) had untolerated taint(s). " +
				"preemption: 0/6 nodes are available: 3 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling."},
		{"more than any node has", workers, half, "p: cpu 8",
			"0/6 nodes are available: 3 Insufficient cpu, 3 node(s) had untolerated taint(s). " +
				"preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling."},
		{"one worker dead, one cordoned", append(masters[:3:3], "w1: taint node.kubernetes.io/unreachable:NoSchedule", "w2: cordoned", "w3:"), half, "p: cpu 3",
			"0/6 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 4 node(s) had untolerated taint(s). " +
				"preemption: 0/6 nodes are available: 1 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling."},
		{"the recorded pod that fits nowhere", append(masters[:3:3], "w1:", "w2:", "w3:", "w4:"), nil, "big: cpu 100",
			"0/7 nodes are available: 3 node(s) had untolerated taint(s), 4 Insufficient cpu. " +
				"preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."},
		{"the recorded node selector that no node has", append(masters[:3:3], "w1:", "w2:", "w3:", "w4:"), nil, "lost: selector disk=ssd",
			"0/7 nodes are available: 3 node(s) had untolerated taint(s), 4 node(s) didn't match Pod's node affinity/selector. " +
				"preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."},
		{"counts are sorted as strings", []string{"a1: cordoned", "a2: cordoned", "b0: cpu 1", "b1: cpu 1", "b2: cpu 1", "b3: cpu 1", "b4: cpu 1", "b5: cpu 1", "b6: cpu 1",
			"b7: cpu 1", "b8: cpu 1", "b9: cpu 1"}, nil, "p: cpu 2",
			"0/12 nodes are available: 10 Insufficient cpu, 2 node(s) were unschedulable. " +
				"preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling."},
		{"a node that lacks two things counts in both", []string{"w1:"}, nil, "p: cpu 5, memory 9Gi",
			"0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. " +
				"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
		{"no nodes at all", nil, nil, "p:", "no nodes available to schedule pods"},
		{"a pod for one node that is cordoned", []string{"w1: cordoned", "w2:", "w3:"}, nil, "p: node w1",
			"0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. " +
				"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."},
		{"a pod that may not preempt", []string{"w1:"}, []string{"a: cpu 4, on w1"}, "p: cpu 1, priority 10, never",
			"0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."},
		{"victims that would not make enough room", []string{"w1:"}, []string{"a: cpu 1, on w1", "b: cpu 3, priority 10, on w1"}, "p: cpu 2, priority 10",
			"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu."},
	} {
		node, message, victims := try(picture(c.nodes, c.pods), c.pod)
		if node != "" || victims != "" || message != c.message {
			t.Errorf("%s: node %q, victims %q, message\n%q, want\n%q", c.what, node, victims, message, c.message)
		}
	}
}

func TestPreemptionDoesTheLeastHarm(t *testing.T) {
	for _, c := range []struct {
		what    string
		nodes   []string
		pods    []string
		pod     string
		victims string
	}{
		{"as few as possible go, the least important first", []string{"w1:"},
			[]string{"a: cpu 1, priority 1, on w1", "b: cpu 1, priority 2, on w1", "c: cpu 2, priority 3, on w1"}, "p: cpu 1, priority 10", "w1: a"},
		{"the node whose highest victim is lowest", []string{"w1:", "w2:"},
			[]string{"a: cpu 4, priority 5, on w1", "b: cpu 4, priority 4, on w2"}, "p: cpu 4, priority 10", "w2: b"},
		{"the node with the lower sum of priorities", []string{"w1:", "w2:"},
			[]string{"a: cpu 2, priority 5, on w1", "b: cpu 2, priority 5, on w1", "c: cpu 4, priority 5, on w2"}, "p: cpu 4, priority 10", "w2: c"},
		{"a host port is freed", []string{"w1:"}, []string{"a: port 80, on w1", "b: cpu 1, on w1"}, "p: port 80, priority 10", "w1: a"},
		{"a domain is evened", []string{"w1: zone a", "w2: zone b, cordoned"}, []string{"a: label app=x, on w1"}, "p: label app=x, spread zone, priority 10", "w1: a"},
		{"a pod to be away from goes", []string{"w1:"}, []string{"a: label app=x, on w1", "b: on w1"}, "p: away host app=x, priority 10", "w1: a"},
		{"a pod that does not want this one goes", []string{"w1:"}, []string{"a: away host app=x, on w1", "b: on w1"}, "p: label app=x, priority 10", "w1: a"},
		{"pods of the same priority are safe", []string{"w1:"}, []string{"a: cpu 4, priority 10, on w1"}, "p: cpu 1, priority 10", ""},
	} {
		if _, _, victims := try(picture(c.nodes, c.pods), c.pod); victims != c.victims {
			t.Errorf("%s: got %q, want %q", c.what, victims, c.victims)
		}
	}
}

func TestNominatedRoomIsKept(t *testing.T) {
	a := picture([]string{"w1:"}, []string{"a: cpu 2, on w1"})
	a.nominate(framework.NewPodInfo(fixture.Pod("vip: cpu 2, priority 10")), "w1")
	if node, _, _ := try(a, "p: cpu 1"); node != "" {
		t.Error("a pod of lower priority took the room that was cleared for another")
	}
	if node, _, _ := try(a, "q: cpu 1, priority 20"); node != "w1" {
		t.Error("a pod of higher priority did not get it")
	}
	if node, _, _ := try(a, "vip: cpu 2, priority 10"); node != "w1" {
		t.Error("the pod it was cleared for did not get it")
	}
}

func TestLongSentencesAreCut(t *testing.T) {
	if got := note(strings.Repeat("x", 1024)); len(got) != 1024 || strings.HasSuffix(got, " ...") {
		t.Errorf("1024 characters became %d", len(got))
	}
	if got := note(strings.Repeat("x", 1025)); len(got) != 1024 || !strings.HasSuffix(got, "x ...") {
		t.Errorf("1025 characters became %d, %q", len(got), got[1015:])
	}
}
