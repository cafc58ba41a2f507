package simnet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/sim"
)

var (
	start  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	client = Addr{"w1", "kubelet"}
	server = Addr{"m1", "apiserver"}
	proxy  = Addr{"lb", "balancer"}
)

// site is a network of a client, a server and a proxy, all up.
type site struct {
	*Net
	l          *sim.Loop
	t          testing.TB
	cg, sg, pg *sim.Group
	nextFault  uint64
	served     int
}

func newSite(t testing.TB, seed uint64) *site {
	l := sim.New(sim.Options{Start: start, Seed: seed, Rate: sim.Unpaced})
	s := &site{Net: New(l), l: l, t: t, cg: l.NewGroup("client"), sg: l.NewGroup("server"), pg: l.NewGroup("proxy")}
	for _, h := range []string{"w1", "m1", "lb"} {
		s.SetHost(h, true)
	}
	s.Listen(server, s.sg)
	s.Listen(proxy, s.pg)
	return s
}

func (s *site) run(d time.Duration) {
	s.t.Helper()
	if err := s.l.RunUntil(s.t.Context(), s.l.Now().Add(d)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) fault(f fault.Fault) uint64 {
	s.nextFault++
	s.AddFault(event.Seq(s.nextFault), f)
	return s.nextFault
}

func (s *site) heal() { s.RemoveFaults(func(fault.Active) bool { return true }) }

func (s *site) cut() uint64 {
	return s.fault(fault.Fault{Kind: fault.Cut, A: "w1", B: fault.All})
}

// at runs fn some time from the start.
func (s *site) at(d time.Duration, fn func()) { s.l.At(start.Add(d), fn) }

func TestCallsEndAsTheNetworkHasIt(t *testing.T) {
	for _, c := range []struct {
		name     string
		setup    func(*site)
		work     time.Duration // of the server
		timeout  time.Duration
		err      error
		from, to time.Duration // the call ends between these
		served   int
	}{
		{"all is well", func(*site) {}, time.Second, 10 * time.Second, nil, time.Second, time.Second + 2*latencyMax, 1},
		{"nobody listens", func(s *site) { s.Close(server) }, 0, 10 * time.Second, ErrRefused, latencyMin, latencyMax, 0},
		{"the server is off", func(s *site) { s.SetHost("m1", false) }, 0, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 0},
		{"the client is off", func(s *site) { s.SetHost("w1", false) }, 0, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 0},
		{"the link is cut", func(s *site) { s.cut() }, 0, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 0},
		{"the link heals in time", func(s *site) { s.cut(); s.at(3*time.Second, s.heal) }, 0, 10 * time.Second, nil, 3 * time.Second, 7 * time.Second, 1},
		{"the server takes too long", func(*site) {}, time.Minute, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 1},
		{"the server dies at work", func(s *site) { s.at(time.Second, s.sg.Kill) }, time.Minute, 10 * time.Second, ErrReset, time.Second, time.Second, 1},
		{"its machine goes off with it", func(s *site) { s.at(time.Second, func() { s.SetHost("m1", false); s.sg.Kill() }) }, time.Minute, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 1},
		{"it goes off and comes back", func(s *site) {
			s.at(time.Second, func() { s.SetHost("m1", false); s.sg.Kill() })
			s.at(4*time.Second, func() { s.SetHost("m1", true) })
		}, time.Minute, 10 * time.Second, ErrReset, 4 * time.Second, 4 * time.Second, 1},
		{"the server dies behind a cut: nobody hears", func(s *site) {
			s.at(time.Second, func() { s.cut(); s.sg.Kill() })
		}, time.Minute, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 1},
		{"the server dies behind a cut that heals", func(s *site) {
			s.at(time.Second, func() { s.cut(); s.sg.Kill() })
			s.at(5*time.Second, s.heal)
		}, time.Minute, 10 * time.Second, ErrReset, 5 * time.Second, 5 * time.Second, 1},
		{"only the answer is lost: the work is done", func(s *site) {
			s.fault(fault.Fault{Kind: fault.Cut, A: "m1", B: "w1", OneWay: true})
		}, 0, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 1},
		{"a slow link", func(s *site) {
			s.fault(fault.Fault{Kind: fault.Delay, A: "m1", B: "w1", Duration: 300 * time.Millisecond})
		}, 0, 10 * time.Second, nil, 600 * time.Millisecond, 600*time.Millisecond + 2*latencyMax, 1},
		{"slower than the timeout", func(s *site) {
			s.fault(fault.Fault{Kind: fault.Delay, A: "m1", B: "w1", Duration: time.Minute})
		}, 0, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 0},
		{"the server goes off while the request is under way", func(s *site) {
			s.fault(fault.Fault{Kind: fault.Delay, A: "m1", B: "w1", Duration: 2 * time.Second})
			s.at(time.Second, func() { s.SetHost("m1", false); s.sg.Kill() })
		}, 0, 10 * time.Second, ErrTimeout, 10 * time.Second, 10 * time.Second, 0},
		{"no limit: the keep-alive gives a dead link up", func(s *site) { s.cut(); s.at(time.Hour, s.heal) }, 0, -1, ErrTimeout, keepAlive, keepAlive, 0},
		{"no limit: a slow server has all the time it needs", func(s *site) {}, time.Hour, -1, nil, time.Hour, time.Hour + time.Second, 1},
		{"a cut while the server works, shorter than the keep-alive", func(s *site) { s.at(time.Second, func() { s.cut() }); s.at(40*time.Second, s.heal) }, time.Minute, -1, nil, time.Minute, time.Minute + time.Second, 1},
		{"a cut while the server works, longer than the keep-alive", func(s *site) { s.at(time.Second, func() { s.cut() }) }, time.Minute, -1, ErrTimeout, time.Second + keepAlive, time.Second + keepAlive, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, 1)
			var err error
			ended := time.Duration(-1)
			s.l.Spawn(s.cg, "caller", func(p *sim.Proc) {
				p.Cause = 77
				var v int
				v, err = Call(p, s.Net, client, server, c.timeout, func(sp *sim.Proc) int {
					s.served++
					if sp.Cause != 77 || sp.Group() != s.sg {
						t.Errorf("served with cause %d in %s", sp.Cause, sp.Group().Name())
					}
					sp.Sleep(c.work)
					return 42
				})
				ended = p.Now().Sub(start)
				if err == nil && v != 42 {
					t.Errorf("the answer is %d", v)
				}
			})
			c.setup(s)
			s.run(3 * time.Hour)
			if !errors.Is(err, c.err) || ended < c.from || ended > c.to || s.served != c.served {
				t.Errorf("error %v after %v, served %d times; want %v between %v and %v, %d", err, ended, s.served, c.err, c.from, c.to, c.served)
			}
		})
	}
}

