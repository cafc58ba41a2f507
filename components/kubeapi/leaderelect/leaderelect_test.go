package leaderelect_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/leaderelect"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// candidates are programs that stand for one lease.
type candidates struct {
	c       *apitest.Cluster
	leading []string // hosts, in order of winning
	heard   []string // "host hears identity's host"
	stopped []string // hosts whose OnStoppedLeading ran
}

type candidate struct {
	pr   *kubeapi.Process
	stop sim.Future[event.Seq]
}

func (cs *candidates) start(host string, release bool) *candidate {
	x := &candidate{pr: cs.c.Process(host, "kube-scheduler", apitest.Scheduler)}
	cfg := leaderelect.Config{Process: x.pr, Namespace: "kube-system", Name: "kube-scheduler", Recorder: record.New(x.pr, "default-scheduler"), ReleaseOnCancel: release, Stop: &x.stop,
		OnStartedLeading: func(*sim.Proc) { cs.leading = append(cs.leading, host) },
		OnStoppedLeading: func() { cs.stopped = append(cs.stopped, host) },
		OnNewLeader: func(id string) {
			who, _, _ := strings.Cut(id, "_")
			cs.heard = append(cs.heard, host+" hears "+who)
		}}
	x.pr.Go("election", func(p *sim.Proc) {
		if err := leaderelect.Run(p, cfg); err != nil {
			x.pr.Exit(p, 1, err.Error())
		}
		x.pr.Exit(p, 0, "asked to stop")
	})
	return x
}

func lease(c *apitest.Cluster) *coordinationv1.Lease {
	return c.Get(kinds.Leases, "kube-system", "kube-scheduler").(*coordinationv1.Lease)
}

