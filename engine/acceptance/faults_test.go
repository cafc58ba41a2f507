package acceptance

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// A takeover of a lease after its holder's machine dies (fidelity LE-4).
const (
	takeoverMin = 13 * time.Second
	takeoverMax = 24 * time.Second
)

func TestWhenTheLeaderIsKilledAnotherLeadsAndNoPodNotices(t *testing.T) {
	p := play(t, run{store: engine.StoreRaft, seed: 1, length: 5 * time.Minute, do: []string{"60s kill leader"}})
	if p.failed {
		t.Fatalf("commands: %+v", p.summary.Commands)
	}
	kill := p.command("kill leader")
	_, down := must[event.MachineDown](p, "the kill", time.Minute, nil)
	before := p.at(time.Minute - time.Millisecond).Clone()
	was, ok := before.Leader()
	if !ok || was.Name != down.Host {
		t.Fatalf("%s was killed, the leader was %v", down.Host, was)
	}
	r, next := must(p, "the election", time.Minute, func(e event.RaftRole) bool { return e.Role == "leader" && e.Member != down.Host })
	if next.Term <= was.Term {
		t.Errorf("the new leader's term is %d, the old one's was %d", next.Term, was.Term)
	}
	within(t, "new leader", r.At.Sub(kill.At), 0, 5*time.Second)
	if got := p.summary.Raft.Elections; len(got) < 2 || got[len(got)-1].To != next.Member || got[len(got)-1].From != down.Host {
		t.Errorf("elections of the summary: %+v", got)
	}
	unharmed(t, &before, p.world)
	takeovers(t, p, &before, down.Host, kill.At)
}

// unharmed: the same pods run in the same places, none was started again.
func unharmed(t *testing.T, before, after *world.World) {
	t.Helper()
	a, b := web(before), web(after)
	if len(a) != 6 || len(b) != 6 {
		t.Fatalf("%d web pods before, %d after", len(a), len(b))
	}
	for i, p := range a {
		q := b[i]
		if p.Object.UID != q.Object.UID || p.Object.Spec.NodeName != q.Object.Spec.NodeName || q.Restarts != 0 || q.Status != "Running" {
			t.Errorf("pod %s on %s became %s on %s, %s, %d restarts", p.Object.Name, p.Object.Spec.NodeName, q.Object.Name, q.Object.Spec.NodeName, q.Status, q.Restarts)
		}
	}
	if n := len(really(after)); n != 6 {
		t.Errorf("%d web containers run", n)
	}
}

// takeovers checks that what led on the dead host is taken over in time, and that what led elsewhere stays there. It returns how many had to be.
func takeovers(t *testing.T, p *told, before *world.World, dead string, killed time.Time) int {
	t.Helper()
	n := 0
	for _, lease := range []string{"kube-scheduler", "kube-controller-manager"} {
		l, ok := before.Leaders.Get(lease)
		if !ok {
			t.Errorf("nobody led %s before", lease)
			continue
		}
		r, e, moved := first(p, p.since(killed), func(e event.Leading) bool { return e.Lease == lease && e.Leading })
		switch {
		case l.Host != dead && moved:
			t.Errorf("%s moved to %s, though its holder %s lives", lease, e.Host, l.Host)
		case l.Host == dead && !moved:
			t.Errorf("%s was led from %s; nobody took over", lease, dead)
		case l.Host == dead:
			n++
			within(t, lease+" on "+e.Host, r.At.Sub(killed), takeoverMin, takeoverMax)
		}
	}
	return n
}

func TestSchedulerAndControllerManagerAreTakenOverWhenTheirMachineDies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			besides(t, engine.StoreMemory)
			quiet := play(t, run{unwritten: true, seed: seed, length: time.Minute}) // who leads in this seed
			dead := map[string]bool{}
			for _, lease := range []string{"kube-scheduler", "kube-controller-manager"} {
				l, ok := quiet.world.Leaders.Get(lease)
				if !ok || dead[l.Host] {
					continue
				}
				dead[l.Host] = true
				p := play(t, run{unwritten: true, seed: seed, length: 90 * time.Second, do: []string{"60s kill " + l.Host}})
				before := p.at(time.Minute - time.Millisecond).Clone()
				if takeovers(t, p, &before, l.Host, p.command("kill "+l.Host).At) == 0 {
					t.Errorf("%s led nothing", l.Host)
				}
				unharmed(t, &before, p.world)
			}
		})
	}
}

func TestACleanStopHandsOverInSeconds(t *testing.T) {
	besides(t, engine.StoreMemory)
	for seed := range uint64(3) {
		p := play(t, run{unwritten: true, seed: seed, length: 2 * time.Minute, do: []string{"60s stop scheduler-leader", "80s stop controller-manager-leader"}})
		for _, c := range []struct{ lease, command string }{{"kube-scheduler", "stop scheduler-leader"}, {"kube-controller-manager", "stop controller-manager-leader"}} {
			stop := p.command(c.command)
			r, _ := must(p, "takeover", p.since(stop.At), func(e event.Leading) bool { return e.Lease == c.lease && e.Leading })
			within(t, c.lease, r.At.Sub(stop.At), 0, 5*time.Second)
		}
	}
}