func TestLostRequestsAreSentAgainWithGrowingPauses(t *testing.T) {
	ok, total := 0, time.Duration(0)
	for seed := range uint64(200) {
		s := newSite(t, seed)
		s.fault(fault.Fault{Kind: fault.Loss, A: "w1", B: "m1", Percent: 30})
		s.l.Spawn(s.cg, "caller", func(p *sim.Proc) {
			if _, err := Call(p, s.Net, client, server, 30*time.Second, func(*sim.Proc) int { return 1 }); err == nil {
				ok++
				total += p.Now().Sub(start)
			}
		})
		s.run(time.Minute)
	}
	if ok < 198 || total/200 < 50*time.Millisecond || total/200 > time.Second {
		t.Errorf("%d of 200 calls got through, taking %v on average", ok, total/200)
	}
}

// receive logs what a client gets until the stream ends.
func (s *site) receive(st *Stream[int]) *[]string {
	var log []string
	s.l.Spawn(s.cg, "reader", func(p *sim.Proc) {
		for {
			v, err := st.Recv(p)
			if err != nil {
				log = append(log, fmt.Sprint(p.Now().Sub(start).Round(time.Second), " ", err))
				return
			}
			log = append(log, fmt.Sprint(p.Now().Sub(start).Round(time.Second), " ", v))
		}
	})
	return &log
}

