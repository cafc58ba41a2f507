package why

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/target"
)

// group is a configuration of the store; "?" behind a name makes a learner.
func group(names ...string) event.MembersChanged {
	var e event.MembersChanged
	for _, n := range names {
		name, learner := strings.CutSuffix(n, "?")
		e.Members = append(e.Members, event.StoreMember{Name: name, ID: name, Learner: learner})
	}
	return e
}

// ofThree is a cluster whose store has three members, and says so.
func ofThree() *tape {
	p := from(fixture.Healthy(1))
	p.put("etcd/master-1", 0, group("master-1", "master-2", "master-3"))
	return p
}

func (p *tape) size(member string, size, inUse int64) {
	p.put(event.On("etcd", member), 0, event.RaftProgress{Member: member, DBSize: size, DBInUse: inUse, Quota: 8 << 20})
}

func (p *tape) disk(member, state, text string) event.Seq {
	return p.put(event.On("disk", member), p.order("disk "+member+" "+state), event.DiskChanged{Member: member, State: state, Text: text})
}

// learning adds a learner that has as much of the log as asked for, of 42 entries.
func learning(has uint64) *tape {
	p := ofThree()
	p.put(event.Engine, 0, event.MachineUp{Host: "master-4", Joined: true})
	p.put(event.On("etcd", "master-4"), 0, event.ProcessStarted{Host: "master-4", Process: "etcd"})
	p.put("etcd/master-1", p.order("member add master-4"), group("master-1", "master-2", "master-3", "master-4?"))
	p.put("etcd/master-4", 0, event.RaftRole{Member: "master-4", Role: "learner", Term: 3, Leader: "master-1"})
	p.wait(9 * time.Second)
	p.put("etcd/master-4", 0, event.RaftAppended{Member: "master-4", From: 1, To: has, Term: 3, CommitIndex: has, Applied: has})
	return p
}

// twoDamaged of three members: the third can never be a majority.
func twoDamaged() *tape {
	p := ofThree()
	for _, m := range []string{"master-1", "master-2"} {
		cause := p.disk(m, "zeroed", "page 7 is zeros")
		p.put(event.On("etcd", m), cause, event.ProcessStopped{Host: m, Process: "etcd", Reason: "exited", Message: "disk damaged: page 7"})
		p.put(event.On("etcd", m), cause, event.RaftRole{Member: m, Role: "down", Term: 3})
	}
	p.wait(5 * time.Second)
	return p
}

