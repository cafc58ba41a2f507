package world

import (
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

func appended(member string, from, to, term uint64, holds ...string) event.RaftAppended {
	e := event.RaftAppended{Member: member, From: from, To: to, Term: term}
	for i, h := range holds {
		e.Entries = append(e.Entries, event.RaftEntry{Index: from + uint64(i), Term: term, Writes: []event.RaftWrite{{Object: kinds.ObjectRef{Resource: "pods", Name: h}}}})
	}
	return e
}

func (t *tale) raft(e event.Event) { t.at(50, "etcd/m1", 0, e) }

func (t *tale) log(member string) (log string) {
	m, _ := t.Members.Get(member)
	for i := uint64(1); i <= m.LastIndex; i++ {
		log += fmt.Sprint(m.TermAt(i))
		if e, ok := t.EntryOf(m, i); ok {
			log += e.Writes[0].Object.Name
		}
		log += " "
	}
	return log
}

func TestALogIsKnownByTermAndWhatItHolds(t *testing.T) {
	w := threeMasters()
	w.raft(appended("m1", 1, 3, 2, "a", "b", "c"))
	w.raft(appended("m2", 1, 2, 2))
	w.raft(appended("m2", 3, 3, 3, "d"))
	if a, b := w.log("m1"), w.log("m2"); a != "2a 2b 2c " || b != "2a 2b 3d " {
		t.Errorf("%q %q", a, b)
	}
	if n := w.Holders(2, 2); n != 2 {
		t.Errorf("%d members hold entry 2", n)
	}
	if n := w.Holders(3, 2); n != 1 {
		t.Errorf("%d members hold entry 3 of term 2", n)
	}
}

func TestDivergenceIsTheFirstEntryThatTheLeaderHasNot(t *testing.T) {
	w := threeMasters()
	w.raft(appended("m1", 1, 3, 2, "a", "b", "c"))
	w.raft(appended("m2", 1, 2, 2))
	w.raft(appended("m3", 1, 1, 2))
	w.at(51, "machine", 0, event.MachineDown{Host: "m1"})
	m, _ := w.Members.Get("m1")
	if at := w.Divergence(m); at != 0 {
		t.Errorf("nobody leads, yet %d will be overwritten", at)
	}
	w.role(52, "m2", "leader", 3)
	m, _ = w.Members.Get("m1")
	if at := w.Divergence(m); at != 3 {
		t.Errorf("parts at %d, want 3: the new leader's log ends before", at)
	}
	w.raft(appended("m2", 3, 3, 3, "d"))
	if at := w.Divergence(m); at != 3 {
		t.Errorf("parts at %d, want 3", at)
	}
	if m, _ := w.Members.Get("m3"); w.Divergence(m) != 0 {
		t.Error("a log that is only behind does not diverge")
	}
	w.raft(event.RaftTruncated{Member: "m1", From: 3, To: 3})
	w.raft(appended("m1", 3, 3, 3))
	m, _ = w.Members.Get("m1")
	if at := w.Divergence(m); at != 0 || w.log("m1") != "2a 2b 3d " || m.Cut.From != 3 {
		t.Errorf("after the repair: %d %q %+v", at, w.log("m1"), m.Cut)
	}
}

func TestWhatADownMemberHeldIsNotForgotten(t *testing.T) {
	w := threeMasters()
	w.raft(appended("m1", 1, 1, 2, "mine"))
	w.at(51, "machine", 0, event.MachineDown{Host: "m1"})
	for i := range uint64(2 * logKept) {
		w.raft(appended("m2", i+2, i+2, 3, "other"))
	}
	if n := w.Log.Len(); n > logKept {
		t.Errorf("%d indexes are kept", n)
	}
	if got := w.log("m1"); got != "2mine " {
		t.Errorf("%q", got)
	}
}

func TestAWipedDiskIsEmptyAndASnapshotReplacesTheLog(t *testing.T) {
	w := threeMasters()
	w.raft(appended("m1", 1, 3, 2, "a", "b", "c"))
	w.raft(event.RaftTruncated{Member: "m1", Wiped: true})
	m, _ := w.Members.Get("m1")
	if m.LastIndex != 0 || len(m.Runs) != 0 || m.Role != "leader" {
		t.Errorf("%+v", m)
	}
	w.raft(event.RaftSnapshot{Member: "m1", Index: 40, Term: 5, Installed: true})
	m, _ = w.Members.Get("m1")
	if m.LastIndex != 40 || m.Applied != 40 || m.TermAt(40) != 5 || m.TermAt(39) != 0 || m.Snapshot != 40 {
		t.Errorf("%+v", m)
	}
}

func TestWhatIsFoundOnTheDiskIsOnlyNewsWhenItIsOtherThanKnown(t *testing.T) {
	w := threeMasters()
	w.raft(appended("m1", 1, 3, 2, "a", "b", "c"))
	opened := event.RaftAppended{Member: "m1", From: 1, To: 3, Term: 2, Opened: true, Entries: []event.RaftEntry{{Index: 3, Term: 2}}}
	w.raft(opened)
	if got := w.log("m1"); got != "2a 2b 2c " {
		t.Errorf("the same log: %q", got)
	}
	opened.To, opened.Entries = 4, []event.RaftEntry{{Index: 4, Term: 1, Writes: []event.RaftWrite{{}}}}
	w.raft(opened)
	if m, _ := w.Members.Get("m1"); m.TermAt(3) != 0 || m.TermAt(4) != 1 {
		t.Errorf("of another run: %+v", m.Runs)
	}
}

func TestAWinnerHadAMajorityWhateverIsRecordedLater(t *testing.T) {
	for _, c := range []struct {
		name          string
		masters       int
		before, after []string // who is told to have granted it before and after it says that it leads
		first, last   int
	}{
		{"all answers come later", 3, nil, []string{"m2"}, 2, 2},
		{"both of three", 3, nil, []string{"m2", "m3"}, 2, 3},
		{"one before, one after", 3, []string{"m2"}, []string{"m3"}, 2, 3},
		{"two answers of five come later", 5, []string{"m2"}, []string{"m3"}, 3, 3},
		{"nothing is ever told", 5, nil, nil, 3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := masters(c.masters)
			grant := func(from string) {
				w.raft(event.RaftMessage{From: from, To: "m1", Kind: "vote", Term: 7, Reply: true, Granted: true})
			}
			w.at(40, "etcd/m2", 0, event.RaftMessage{From: "m1", To: "m2", Kind: "vote", Term: 7})
			for _, m := range c.before {
				grant(m)
			}
			w.role(50, "m1", "leader", 7)
			old := w.Clone()
			if e := w.Elections[len(w.Elections)-1]; e.Votes != c.first || e.Voters != c.masters {
				t.Errorf("when it said so: %+v", e)
			}
			for _, m := range c.after {
				grant(m)
			}
			if e := w.Elections[len(w.Elections)-1]; e.Votes != c.last {
				t.Errorf("in the end: %+v, want %d votes", e, c.last)
			}
			if e := old.Elections[len(old.Elections)-1]; e.Votes != c.first {
				t.Errorf("a clone has changed: %+v", e)
			}
		})
	}
}

