package acceptance

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
)

// rooted: from a record, causes lead back to what a user ordered or to the start of the cluster.
func (p *told) rooted(r event.Record) {
	p.t.Helper()
	root := p.root(r.Seq)
	switch root.Event.(type) {
	case event.CommandGiven, event.ClusterStarted:
		return
	}
	p.t.Errorf("%v #%d %s leads back to no command:%s", p.since(r.At), r.Seq, brief(r.Event), p.chain(r.Seq))
}

// everyFactIsRooted checks the facts that a reader follows back.
func (p *told) everyFactIsRooted() {
	p.t.Helper()
	n := 0
	for _, r := range p.recs {
		switch r.Event.(type) {
		case event.ObjectChanged, event.ContainerChanged, event.Leading, event.NodeJudged, event.RaftRole, event.MachineUp, event.MachineDown, event.ProcessStarted,
			event.ProcessStopped, event.FaultAdded, event.FaultRemoved, event.BackendChanged, event.EvictionPlanned, event.EvictionCancelled, event.Reconciled,
			event.SchedulingAttempt, event.PodQueued, event.CommandDone:
			n++
			p.rooted(r)
		}
		if p.t.Failed() {
			return
		}
	}
	if n < 100 {
		p.t.Fatalf("only %d facts were followed", n)
	}
}

func TestEveryFactLeadsBackToACommandOrTheStart(t *testing.T) {
	t.Parallel()
	for _, r := range []run{
		{seed: 3, length: 9 * time.Minute, do: []string{"60s cut worker-1 all", "8m heal"}},
		{seed: 4, length: 4 * time.Minute, do: []string{"60s kill leader", "2m start master-1"}},
		{seed: 5, length: 4 * time.Minute, do: []string{"60s kill master-1", "60s kill master-2", "3m start master-1"}},
		{seed: 6, length: 4 * time.Minute, do: []string{"60s kill master-1/apiserver", "70s stop scheduler-leader", "80s kill worker-2/kubelet", "90s cut master-1/etcd master-2/etcd",
			"2m heal", "2m10s scale deployment web --replicas=9", "3m set image deployment/web web=nginx:1.28"}},
		{store: engine.StoreRaft, seed: 7, length: 2 * time.Minute, do: []string{"60s kill leader", "70s scale deployment web --replicas=8"}},
	} {
		t.Run(strings.Join(r.do, ", "), func(t *testing.T) {
			besides(t, r.store)
			play(t, r).everyFactIsRooted()
		})
	}
}

// passes fails unless the chain of causes of a record goes through a command.
func (p *told) passes(r event.Record, command event.Record) {
	p.t.Helper()
	if root := p.root(r.Seq); root.Seq != command.Seq {
		p.t.Errorf("%v #%d %s does not lead back to %s:%s", p.since(r.At), r.Seq, brief(r.Event), brief(command.Event), p.chain(r.Seq))
	}
}

func TestTheReplacementOfALostPodLeadsBackToTheCut(t *testing.T) {
	besides(t, engine.StoreMemory)
	p := play(t, run{seed: 1, length: 8 * time.Minute, do: []string{"60s cut worker-1 all"}})
	cut := p.command("cut worker-1 all")
	judged, _ := must(p, "the judgement", time.Minute, func(e event.NodeJudged) bool { return e.Node == "worker-1" })
	p.passes(judged, cut)
	r, _ := must(p, "the plan to evict", time.Minute, func(e event.EvictionPlanned) bool { return e.Node == "worker-1" })
	p.passes(r, cut)
	started := 0
	for _, r := range all(p, 2*time.Minute, func(e event.ContainerChanged) bool { return e.State == event.ContainerRunning }) {
		started++
		p.passes(r, cut)
	}
	if started == 0 {
		t.Error("no replacement was started")
	}
}

func TestTheNextActiveSchedulerLeadsBackToTheKill(t *testing.T) {
	besides(t, engine.StoreMemory)
	for seed := range uint64(2) {
		quiet := play(t, run{unwritten: true, seed: seed, length: 30 * time.Second})
		for _, lease := range []string{"kube-scheduler", "kube-controller-manager"} {
			l, _ := quiet.world.Leaders.Get(lease)
			kill := "kill " + l.Host
			p := play(t, run{unwritten: true, seed: seed, length: 90 * time.Second, do: []string{"60s " + kill}})
			r, _ := must(p, "the takeover", time.Minute, func(e event.Leading) bool { return e.Lease == lease && e.Leading })
			p.passes(r, p.command(kill))
		}
	}
}

func TestTheNextActiveAfterACleanStopLeadsBackToTheStop(t *testing.T) {
	besides(t, engine.StoreMemory)
	for seed := range uint64(3) {
		p := play(t, run{unwritten: true, seed: seed, length: 2 * time.Minute, do: []string{"60s stop scheduler-leader", "80s stop controller-manager-leader"}})
		for _, c := range []struct{ lease, command string }{{"kube-scheduler", "stop scheduler-leader"}, {"kube-controller-manager", "stop controller-manager-leader"}} {
			stop := p.command(c.command)
			for _, r := range all(p, p.since(stop.At), func(e event.Leading) bool { return e.Lease == c.lease }) {
				p.passes(r, stop)
			}
		}
	}
}

func TestAContainerLeadsBackToTheScaleThatWantedIt(t *testing.T) {
	besides(t, engine.StoreMemory)
	p := play(t, run{seed: 1, length: 2 * time.Minute, do: []string{"60s kubectl scale deployment web --replicas=8"}})
	scale := p.command("kubectl scale deployment web --replicas=8")
	running := all(p, time.Minute, func(e event.ContainerChanged) bool { return e.State == event.ContainerRunning })
	if len(running) != 2 {
		t.Fatalf("%d containers started", len(running))
	}
	for _, r := range running {
		p.passes(r, scale)
	}
	for _, r := range all(p, time.Minute, func(e event.ObjectChanged) bool { _, is := e.Object.(*appsv1.Deployment); return is }) {
		p.passes(r, scale)
	}
}

func TestWhatALostMajorityDoesLeadsBackToTheKillThatTookIt(t *testing.T) {
	besides(t, engine.StoreMemory)
	p := play(t, run{seed: 1, length: 3 * time.Minute, do: []string{"60s kill master-2", "60s kill master-3"}})
	kill := p.command("kill master-3")
	out, _ := must(p, "the balancer takes master-1 out", time.Minute, func(e event.BackendChanged) bool { return e.Backend == "master-1" && !e.Healthy })
	p.passes(out, kill)
	for _, r := range all(p, time.Minute, func(e event.Leading) bool { return e.Host == "master-1" }) {
		p.passes(r, kill)
	}
	for _, r := range all(p, time.Minute, func(e event.ProcessStopped) bool { return e.Host == "master-1" }) {
		p.passes(r, kill)
	}
}
