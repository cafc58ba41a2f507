package headless

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// three masters whose store has three members, led by master-1 in term 2; then what else is told.
func three(more ...event.Event) *world.World {
	var recs []event.Record
	put := func(e event.Event) { recs = append(recs, at(time.Duration(len(recs))*time.Second, 0, e)) }
	put(event.ClusterStarted{Store: "raft", Masters: []string{"master-1", "master-2", "master-3"}})
	for i := 1; i <= 3; i++ {
		put(event.MachineUp{Host: fmt.Sprint("master-", i)})
		put(event.ProcessStarted{Host: fmt.Sprint("master-", i), Process: "etcd"})
		put(event.RaftRole{Member: fmt.Sprint("master-", i), Role: "follower", Term: 1})
	}
	put(group("master-1", "master-2", "master-3"))
	put(event.RaftRole{Member: "master-1", Role: "leader", Term: 2})
	for _, e := range more {
		put(e)
	}
	return folded(recs...)
}

func group(names ...string) event.MembersChanged {
	var e event.MembersChanged
	for _, n := range names {
		name, learner := strings.CutSuffix(n, "?")
		e.Members = append(e.Members, event.StoreMember{Name: name, ID: name, Learner: learner})
	}
	return e
}

func damaged(names ...string) []event.Event {
	var out []event.Event
	for _, m := range names {
		out = append(out, event.DiskChanged{Member: m, State: "zeroed", Text: "page 7 is zeros"},
			event.ProcessStopped{Host: m, Process: "etcd", Reason: "exited", Message: "disk damaged"}, event.RaftRole{Member: m, Role: "down", Term: 2})
	}
	return out
}

func TestTheSummaryTellsOfTheStoreAsItIsAndWhatMendsIt(t *testing.T) {
	for _, c := range []struct {
		name      string
		world     *world.World
		want, not []string
	}{
		{"removed members are none", three(group("master-2", "master-3"), event.RaftRole{Member: "master-2", Role: "leader", Term: 3}, group("master-3"), event.RaftRole{Member: "master-3", Role: "leader", Term: 4}),
			[]string{"master-3 leads, term 4, 1 of 1 voters up, quorum 1, can lose 0", "removed: master-1, master-2"}, []string{"follower", "2 of 3"}},
		{"NOSPACE over history", three(event.StoreQuota{Bytes: 8 << 20}, event.RaftProgress{Member: "master-1", DBSize: 9 << 20, DBInUse: 9 << 20}, event.StoreAlarm{Kind: "NOSPACE", Member: "master-1", Raised: true}),
			[]string{"NOSPACE", "9.0 MiB of 8.0 MiB", "mend: compact, then defrag all, then disarm"}, nil},
		{"a damaged disk", three(damaged("master-2")...), []string{"2 of 3 voters up, quorum 2, can lose 0", "etcd on master-2 does not start: its disk is damaged (zeroed: page 7 is", "mend: member replace master-2"}, nil},
		{"two damaged disks", three(damaged("master-2", "master-3")...),
			[]string{"no leader", "1 of 3 voters up, quorum 2, lost, 1 missing", "nothing can be written; without master-2, master-3 there can be no majority again: begin anew with what master-1 has", "etcd on master-2 does not start", "etcd on master-3 does not start", "mend: backup @rescue, then restore @rescue"}, []string{"replace"}},
		{"all disks damaged", three(damaged("master-1", "master-2", "master-3")...), []string{"0 of 3 voters up", "etcd on master-1 does not start: its disk is damaged", "mend: kill master-1"}, nil},
		{"a learner that has caught up", three(group("master-1", "master-2", "master-3", "master-4?"), event.RaftProgress{Member: "master-1", LastIndex: 100}, event.RaftRole{Member: "master-4", Role: "follower", Term: 2},
			event.RaftProgress{Member: "master-4", LastIndex: 95}),
			[]string{"3 of 3 voters up, quorum 2, can lose 1", "master-4                 learner", "learner master-4 has 95 % of the leader's log and can be promoted", "mend: member promote master-4", "4 voters, quorum 3"}, nil},
		{"a learner that has not", three(group("master-1", "master-2", "master-3", "master-4?"), event.RaftProgress{Member: "master-1", LastIndex: 100}, event.RaftRole{Member: "master-4", Role: "follower", Term: 2},
			event.RaftProgress{Member: "master-4", LastIndex: 30}), []string{"70 entries behind", "member promote master-4 when it has 90 %"}, []string{"mend:"}},
		{"a restored store", three(event.RaftRole{Member: "master-1", Role: "down", Term: 2}, event.RaftRole{Member: "master-2", Role: "down", Term: 2}, event.RaftRole{Member: "master-3", Role: "down", Term: 2},
			event.StoreRestored{File: "f", Revision: 3, Restored: 1000}, event.RaftRole{Member: "master-1", Role: "candidate", Term: 1}, event.RaftRole{Member: "master-1", Role: "leader", Term: 2}),
			[]string{"master-1 was elected for term 2 of the store begun anew"}, []string{"took over"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := WriteText(&b, Summarize(c.world, 0)); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			words := strings.Join(strings.Fields(got), " ")
			for _, want := range c.want {
				if !strings.Contains(words, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(words, not) {
					t.Errorf("it says %q:\n%s", not, got)
				}
			}
		})
	}
}