func TestTroubleOfTheStoreIsExplainedWithWhatMendsIt(t *testing.T) {
	etcd := func(host string) target.Target {
		return target.Target{Kind: target.Process, Host: host, Process: "etcd"}
	}
	full := func(inUse int64, compacted, defragmented bool) func() *tape {
		return func() *tape {
			p := ofThree()
			p.size("master-2", 9<<20, inUse)
			p.put("etcd/master-2", 0, event.StoreAlarm{Kind: "NOSPACE", Member: "master-2", Raised: true})
			p.wait(12 * time.Second)
			p.renew()
			if compacted {
				p.put("etcd/master-1", p.order("compact"), event.StoreCompacted{Revision: 40})
				p.size("master-2", 9<<20, 2<<20)
			}
			if defragmented {
				p.size("master-2", 2<<20, 2<<20)
			}
			return p
		}
	}
	for _, c := range []struct {
		name string
		on   target.Target
		id   string
		tape func() *tape
		want []string
		not  []string
	}{
		{name: "history fills the quota", id: "no-space", tape: full(9<<20, false, false),
			want: []string{"NOSPACE was raised by master-2 12s ago", "takes 9.0 MiB of 8.0 MiB", "deletions, compaction and revocation go on"}},
		{name: "free space is inside the file", id: "no-space", tape: full(9<<20, true, false), want: []string{"2.0 MiB of it in use", "=> defrag all: give free space back | defrag all", "=> disarm"}, not: []string{"=> compact"}},
		{name: "what is in use is over the quota without any history", id: "no-space", tape: full(900<<20, false, false),
			want: []string{"What is in use without history is over the quota alone", "=> quota 16Mi", "=> disarm", "for as long as the database is below its quota"}, not: []string{"=> compact", "=> defrag"}},
		{name: "only the alarm is left", id: "no-space", tape: full(9<<20, true, true), want: []string{"=> disarm: lift the alarm | disarm"}, not: []string{"=> compact", "=> defrag"}},

		{name: "a learner has little of the log", on: etcd("master-4"), id: "vote", tape: func() *tape { return learning(10) },
			want: []string{"Why has master-4 no vote?", "master-4 is a learner for 9s", "90 % are needed for a vote", "With its vote: 3 voters, quorum 2, can lose 1 → 4 voters, quorum 3, can still lose only 1"}, not: []string{"=> member promote"}},
		{name: "a learner has caught up", on: etcd("master-4"), id: "vote", tape: func() *tape { return learning(42) }, want: []string{"It has 100 % of the leader's log", "=> member promote master-4 | member promote master-4"}},
		{name: "a learner does not run", on: target.Target{Kind: target.Master, Host: "master-4"}, id: "vote", tape: func() *tape {
			p := learning(10)
			p.put(event.On("machine", "master-4"), p.order("kill master-4"), event.MachineDown{Host: "master-4", Reason: "killed"})
			return p
		}, want: []string{"It does not run", "=> start master-4 | start master-4"}, not: []string{"of the leader's log"}},
		{name: "a learner is cut off", on: etcd("master-4"), id: "vote", tape: func() *tape {
			p := learning(10)
			p.put(event.Engine, p.order("cut master-1 master-4"), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "master-1", B: "master-4"}})
			return p
		}, want: []string{"It hears nothing from the leader, master-1", "=> heal master-4"}},
		{name: "a member was removed", on: etcd("master-3"), id: "vote", tape: func() *tape {
			p := ofThree()
			p.put("etcd/master-1", p.order("member remove master-3"), group("master-1", "master-2"))
			p.wait(5 * time.Second)
			p.renew()
			return p
		}, want: []string{"master-3 was removed 5s ago", "member remove master-3", "=> member add master-3"}},

		{name: "a disk is damaged", on: etcd("master-2"), id: "disk", tape: func() *tape {
			p := ofThree()
			p.disk("master-2", "zeroed", "page 7 is zeros")
			return p
		}, want: []string{"What is wrong with the disk of master-2?", "Found: page 7 is zeros", "a voter that forgot may not simply come back", "disk master-2 zeroed", "=> member replace master-2"}, not: []string{"disk master-2 ok"}},
		{name: "a disk is damaged and nobody could agree to a new member", on: etcd("master-2"), id: "disk", tape: func() *tape {
			p := ofThree()
			p.disk("master-2", "zeroed", "")
			for _, m := range []string{"master-1", "master-2"} {
				p.put(event.On("machine", m), p.order("kill "+m), event.MachineDown{Host: m, Reason: "killed"})
			}
			return p
		}, want: []string{"once a majority of the others is back"}, not: []string{"=> member replace"}},
		{name: "two disks of three are damaged: no start helps", id: "no-quorum", tape: twoDamaged,
			want: []string{"etcd on master-1 does not start: its disk is damaged: a page is zeros", "What master-1, master-2 acknowledged is gone", "what master-3 still has; what only the others had is lost | backup @rescue", "begin anew with @rescue | restore @rescue"}, not: []string{"=> start", "member replace"}},
		{name: "two disks of three are damaged, asked of one of them", on: etcd("master-2"), id: "disk", tape: twoDamaged, want: []string{"| backup @rescue", "| restore @rescue"}, not: []string{"=> start", "member replace"}},
		{name: "a disk is full and its member still runs", on: etcd("master-2"), id: "disk", tape: func() *tape { p := ofThree(); p.disk("master-2", "full", ""); return p },
			want: []string{"stops at its next write", "=> disk master-2 ok | disk master-2 ok"}, not: []string{"=> start"}},
		{name: "a disk is full and its member has stopped", on: etcd("master-2"), id: "disk", tape: func() *tape {
			p := ofThree()
			cause := p.disk("master-2", "full", "")
			p.put("etcd/master-2", cause, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "exited", Message: "no space left on device"})
			p.put("etcd/master-2", cause, event.RaftRole{Member: "master-2", Role: "down", Term: 3})
			return p
		}, want: []string{"cannot write, so it does not start", "=> disk master-2 ok"}, not: []string{"=> start"}},
		{name: "a disk is full and its member has stopped, asked of the program", on: etcd("master-2"), id: "down", tape: func() *tape {
			p := ofThree()
			cause := p.disk("master-2", "full", "")
			p.put("etcd/master-2", cause, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "exited", Message: "no space left on device"})
			p.put("etcd/master-2", cause, event.RaftRole{Member: "master-2", Role: "down", Term: 3})
			return p
		}, want: []string{"=> disk master-2 ok"}, not: []string{"=> start"}},
		{name: "a disk is slow", on: etcd("master-2"), id: "disk", tape: func() *tape { p := ofThree(); p.disk("master-2", "slow", ""); return p },
			want: []string{"Each durable step takes longer", "=> disk master-2 ok"}},

		{name: "a member's state differs", on: etcd("master-2"), id: "diverged", tape: func() *tape {
			p := ofThree()
			p.put("etcd/master-2", 0, event.StoreDiverged{Member: "master-2", Index: 1000})
			return p
		}, want: []string{"Why was etcd on master-2 stopped?", "differs from the others' at entry 1000", "=> member replace master-2"}},
		{name: "a member stepped on a failpoint", on: etcd("master-2"), id: "down", tape: func() *tape {
			p := ofThree()
			sprung := p.put("etcd/master-2", p.order("failpoint master-2 after-store-log kill"), event.TrapSprung{Member: "master-2", Point: "after-store-log", Action: "kill"})
			p.put("etcd/master-2", sprung, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "killed"})
			return p
		}, want: []string{"after-store-log", "=> the kubelet of master-2 starts etcd again by itself"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.tape()
			answered(t, p, c.on, c.id, c.want)
			got := text(answer(t, p.frame(), c.on, c.id))
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("it says %q:\n%s", not, got)
				}
			}
		})
	}
}
