package acceptance

import (
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
)

// TestALeaderInTheMinorityAcceptsNothing (fidelity STO-5): it steps down, the others elect one, and what its API server is asked for meanwhile is never acknowledged.
func TestALeaderInTheMinorityAcceptsNothing(t *testing.T) {
	t.Parallel()
	for seed, preset := range []string{"ha", "ha", "five"} {
		t.Run(fmt.Sprint(preset, " seed ", seed), func(t *testing.T) {
			besides(t, engine.StoreRaft)
			s := inStages(t, run{store: engine.StoreRaft, seed: uint64(seed), preset: preset}, "")
			s.to(time.Minute)
			was, ok := s.world().Leader()
			if !ok {
				t.Fatal("nobody leads")
			}
			old := was.Name
			var others string
			for _, m := range s.world().Header.Masters {
				if m != old {
					others += "," + m
				}
			}
			// Its own machine goes with it, and no other: the balancer still reaches both sides.
			s.must("partition " + old + " | " + others[1:])
			cut := s.now()
			s.to(cut + 30*time.Second)
			now, ok := s.world().Leader()
			if !ok || now.Name == old {
				t.Errorf("the old leader is %s, and the leader of the majority is %+v", old, now)
			}
			s.must("create deployment majority --image=nginx --replicas=0")
			s.must("heal")
			s.settled(6, 2*time.Minute)
			p := s.told()
			p.invariants()
			for _, r := range all(p, cut+2*time.Second, func(e event.RequestDone) bool {
				return e.Server == old && e.Code < 300 && e.Revision > 0 && e.Verb != "get" && e.Verb != "list" && e.Verb != "watch"
			}) {
				if p.since(r.At) < cut+30*time.Second {
					t.Errorf("%v: the API server beside the old leader acknowledged %s", p.since(r.At), brief(r.Event))
				}
			}
			if _, e, ok := first(p, cut, func(e event.RaftRole) bool { return e.Member == old && e.Role == "follower" }); !ok {
				t.Errorf("%s did not step down: %+v", old, e)
			}
		})
	}
}

// TestMessagesTwiceLateOrCloggedCostNothingThatWasAcknowledged: the store's own messages suffer, the API's do not, and all heals.
func TestMessagesTwiceLateOrCloggedCostNothingThatWasAcknowledged(t *testing.T) {
	besides(t, engine.StoreRaft)
	s := inStages(t, run{store: engine.StoreRaft, seed: 1}, "")
	s.to(time.Minute)
	s.must("clog master-1 all")
	s.must("duplicate master-1 all 30%")
	s.must("duplicate master-2 master-3 30% oneway")
	s.must("reorder master-1 all 30%")
	s.must("reorder master-3 master-2 30% oneway")
	for i := range 10 {
		s.must(fmt.Sprintf("create deployment suffers-%d --image=nginx --replicas=0", i))
		s.to(s.now() + time.Second)
	}
	s.must("kill master-2")
	s.to(s.now() + 20*time.Second)
	s.must("create deployment without --image=nginx --replicas=0")
	s.must("start master-2")
	s.must("heal")
	s.settled(6, 3*time.Minute)
	s.told().invariants()
}