func TestVotesOfARound(t *testing.T) {
	w := threeMasters()
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := func(to string, lost bool, after time.Duration) {
		w.raft(event.RaftMessage{From: "m2", To: to, Kind: "vote", Term: 3, LastIndex: 7, LastTerm: 2, Lost: lost, Sent: wall.Add(after)})
	}
	w.role(50, "m2", "candidate", 2)
	ask("m1", true, 0)
	ask("m3", false, time.Millisecond)
	ask("m1", true, 60*time.Millisecond) // sent again
	w.raft(event.RaftMessage{From: "m3", To: "m2", Kind: "vote", Term: 3, Reply: true, Granted: true})
	m, _ := w.Members.Get("m2")
	if r := m.Round; len(r.Granted) != 1 || len(r.Lost) != 1 || r.LastIndex != 7 || !r.Wall.Equal(wall) {
		t.Errorf("%+v", r)
	}
	if v, _ := w.Members.Get("m3"); v.VotedFor != "m2" || v.VoteTerm != 3 {
		t.Errorf("%+v", v)
	}
	w.role(51, "m2", "leader", 3)
	if e := w.Elections[len(w.Elections)-1]; e.Votes != 2 || e.LostSeq == 0 {
		t.Errorf("%+v", e)
	}
	ask("m3", false, time.Second)
	if m, _ := w.Members.Get("m2"); len(m.Round.Granted) != 0 {
		t.Errorf("a second later it is another round: %+v", m.Round)
	}
}

