package raftview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

// configure makes the store's members those named; "m?" learns, "m#2" has that ID.
func (t *tape) configure(members ...string) {
	var list []event.StoreMember
	for _, m := range members {
		name, learner := strings.CutSuffix(m, "?")
		id := name
		name, _, _ = strings.Cut(name, "#")
		list = append(list, event.StoreMember{Name: name, ID: id, Learner: learner})
	}
	t.raft("master-1", event.MembersChanged{Members: list, Index: t.last, Term: t.term})
}

// grown is a group of three among n masters, with a learner that holds so many of the 12 entries.
func grown(holds uint64) *tape {
	t := group(4)
	three := t.members[:3]
	t.configure(three...)
	t.wait(2 * time.Minute)
	t.raft("master-4", event.RaftTruncated{Member: "master-4", Wiped: true})
	t.configure(append(three[:3:3], "master-4#2?")...)
	t.raft("master-4", event.RaftRole{Member: "master-4", Role: "learner", Term: 2, Leader: "master-1"})
	if holds > 0 {
		t.raft("master-4", event.RaftAppended{Member: "master-4", From: 1, To: holds, Term: 2, CommitIndex: holds, Applied: holds})
	}
	t.wait(time.Second)
	return t
}

func full(size, use, quota int64) *tape {
	t := group(3)
	t.configure(t.members...)
	for _, m := range t.members {
		t.raft(m, event.RaftProgress{Member: m, DBSize: size, DBInUse: use, Quota: quota})
	}
	t.raft("master-1", event.StoreAlarm{Kind: "NOSPACE", Member: "master-1", Raised: true})
	return t
}

const mib = 1 << 20

