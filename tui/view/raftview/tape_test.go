package raftview

import (
	"fmt"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// tape is the journal of a raft group, made up.
type tape struct {
	records []event.Record
	at      time.Time
	members []string
	last    uint64
	term    uint64
}

func (t *tape) put(actor event.Actor, cause event.Seq, e event.Event) event.Seq {
	seq := event.Seq(len(t.records) + 1)
	t.records = append(t.records, event.Record{Seq: seq, At: t.at, Wall: t.at.Add(-time.Hour), Actor: actor, Cause: cause, Event: e})
	return seq
}

func (t *tape) wait(d time.Duration) { t.at = t.at.Add(d) }

func (t *tape) wall() time.Time { return t.at.Add(-time.Hour) }

func (t *tape) raft(member string, e event.Event) event.Seq {
	return t.put(event.On("etcd", member), 1, e)
}

// group is a cluster of n masters in which the first leads, with entries up to 12.
func group(n int) *tape {
	t := &tape{at: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), term: 2}
	for i := range n {
		t.members = append(t.members, fmt.Sprintf("master-%d", i+1))
	}
	t.put(event.Engine, 0, event.ClusterStarted{Preset: "ha", Store: "raft", Masters: t.members})
	t.put(event.Engine, 1, event.RateChanged{Rate: 1})
	t.put(event.Engine, 1, event.RaftTiming{Heartbeat: 500 * time.Millisecond, Election: 500 * time.Millisecond, Lease: 250 * time.Millisecond})
	for _, m := range t.members {
		t.put(event.On("machine", m), 1, event.MachineUp{Host: m})
		t.put(event.On("etcd", m), 1, event.ProcessStarted{Host: m, Process: "etcd"})
		t.raft(m, event.RaftAppended{Member: m, From: 1, To: 1, Term: 1, Opened: true, Entries: []event.RaftEntry{{Index: 1, Term: 1, Kind: "configuration"}}})
		t.raft(m, event.RaftRole{Member: m, Role: "follower", Term: 1})
	}
	t.wait(700 * time.Millisecond)
	t.last = 1
	t.elect("master-1", t.members[1:]...)
	for i := range 10 {
		t.write("master-1", fmt.Sprintf("web-%d", i), t.members...)
	}
	t.wait(time.Minute)
	return t
}

// elect makes a member stand and win by the votes of others.
func (t *tape) elect(winner string, by ...string) {
	t.stand(winner)
	for _, m := range by {
		t.raft(m, event.RaftMessage{From: m, To: winner, Kind: "vote", Term: t.term, Reply: true, Granted: true, Sent: t.wall(), Asked: t.wall()})
	}
	t.raft(winner, event.RaftRole{Member: winner, Role: "leader", Term: t.term, Leader: winner})
	t.last++
	t.raft(winner, event.RaftAppended{Member: winner, From: t.last, To: t.last, Term: t.term, Entries: []event.RaftEntry{{Index: t.last, Term: t.term, Kind: "noop"}}})
	for _, m := range by {
		t.raft(m, event.RaftRole{Member: m, Role: "follower", Term: t.term, Leader: winner})
		t.raft(m, event.RaftAppended{Member: m, From: t.last, To: t.last, Term: t.term, CommitIndex: t.last, Applied: t.last})
	}
	t.raft(winner, event.RaftProgress{Member: winner, LastIndex: t.last, CommitIndex: t.last, Applied: t.last})
}

// stand makes a member a candidate that asks all others for votes.
func (t *tape) stand(member string) {
	t.raft(member, event.RaftRole{Member: member, Role: "candidate", Term: t.term - 1, Heard: t.wall().Add(-900 * time.Millisecond)})
	t.wait(time.Millisecond)
	for _, m := range t.members {
		if m != member {
			t.raft(member, event.RaftMessage{From: member, To: m, Kind: "vote", Term: t.term, LastIndex: t.last, LastTerm: t.term - 1, Sent: t.wall()})
		}
	}
}

// write makes a leader store an entry, and the holders as well; all of them commit it if they are a majority.
func (t *tape) write(leader, pod string, holders ...string) {
	t.last++
	cause := t.put("apiserver/"+event.Actor(leader), 1, event.RequestReceived{Server: leader, Verb: "create", Resource: "pods", ObjectName: pod})
	ref := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: pod}
	t.raft(leader, event.RaftAppended{Member: leader, From: t.last, To: t.last, Term: t.term, Entries: []event.RaftEntry{{Index: t.last, Term: t.term, Writes: []event.RaftWrite{{Object: ref, Cause: cause}}}}})
	commit := uint64(0)
	if len(holders) > len(t.members)/2 {
		commit = t.last
	}
	for _, m := range holders {
		if m != leader {
			t.raft(m, event.RaftAppended{Member: m, From: t.last, To: t.last, Term: t.term, CommitIndex: commit, Applied: commit})
		} else if commit > 0 {
			t.raft(m, event.RaftProgress{Member: m, LastIndex: t.last, CommitIndex: commit, Applied: commit})
		}
	}
}

// kill switches a master off, by an order of the user.
func (t *tape) kill(host string) {
	given := t.put(event.You, 0, event.CommandGiven{Text: "kill " + host})
	t.put(event.On("machine", host), given, event.MachineDown{Host: host, Reason: "killed"})
	for _, m := range t.members {
		if m != host {
			t.raft(m, event.RaftContact{Member: m, Leader: host, Lost: true, Heard: t.wall()})
		}
	}
}

// orphaned is a group whose leader was killed with an entry that nobody else has.
func orphaned(n int) *tape {
	t := group(n)
	t.write("master-1", "lost", "master-1")
	t.kill("master-1")
	t.last-- // the others do not have it
	t.wait(300 * time.Millisecond)
	return t
}

// replaced goes on with the election of another leader, which writes something else in the same place.
func replaced() *tape {
	t := orphaned(3)
	t.wait(600 * time.Millisecond)
	t.term++
	t.elect("master-2", "master-3")
	t.write("master-2", "kept", "master-2", "master-3")
	return t
}