func TestStreamsCarryWhatTheLinkCarries(t *testing.T) {
	for _, c := range []struct {
		name string
		via  *Addr
		tell func(*site, *Stream[int])
		want []string
	}{
		{"values in order", nil, func(s *site, st *Stream[int]) {
			st.Send(1)
			st.Send(2)
			s.at(time.Second, func() { st.Send(3) })
		}, []string{"0s 1", "0s 2", "1s 3"}},
		{"a short cut delays", nil, func(s *site, st *Stream[int]) {
			s.at(time.Second, func() { s.cut(); st.Send(1) })
			s.at(5*time.Second, func() { st.Send(2) })
			s.at(20*time.Second, s.heal)
			s.at(25*time.Second, func() { st.Send(3) })
		}, []string{"20s 1", "20s 2", "25s 3"}},
		{"a long cut breaks it after the keep-alive", nil, func(s *site, st *Stream[int]) {
			s.at(10*time.Second, func() { s.cut(); st.Send(1) })
			s.at(2*time.Minute, s.heal)
		}, []string{"55s i/o timeout"}},
		{"two short cuts are not one long one", nil, func(s *site, st *Stream[int]) {
			s.at(time.Second, func() { s.cut() })
			s.at(41*time.Second, s.heal)
			s.at(42*time.Second, func() { s.cut() })
			s.at(82*time.Second, func() { s.heal(); st.Send(1) })
		}, []string{"1m22s 1"}},
		{"a cut one way breaks it too", nil, func(s *site, st *Stream[int]) {
			s.at(time.Second, func() { s.fault(fault.Fault{Kind: fault.Cut, A: "w1", B: "m1", OneWay: true}) })
		}, []string{"46s i/o timeout"}},
		{"the server process dies", nil, func(s *site, st *Stream[int]) {
			s.at(7*time.Second, s.sg.Kill)
		}, []string{"7s connection reset by peer"}},
		{"the server's machine goes off", nil, func(s *site, st *Stream[int]) {
			s.at(5*time.Second, func() { s.SetHost("m1", false); s.sg.Kill() })
		}, []string{"50s i/o timeout"}},
		{"it comes back before the keep-alive and knows nothing", nil, func(s *site, st *Stream[int]) {
			s.at(5*time.Second, func() { s.SetHost("m1", false); s.sg.Kill() })
			s.at(15*time.Second, func() { s.SetHost("m1", true) })
		}, []string{"15s connection reset by peer"}},
		{"the server ends it in order: the last value still arrives", nil, func(s *site, st *Stream[int]) {
			s.at(time.Second, func() { st.Send(1); st.Close(io.ErrClosedPipe) })
		}, []string{"1s 1", "1s io: read/write on closed pipe"}},
		{"ended without a reason", nil, func(s *site, st *Stream[int]) {
			s.at(time.Second, func() { st.Close(nil); st.Close(ErrReset); st.Send(5) })
		}, []string{"1s EOF"}},
		{"a slow link", nil, func(s *site, st *Stream[int]) {
			s.fault(fault.Fault{Kind: fault.Delay, A: "m1", B: "w1", Duration: 3 * time.Second})
			st.Send(1)
		}, []string{"3s 1"}},
		{"a link that loses everything is as good as cut", nil, func(s *site, st *Stream[int]) {
			s.fault(fault.Fault{Kind: fault.Loss, A: "m1", B: "w1", Percent: 100})
			st.Send(1)
		}, []string{"45s i/o timeout"}},

		{"through a proxy", &proxy, func(s *site, st *Stream[int]) { st.Send(1) }, []string{"0s 1"}},
		{"through a proxy the direct link does not matter", &proxy, func(s *site, st *Stream[int]) {
			s.fault(fault.Fault{Kind: fault.Cut, A: "m1", B: "w1"})
			st.Send(1)
		}, []string{"0s 1"}},
		{"a slow leg behind the proxy", &proxy, func(s *site, st *Stream[int]) {
			s.fault(fault.Fault{Kind: fault.Delay, A: "m1", B: "lb", Duration: 2 * time.Second})
			st.Send(1)
		}, []string{"2s 1"}},
		{"the leg behind the proxy is cut", &proxy, func(s *site, st *Stream[int]) {
			s.fault(fault.Fault{Kind: fault.Cut, A: "m1", B: "lb"})
			st.Send(1)
		}, []string{"45s i/o timeout"}},
		{"the proxy's program dies", &proxy, func(s *site, st *Stream[int]) {
			s.at(3*time.Second, s.pg.Kill)
		}, []string{"3s connection reset by peer"}},
		{"the proxy's machine goes off", &proxy, func(s *site, st *Stream[int]) {
			s.at(3*time.Second, func() { s.SetHost("lb", false); s.pg.Kill() })
		}, []string{"48s i/o timeout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, 1)
			closed := 0
			st := Open[int](s.Net, server, client, c.via, s.sg)
			st.OnClose(func() { closed++ })
			log := s.receive(st)
			c.tell(s, st)
			s.run(5 * time.Minute)
			if !slices.Equal(*log, c.want) {
				t.Errorf("got %q, want %q", *log, c.want)
			}
			if ended := !strings.ContainsAny(c.want[len(c.want)-1][len(c.want[len(c.want)-1])-1:], "0123456789"); st.Closed() != ended || (closed == 1) != ended {
				t.Errorf("closed %v, told %d times", st.Closed(), closed)
			}
		})
	}
}