// Each condition has its sentence, and the most telling one comes first.
func TestWhatIsSaidOfTheStore(t *testing.T) {
	for _, c := range []struct {
		name  string
		tape  func() *tape
		first string   // begins the first sentence
		also  []string // are said as well
		not   []string
	}{
		{"nobody can lead", func() *tape {
			g := group(5)
			for _, m := range g.members[:3] {
				g.kill(m)
			}
			return g
		}, "Nobody can lead: 2 of 5 are up and reach each other, 3 needed.", nil, nil},
		{"learners and masters outside do not help", func() *tape {
			g := group(5)
			g.configure("master-1", "master-2", "master-3", "master-4?")
			g.kill("master-1")
			g.kill("master-2")
			return g
		}, "Nobody can lead: 1 of 3 are up", nil, nil},
		{"history fills the database", func() *tape { return full(8*mib+100<<10, 8*mib, 8*mib) },
			"Writes are refused: NOSPACE, database 8.1 MiB of 8.0 MiB; deletions are not. Compact, defrag, disarm; next is compact", nil, nil},
		{"compacted, not yet given back", func() *tape { return full(9*mib, 2*mib, 8*mib) }, "Writes are refused", []string{"next is defrag all: space is free inside the file"}, nil},
		{"given back, the alarm is still on", func() *tape { return full(2*mib, 2*mib, 8*mib) }, "Writes are refused", []string{"next is disarm: there is room again"}, nil},
		{"what is in use alone is too much", func() *tape {
			g := full(9*mib, 9*mib, 8*mib)
			g.raft("master-1", event.StoreCompacted{Revision: 40})
			return g
		}, "Writes are refused", []string{"What is in use alone is too much: delete objects, or quota 16Mi; then disarm."}, nil},
		{"a damaged disk", func() *tape {
			g := group(3)
			g.raft("master-3", event.DiskChanged{Member: "master-3", State: "zeroed", Text: "page 7"})
			g.raft("master-3", event.RaftRole{Member: "master-3", Role: "down", Term: 2})
			return g
		}, "master-3 does not start: its disk is damaged: a page is zeros. Mend: member replace master-3, which lets it begin with an empty disk.", nil, nil},
		{"a state that differs", func() *tape {
			g := group(3)
			g.raft("master-2", event.StoreDiverged{Member: "master-2", Index: 1000})
			g.raft("master-2", event.RaftRole{Member: "master-2", Role: "down", Term: 2})
			return g
		}, "master-2 was stopped: its state differs from the others' at entry 1000.", nil, nil},
		{"a leader that reaches nobody", func() *tape {
			g := group(3)
			g.put(event.You, 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "master-1", B: fault.All}})
			g.wait(200 * time.Millisecond)
			return g
		}, "master-1 leads term 2 for nobody: it has not heard a majority for 0.2s, can commit nothing, and steps down in 0.0s.", nil, nil},
		{"a log that is behind", func() *tape {
			g := group(3)
			for range 14 {
				g.write("master-1", "x", "master-1", "master-3")
			}
			g.kill("master-1")
			return g
		}, "", []string{"master-2 cannot lead: its log is 14 entries behind that of master-3."}, []string{"master-3 cannot lead"}},
		{"a log of an older term", func() *tape {
			g := group(3)
			g.raft("master-3", event.RaftAppended{Member: "master-3", From: 13, To: 13, Term: 4})
			g.kill("master-1")
			return g
		}, "", []string{"master-2 cannot lead: its log ends in term 2, that of master-3 in term 4."}, nil},
		{"a learner that may be promoted", func() *tape { return grown(11) }, "master-4 is a learner, 1 behind, 91 %, and can be promoted: 3 voters, quorum 2, can lose 1 → 4 voters, quorum 3, can still lose only 1.", nil, nil},
		{"a learner that may not yet", func() *tape { return grown(10) }, "master-4 learns: 2 entries behind, 83 % of the leader's log, 90 % are needed for a vote.", nil, nil},
		{"one more voter", func() *tape { g := grown(12); g.configure("master-1", "master-2", "master-3", "master-4#2"); return g },
			"master-4 has a vote now: 3 voters, quorum 2, can lose 1 → 4 voters, quorum 3, can still lose only 1.", []string{"4 members can lose 1, the same as 3"}, nil},
		{"one voter less", func() *tape { g := group(4); g.configure(g.members...); g.configure(g.members[:3]...); return g },
			"master-4 was removed: 4 voters, quorum 3, can lose 1 → 3 voters, quorum 2, can lose 1.", nil, nil},
		{"a learner less", func() *tape { g := grown(12); g.configure(g.members[:3]...); return g }, "master-4 was removed: 3 voters, quorum 2, can lose 1, as before.", nil, nil},
		{"a store that began anew", func() *tape {
			g := group(3)
			g.configure(g.members...)
			g.raft("master-1", event.StoreRestored{File: "a.bak", Revision: 30, Restored: 1_000_000_040, Keys: 5})
			g.configure("master-1#2", "master-2#2", "master-3#2")
			return g
		}, "The store began anew from a.bak, as it was at revision 30: what followed is forgotten, revisions go on from 1000000040.", nil, []string{"joined anew"}},
		{"a snapshot on its way", func() *tape {
			g := group(3)
			g.raft("master-1", event.RaftMessage{From: "master-1", To: "master-3", Kind: "snapshot", Term: 2, LastIndex: 8, LastTerm: 2, Piece: 3, Pieces: 12, Sent: g.wall()})
			return g
		}, "master-1 sends master-3 its snapshot at 8, piece by piece (3/12)", nil, nil},
		{"a snapshot that does not get through", func() *tape {
			g := group(3)
			g.raft("master-1", event.RaftMessage{From: "master-1", To: "master-3", Kind: "snapshot", Term: 2, LastIndex: 8, LastTerm: 2, Piece: 3, Pieces: 12, Sent: g.wall(), Lost: true})
			return g
		}, "The snapshot for master-3 does not get through", nil, nil},
		{"a slow disk", func() *tape {
			g := group(3)
			g.raft("master-3", event.DiskChanged{Member: "master-3", State: "slow", Delay: 200 * time.Millisecond})
			return g
		}, "The disk of master-3 takes 200ms longer for each durable step", nil, nil},
		{"whom the leader asks in vain", func() *tape {
			g := group(3)
			g.put("machine/master-3", 0, event.MachineDown{Host: "master-3", Reason: "killed"})
			for range 3 {
				g.raft("master-1", event.RaftMessage{From: "master-1", To: "master-3", Kind: "append", Term: 2, Entries: 1, LastIndex: 13, Lost: true, Sent: g.wall()})
			}
			return g
		}, "master-1 asks master-3 again and again: 3 questions lost, the last 0.0s ago.", nil, nil},
		{"what was overwritten", func() *tape {
			g := replaced()
			g.raft("master-1", event.RaftTruncated{Member: "master-1", From: 13, To: 13})
			g.raft("master-1", event.RaftAppended{Member: "master-1", From: 13, To: 14, Term: 3})
			return g
		}, "What master-1 held alone of 13 (t2) was overwritten by term 3", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []string
			for _, s := range (View{}).figure(frame(c.tape(), 120, 35)).now() {
				all = append(all, s.text)
			}
			text := strings.Join(all, "\n")
			if len(all) == 0 || !strings.HasPrefix(all[0], c.first) {
				t.Errorf("first comes not %q", c.first)
			}
			for _, want := range c.also {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said", want)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is said", not)
				}
			}
			if t.Failed() {
				t.Log("\n" + text)
			}
		})
	}
}

