package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
)

// group folds a configuration: "m1 m2 m3" vote, "m4?" learns, "m1#2" votes under another ID than its name.
func (t *tale) group(s float64, members string) {
	var list []event.StoreMember
	for _, word := range strings.Fields(members) {
		name, learner := strings.CutSuffix(word, "?")
		id := name
		name, _, _ = strings.Cut(name, "#")
		list = append(list, event.StoreMember{Name: name, ID: id, Learner: learner})
	}
	t.at(s, "etcd/m1", 0, event.MembersChanged{Members: list, Index: uint64(t.Seq), Term: 2})
}

func masters(n int) *tale {
	t := &tale{wall: true}
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("m", i+1))
	}
	t.at(0, event.Engine, 0, event.ClusterStarted{Store: "raft", Masters: names})
	for _, m := range names {
		t.at(0, "machine", 1, event.MachineUp{Host: m})
		t.at(0, "etcd", 1, event.ProcessStarted{Host: m, Process: "etcd"})
		t.role(0, m, "follower", 1)
	}
	t.role(1, "m1", "leader", 2)
	return t
}

func TestTheArithmeticOfAQuorum(t *testing.T) {
	for voters, want := range []Arithmetic{{}, {1, 1, 0}, {2, 2, 0}, {3, 2, 1}, {4, 3, 1}, {5, 3, 2}, {6, 4, 2}, {7, 4, 3}, {8, 5, 3}, {9, 5, 4}} {
		if got := ArithmeticOf(voters); got != want {
			t.Errorf("%d voters: %+v, want %+v", voters, got, want)
		}
	}
}

func TestOnlyVotersCountForAMajority(t *testing.T) {
	for _, c := range []struct {
		name              string
		masters           int
		group             string
		down              []string
		have, total, lose int
	}{
		{"no configuration was ever told: every master votes", 3, "", nil, 3, 3, 1},
		{"a learner has no vote", 4, "m1 m2 m3 m4?", nil, 3, 3, 1},
		{"a master outside the group has none either", 5, "m1 m2 m3", nil, 3, 3, 1},
		{"four can lose no more than three", 4, "m1 m2 m3 m4", nil, 4, 4, 1},
		{"a learner does not help when a voter falls", 4, "m1 m2 m3 m4?", []string{"m2", "m3"}, 1, 3, -1},
		{"nor does one that fell matter", 4, "m1 m2 m3 m4?", []string{"m4"}, 3, 3, 1},
		{"five, two of them down", 5, "m1 m2 m3 m4 m5", []string{"m4", "m5"}, 3, 5, 0},
		{"shrunk to three, the two that left down", 5, "m1 m2 m3", []string{"m4", "m5"}, 3, 3, 1},
		{"nine can lose four", 9, "m1 m2 m3 m4 m5 m6 m7 m8 m9", nil, 9, 9, 4},
		{"one is a majority by itself", 1, "m1", nil, 1, 1, 0},
		{"two can lose none", 2, "m1 m2", nil, 2, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := masters(c.masters)
			if c.group != "" {
				w.group(2, c.group)
			}
			for _, m := range c.down {
				w.at(3, "machine", 0, event.MachineDown{Host: m})
			}
			g := w.Majority()
			if len(g.Members) != c.have || g.Total != c.total || g.CanLose != c.lose || g.Need != c.total/2+1 {
				t.Errorf("%d of %d (%d needed) can lose %d; want %d of %d, lose %d", len(g.Members), g.Total, g.Need, g.CanLose, c.have, c.total, c.lose)
			}
		})
	}
}

