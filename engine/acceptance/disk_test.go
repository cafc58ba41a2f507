package acceptance

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
)

// TestABadDiskStopsItsMemberAndNobodyElse: a disk that takes no write is a member that is down until it does; one that is damaged is replaced, but for a write that was torn, which its member does
// without; one that is slow is a member at work. The same on both stores.
func TestABadDiskStopsItsMemberAndNobodyElse(t *testing.T) {
	t.Parallel()
	const (
		works    = iota // all the time
		restarts        // by itself
		mended          // when somebody mends the disk
		lost            // what was on it: the member is replaced
	)
	for _, store := range bothStores() {
		for state, fate := range map[string]int{"full": mended, "readonly": mended, "flaky": restarts, "slow": works, "torn": restarts, "zeroed": lost, "flipped": lost, "cut": lost, "deleted": lost} {
			t.Run(store+" "+state, func(t *testing.T) {
				besides(t, store)
				s := inStages(t, run{store: store, seed: 1}, "")
				s.to(time.Minute)
				s.must("disk master-2 " + state)
				bad := s.now()
				s.to(bad + 20*time.Second)
				s.must("create deployment meanwhile --image=nginx --replicas=0")
				p := s.told()
				changed, d := must(p, "the disk", time.Minute, func(e event.DiskChanged) bool { return e.Member == "master-2" })
				if d.State != state || (d.Delay != 0) != (state == "slow") {
					t.Errorf("the journal says %+v", d)
				}
				ordered := "disk master-2 " + state
				if state == "slow" {
					ordered += " 200ms"
				}
				if c, ok := p.root(changed.Seq).Event.(event.CommandGiven); !ok || c.Text != ordered {
					t.Errorf("%s leads back to %s", brief(d), p.chain(changed.Seq))
				}
				stops := func(e event.ProcessStopped) bool { return e.Host == "master-2" && e.Process == "etcd" }
				if fate == works {
					if r, e, ok := first(p, bad, stops); ok {
						t.Errorf("#%d %s", r.Seq, brief(e))
					}
				} else {
					end, e := must(p, "the end of etcd", time.Minute, stops)
					if c, ok := p.root(end.Seq).Event.(event.CommandGiven); !ok || c.Text != ordered {
						t.Errorf("%s leads back to %s", brief(e), p.chain(end.Seq))
					}
				}
				if r, e, ok := first(p, time.Minute, func(e event.ProcessStopped) bool { return e.Host != "master-2" && e.Process == "etcd" }); ok {
					t.Errorf("#%d %s, whose disk is sound", r.Seq, brief(e))
				}
				if m, _ := s.world().Members.Get("master-2"); state == "flipped" && store == engine.StoreRaft && s.world().MemberUp(m) {
					fate = restarts // the bit was one that nothing depends on
				}
				switch fate {
				case works, mended:
					s.must("disk master-2 ok")
				case lost:
					s.fails("disk master-2 ok", "what is on its disk is "+state+", and no word mends that; to give it a new one: member replace master-2")
					s.fails("disk master-2 full", "to give it a new one: member replace master-2")
					s.must("member replace master-2")
					s.promote("master-2", 3*time.Minute)
				}
				s.settled(6, 7*time.Minute)
				if out := s.must("get deployments"); !strings.Contains(out, "meanwhile") {
					t.Errorf("the API lists\n%s", out)
				}
				s.told().invariants()
			})
		}
	}
}