func TestARefusalIsExplainedByWhatIsKnownOfTheVoter(t *testing.T) {
	for _, c := range []struct {
		name  string
		voter func(*tale)
		term  uint64
		want  RefusalReason
	}{
		{"it is in a later term", func(*tale) {}, 9, LaterTerm},
		{"it hears a leader", func(w *tale) {
			w.at(50, "etcd/m3", 0, event.RaftRole{Member: "m3", Role: "follower", Term: 2, Leader: "m1"})
		}, 3, HearsLeader},
		{"it voted for another", func(w *tale) {
			w.raft(event.RaftMessage{From: "m3", To: "m1", Kind: "vote", Term: 3, Reply: true, Granted: true})
		}, 3, VotedOther},
		{"its log is longer", func(w *tale) { w.raft(appended("m3", 1, 8, 2)) }, 3, NewerLog},
		{"its log is of a later term", func(w *tale) { w.raft(appended("m3", 1, 1, 3)) }, 3, NewerLog},
		{"nothing is known", func(*tale) {}, 3, Unexplained},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := threeMasters()
			w.role(50, "m2", "candidate", 2)
			c.voter(w)
			w.raft(event.RaftMessage{From: "m2", To: "m3", Kind: "vote", Term: 3, LastIndex: 7, LastTerm: 2})
			w.raft(event.RaftMessage{From: "m3", To: "m2", Kind: "vote", Term: c.term, Reply: true})
			m, _ := w.Members.Get("m2")
			if r := m.Round.Refused; len(r) != 1 || r[0].Why != c.want || r[0].By != "m3" {
				t.Errorf("%+v, want %d", r, c.want)
			}
		})
	}
}

func TestAnOldFigureDoesNotMakeALogShorter(t *testing.T) {
	w := threeMasters()
	for _, m := range []string{"m1", "m2"} {
		w.raft(appended(m, 1, 5, 2, "a", "b", "c", "d", "e"))
	}
	w.raft(event.RaftProgress{Member: "m1", LastIndex: 3, CommitIndex: 3, Applied: 3}) // sampled before, told after
	w.raft(appended("m1", 6, 6, 2, "f"))
	w.raft(appended("m2", 6, 6, 2))
	m, _ := w.Members.Get("m1")
	if m.LastIndex != 6 || len(m.Runs) != 1 || m.Runs[0].To != 6 {
		t.Errorf("the log of m1 ends at %d, its runs are %+v", m.LastIndex, m.Runs)
	}
	m, _ = w.Members.Get("m2")
	if at := w.Divergence(m); at != 0 {
		t.Errorf("equal logs part at %d", at)
	}
}

func TestAGroupThatBeginsAnewInAnOldTermElectsAsWell(t *testing.T) {
	w := threeMasters()
	n := len(w.Elections)
	for _, m := range []string{"m1", "m2", "m3"} {
		w.at(100, "machine", 0, event.MachineDown{Host: m})
	}
	for _, m := range []string{"m1", "m2", "m3"} { // with empty disks
		w.at(110, "machine", 0, event.MachineUp{Host: m})
		w.at(110, "etcd", 0, event.ProcessStarted{Host: m, Process: "etcd"})
		w.role(111, m, "follower", 1)
	}
	w.role(112, "m3", "candidate", 2)
	w.role(113, "m3", "leader", 2)
	if len(w.Elections) != n+1 || w.Elections[n].To != "m3" {
		t.Errorf("elections %+v", w.Elections[n:])
	}
}

func TestAFollowersOwnOkTellsHowFarItsLogReaches(t *testing.T) {
	ok := event.RaftMessage{From: "m2", To: "m1", Kind: "append", Term: 2, Reply: true, Granted: true, LastIndex: 6, Sent: zero.Add(time.Hour)}
	for _, c := range []struct {
		name string
		say  func(*event.RaftMessage)
		want uint64
	}{
		{"its ok", func(*event.RaftMessage) {}, 6},
		{"an ok that was lost", func(m *event.RaftMessage) { m.Lost = true }, 5},
		{"a refusal", func(m *event.RaftMessage) { m.Granted = false }, 5},
		{"an ok of another term", func(m *event.RaftMessage) { m.Term = 1 }, 5},
		{"an ok from before it gave up a piece of its log", func(m *event.RaftMessage) { m.Sent = zero.Add(time.Second) }, 5},
		{"an ok to what the leader is not known to have", func(m *event.RaftMessage) { m.LastIndex = 7 }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := threeMasters()
			w.raft(appended("m2", 1, 6, 1))
			w.raft(event.RaftTruncated{Member: "m2", From: 6, To: 6, Done: zero.Add(time.Minute)})
			for _, m := range []string{"m1", "m2"} {
				w.raft(appended(m, 1, 5, 2, "a", "b", "c", "d", "e"))
				w.raft(event.RaftRole{Member: m, Role: "follower", Term: 2, Leader: "m1"})
			}
			w.raft(appended("m1", 6, 6, 2, "f"))
			said := ok
			c.say(&said)
			w.raft(said)
			m, _ := w.Members.Get("m2")
			if m.LastIndex != c.want || c.want == 6 && m.TermAt(6) != 2 {
				t.Errorf("its log ends at %d in term %d, want %d", m.LastIndex, m.TermAt(6), c.want)
			}
		})
	}
}