func TestLawAStreamKeepsOrderAndLosesNothingWhileItLives(t *testing.T) {
	for seed := range uint64(60) {
		s := newSite(t, seed)
		rng := s.l.Rand("test")
		st := Open[int](s.Net, server, client, nil, s.sg)
		sent, got := 0, 0
		s.l.Spawn(s.sg, "sender", func(p *sim.Proc) {
			for !st.Closed() {
				st.Send(sent)
				sent++
				p.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
			}
		})
		s.l.Spawn(s.cg, "reader", func(p *sim.Proc) {
			for {
				v, err := st.Recv(p)
				if err != nil {
					return
				}
				if v != got {
					t.Fatalf("seed %d: value %d where %d was to come", seed, v, got)
				}
				got++
			}
		})
		s.l.Spawn(s.cg, "weather", func(p *sim.Proc) {
			for p.Now().Sub(start) < 10*time.Minute {
				f := fault.Fault{Kind: []fault.Kind{fault.Cut, fault.Delay, fault.Loss}[rng.IntN(3)], A: "w1", B: "m1", Duration: time.Duration(rng.IntN(3000)) * time.Millisecond, Percent: 20}
				s.fault(f)
				p.Sleep(time.Duration(rng.IntN(20)) * time.Second)
				s.heal()
				p.Sleep(time.Duration(rng.IntN(20)) * time.Second)
			}
		})
		s.run(11 * time.Minute)
		last := sent
		s.run(time.Minute)
		if st.Closed() || got < last || last < 1000 {
			t.Fatalf("seed %d: sent %d, got %d, closed %v: cuts were shorter than the keep-alive", seed, last, got, st.Closed())
		}
	}
}

func TestVerdictsNameTheirCause(t *testing.T) {
	s := newSite(t, 1)
	if v := s.Verdict(client, server); v.Drop || v.Refuse || v.Cause != 0 || v.Delay < latencyMin || v.Delay > latencyMax {
		t.Errorf("a healthy link: %+v", v)
	}
	slow := s.fault(fault.Fault{Kind: fault.Delay, A: "w1", B: "m1", Duration: time.Second})
	if v := s.Verdict(client, server); v.Cause != event.Seq(slow) || v.Delay < time.Second {
		t.Errorf("a slow link: %+v", v)
	}
	cut := s.cut()
	if v := s.Verdict(client, server); !v.Drop || v.Cause != event.Seq(cut) || s.Silenced(client, server) != event.Seq(cut) || s.Reachable(client, server) {
		t.Errorf("a slow link that is cut: %+v, silenced by %d", v, s.Silenced(client, server))
	}
	s.heal()
	if v := s.Verdict(client, server); v.Drop || v.Cause != 0 || s.Silenced(client, server) != 0 || len(s.Faults()) != 0 {
		t.Errorf("healed: %+v", v)
	}
}