func TestWhatIsOverwrittenIsSeenToBeForAMoment(t *testing.T) {
	g := replaced()
	g.raft("master-1", event.RaftTruncated{Member: "master-1", From: 13, To: 13, Done: g.wall()})
	viewtest.Says(t, viewtest.Text(View{}, frame(g, 120, 35)), "×13·t2 pod/lost", "gave up 13, which the leader has not", "t2   × pod default/lost  given up")
	g.raft("master-1", event.RaftAppended{Member: "master-1", From: 13, To: 14, Term: 3})
	viewtest.Says(t, viewtest.Text(View{}, frame(g, 120, 35)), "×13·t2 pod/lost: overwritten by term 3", "overwritten by t3")
	g.wait(time.Minute)
	viewtest.Hides(t, viewtest.Text(View{}, frame(g, 120, 35)), "×13·t2", "overwritten by t3")
}

func TestDisksSpaceAndPlacesAreSeenByWordAndSign(t *testing.T) {
	full := full(8*mib+100<<10, 4*mib, 8*mib)
	full.raft("master-2", event.StoreAlarm{Kind: "NOSPACE", Member: "master-2", Raised: true})
	full.raft("master-3", event.DiskChanged{Member: "master-3", State: "slow", Delay: 200 * time.Millisecond})
	full.raft("master-2", event.TrapSet{Member: "master-2", Point: "after-store-log", Action: "kill"})
	full.raft("master-2", event.StoreCompacted{Revision: 1200})
	damaged := group(3)
	damaged.raft("master-3", event.DiskChanged{Member: "master-3", State: "cut", Text: "page 9 of 12"})
	damaged.raft("master-3", event.RaftRole{Member: "master-3", Role: "down", Term: 2})
	hopeless := group(3)
	for _, m := range []string{"master-2", "master-3"} {
		hopeless.raft(m, event.DiskChanged{Member: m, State: "cut", Text: "page 9 of 12"})
		hopeless.raft(m, event.RaftRole{Member: m, Role: "down", Term: 2})
	}
	shrunk := group(5)
	shrunk.configure(shrunk.members...)
	shrunk.configure(shrunk.members[:3]...)
	parted := group(3)
	parted.raft("master-1", event.RaftRole{Member: "master-1", Role: "candidate", Term: 2})
	for _, m := range []string{"master-2", "master-3"} {
		parted.raft(m, event.RaftRole{Member: m, Role: "candidate", Term: 9})
	}
	for _, m := range []string{"master-1", "master-2"} {
		parted.put(event.Engine, 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: m, B: fault.All}})
	}
	outside := group(5)
	outside.configure(outside.members[:3]...)
	for _, c := range []struct {
		name string
		tape *tape
		w, h int
		want []string
	}{
		{"a full store", full, 120, 40, []string{"✗ NOSPACE", "8.1 MiB of 8.0 MiB", "◐ disk slow, 200ms a write", "failpoint after-store-log: kill", "history from revision 1200", "✗ NOSPACE by m1 m2"}},
		{"a full store, small", full, 80, 20, []string{"✗ NOSPACE", "◐ disk slow", "Writes are refused"}},
		{"a damaged disk", damaged, 120, 40, []string{"✗ master-3  down, does not start", "✗ disk damaged: its log is cut off", "page 9 of 12"}},
		{"a learner", grown(11), 120, 40, []string{"◐ master-4  learner   t2   1 behind, 91 %: can be promoted   id master-4#2", "no vote: it stands in no election", "1 learner", "3 of 3 can work together"}},
		{"a learner, small", grown(4), 80, 20, []string{"◐ master-4  learner   t2   8 behind, 33 %: not yet"}},
		{"damage is told whole, and once", damaged, 120, 40, []string{"damaged: its log is cut off: page 9 of 12"}},
		{"two disks of three are damaged: the way out comes first", hopeless, 120, 40, []string{"Way out: backup @rescue, restore @rescue: all begin anew"}},
		{"masters that were removed are named so", shrunk, 120, 40, []string{"removed: m4 m5"}},
		{"masters that were removed and find no row are counted", shrunk, 80, 6, []string{"more"}},
		{"nobody leads: the highest term that is known", parted, 120, 40, []string{"term 9  ✗ nobody leads"}},
		{"masters that are no members are counted, not drawn", outside, 120, 40, []string{"outside: m4 m5"}},
	} {
		t.Run(c.name, func(t *testing.T) { viewtest.Says(t, viewtest.Text(View{}, frame(c.tape, c.w, c.h)), c.want...) })
	}
}

