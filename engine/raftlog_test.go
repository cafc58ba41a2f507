package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/raftstore"
)

// A follower's part is told later than what the leader has; how far the leader has committed must not be told before a majority is known to have it.
func TestNothingIsToldToBeCommittedBeforeAMajorityIsKnownToHaveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := pacing(3, 0)
		d.e.journal = journal.New(journal.Options{Now: d.e.loop.Now})
		d.progress = map[string]event.RaftProgress{}
		d.log = newRaftLog(d)
		var w world.World
		tell := func() {
			t.Helper()
			d.log.flush()
			for uint64(w.Seq) < uint64(d.e.journal.Last()) {
				r, _ := d.e.journal.Get(w.Seq + 1)
				w.Apply(r)
				w.Members.Scan(func(name string, m *world.Member) bool {
					have := 0
					w.Members.Scan(func(_ string, o *world.Member) bool {
						if o.LastIndex >= m.CommitIndex {
							have++
						}
						return true
					})
					if m.CommitIndex > 0 && have < 2 {
						t.Errorf("record %d: %s has committed %d, which %d of 3 have", r.Seq, name, m.CommitIndex, have)
					}
					return true
				})
			}
		}
		for i := uint64(1); i <= 50; i++ {
			d.log.note(raftstore.LogChange{Member: "master-1", Kind: raftstore.LogAppended, From: i, To: i, Term: 2, CommitIndex: i - 1, Applied: i - 1, Entries: []raftstore.LogEntry{{Index: i, Term: 2, Kind: "noop"}}})
			tell()
			for _, m := range []string{"master-2", "master-3"} {
				d.log.note(raftstore.LogChange{Member: m, Kind: raftstore.LogAppended, From: i, To: i, Term: 2, CommitIndex: i - 1})
			}
			d.log.note(raftstore.LogChange{Member: "master-1", Kind: raftstore.LogApplied, To: i, Term: 2})
			tell()
			time.Sleep(7 * time.Millisecond)
		}
		n := uint64(d.e.journal.Last())
		for range 4 {
			time.Sleep(tellLater)
			tell()
		}
		if m, _ := w.Members.Get("master-1"); m.CommitIndex != 50 || m.Applied != 50 {
			t.Errorf("in the end it has committed %d and applied %d of 50", m.CommitIndex, m.Applied)
		}
		if n > 150 { // members and time, not entries times members
			t.Errorf("%d records for 50 entries", n)
		}
	})
}

func TestWhatWasRefusedIsToldOfItsEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := pacing(1, 0)
		d.e.journal = journal.New(journal.Options{Now: d.e.loop.Now})
		d.progress = map[string]event.RaftProgress{}
		d.log = newRaftLog(d)
		for i := uint64(1); i <= 2; i++ {
			d.log.note(raftstore.LogChange{Member: "master-1", Kind: raftstore.LogAppended, From: i, To: i, Term: 2, Entries: []raftstore.LogEntry{{Index: i, Term: 2, Kind: "write"}}})
		}
		d.log.note(raftstore.LogChange{Member: "master-1", Kind: raftstore.LogApplied, To: 1, Term: 2})
		d.log.note(raftstore.LogChange{Member: "master-1", Kind: raftstore.LogApplied, To: 2, Term: 2, Refused: raftstore.Refusal{Refused: 1, All: 1, Why: "NOSPACE"}})
		time.Sleep(2 * tellLater)
		d.log.flush()
		d.log.flush()
		var w world.World
		for seq := event.Seq(1); seq <= d.e.journal.Last(); seq++ {
			r, _ := d.e.journal.Get(seq)
			w.Apply(r)
		}
		m, _ := w.Members.Get("master-1")
		for i, want := range []string{"", "NOSPACE"} {
			if e, ok := w.EntryOf(m, uint64(i)+1); !ok || e.Refused.Why != want {
				t.Errorf("entry %d was refused for %q, want %q", i+1, e.Refused.Why, want)
			}
		}
	})
}
