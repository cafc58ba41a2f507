package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
)

// voting says who belongs to the store, as the fold has it: "master-1 master-2 (master-4)" with learners in brackets.
func (s *staged) voting() string {
	var out []string
	for _, m := range s.world().Store.Group.Members {
		if m.Learner {
			m.Name = "(" + m.Name + ")"
		}
		out = append(out, m.Name)
	}
	return strings.Join(out, " ")
}

// promote gives a learner its vote as soon as it may have it.
func (s *staged) promote(host string, limit time.Duration) string {
	s.t.Helper()
	began := s.now()
	for {
		d := s.do("member promote " + host)
		switch {
		case d.Error == "":
			s.t.Logf("%s may vote after %v", host, (s.now() - began).Round(time.Second))
			return strings.Join(d.Output, "\n")
		case !strings.Contains(d.Error, "can only promote a learner member which is in sync with leader"):
			s.t.Fatalf("member promote %s: %s", host, d.Error)
		case s.now()-began > limit:
			s.t.Fatalf("%s cannot be promoted %v after it joined: %s", host, s.now()-began, d.Error)
		}
		s.to(s.now() + time.Second)
	}
}

// bothStores are what a story is played on that does not depend on raft.
func bothStores() []string { return []string{engine.StoreMemory, engine.StoreRaft} }

func TestAClusterGrowsFromThreeToFiveMastersAndLosesTwo(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 1}, "")
			s.to(time.Minute)
			for i, step := range []struct{ host, added, promoted string }{
				{"master-4", "3 voters, quorum 2, can lose 1 -> 3 voters and 1 learner, quorum 2, can lose 1", "3 voters and 1 learner, quorum 2, can lose 1 -> 4 voters, quorum 3, can lose 1"},
				{"master-5", "4 voters, quorum 3, can lose 1 -> 4 voters and 1 learner, quorum 3, can lose 1", "4 voters and 1 learner, quorum 3, can lose 1 -> 5 voters, quorum 3, can lose 2"},
			} {
				if out := s.must("member add " + step.host); !strings.Contains(out, step.added) {
					t.Errorf("member add %s:\n%s", step.host, out)
				}
				s.fails("member add master-7", "etcdserver: ")
				s.fails("member add "+step.host, "etcdserver: member ID already exist")
				if out := s.promote(step.host, 2*time.Minute); !strings.Contains(out, step.promoted) {
					t.Errorf("member promote %s:\n%s", step.host, out)
				}
				s.to(s.now() + 30*time.Second)
				s.must(fmt.Sprintf("create deployment grown-%d --image=nginx --replicas=0", i))
			}
			if got := s.voting(); got != "master-1 master-2 master-3 master-4 master-5" {
				t.Errorf("members: %s", got)
			}
			s.settled(6, 2*time.Minute)
			if got := len(s.world().Header.Masters); got != 5 {
				t.Errorf("%d masters", got)
			}
			for _, host := range []string{"master-4", "master-5"} {
				if b, ok := s.world().Backends.Get(host); !ok || !b.Healthy {
					t.Errorf("the balancer sends nothing to %s: %+v", host, b)
				}
			}
			s.must("kill leader")
			s.must("kill master-4")
			s.to(s.now() + 30*time.Second)
			s.must("create deployment two-lost --image=nginx --replicas=0")
			s.told().invariants()
		})
	}
}

func TestARemovedMasterKeepsItsMachineAndJoinsAgainAsAnotherMember(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 2}, "")
			s.to(time.Minute)
			if out := s.must("member remove master-3"); !strings.Contains(out, "3 voters, quorum 2, can lose 1 -> 2 voters, quorum 2, can lose 0") || !strings.Contains(out, "an even number") {
				t.Errorf("member remove master-3:\n%s", out)
			}
			removed := s.now()
			s.to(removed + 90*time.Second)
			p := s.told()
			ends := all(p, removed-time.Second, func(e event.ProcessStopped) bool { return e.Host == "master-3" && e.Process == "etcd" })
			if len(ends) < 2 || len(ends) > 8 {
				t.Errorf("etcd on master-3 ended %d times in 90 s: it should fail again and again, with back-off", len(ends))
			}
			for _, r := range ends[:min(2, len(ends))] {
				if e := r.Event.(event.ProcessStopped); !strings.Contains(e.Message, "permanently removed from the cluster") {
					t.Errorf("etcd ended with %q", e.Message)
				}
				if root := p.root(r.Seq); root.Event.(event.CommandGiven).Text != "member remove master-3" {
					t.Errorf("its end leads back to %s:%s", brief(root.Event), p.chain(r.Seq))
				}
			}
			if h, ok := s.world().Hosts.Get("master-3"); !ok || !h.Up || !h.Processes["kubelet"].Up {
				t.Errorf("the machine: %+v", h)
			}
			if n, ok := s.world().Nodes.Get("master-3"); !ok || n.Ready != "True" {
				t.Errorf("the node: %+v", n)
			}
			s.must("create deployment without --image=nginx --replicas=0")
			if out := s.must("member add master-3"); !strings.Contains(out, "master-3#2") {
				t.Errorf("member add master-3:\n%s", out)
			}
			s.promote("master-3", time.Minute)
			s.settled(6, 6*time.Minute)
			s.must("kill master-1")
			s.to(s.now() + 30*time.Second)
			s.must("create deployment with --image=nginx --replicas=0")
			s.told().invariants()
		})
	}
}

