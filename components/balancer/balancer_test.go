package balancer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var self = simnet.Addr{Host: "balancer", Process: "haproxy"}

// site is three masters with a server each, and the balancer.
type site struct {
	t       *testing.T
	loop    *sim.Loop
	net     *simnet.Net
	journal *journal.Journal
	servers map[string]*server
	balance *Balancer
	clients int
}

type server struct {
	addr  simnet.Addr
	group *sim.Group
	ready bool
}

func newSite(t *testing.T) *site {
	s := &site{t: t, loop: sim.New(sim.Options{Start: start, Rate: sim.Unpaced, Seed: 1}), servers: map[string]*server{}}
	s.net = simnet.New(s.loop)
	s.journal = journal.New(journal.Options{Now: s.loop.Now})
	s.net.SetHost("balancer", true)
	s.net.SetHost("clients", true)
	for _, h := range []string{"master-1", "master-2", "master-3"} {
		s.net.SetHost(h, true)
		s.start(h)
	}
	s.balance = Start(Config{Loop: s.loop, Net: s.net, Sink: s.journal, Group: s.loop.NewGroup("balancer/haproxy"), Addr: self, Backends: s.backends,
		Silenced: func(host string) event.Seq {
			return s.net.Silenced(simnet.Addr{Host: host, Process: "apiserver"}, self)
		}})
	return s
}

func (s *site) start(host string) {
	v := &server{addr: simnet.Addr{Host: host, Process: "apiserver"}, group: s.loop.NewGroup(host + "/apiserver"), ready: true}
	s.net.Listen(v.addr, v.group)
	s.servers[host] = v
}

func (s *site) backends() []Backend {
	var out []Backend
	for _, h := range []string{"master-1", "master-2", "master-3"} {
		if v := s.servers[h]; v != nil {
			out = append(out, Backend{Host: h, Endpoint: kubeapi.Endpoint{Addr: v.addr}, Ready: func(*sim.Proc) (bool, string) {
				return v.ready, "readyz: etcd failed"
			}})
		}
	}
	return out
}

func (s *site) kill(host string) {
	s.servers[host].group.Kill()
	delete(s.servers, host)
}

func (s *site) run(d time.Duration) { s.loop.RunUntil(context.Background(), s.loop.Now().Add(d)) }

// connect makes a new client program connect; it names the server's host, or the error.
func (s *site) connect() (string, *sim.Group) {
	s.clients++
	g := s.loop.NewGroup(fmt.Sprintf("clients/%d", s.clients))
	got := "no answer"
	s.loop.Spawn(g, "connect", func(p *sim.Proc) {
		ep, err := s.balance.Pick(p)
		if got = ep.Addr.Host; err != nil {
			got = err.Error()
		}
	})
	s.run(50 * time.Millisecond)
	return got, g
}

// changes tells what the health checks decided, with seconds since the start.
func (s *site) changes() []string {
	recs, _ := s.journal.Read(nil, 1, 1000)
	var out []string
	for _, r := range recs {
		if e, ok := r.Event.(event.BackendChanged); ok {
			out = append(out, fmt.Sprintf("%.0fs %s %v %s", r.At.Sub(start).Seconds(), e.Backend, e.Healthy, e.Reason))
		}
	}
	return out
}

