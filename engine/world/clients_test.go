package world

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
)

// visits is a random story of clients that come, ask, watch and go, while servers die and answers are lost. Its last records are the going of all.
func visits(seed uint64) []event.Record {
	rng := rand.New(rand.NewPCG(seed, 6))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var out []event.Record
	put := func(cause event.Seq, e event.Event) event.Seq {
		at = at.Add(time.Duration(rng.IntN(50)) * time.Millisecond)
		out = append(out, event.Record{Seq: event.Seq(len(out) + 1), At: at, Actor: "gateway", Cause: cause, Event: e})
		return event.Seq(len(out))
	}
	type guest struct {
		name  event.Actor
		came  event.Seq
		asked []event.Seq
	}
	var here []*guest
	watches := uint64(0)
	for i := range 400 {
		server := fmt.Sprintf("master-%d", rng.IntN(3)+1)
		if len(here) == 0 || rng.IntN(5) == 0 {
			name := event.On(fmt.Sprintf("kubectl-%d", i), "outside")
			here = append(here, &guest{name: name, came: put(0, event.ClientConnected{Client: name, Door: "balancer", User: []string{"admin", "bob"}[rng.IntN(2)]})})
			continue
		}
		n := rng.IntN(len(here))
		g := here[n]
		switch rng.IntN(7) {
		case 0, 1:
			g.asked = append(g.asked, put(g.came, event.RequestReceived{Server: server, Verb: "create", Resource: "pods"}))
		case 2:
			if len(g.asked) > 0 {
				put(g.asked[0], event.RequestDone{Server: server, Code: 200 + 203*rng.IntN(2)})
				g.asked = g.asked[1:]
			}
		case 3:
			put(g.came, event.RequestDone{Server: server, Code: 404})
		case 4:
			watches++
			put(g.came, event.WatchOpened{Server: server, Watch: watches, Resource: "pods", Client: g.name})
			if rng.IntN(2) == 0 {
				put(0, event.WatchClosed{Server: server, Watch: watches, Resource: "pods", Client: g.name, Reason: "the client was too slow"})
			}
		case 5:
			if rng.IntN(4) == 0 {
				put(0, event.ProcessStopped{Host: server, Process: "apiserver", Reason: "killed"})
			}
		default:
			put(g.came, event.ClientGone{Client: g.name})
			here = append(here[:n], here[n+1:]...)
		}
	}
	for _, g := range here {
		put(g.came, event.ClientGone{Client: g.name})
	}
	at = at.Add(2 * ProgramLinger)
	put(0, event.RequestTally{Server: "master-1"})
	return out
}

func TestLawClientsThatCameAndWentLeaveNothing(t *testing.T) {
	for seed := range uint64(40) {
		w := &World{}
		for _, r := range visits(seed) {
			w.Apply(r)
			present := 0
			w.Programs.Scan(func(_ string, p *Program) bool { present += p.Present; return true })
			if present != w.Clients.Len() || present != w.indexes.clients.Len() {
				t.Fatalf("seed %d, record %d: programs have %d clients, the table %d, the index %d", seed, r.Seq, present, w.Clients.Len(), w.indexes.clients.Len())
			}
			w.Clients.Scan(func(seq event.Seq, c *Client) bool {
				n := 0
				w.InFlight(seq, func(event.Seq) bool { n++; return true })
				if n != c.InFlight {
					t.Fatalf("seed %d, record %d: %s has %d requests in flight and says %d", seed, r.Seq, c.Client, n, c.InFlight)
				}
				return true
			})
		}
		if w.Clients.Len()+w.Programs.Len()+w.indexes.clients.Len()+w.indexes.asking.Len()+w.Watches.Len()+w.indexes.watching.Len() != 0 {
			t.Errorf("seed %d: %d clients, %d programs, %d requests, %d watches are left", seed, w.Clients.Len(), w.Programs.Len(), w.indexes.asking.Len(), w.Watches.Len())
		}
	}
}

func TestLawClonesWithClientsNeverChange(t *testing.T) {
	for seed := range uint64(10) {
		all := visits(seed)
		w := fold(&World{}, all[:150])
		c := w.Clone()
		frozen := picture(&c)
		fold(w, all[150:])
		if got := picture(&c); got != frozen {
			t.Fatalf("seed %d: the clone changed with its origin\n%s", seed, firstDifference(frozen, got))
		}
		if got, want := picture(fold(&c, all)), picture(w); got != want {
			t.Fatalf("seed %d: folding on from a clone differs\n%s", seed, firstDifference(want, got))
		}
	}
}

func TestAProgramStaysForAMomentAfterItsLastClient(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &World{}
	w.Apply(event.Record{Seq: 1, At: at, Event: event.ClientConnected{Client: "kubectl-1/outside", Door: "balancer", User: "kubernetes-admin"}})
	w.Apply(event.Record{Seq: 2, At: at, Cause: 1, Event: event.ClientGone{Client: "kubectl-1/outside"}})
	if p, ok := w.Programs.Get("kubectl kubernetes-admin"); !ok || p.Present != 0 || p.Came != 1 {
		t.Errorf("%+v, want a program that was here just now", p)
	}
	w.Apply(event.Record{Seq: 3, At: at.Add(ProgramLinger + 1), Event: event.RequestTally{Server: "master-1"}})
	if w.Programs.Len() != 0 {
		t.Error("it is remembered for good")
	}
}