func TestTheFirstCandidateTakesAFreeLease(t *testing.T) {
	c := apitest.New(t)
	cs := &candidates{c: c}
	cs.start("master-1", false)
	c.Run(30 * time.Second)
	l := lease(c)
	id := *l.Spec.HolderIdentity
	if !regexp.MustCompile(`^master-1_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("identity %s", id)
	}
	if *l.Spec.LeaseDurationSeconds != 15 || *l.Spec.LeaseTransitions != 0 {
		t.Errorf("duration %d, transitions %d; want 15 and 0", *l.Spec.LeaseDurationSeconds, *l.Spec.LeaseTransitions)
	}
	if age := c.Loop.Now().Sub(l.Spec.RenewTime.Time); age > 2100*time.Millisecond {
		t.Errorf("renewed %v ago, want at most 2s", age)
	}
	want := fmt.Sprintf("added events Lease/kube-scheduler Normal LeaderElection %q from=default-scheduler count=1", id+" became leader")
	if got := c.Log(kinds.Events); !slices.Equal(got, []string{want}) {
		t.Errorf("events %v, want %s", got, want)
	}
}

func TestAStandbyTakesOverThirteenToTwentyFourSecondsAfterACrash(t *testing.T) {
	for seed := range uint64(20) {
		c := apitest.New(t, apitest.Masters(2), apitest.Seed(seed+1))
		cs := &candidates{c: c}
		first := cs.start("master-1", false)
		c.Run(5 * time.Second)
		cs.start("master-2", false)
		c.Run(20*time.Second + time.Duration(seed)*371*time.Millisecond)
		first.pr.Group.Kill()
		crash := c.Loop.Now()
		if !c.RunUntil(time.Minute, func() bool { return len(cs.leading) == 2 }) {
			t.Fatalf("seed %d: nobody took over", seed+1)
		}
		if took := c.Loop.Now().Sub(crash); took < 13*time.Second || took > 24*time.Second {
			t.Errorf("seed %d: takeover after %v, want 13-24 s", seed+1, took)
		}
		if n := *lease(c).Spec.LeaseTransitions; n != 1 {
			t.Errorf("seed %d: %d transitions, want 1", seed+1, n)
		}
	}
}

func TestAReleasedLeaseIsTakenWithinFiveSeconds(t *testing.T) {
	for seed := range uint64(20) {
		c := apitest.New(t, apitest.Masters(2), apitest.Seed(seed+1))
		cs := &candidates{c: c}
		first := cs.start("master-1", true)
		c.Run(5 * time.Second)
		cs.start("master-2", true)
		c.Run(20*time.Second + time.Duration(seed)*371*time.Millisecond)
		order := c.Journal.Emit(event.You, 0, event.CommandGiven{Text: "stop master-1/kube-scheduler"})
		first.stop.Set(order)
		stopped := c.Loop.Now()
		if !c.RunUntil(time.Minute, func() bool { return len(cs.leading) == 2 }) {
			t.Fatalf("seed %d: nobody took over", seed+1)
		}
		if took := c.Loop.Now().Sub(stopped); took > 5*time.Second {
			t.Errorf("seed %d: takeover after %v, want at most 5 s", seed+1, took)
		}
		if !slices.Equal(c.Exits, []string{"master-1/kube-scheduler: asked to stop"}) {
			t.Errorf("seed %d: exits %v", seed+1, c.Exits)
		}
		for _, r := range c.Records() {
			if l, ok := r.Event.(event.Leading); ok && !l.Leading && (r.Cause != order || l.Message != "released") {
				t.Errorf("seed %d: %+v", seed+1, r)
			}
		}
	}
}

func TestALeaderThatCannotRenewExitsBeforeAnotherMayLead(t *testing.T) {
	c := apitest.New(t, apitest.Masters(2))
	cs := &candidates{c: c}
	cs.start("master-1", true)
	c.Run(5 * time.Second)
	cs.start("master-2", true)
	c.Run(20 * time.Second)
	renewed := lease(c).Spec.RenewTime.Time
	cut := fault.Fault{Kind: fault.Cut, A: "master-1/kube-scheduler", B: "master-1/apiserver"}
	seq := c.Journal.Emit(event.Engine, 0, event.FaultAdded{Fault: cut})
	c.Net.AddFault(seq, cut)
	if !c.RunUntil(time.Minute, func() bool { return len(c.Exits) > 0 }) {
		t.Fatal("it goes on without its lease")
	}
	gone := c.Loop.Now()
	if took := gone.Sub(renewed); took < 10*time.Second || took > 14500*time.Millisecond {
		t.Errorf("it exits %v after its last renewal, want 10-14.5 s", took)
	}
	if !slices.Equal(c.Exits, []string{"master-1/kube-scheduler: leaderelection lost"}) || !slices.Equal(cs.stopped, []string{"master-1"}) {
		t.Errorf("exits %v, stopped %v", c.Exits, cs.stopped)
	}
	if len(cs.leading) != 1 {
		t.Errorf("%v lead already", cs.leading)
	}
	c.Run(10 * time.Second)
	if !slices.Equal(cs.leading, []string{"master-1", "master-2"}) {
		t.Errorf("led: %v", cs.leading)
	}
}

func TestAProgramThatStartsAgainIsAnotherCandidate(t *testing.T) {
	c := apitest.New(t)
	cs := &candidates{c: c}
	first := cs.start("master-1", false)
	c.Run(10 * time.Second)
	before := *lease(c).Spec.HolderIdentity
	first.pr.Group.Kill()
	c.Run(time.Second)
	cs.start("master-1", false)
	c.Run(5 * time.Second)
	if got := *lease(c).Spec.HolderIdentity; got != before {
		t.Fatal("it took itself for its predecessor and did not wait for the lease to run out")
	}
	c.Run(20 * time.Second)
	if got := *lease(c).Spec.HolderIdentity; got == before {
		t.Fatal("it never leads again")
	}
}

// counting counts the requests of a program by verb.
type counting struct {
	kubeapi.Transport
	by map[kubeapi.Verb]int
}

func (t counting) Do(p *sim.Proc, r *kubeapi.Request) (*kubeapi.Response, error) {
	t.by[r.Verb]++
	return t.Transport.Do(p, r)
}

func TestALeaderRenewsWithoutReading(t *testing.T) {
	c := apitest.New(t)
	cs := &candidates{c: c}
	x := cs.start("master-1", false)
	n := map[kubeapi.Verb]int{}
	x.pr.Client.Transport = counting{x.pr.Client.Transport, n}
	c.Run(time.Minute)
	if n[kubeapi.Get] != 1 || n[kubeapi.Update] < 28 || n[kubeapi.Update] > 31 {
		t.Errorf("in a minute %v; want one read in the beginning and an update every 2 s", n)
	}
}

func TestEveryCandidateHearsOfEachLeader(t *testing.T) {
	c := apitest.New(t, apitest.Masters(2))
	cs := &candidates{c: c}
	first := cs.start("master-1", false)
	c.Run(3 * time.Second)
	cs.start("master-2", false)
	c.Run(10 * time.Second)
	first.pr.Group.Kill()
	c.Run(30 * time.Second)
	if want := []string{"master-1 hears master-1", "master-2 hears master-1", "master-2 hears master-2"}; !slices.Equal(cs.heard, want) {
		t.Fatalf("%v, want %v", cs.heard, want)
	}
}

func TestOfTwoCandidatesAtOnceOneLeads(t *testing.T) {
	for seed := range uint64(20) {
		c := apitest.New(t, apitest.Masters(3), apitest.Seed(seed+1))
		cs := &candidates{c: c}
		for _, h := range []string{"master-1", "master-2", "master-3"} {
			cs.start(h, false)
		}
		c.Run(time.Minute)
		if len(cs.leading) != 1 || len(c.Exits) > 0 {
			t.Errorf("seed %d: %v lead, exits %v", seed+1, cs.leading, c.Exits)
		}
	}
}

func TestATakeoverFollowsFromWhatSilencedTheOldLeader(t *testing.T) {
	c := apitest.New(t, apitest.Masters(2))
	cs := &candidates{c: c}
	cs.start("master-1", false)
	c.Run(3 * time.Second)
	x := cs.start("master-2", false)
	c.Run(10 * time.Second)
	var silenced event.Seq
	x.pr.Silenced = func(host string) event.Seq {
		if host == "master-1" {
			return silenced
		}
		return 0
	}
	silenced = c.Journal.Emit(event.You, 0, event.MachineDown{Host: "master-1", Reason: "killed"})
	c.Net.SetHost("master-1", false)
	c.Run(40 * time.Second)
	var last event.Record
	for _, r := range c.Records() {
		if l, ok := r.Event.(event.Leading); ok && l.Leading {
			last = r
		}
	}
	if l := last.Event.(event.Leading); l.Host != "master-2" || last.Cause != silenced {
		t.Fatalf("%+v does not follow from record %d", last, silenced)
	}
}