func TestWhatAConfigurationChanged(t *testing.T) {
	names := func(list []event.StoreMember) (out []string) {
		for _, m := range list {
			out = append(out, m.Name)
		}
		return out
	}
	for _, c := range []struct {
		before, after                      string
		added, promoted, removed, replaced []string
		quorum                             [2]int
	}{
		{"m1 m2 m3", "m1 m2 m3 m4?", []string{"m4"}, nil, nil, nil, [2]int{2, 2}},
		{"m1 m2 m3 m4?", "m1 m2 m3 m4", nil, []string{"m4"}, nil, nil, [2]int{2, 3}},
		{"m1 m2 m3 m4", "m2 m3 m4", nil, nil, []string{"m1"}, nil, [2]int{3, 2}},
		{"m1 m2 m3", "m1 m2 m3#2", nil, nil, nil, []string{"m3"}, [2]int{2, 2}},
	} {
		w := masters(4)
		w.group(1, c.before)
		if _, ok := w.Store.Step(); ok {
			t.Error("the first configuration changed nothing")
		}
		w.group(2, c.after)
		s, ok := w.Store.Step()
		if !ok || !slices.Equal(names(s.Added), c.added) || !slices.Equal(names(s.Promoted), c.promoted) || !slices.Equal(names(s.Removed), c.removed) || !slices.Equal(names(s.Replaced), c.replaced) ||
			s.Before.Quorum != c.quorum[0] || s.After.Quorum != c.quorum[1] {
			t.Errorf("%s to %s: %+v", c.before, c.after, s)
		}
	}
}

func TestAMemberKnowsItsPlaceInTheGroup(t *testing.T) {
	w := masters(4)
	w.group(2, "m1 m2 m3 m4?")
	m, _ := w.Members.Get("m4")
	if !m.Learns() || m.Votes() || m.ID != "m4" || w.SinceStart(m.Joined).Seconds() != 2 {
		t.Errorf("a learner: %+v", m)
	}
	w.group(5, "m1 m2 m3 m4#2?")
	if m, _ = w.Members.Get("m4"); m.ID != "m4#2" || w.SinceStart(m.Joined).Seconds() != 5 {
		t.Errorf("it joined anew: %+v", m)
	}
	w.group(7, "m1 m2 m3")
	if m, _ = w.Members.Get("m4"); !m.Out || m.Learns() || m.Votes() {
		t.Errorf("removed: %+v", m)
	}
	w.group(8, "m1 m2 m3 m9?")
	if m, ok := w.Members.Get("m9"); !ok || m.Role != "down" || !m.Learns() {
		t.Errorf("a place that nobody knew before: %+v", m)
	}
}

func TestALearnerCanBePromotedWhenItHasNineTenthsOfTheLog(t *testing.T) {
	for _, c := range []struct {
		last    uint64
		percent int
		behind  uint64
		can     bool
	}{{0, 0, 100, false}, {89, 89, 11, false}, {90, 90, 10, true}, {100, 100, 0, true}, {140, 100, 0, true}} {
		w := masters(4)
		w.group(2, "m1 m2 m3 m4?")
		w.raft(event.RaftProgress{Member: "m1", LastIndex: 100})
		w.role(50, "m4", "learner", 2)
		w.raft(event.RaftProgress{Member: "m4", LastIndex: c.last})
		m, _ := w.Members.Get("m4")
		percent, behind, ok := w.CaughtUp(m)
		if !ok || percent != c.percent || behind != c.behind || w.Promotable(m) != c.can {
			t.Errorf("%d of 100: %d %% and %d behind, promotable %v", c.last, percent, behind, w.Promotable(m))
		}
	}
}