func TestADeadMastersMemberIsReplacedByRemovingItFirst(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 3}, "")
			s.to(time.Minute)
			s.must("kill master-2")
			s.to(s.now() + 10*time.Second)
			s.fails("member add master-4", "etcdserver: unhealthy cluster; 3 voters, quorum 2, can lose 1, and master-2 is not running: start it, or remove it first (member remove master-2)")
			if s.world().Hosts.Len() != 7 {
				t.Error("the machine of a refused order is there")
			}
			out := s.must("member replace master-2")
			for _, want := range []string{"3 voters, quorum 2, can lose 1 -> 2 voters, quorum 2, can lose 0", "2 voters, quorum 2, can lose 0 -> 2 voters and 1 learner, quorum 2, can lose 0", "start master-2"} {
				if !strings.Contains(out, want) {
					t.Errorf("member replace master-2 says nothing of %q:\n%s", want, out)
				}
			}
			if _, _, ok := first(s.told(), time.Minute, func(e event.DiskSetAside) bool { return e.Member == "master-2" }); !ok {
				t.Error("its old disk was not set aside")
			}
			s.must("start master-2")
			s.promote("master-2", 2*time.Minute)
			s.settled(6, 6*time.Minute)
			s.told().invariants()
		})
	}
}

func TestTheLeaderIsRemovedAndAnotherLeads(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 4, preset: "five"}, "")
			s.to(time.Minute)
			was, ok := s.world().Leader()
			if !ok {
				t.Fatal("nobody leads")
			}
			name := was.Name
			if out := s.must("member remove leader"); !strings.Contains(out, "5 voters, quorum 3, can lose 2 -> 4 voters, quorum 3, can lose 1") {
				t.Errorf("member remove leader:\n%s", out)
			}
			s.to(s.now() + 15*time.Second)
			if l, ok := s.world().Leader(); !ok || l.Name == name {
				t.Errorf("%s was removed, and the leader is %+v", name, l)
			}
			s.must("create deployment after --image=nginx --replicas=0")
			s.told().invariants()
		})
	}
}

func TestWithoutAQuorumAnOrderToTheStoreTimesOutAndSaysSo(t *testing.T) {
	t.Parallel()
	for _, store := range []string{engine.StoreMemory, engine.StoreRaft} {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 5}, "")
			s.to(time.Minute)
			s.must("kill master-1")
			s.must("kill master-2")
			s.to(s.now() + 20*time.Second)
			for _, line := range []string{"member remove master-1", "member add master-4", "compact", "disarm"} {
				began := s.now()
				s.fails(line, "etcdserver: request timed out")
				within(t, line, s.now()-began, 4*time.Second, 8*time.Second)
			}
			if got := s.voting(); got != "master-1 master-2 master-3" {
				t.Errorf("members: %s", got)
			}
		})
	}
}

func TestOrdersAboutMembersThatMakeNoSenseSayWhy(t *testing.T) {
	besides(t, engine.StoreRaft)
	s := inStages(t, run{store: engine.StoreRaft, seed: 6}, "")
	s.to(30 * time.Second)
	for line, want := range map[string]string{
		"member add master-9":             `"master-9" is not the name of a master: they are called master-1 to master-7`,
		"member add worker-1":             "worker-1 is a worker: only masters have a member of the store",
		"member remove master-6":          `no machine is called "master-6"`,
		"member promote master-1":         "can only promote a learner member; master-1 has a vote already",
		"member add master-2":             "member ID already exist; master-2 is a member already; to begin with an empty disk: member replace master-2",
		"disk worker-1 full":              "worker-1 is a worker: it has no member of the store",
		"failpoint master-1 clear":        "no failpoint waits for master-1",
		"compact 999999":                  "etcdserver: mvcc: required revision is a future revision; revisions ",
		"disarm":                          "",
		"duplicate worker-1 master-1 20%": "worker-1 sends no messages of the store; duplicate is between two masters",
		"clog master-1/kubelet all":       "master-1/kubelet sends no messages of the store",
		"restore @nothing":                "no backup is called @nothing in this run",
		"restore /nowhere/at/all":         "no such file or directory",
	} {
		s.fails(line, want)
	}
	s.must("member remove master-3")
	s.fails("member remove master-3", "etcdserver: member not found; members are master-1, master-2; to let it join: member add master-3")
}