// TestAMasterKilledAtAFailpointLosesNothing: a member that ends when it has stored an entry and told nobody says where it was, is started again by its kubelet, and has everything that was acknowledged.
func TestAMasterKilledAtAFailpointLosesNothing(t *testing.T) {
	t.Parallel()
	for _, leads := range []bool{true, false} {
		t.Run(fmt.Sprint("leader ", leads), func(t *testing.T) {
			besides(t, engine.StoreRaft)
			s := inStages(t, run{store: engine.StoreRaft, seed: 2}, "")
			s.to(time.Minute)
			s.must("create deployment before --image=nginx --replicas=0")
			leader, ok := s.world().Leader()
			if !ok {
				t.Fatal("nobody leads")
			}
			victim := leader.Name
			if !leads {
				victim = map[string]string{"master-1": "master-2", "master-2": "master-3", "master-3": "master-1"}[leader.Name]
			}
			order := "failpoint " + victim + " after-store-log kill"
			s.must(order)
			stepped := s.now()
			s.do("create deployment meanwhile --image=nginx --replicas=0") // may fail where it went through the member that ends
			s.to(s.now() + 5*time.Second)
			p := s.told()
			trap, _ := must(p, "the trap", time.Minute, func(e event.TrapSprung) bool { return e.Member == victim && e.Point == "after-store-log" })
			end, e := must(p, "the end of etcd", time.Minute, func(e event.ProcessStopped) bool { return e.Host == victim && e.Process == "etcd" })
			if !strings.Contains(e.Message, "stopped by a trap after-store-log") {
				t.Errorf("it says %q", e.Message)
			}
			for _, r := range []event.Record{trap, end} {
				if c, ok := p.root(r.Seq).Event.(event.CommandGiven); !ok || c.Text != order {
					t.Errorf("%s leads back to %s", brief(r.Event), p.chain(r.Seq))
				}
			}
			s.must("create deployment without --image=nginx --replicas=0")
			s.fails("failpoint "+victim+" clear", "no failpoint waits for "+victim)
			s.settled(6, 3*time.Minute)
			p = s.told()
			must(p, victim+" runs again", stepped, func(e event.RaftRole) bool { return e.Member == victim && e.Role == "follower" && e.Leader != "" })
			s.must("get deployments")
			p = s.told()
			p.kept()
			p.invariants()
		})
	}
}

// TestWhatIsDoneToTheStoreRepeatsFromASeed: on the memory store, byte for byte, with members that come and go, a backup and a restore.
func TestWhatIsDoneToTheStoreRepeatsFromASeed(t *testing.T) {
	besides(t, engine.StoreMemory)
	r := run{seed: 7, length: 6 * time.Minute, do: []string{"40s member add master-4", "55s member promote master-4", "60s backup @one", "70s scale deployment web --replicas=2", "80s member remove leader",
		"90s disk master-3 full", "100s disk master-3 ok", "110s quota 64Ki", "130s compact", "131s defrag all", "132s quota 8Mi", "133s disarm", "150s restore @one", "200s member replace master-2"}}
	a, b := play(t, r), play(t, r)
	if !bytes.Equal(a.file, b.file) {
		t.Fatal(firstDifference(a.file, b.file))
	}
	for _, c := range a.summary.Commands {
		if c.Error != "" {
			t.Errorf("%s: %s", c.Text, c.Error)
		}
	}
	if !strings.Contains(string(a.file), "StoreRestored") {
		t.Error("nothing was restored")
	}
}

// TestThePresetsAboutTheStore: each of their steps succeeds, on both stores, and the cluster ends whole.
func TestThePresetsAboutTheStore(t *testing.T) {
	t.Parallel()
	for preset, end := range map[string]struct {
		pods  int
		after time.Duration
	}{"grow": {6, 6 * time.Minute}, "full": {8, 8 * time.Minute}, "backup": {6, 5 * time.Minute}, "disk": {6, 7 * time.Minute}} {
		for _, store := range bothStores() {
			t.Run(preset+" "+store, func(t *testing.T) {
				besides(t, store)
				p := play(t, run{preset: preset, store: store, seed: 1, length: end.after})
				for _, c := range p.summary.Commands {
					if c.Error != "" {
						t.Errorf("%s: %s", c.Text, c.Error)
					}
				}
				whole(t, p.world, end.pods)
			})
		}
	}
}