func TestAlarmsStayUntilTheyAreLifted(t *testing.T) {
	w := masters(3)
	alarm := func(s float64, kind, member string, raised bool) {
		w.at(s, event.On("etcd", member), 0, event.StoreAlarm{Kind: kind, Member: member, Raised: raised})
	}
	alarm(2, NoSpace, "m1", true)
	alarm(3, NoSpace, "m2", true)
	alarm(4, NoSpace, "m1", true)
	if n := len(w.Store.Alarms); n != 2 {
		t.Errorf("%d alarms", n)
	}
	if a, ok := w.Store.Alarm(NoSpace); !ok || a.Member != "m1" || w.SinceStart(a.At).Seconds() != 2 {
		t.Errorf("the oldest is %+v", a)
	}
	if !w.Store.Raised(NoSpace, "m2") || w.Store.Raised(NoSpace, "m3") || w.Store.Raised(Corrupt, "m2") {
		t.Errorf("raised: %+v", w.Store.Alarms)
	}
	list, _ := w.Anomalies(10)
	if i := slices.IndexFunc(list, func(a Anomaly) bool { return a.Kind == StoreFull }); i < 0 || list[i].Count != 2 {
		t.Errorf("%+v", list)
	}
	alarm(5, NoSpace, "m1", false)
	alarm(6, NoSpace, "m2", false)
	if list, _ := w.Anomalies(10); len(w.Store.Alarms) != 0 || len(list) != 0 {
		t.Errorf("%+v %+v", w.Store.Alarms, list)
	}
}

func TestWhatIsWrongWithAMemberIsToldOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		tell    func(*tale)
		kind    AnomalyKind
		subject string
		detail  string
	}{
		{"a full disk", func(w *tale) { w.raft(event.DiskChanged{Member: "m2", State: "full"}) }, DiskFails, "m2", "full"},
		{"a slow disk", func(w *tale) { w.raft(event.DiskChanged{Member: "m2", State: "slow", Delay: 1}) }, DiskFails, "m2", "slow"},
		{"a damaged disk: its etcd is down for no other reason", func(w *tale) {
			w.raft(event.DiskChanged{Member: "m2", State: "zeroed", Text: "page 7 is zeros"})
			w.raft(event.ProcessStopped{Host: "m2", Process: "etcd", Reason: "exited", Message: "disk damaged: page 7"})
		}, DiskDamaged, "m2", "page 7 is zeros"},
		{"a disk that a check found damaged", func(w *tale) {
			w.raft(event.ProcessStopped{Host: "m2", Process: "etcd", Reason: "exited", Message: "disk damaged: entry 12"})
		}, DiskDamaged, "m2", "damaged: entry 12"},
		{"a state that differs", func(w *tale) {
			w.raft(event.StoreDiverged{Member: "m3", Index: 1000})
			w.raft(event.StoreAlarm{Kind: Corrupt, Member: "m3", Raised: true})
			w.raft(event.ProcessStopped{Host: "m3", Process: "etcd", Reason: "exited", Message: "diverged"})
		}, StateDiverged, "m3", ""},
		{"a learner that is down", func(w *tale) { w.group(50, "m1 m2 m3 m4?"); w.role(50, "m4", "down", 0) }, LearnerStuck, "m4", "down"},
		{"a learner that is slow", func(w *tale) {
			w.group(2, "m1 m2 m3 m4?")
			w.role(50, "m4", "learner", 2)
			w.raft(event.RaftProgress{Member: "m1", LastIndex: 100})
			w.raft(event.RaftProgress{Member: "m4", LastIndex: 50})
			w.at(90, event.Engine, 0, event.RateChanged{Rate: 1})
		}, LearnerStuck, "m4", "slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := masters(4)
			w.group(1, "m1 m2 m3")
			c.tell(w)
			list, _ := w.Anomalies(10)
			if len(list) != 1 || list[0].Kind != c.kind || list[0].Subject != c.subject || list[0].Detail != c.detail {
				t.Errorf("%+v", list)
			}
		})
	}
}

