package flowcontrol

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
)

func user(name string, groups ...string) kubeapi.User {
	return kubeapi.User{Name: name, Groups: append(groups, authenticated)}
}

func TestTheFirstSchemaThatMatchesSaysLevelAndFlow(t *testing.T) {
	node, manager := user("system:node:worker-1", nodes), user("system:kube-controller-manager")
	for _, c := range []struct {
		name string
		a    Attributes
		want string
	}{
		{"masters are never held up", Attributes{User: user("root", masters), Verb: "list", Resource: "pods"}, "exempt exempt "},
		{"nor probes, by whomever", Attributes{User: kubeapi.User{Name: "system:anonymous", Groups: []string{unauthenticated}}, Verb: "get", Path: "/livez"}, "exempt probes "},
		{"parts of health are no probes", Attributes{User: user("jane"), Verb: "get", Path: "/livez/etcd"}, "global-default global-default jane"},
		{"leases by which programs lead", Attributes{User: manager, Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "kube-system"}, "leader-election system-leader-election system:kube-controller-manager"},
		{"a controller's own account elects, too", Attributes{User: kubeapi.ServiceAccount("kube-system", "x"), Verb: "get", Group: "coordination.k8s.io", Resource: "leases"}, "leader-election system-leader-election system:serviceaccount:kube-system:x"},
		{"who lists leases elects nobody", Attributes{User: manager, Verb: "list", Group: "coordination.k8s.io", Resource: "leases", Namespace: "kube-system"}, "workload-high kube-controller-manager kube-system"},
		{"heartbeats of nodes", Attributes{User: node, Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "kube-node-lease"}, "node-high system-node-high system:node:worker-1"},
		{"status of nodes", Attributes{User: node, Verb: "patch", Resource: "nodes", Subresource: "status"}, "node-high system-node-high system:node:worker-1"},
		{"nodes' pods", Attributes{User: node, Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "default"}, "system system-nodes system:node:worker-1"},
		{"the scheduler, by namespace", Attributes{User: user("system:kube-scheduler"), Verb: "create", Resource: "pods", Subresource: "binding", Namespace: "shop"}, "workload-high kube-scheduler shop"},
		{"controllers, by namespace", Attributes{User: kubeapi.ServiceAccount("kube-system", "replicaset-controller"), Verb: "create", Resource: "pods", Namespace: "shop"}, "workload-high kube-system-service-accounts shop"},
		{"accounts of users", Attributes{User: kubeapi.ServiceAccount("shop", "cart"), Verb: "get", Resource: "pods", Namespace: "shop"}, "workload-low service-accounts system:serviceaccount:shop:cart"},
		{"everybody else", Attributes{User: user("jane"), Verb: "list", Resource: "pods"}, "global-default global-default jane"},
		{"who is in no group at all", Attributes{User: kubeapi.User{Name: "odd"}, Verb: "list", Resource: "pods"}, "catch-all catch-all odd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, flow := classify(&c.a)
			if got := s.level.name + " " + s.name + " " + flow; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestLevelsHaveTheSeatsOfARealServer(t *testing.T) {
	// ceil(600 * shares / 245), as apiserver_flowcontrol_nominal_limit_seats of a server with default flags says.
	want := map[string]int{"system": 74, "node-high": 98, "leader-election": 25, "workload-high": 98, "workload-low": 245, "global-default": 49, "catch-all": 13}
	for _, l := range New(Seats, func() time.Time { return time.Time{} }).Levels() {
		if l.Nominal != want[l.Name] || l.Current != l.Nominal {
			t.Errorf("%s: %d seats of %d, want %d", l.Name, l.Current, l.Nominal, want[l.Name])
		}
	}
}

// bench is a server that works on each request for a time.
type bench struct {
	t    *testing.T
	loop *sim.Loop
	c    *Controller
	all  *sim.Group
}

func newBench(t *testing.T, seats int) *bench {
	l := sim.New(sim.Options{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 1, Rate: sim.Unpaced})
	return &bench{t, l, New(seats, l.Now), l.NewGroup("clients")}
}

// ask makes one request; the verdict is there when it is answered.
func (b *bench) ask(g *sim.Group, a Attributes, seats int, takes time.Duration, got func(Verdict)) *sim.Proc {
	return b.loop.Spawn(g, "ask", func(p *sim.Proc) {
		v, leave := b.c.Enter(p, a, seats, time.Minute)
		defer leave()
		if v.Refused == "" {
			p.Sleep(takes)
		}
		got(v)
	})
}

func (b *bench) run(d time.Duration) {
	b.t.Helper()
	if err := b.loop.RunUntil(context.Background(), b.loop.Now().Add(d)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) level(name string) Level {
	ls := b.c.Levels()
	return ls[slices.IndexFunc(ls, func(l Level) bool { return l.Name == name })]
}

func list(u string) Attributes { return Attributes{User: user(u), Verb: "list", Resource: "pods"} }

func TestWhoFindsNoSeatWaitsForOne(t *testing.T) {
	b := newBench(t, 12) // 1 seat for everybody else
	var got []Verdict
	for range 3 {
		b.ask(b.all, list("jane"), 1, time.Second, func(v Verdict) { got = append(got, v) })
	}
	b.run(500 * time.Millisecond)
	if l := b.level("global-default"); l.Taken != 1 || l.Waiting != 2 || b.c.Waiting() != 2 {
		t.Errorf("%+v", l)
	}
	b.run(10 * time.Second)
	for i, v := range got {
		if want := time.Duration(i) * time.Second; v.Waited != want || v.Refused != "" {
			t.Errorf("request %d: %+v, want %v", i, v, want)
		}
	}
	if l := b.level("global-default"); len(got) != 3 || l.Taken != 0 || l.Waiting != 0 {
		t.Errorf("%d answers, %+v", len(got), l)
	}
}

func TestWhoWaitsTooLongIsRefused(t *testing.T) {
	b := newBench(t, 12)
	var late Verdict
	b.ask(b.all, list("jane"), 1, time.Minute, func(Verdict) {})
	b.ask(b.all, list("jane"), 1, time.Second, func(v Verdict) { late = v })
	b.run(16 * time.Second)
	if late.Refused != "time-out" || late.Waited != WaitLimit {
		t.Errorf("%+v", late)
	}
	if want := "level global-default by schema global-default, flow jane: no seat came free within 15s"; late.Words() != want {
		t.Errorf("%q, want %q", late.Words(), want)
	}
	if l := b.level("global-default"); l.Waiting != 0 || l.Refused != 1 {
		t.Errorf("%+v", l)
	}
}

func TestAFullQueueAndALevelWithoutOneRefuseAtOnce(t *testing.T) {
	b := newBench(t, 12)
	count := map[string]int{}
	for range 400 { // one flow has a hand of 6 queues of 50
		b.ask(b.all, list("jane"), 1, time.Hour, func(v Verdict) { count[v.Refused]++ })
	}
	b.ask(b.all, Attributes{User: kubeapi.User{Name: "odd"}}, 1, time.Hour, func(v Verdict) { count[v.Refused]++ })
	b.ask(b.all, Attributes{User: kubeapi.User{Name: "odd"}}, 1, time.Hour, func(v Verdict) { count[v.Refused]++ })
	b.run(time.Second)
	if count["queue-full"] != 400-1-300 || count["concurrency-limit"] != 1 {
		t.Errorf("%v", count)
	}
}

func TestANoisyFlowWaitsForItself(t *testing.T) {
	b := newBench(t, 12)
	var noisy, quiet []time.Duration
	for range 100 {
		b.ask(b.all, list("noisy"), 1, 50*time.Millisecond, func(v Verdict) { noisy = append(noisy, v.Waited) })
	}
	b.run(time.Second)
	b.ask(b.all, list("quiet"), 1, 50*time.Millisecond, func(v Verdict) { quiet = append(quiet, v.Waited) })
	b.run(20 * time.Second)
	if len(quiet) != 1 || quiet[0] > (6+1)*50*time.Millisecond { // a round of the queues of the noisy one's hand and its own
		t.Errorf("the quiet one waited %v", quiet)
	}
	if len(noisy) != 100 || slices.Max(noisy) < 4*time.Second {
		t.Errorf("%d answers, the longest wait %v", len(noisy), slices.Max(noisy))
	}
}

func TestSeatsThatALevelDoesNotNeedAreLent(t *testing.T) {
	b := newBench(t, Seats)
	for i := range 200 {
		u := fmt.Sprintf("user-%d", i)
		b.loop.Spawn(b.all, u, func(p *sim.Proc) {
			for range 40 {
				_, leave := b.c.Enter(p, list(u), 1, time.Minute)
				p.Sleep(time.Second)
				leave()
			}
		})
	}
	b.run(5 * time.Second)
	if l := b.level("global-default"); l.Taken != 49 || l.Waiting != 151 {
		t.Errorf("before: %+v", l)
	}
	b.run(10 * time.Second)
	sum, over := 0, 0
	for _, l := range b.c.Levels() {
		sum += l.Current
		over += l.Nominal
	}
	if l := b.level("global-default"); l.Taken != 200 || l.Waiting != 0 {
		t.Errorf("after: %+v", l)
	}
	if d := over - sum; d < -len(levels) || d > len(levels) { // each is rounded
		t.Errorf("%d seats are shared, there are %d", sum, over)
	}
	if l := b.level("leader-election"); l.Current < l.Nominal {
		t.Errorf("leader election lends nothing: %+v", l)
	}
}

func TestWhoseProcessEndsLeavesNoTrace(t *testing.T) {
	b := newBench(t, 12)
	g := b.loop.NewGroup("short")
	answered := 0
	for range 5 {
		b.ask(g, list("jane"), 1, time.Minute, func(Verdict) { answered++ })
	}
	b.run(time.Second)
	b.loop.Post(g.Kill)
	b.run(time.Second)
	if l := b.level("global-default"); l.Taken != 0 || l.Waiting != 0 || answered != 0 {
		t.Errorf("%+v, %d answered", l, answered)
	}
}

// Whatever comes and goes: never more seats than there are, nobody waits while there is room for him, and at the end nothing is left.
func TestSeatsAddUpInAnyOrder(t *testing.T) {
	for seed := range uint64(40) {
		b := newBench(t, 60)
		rng := rand.New(rand.NewPCG(seed, 7))
		answers := 0
		for range 300 {
			a, seats, takes := list(fmt.Sprintf("user-%d", rng.IntN(5))), 1+rng.IntN(4), time.Duration(rng.IntN(400))*time.Millisecond
			b.loop.After(time.Duration(rng.IntN(20_000))*time.Millisecond, func() { b.ask(b.all, a, seats, takes, func(Verdict) { answers++ }) })
		}
		for range 200 {
			b.run(200 * time.Millisecond)
			for _, s := range b.c.order {
				if s.taken > max(s.limit, s.nominal) || s.waiting > 0 && s.taken == 0 {
					t.Fatalf("seed %d, %s: %d of %d seats taken, %d wait", seed, s.level.name, s.taken, s.limit, s.waiting)
				}
			}
		}
		for _, s := range b.c.order {
			if s.taken != 0 || s.waiting != 0 || s.wanted != 0 {
				t.Errorf("seed %d, %s: %d taken, %d wait for %d seats at the end", seed, s.level.name, s.taken, s.waiting, s.wanted)
			}
		}
		if answers != 300 {
			t.Errorf("seed %d: %d answers", seed, answers)
		}
	}
}

func TestAHandHasNoQueueTwice(t *testing.T) {
	s := newQueueSet(leaderElection, 10, time.Time{})
	seen := map[*queue]bool{}
	for i := range uint64(5000) {
		h := i * 0x9e3779b97f4a7c15
		q := s.deal(h)
		seen[q] = true
		// All of the hand but one are made busy: the free one must be found.
		for range s.level.hand - 1 {
			s.deal(h).taken++
		}
		last := s.deal(h)
		if last.taken != 0 {
			t.Fatalf("hash %x: a hand of fewer than %d queues", h, s.level.hand)
		}
		for j := range s.queues {
			s.queues[j].taken = 0
		}
	}
	if len(seen) != leaderElection.queues {
		t.Errorf("%d queues of %d are ever dealt", len(seen), leaderElection.queues)
	}
}

func TestFairSharesAddUpAndKeepTheLeast(t *testing.T) {
	least, target := []float64{10, 50, 5}, []float64{100, 1, 20}
	f := fairShare(120, least, target)
	sum := 0.0
	for i := range least {
		sum += max(least[i], f*target[i])
	}
	if math.Abs(sum-120) > 1e-6 || f*target[1] > least[1] {
		t.Errorf("factor %v, sum %v", f, sum)
	}
}

func BenchmarkEnter(b *testing.B) {
	l := sim.New(sim.Options{Start: time.Unix(0, 0), Seed: 1, Rate: sim.Unpaced})
	c := New(Seats, l.Now)
	a := Attributes{User: kubeapi.ServiceAccount("kube-system", "replicaset-controller"), Verb: "create", Resource: "pods", Namespace: "shop"}
	b.ReportAllocs()
	for b.Loop() {
		_, leave := c.Enter(nil, a, 1, WaitLimit)
		leave()
	}
}