func TestACutWorkerIsJudgedEvictedReplacedAndHealed(t *testing.T) {
	besides(t, engine.StoreMemory)
	const cutAt, healAt = time.Minute, 8 * time.Minute
	p := play(t, run{seed: 1, length: 10 * time.Minute, do: []string{"60s cut worker-1 all", "8m heal"}})
	if p.failed {
		t.Fatalf("commands: %+v", p.summary.Commands)
	}
	before := p.at(cutAt - time.Millisecond).Clone()
	var lost []*world.Pod
	for _, pod := range web(&before) {
		if pod.Object.Spec.NodeName == "worker-1" {
			lost = append(lost, pod)
		}
	}
	if len(lost) == 0 {
		t.Fatal("no pod is on worker-1 in this seed")
	}

	judged, j := must(p, "the judgement", cutAt, func(e event.NodeJudged) bool { return e.Node == "worker-1" && e.Ready == "Unknown" })
	within(t, "Unknown", p.since(judged.At)-cutAt, 40*time.Second, 60*time.Second)
	if j.SilentFor < 50*time.Second {
		t.Errorf("judged after %v of silence; the grace is 50s", j.SilentFor)
	}
	w := p.at(p.since(judged.At) + time.Second)
	n, _ := w.Nodes.Get("worker-1")
	if n.Ready != "Unknown" || n.Reason != "NodeStatusUnknown" || !tainted(n, "unreachable", corev1.TaintEffectNoSchedule) || !tainted(n, "unreachable", corev1.TaintEffectNoExecute) {
		t.Errorf("a second later the node is %s %s, taints %v", n.Ready, n.Reason, n.Object.Spec.Taints)
	}
	for _, pod := range lost {
		q, _ := w.Pods.Get("default/" + pod.Object.Name)
		if q.Status != "Running" || q.Ready != 1 || ready(q) != "False" || q.Deleting {
			t.Errorf("then pod %s is %s %d/%d, condition Ready %s, deleting %v", pod.Object.Name, q.Status, q.Ready, q.Total, ready(q), q.Deleting)
		}
	}

	// The eviction, 300 s after the taint was seen.
	for _, pod := range lost {
		r, _ := must(p, "the eviction", cutAt, func(e event.ObjectChanged) bool {
			return e.Object.GetUID() == pod.Object.UID && e.Object.GetDeletionTimestamp() != nil
		})
		within(t, "eviction of "+pod.Object.Name, r.At.Sub(judged.At), 300*time.Second, 306*time.Second)
	}

	// Two copies: the replacement runs, and so does what was replaced.
	w = p.at(healAt - time.Second)
	if got := living(web(w)); len(got) != 6 {
		t.Errorf("before the heal the API has %d living pods", len(got))
	}
	for _, pod := range living(web(w)) {
		if pod.Object.Spec.NodeName == "worker-1" || pod.Status != "Running" {
			t.Errorf("before the heal %s on %s is %s", pod.Object.Name, pod.Object.Spec.NodeName, pod.Status)
		}
	}
	if got := len(really(w)); got != 6+len(lost) {
		t.Errorf("before the heal %d containers run, want 6 and the %d lost", got, len(lost))
	}
	for _, pod := range lost {
		q, ok := w.Pods.Get("default/" + pod.Object.Name)
		if !ok || q.Status != "Terminating" || q.Ready != 1 {
			t.Errorf("before the heal the lost pod %s reads %+v", pod.Object.Name, q)
		}
	}
	if c := w.Compare("worker-1"); c.Truth < len(lost) {
		t.Errorf("before the heal worker-1 compares as %+v", c)
	}

	// After the heal the old copies stop and their objects go.
	healed, _ := must(p, "the heal", healAt, func(e event.NodeJudged) bool { return e.Node == "worker-1" && e.Ready == "True" })
	within(t, "Ready again", p.since(healed.At)-healAt, 0, 20*time.Second)
	for _, pod := range lost {
		r, _ := must(p, "the end of the old copy", healAt, func(e event.ContainerChanged) bool {
			return e.Pod.UID == string(pod.Object.UID) && e.State == event.ContainerExited
		})
		within(t, "old container stopped", p.since(r.At)-healAt, 0, 60*time.Second)
		r, _ = must(p, "the end of the old object", healAt, func(e event.ObjectChanged) bool {
			return e.Object.GetUID() == pod.Object.UID && e.Type == event.Deleted
		})
		within(t, "old object gone", p.since(r.At)-healAt, 0, 60*time.Second)
	}
	whole(t, p.world, 6)
}

func tainted(n *world.Node, key string, effect corev1.TaintEffect) bool {
	for _, taint := range n.Object.Spec.Taints {
		if taint.Key == "node.kubernetes.io/"+key && taint.Effect == effect {
			return true
		}
	}
	return false
}

func ready(p *world.Pod) string {
	for _, c := range p.Object.Status.Conditions {
		if c.Type == corev1.PodReady {
			return string(c.Status)
		}
	}
	return ""
}