func TestAnEvenNumberOfVotersIsNoAnomaly(t *testing.T) {
	w := masters(4)
	w.group(2, "m1 m2 m3 m4")
	if list, _ := w.Anomalies(10); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestTheEtcdOfAMemberThatWasRemovedIsNotMissed(t *testing.T) {
	w := masters(4)
	w.group(2, "m1 m2 m3 m4")
	w.group(3, "m1 m2 m3")
	w.at(4, "etcd/m4", 0, event.ProcessStopped{Host: "m4", Process: "etcd", Reason: "exited", Message: "removed"})
	if list, _ := w.Anomalies(10); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestDamageIsForgottenWithTheDisk(t *testing.T) {
	for name, tell := range map[string]func(*tale){
		"it was made whole":       func(w *tale) { w.raft(event.DiskChanged{Member: "m2", State: "ok"}) },
		"it was set aside":        func(w *tale) { w.raft(event.DiskSetAside{Member: "m2", Text: "m2.aside-1"}) },
		"it was wiped":            func(w *tale) { w.raft(event.RaftTruncated{Member: "m2", Wiped: true}) },
		"it started all the same": func(w *tale) { w.role(50, "m2", "follower", 2) },
	} {
		w := masters(3)
		w.raft(event.DiskChanged{Member: "m2", State: "torn", Text: "x"})
		w.role(50, "m2", "down", 0)
		tell(w)
		if m, _ := w.Members.Get("m2"); !m.Disk.Sound() {
			t.Errorf("%s: %+v", name, m.Disk)
		}
	}
	w := masters(3)
	w.raft(event.DiskChanged{Member: "m2", State: "full"})
	w.role(50, "m2", "follower", 2)
	if m, _ := w.Members.Get("m2"); m.Disk.State != "full" {
		t.Error("a disk that is full does not become empty by a start")
	}
}

func TestASnapshotOnItsWayIsCountedPieceByPiece(t *testing.T) {
	piece := func(n, of int, lost bool) event.RaftMessage {
		return event.RaftMessage{From: "m1", To: "m3", Kind: "snapshot", Term: 2, LastIndex: 800, LastTerm: 2, Piece: n, Pieces: of, Lost: lost}
	}
	w := masters(3)
	w.raft(piece(1, 4, false))
	w.raft(piece(2, 4, false))
	w.raft(piece(3, 4, true))
	m, _ := w.Members.Get("m3")
	if in := m.Install; in.Pieces != 2 || in.Of != 4 || !in.Stalled || in.Done || in.From != "m1" || in.Index != 800 {
		t.Errorf("%+v", in)
	}
	w.raft(piece(1, 4, false)) // the leader begins again
	if m, _ = w.Members.Get("m3"); m.Install.Pieces != 1 || m.Install.Stalled {
		t.Errorf("sent again: %+v", m.Install)
	}
	for n := 2; n <= 4; n++ {
		w.raft(piece(n, 4, false))
	}
	w.raft(event.RaftSnapshot{Member: "m3", Index: 800, Term: 2, Installed: true})
	if m, _ = w.Members.Get("m3"); !m.Install.Done || m.Install.Pieces != 4 || m.Install.Stalled {
		t.Errorf("%+v", m.Install)
	}
	old := masters(3) // journals that do not number pieces
	old.raft(piece(0, 0, false))
	old.raft(piece(0, 0, false))
	if m, _ = old.Members.Get("m3"); m.Install.Pieces != 2 || m.Install.Of != 0 {
		t.Errorf("%+v", m.Install)
	}
}

func TestWhatWasOverwrittenIsRememberedWithWhatTookItsPlace(t *testing.T) {
	w := threeMasters()
	w.raft(appended("m1", 1, 3, 2, "a", "b", "c"))
	w.raft(event.RaftTruncated{Member: "m1", From: 2, To: 3})
	m, _ := w.Members.Get("m1")
	c := m.Cut
	if c.By != 0 || c.TermAt(2) != 2 || c.TermAt(1) != 0 || len(c.Entries) != 2 || c.Entries[0].Writes[0].Object.Name != "b" {
		t.Errorf("given up: %+v", c)
	}
	w.raft(appended("m1", 2, 2, 3, "d"))
	if m, _ = w.Members.Get("m1"); m.Cut.By != 3 || m.Cut.Entries[1].Writes[0].Object.Name != "c" {
		t.Errorf("overwritten: %+v", m.Cut)
	}
}

func TestTrapsWaitUntilTheySpringOrAreTakenAway(t *testing.T) {
	w := masters(3)
	for _, p := range []string{"before-apply", "after-apply"} {
		w.raft(event.TrapSet{Member: "m1", Point: p, Action: "kill"})
	}
	w.raft(event.TrapSprung{Member: "m1", Point: "after-apply", Action: "kill"})
	m, _ := w.Members.Get("m1")
	if len(m.Traps) != 1 || m.Traps[0].Point != "before-apply" || m.Sprung.Point != "after-apply" {
		t.Errorf("%+v", m)
	}
	w.raft(event.TrapSet{Member: "m1"})
	if m, _ = w.Members.Get("m1"); len(m.Traps) != 0 {
		t.Errorf("%+v", m.Traps)
	}
}

func TestARestoredStoreBeginsAnewAndElectsInLowTerms(t *testing.T) {
	w := masters(3)
	w.raft(appended("m1", 1, 3, 2, "a", "b", "c"))
	w.raft(event.RaftProgress{Member: "m1", Revision: 40, DBSize: 9})
	for _, m := range []string{"m1", "m2", "m3"} {
		w.role(50, m, "down", 2)
	}
	w.raft(event.StoreRestored{File: "f", Revision: 30, Restored: 1_000_000_040, Keys: 5})
	m, _ := w.Members.Get("m1")
	if w.Revision != 1_000_000_040 || m.LastIndex != 0 || w.Log.Len() != 0 || w.Store.Restored.Seq == 0 {
		t.Errorf("revision %d, %+v", w.Revision, m)
	}
	w.role(60, "m2", "candidate", 1)
	w.role(61, "m2", "leader", 2)
	if e := w.Elections[len(w.Elections)-1]; e.To != "m2" || e.Term != 2 || !e.Anew {
		t.Errorf("%+v", w.Elections)
	}
}

func TestSizesAreThoseLastTold(t *testing.T) {
	w := masters(3)
	w.raft(event.StoreQuota{Bytes: 8 << 20})
	w.raft(event.RaftProgress{Member: "m1", DBSize: 7 << 20, DBInUse: 3 << 20})
	w.raft(event.RaftProgress{Member: "m2", DBSize: 6 << 20, DBInUse: 3 << 20, Quota: 16 << 20})
	w.raft(event.RaftProgress{Member: "m1"}) // of before sizes were told
	m, quota, ok := w.Fullest()
	if !ok || m.Name != "m1" || m.DBSize != 7<<20 || quota != 8<<20 {
		t.Errorf("%+v %d", m, quota)
	}
	w.raft(event.StoreDefragmented{Member: "m1", Before: 7 << 20, After: 3 << 20})
	if m, quota, _ = w.Fullest(); m.Name != "m2" || quota != 16<<20 {
		t.Errorf("%+v %d", m, quota)
	}
	w.role(50, "m2", "down", 0)
	if m, _, _ = w.Fullest(); m.Name != "m1" {
		t.Errorf("the fullest of those that run is %+v", m)
	}
}

func TestALearnerBehindACutIsStuck(t *testing.T) {
	w := masters(4)
	w.group(1, "m1 m2 m3 m4?")
	w.role(2, "m4", "learner", 2)
	w.at(3, event.Engine, 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "m4", B: fault.All}})
	list, _ := w.Anomalies(10)
	if i := slices.IndexFunc(list, func(a Anomaly) bool { return a.Kind == LearnerStuck }); i < 0 || list[i].Detail != "cut" {
		t.Errorf("%+v", list)
	}
}

func TestAMemoryStoreHasNoMembersWhateverIsTold(t *testing.T) {
	w := &tale{}
	w.at(0, event.Engine, 0, event.ClusterStarted{Store: "memory", Masters: []string{"m1"}})
	for _, e := range []event.Event{event.DiskChanged{Member: "m1", State: "full"}, event.TrapSet{Member: "m1", Point: "x"}, event.StoreDefragmented{Member: "m1"}, event.StoreDiverged{Member: "m1"}} {
		w.raft(e)
	}
	if w.Members.Len() != 0 || w.Majority().Total != 0 {
		t.Error("it has members")
	}
}
