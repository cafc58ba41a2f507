package engine

import (
	"testing"
	"time"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// telling is a door with a journal, whose beginning is record 1, and the newest thing that shook the store record 2.
func telling(t *testing.T) (*storeDoor, func() event.Record) {
	d, _ := pacing(3, 0)
	d.slow = map[string]time.Duration{}
	d.e.journal = journal.New(journal.Options{Now: d.e.loop.Now})
	d.e.announ = apiserver.NewAnnouncer(apiserver.NewCodec(), d.e.journal)
	d.e.root = d.e.journal.Emit(event.Engine, 0, event.ClusterStarted{})
	d.cause = d.e.journal.Emit(event.Engine, d.e.root, event.MachineUp{Host: "master-1"})
	return d, func() event.Record {
		recs, _ := d.e.journal.Read(nil, d.e.journal.Last(), 1)
		return recs[0]
	}
}

func TestAChangeOfTheStoreFollowsFromTheOrderThatAskedForItElseFromWhatShookTheStore(t *testing.T) {
	const order, root, shook = event.Seq(3), event.Seq(1), event.Seq(2)
	group := raftstore.Membership{Members: []raftstore.Member{{Name: "master-1", ID: "master-1"}, {Name: "master-4", ID: "master-4#2", Learner: true}}, Index: 9, Term: 2}
	nospace := mvcc.Alarm{Kind: mvcc.NoSpace, Member: "master-2"}
	for _, c := range []struct {
		what    string
		change  raftstore.Change
		asked   subject
		want    event.Event
		without event.Seq // cause when nobody asked
	}{
		{"members", raftstore.Change{Kind: raftstore.MembersChanged, Membership: group}, subject{kind: raftstore.MembersChanged},
			event.MembersChanged{Members: []event.StoreMember{{Name: "master-1", ID: "master-1"}, {Name: "master-4", ID: "master-4#2", Learner: true}}, Index: 9, Term: 2}, shook},
		{"compaction", raftstore.Change{Kind: raftstore.Compacted, Member: "master-1", Revision: 7}, subject{kind: raftstore.Compacted}, event.StoreCompacted{Revision: 7}, root},
		{"defragmentation", raftstore.Change{Kind: raftstore.Defragmented, Member: "master-1", Before: 9, After: 3}, subject{kind: raftstore.Defragmented, member: "master-1"},
			event.StoreDefragmented{Member: "master-1", Before: 9, After: 3}, root},
		{"a store that is full", raftstore.Change{Kind: raftstore.AlarmRaised, Alarm: nospace}, subject{kind: raftstore.AlarmRaised}, event.StoreAlarm{Kind: "NOSPACE", Member: "master-2", Raised: true}, root},
		{"the end of an alarm", raftstore.Change{Kind: raftstore.AlarmLifted, Alarm: nospace}, subject{kind: raftstore.AlarmLifted}, event.StoreAlarm{Kind: "NOSPACE", Member: "master-2"}, shook},
		{"a lease", raftstore.Change{Kind: raftstore.LeaseGranted, Lease: 5, TTL: time.Hour, Tag: uint64(order)}, subject{}, event.StoreLease{ID: 5, Change: "granted", TTL: time.Hour}, order},
		{"the end of a lease", raftstore.Change{Kind: raftstore.LeaseExpired, Lease: 5, Keys: 2}, subject{}, event.StoreLease{ID: 5, Change: "expired", Keys: 2}, root},
		{"a disk", raftstore.Change{Kind: raftstore.DiskChanged, Member: "master-3", Disk: failure.Full}, subject{kind: raftstore.DiskChanged, member: "master-3"},
			event.DiskChanged{Member: "master-3", State: "full"}, shook},
		{"a trap", raftstore.Change{Kind: raftstore.TrapSprung, Member: "master-3", Trap: failure.Trap{Point: failure.AfterStoreVote, Action: failure.Kill}},
			subject{kind: raftstore.TrapSprung, member: "master-3", point: failure.AfterStoreVote}, event.TrapSprung{Member: "master-3", Point: "after-store-vote", Action: "kill"}, shook},
		{"a disk set aside", raftstore.Change{Kind: raftstore.SetAside, Member: "master-3", Text: "x.aside-1"}, subject{kind: raftstore.SetAside, member: "master-3"},
			event.DiskSetAside{Member: "master-3", Text: "x.aside-1"}, shook},
		{"a member that differs", raftstore.Change{Kind: raftstore.Diverged, Member: "master-3", Index: 1000}, subject{}, event.StoreDiverged{Member: "master-3", Index: 1000}, shook},
	} {
		for _, asks := range []bool{true, false} {
			d, last := telling(t)
			given := d.e.journal.Emit(event.You, 0, event.CommandGiven{})
			cause := c.without
			if asks && c.asked != (subject{}) {
				d.asked[c.asked] = given
				cause = order
			}
			d.storeChanged(c.change)
			r := last()
			if !same(r.Event, c.want) || r.Cause != cause {
				t.Errorf("%s, asked for %v: #%d %+v, want #%d %+v", c.what, asks, r.Cause, r.Event, cause, c.want)
			}
		}
	}
}

func same(a, b event.Event) bool {
	x, isMembers := a.(event.MembersChanged)
	y, also := b.(event.MembersChanged)
	if !isMembers || !also {
		return a == b
	}
	if len(x.Members) != len(y.Members) || x.Index != y.Index || x.Term != y.Term {
		return false
	}
	for i := range x.Members {
		if x.Members[i] != y.Members[i] {
			return false
		}
	}
	return true
}

func TestAConfigurationIsToldOnceAndOldOnesNever(t *testing.T) {
	d, last := telling(t)
	three := raftstore.Membership{Members: d.members.Members, Index: 1}
	d.tellMembers(three, 1)
	told := last().Seq
	d.tellMembers(raftstore.Membership{Members: three.Members, Index: 4}, 1)
	if last().Seq != told {
		t.Errorf("the same members are told again: %+v", last().Event)
	}
	two := raftstore.Membership{Members: three.Members[:2], Index: 8}
	d.tellMembers(two, 1)
	if e, ok := last().Event.(event.MembersChanged); !ok || len(e.Members) != 2 {
		t.Errorf("a removal: %+v", last().Event)
	}
	told = last().Seq
	d.tellMembers(three, 1)
	if last().Seq != told || d.members.Voters() != 2 {
		t.Errorf("a member that lags brought an old configuration back: %+v", last().Event)
	}
}

func TestWhoLosesTheQuorumByAChangeOfMembersIsToldBecauseOfIt(t *testing.T) {
	d, last := telling(t)
	d.tellMembers(d.members, 1)
	d.e.net.SetHost("master-3", false)
	d.shaken(2)
	if d.lostBy != 0 {
		t.Fatal("one of three is off, and the quorum is gone")
	}
	d.tellMembers(raftstore.Membership{Members: append(d.members.Members[:3:3], raftstore.Member{Name: "master-4"}), Index: 5}, 2)
	if d.majority != nil || d.lostBy != last().Seq {
		t.Errorf("two of four: majority %v, lost by #%d, want #%d", d.majority, d.lostBy, last().Seq)
	}
	d.tellMembers(raftstore.Membership{Members: d.members.Members[:3], Index: 6}, 2)
	if d.majority == nil || d.lostBy != 0 {
		t.Errorf("two of three: majority %v, lost by #%d", d.majority, d.lostBy)
	}
}