func TestNobodyCatchesUpWhoHearsNothing(t *testing.T) {
	behind := func(change func(*tape)) string {
		g := group(4)
		g.configure(g.members...)
		change(g)
		for range 14 {
			g.write("master-1", "x", "master-1", "master-2", "master-3")
		}
		return viewtest.Text(View{}, frame(g, 160, 50))
	}
	viewtest.Says(t, behind(func(*tape) {}), "14 entries behind, catching up")
	cut := behind(func(g *tape) {
		g.put(event.You, 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "master-4", B: fault.All}})
	})
	viewtest.Says(t, cut, "14 entries behind")
	viewtest.Hides(t, cut, "catching up")
	removed := behind(func(g *tape) { g.configure(g.members[:3]...) })
	viewtest.Says(t, removed, "master-4  no member of the store")
	viewtest.Hides(t, removed, "entries behind")
}

func TestFactsThatHaveNoRoomAreLeftOutWhole(t *testing.T) {
	g := full(8*mib+100<<10, 4*mib, 8*mib)
	g.raft("master-2", event.StoreCompacted{Revision: 1200})
	p := View{}.figure(frame(g, 120, 40))
	text := func(width int) (s string) {
		line := p.factsLine(width)
		for _, x := range line {
			s += x.Text
		}
		if line.Width() > width {
			t.Errorf("at %d it takes %d", width, line.Width())
		}
		return s
	}
	whole, before := text(120), ""
	for width := range 120 {
		got := text(width)
		if got != "" && got != whole && !strings.HasPrefix(whole[len(got):], "   ") || len(got) < len(before) {
			t.Fatalf("at %d: %q", width, got)
		}
		before = got
	}
	if before != whole || !strings.Contains(whole, "history from revision 1200") {
		t.Errorf("%q, %q", before, whole)
	}
}

func TestNineMembersAreLegible(t *testing.T) {
	g := group(9)
	g.configure(g.members...)
	g.kill("master-9")
	g.raft("master-8", event.DiskChanged{Member: "master-8", State: "full"})
	for _, size := range [][2]int{{80, 20}, {120, 35}, {200, 55}} {
		got := viewtest.Text(View{}, frame(g, size[0], size[1]))
		for i := 1; i <= 9; i++ {
			if !strings.Contains(got, fmt.Sprintf("master-%d  ", i)) {
				t.Errorf("%v: master-%d is not seen", size, i)
			}
		}
		viewtest.Says(t, got, "★ master-1  leader", "✗ master-9  down", "✗ disk full", "8 of 9")
		for y, l := range strings.Split(got, "\n") {
			if grid.Width(l) > size[0] {
				t.Errorf("%v: line %d is %d wide", size, y, grid.Width(l))
			}
		}
	}
}

func TestOldRecordingsHaveNoRowForTheStore(t *testing.T) {
	p := View{}.figure(frame(group(3), 120, 40))
	if len(p.storeFacts()) != 0 || p.voters != 3 {
		t.Errorf("%v, %d voters", p.storeFacts(), p.voters)
	}
}

func TestTheRussianStore(t *testing.T) {
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	for _, tp := range []*tape{grown(11), full(9*mib, 2*mib, 8*mib)} {
		f := frame(tp, 120, 40)
		f.Words = ru
		got := viewtest.Text(View{}, f)
		if strings.Contains(got, "{") || !strings.Contains(got, "голос") {
			t.Error("\n" + got)
		}
	}
}

func TestASignOfADiskIsNotByColourAlone(t *testing.T) {
	for state, sign := range map[string]rune{"full": grid.Failing, "readonly": grid.Failing, "slow": grid.Starting, "flaky": grid.Starting, "torn": grid.Failing} {
		g := group(3)
		g.raft("master-2", event.DiskChanged{Member: "master-2", State: state})
		p := View{}.figure(frame(g, 120, 40))
		line := p.diskSpans(p.member("master-2"))
		if len(line) == 0 || !strings.HasPrefix(line[0].Text, string(sign)) || line[0].Style == theme.Dim {
			t.Errorf("%s: %v", state, line)
		}
	}
}