func (s *site) expect(what string, got, want []string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Fatalf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestOneSuccessfulProbeIsEnoughAtTheStart(t *testing.T) {
	s := newSite(t)
	if got, _ := s.connect(); got == "no answer" {
		t.Fatal("the first connection hangs")
	}
	s.run(100 * time.Millisecond)
	s.expect("healthy", s.balance.Healthy(), []string{"master-1", "master-2", "master-3"})
}

func TestConnectionsGoInTurnAndThenToTheEmptiest(t *testing.T) {
	s := newSite(t)
	s.run(time.Second)
	var got []string
	var groups []*sim.Group
	for range 6 {
		host, g := s.connect()
		got, groups = append(got, host), append(groups, g)
	}
	s.expect("six connections", got, []string{"master-1", "master-2", "master-3", "master-1", "master-2", "master-3"})
	groups[1].Kill()
	groups[4].Kill()
	a, _ := s.connect()
	b, _ := s.connect()
	s.expect("after both clients of master-2 ended", []string{a, b}, []string{"master-2", "master-2"})
}

func TestAProgramThatConnectsAgainGivesUpItsOldConnection(t *testing.T) {
	s := newSite(t)
	s.run(time.Second)
	g := s.loop.NewGroup("clients/again")
	s.loop.Spawn(g, "connect", func(p *sim.Proc) {
		for range 4 {
			s.balance.Pick(p)
		}
	})
	s.run(time.Second)
	total := 0
	for _, h := range s.balance.Healthy() {
		total += s.balance.Connections(h)
	}
	if total != 1 {
		t.Fatalf("%d connections are counted for one program", total)
	}
}

func TestABackendThatSaysItIsNotReadyGoesOutAfterTwoProbesAndComesBackAfterTwo(t *testing.T) {
	s := newSite(t)
	s.run(5 * time.Second)
	s.servers["master-2"].ready = false
	s.run(10 * time.Second)
	s.servers["master-2"].ready = true
	s.run(10 * time.Second)
	s.expect("changes", s.changes()[3:], []string{"8s master-2 false readyz: etcd failed", "18s master-2 true "})
}

func TestAKilledServerIsLeftOutAtOnceAndAnnouncedAfterItsSecondFailure(t *testing.T) {
	s := newSite(t)
	s.run(5 * time.Second)
	s.kill("master-1")
	var got []string
	for range 2 {
		host, _ := s.connect()
		got = append(got, host)
	}
	s.expect("connections right after the kill", got, []string{"master-2", "master-3"})
	s.run(10 * time.Second)
	s.start("master-1")
	s.run(10 * time.Second)
	s.expect("changes", s.changes()[3:], []string{"8s master-1 false connect: connection refused", "18s master-1 true "})
}

func TestARefusedConnectCountsAsAFailure(t *testing.T) {
	s := newSite(t)
	s.run(5 * time.Second)
	s.servers["master-1"].group.Kill() // still configured, nobody listens
	for range 2 {
		s.connect()
		s.connect()
	}
	s.expect("changes", s.changes()[3:], []string{"5s master-1 false connect: connection refused"})
}

func TestACutOffBackendGoesOutAndNamesTheCut(t *testing.T) {
	s := newSite(t)
	s.run(5 * time.Second)
	cut := s.journal.Emit(event.You, 0, event.FaultAdded{})
	s.net.AddFault(cut, fault.Fault{Kind: fault.Cut, A: "balancer", B: "master-3"})
	s.run(10 * time.Second)
	s.expect("changes", s.changes()[3:], []string{"10s master-3 false i/o timeout"})
	rec, _ := s.journal.Get(s.journal.Last())
	if rec.Cause != cut {
		t.Fatalf("the change's cause is record %d, not the cut (%d)", rec.Cause, cut)
	}
	host, _ := s.connect()
	if host == "master-3" {
		t.Fatal("a connection went to the backend that is out")
	}
}

func TestWithoutAHealthyBackendConnectionsAreTakenAndClosed(t *testing.T) {
	s := newSite(t)
	s.run(5 * time.Second)
	for _, h := range []string{"master-1", "master-2", "master-3"} {
		s.servers[h].ready = false
	}
	s.run(5 * time.Second)
	if got, _ := s.connect(); got != io.EOF.Error() {
		t.Fatalf("got %q", got)
	}
}

func TestABalancerThatIsDownRefusesAndOneWhoseMachineIsOffTimesOut(t *testing.T) {
	s := newSite(t)
	s.run(5 * time.Second)
	s.balance.cfg.Group.Kill()
	if got, _ := s.connect(); got != simnet.ErrRefused.Error() {
		t.Fatalf("process down: got %q", got)
	}
	s.net.SetHost("balancer", false)
	var err error
	began := s.loop.Now()
	var took time.Duration
	s.loop.Spawn(s.loop.NewGroup("clients/late"), "connect", func(p *sim.Proc) { _, err = s.balance.Pick(p); took = p.Now().Sub(began) })
	s.run(time.Minute)
	if !errors.Is(err, simnet.ErrTimeout) || took != dialTimeout {
		t.Fatalf("machine off: %v after %v", err, took)
	}
}

func TestTheSameSeedGivesTheSameChoices(t *testing.T) {
	play := func() []string {
		s := newSite(t)
		var got []string
		for i := range 20 {
			if i == 7 {
				s.kill("master-2")
			}
			host, _ := s.connect()
			got = append(got, host)
			s.run(time.Second)
		}
		return append(got, s.changes()...)
	}
	a, b := play(), play()
	if !slices.Equal(a, b) {
		t.Fatalf("two runs differ:\n%q\n%q", a, b)
	}
}

func BenchmarkPick(b *testing.B) {
	s := newSite(&testing.T{})
	s.run(time.Second)
	b.ReportAllocs()
	s.loop.Spawn(s.loop.NewGroup("clients/bench"), "connect", func(p *sim.Proc) {
		for range b.N {
			s.balance.Pick(p)
		}
		s.loop.Halt()
	})
	s.loop.Run(context.Background())
}