func TestTheTableForOtherGoroutinesSaysTheSameAndIsFrozen(t *testing.T) {
	s := newSite(t, 1)
	before := s.Table()
	check := func(when string, tb *Table, drop, refuse bool) {
		t.Helper()
		if v := tb.Verdict(client, server, 0.5); v.Drop != drop || v.Refuse != refuse {
			t.Errorf("%s: %+v", when, v)
		}
	}
	check("all up", before, false, false)
	s.Close(server)
	check("closed", s.Table(), false, true)
	s.SetHost("m1", false)
	check("off", s.Table(), true, false)
	s.SetHost("m1", true)
	s.Listen(server, s.sg)
	s.fault(fault.Fault{Kind: fault.Loss, A: "w1", B: "m1", Percent: 60})
	check("loses six of ten", s.Table(), true, false)
	if v := s.Table().Verdict(client, server, 0.7); v.Drop {
		t.Error("0.7 is beyond 60 percent")
	}
	s.sg.Kill()
	s.heal()
	check("its program died", s.Table(), false, true)
	check("the first picture has not changed", before, false, false)
}

func TestFaultsOfTheStoresMessagesLeaveCallsAloneAndHeal(t *testing.T) {
	s := newSite(t, 1)
	for _, f := range []fault.Fault{{Kind: fault.Duplicate, A: "w1", B: "m1", Percent: 100}, {Kind: fault.Reorder, A: "w1", B: "m1", Percent: 100}, {Kind: fault.Clog, A: "w1", B: "m1", OneWay: true}} {
		s.fault(f)
	}
	if v := s.Verdict(client, server); v.Drop || v.Refuse || v.Cause != 0 || v.Delay > latencyMax {
		t.Errorf("a packet of the API: %+v", v)
	}
	if v, m := s.Table().Message(client, server, 0.5); v != (Verdict{}) || m.Duplicate != 100 || m.Reorder != 100 || !m.Clog {
		t.Errorf("a message: %+v, %+v", v, m)
	}
	if _, m := s.Table().Message(server, client, 0.5); m.Duplicate != 100 || m.Clog {
		t.Errorf("a message the other way: %+v", m)
	}
	s.heal()
	if _, m := s.Table().Message(client, server, 0.5); m != (fault.Messages{}) {
		t.Errorf("after healing: %+v", m)
	}
}

func TestListeningInADeadProgramIsRefused(t *testing.T) {
	s := newSite(t, 1)
	s.sg.Kill()
	s.Listen(server, s.sg)
	if s.Listening(server) {
		t.Error("a dead program listens")
	}
	again := s.l.NewGroup("server again")
	s.Listen(server, again)
	s.sg.Kill()
	if !s.Listening(server) {
		t.Error("the old program's end took the new one's place away")
	}
}

func TestEndedCallsAndStreamsAreForgotten(t *testing.T) {
	s := newSite(t, 1)
	s.l.Spawn(s.cg, "caller", func(p *sim.Proc) {
		for range 2000 {
			Call(p, s.Net, client, server, time.Second, func(*sim.Proc) int { return 1 })
			Open[int](s.Net, server, client, nil, s.sg).Close(io.EOF)
		}
	})
	s.run(time.Hour)
	if n := len(s.open.list) + len(s.openOn["m1"].list); n > 300 {
		t.Errorf("%d are still listed", n)
	}
}

func BenchmarkCall(b *testing.B) {
	s := newSite(b, 1)
	b.ReportAllocs()
	s.l.Spawn(s.cg, "caller", func(p *sim.Proc) {
		for range b.N {
			Call(p, s.Net, client, server, time.Second, func(*sim.Proc) int { return 1 })
		}
		s.l.Halt()
	})
	s.l.Run(b.Context())
}

// Starting 5,000 machines, each with a kubelet that listens and has three watches open to one master.
func BenchmarkStartOf5000Machines(b *testing.B) {
	for range b.N {
		s := newSite(b, 1)
		for i := range 5000 {
			h := fmt.Sprint("worker-", i)
			g := s.l.NewGroup(h)
			s.SetHost(h, true)
			s.Listen(Addr{h, "kubelet"}, g)
			for range 3 {
				Open[int](s.Net, server, Addr{h, "kubelet"}, nil, s.sg)
			}
		}
	}
}
