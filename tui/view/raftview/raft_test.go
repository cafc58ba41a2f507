package raftview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

// frame is what is seen at the instant of the last record.
func frame(t *tape, w, h int) view.Frame {
	f := viewtest.Frame(t.records, w, h)
	f.Live, f.Now = false, t.at
	return f
}

func TestWhatIsSeen(t *testing.T) {
	vote := orphaned(3)
	vote.wait(600 * time.Millisecond)
	vote.term++
	vote.stand("master-2")
	refused := orphaned(3)
	refused.term++
	refused.stand("master-2")
	refused.raft("master-3", event.RaftMessage{From: "master-3", To: "master-2", Kind: "vote", Term: refused.term + 1, Reply: true})
	cutBack := replaced()
	cutBack.raft("master-1", event.RaftTruncated{Member: "master-1", From: 13, To: 13})
	waits := group(3)
	waits.write("master-1", "slow", "master-1")
	for _, c := range []struct {
		name   string
		tape   *tape
		w, h   int
		want   []string
		absent []string
	}{
		{"a calm group: who leads, what the log holds, what can be lost", group(3), 120, 35, []string{
			"★ master-1  leader   t2   voted: itself", "● master-2  follower   t2   voted: master-1   follows master-1", "12·t2 pod/web-9", "▲ committed and applied 12",
			"can lose 1; with 5 members it could lose 2", "set back by every heartbeat of master-1; 500ms to 1.0s of silence", "it is committed when 2 of 3 have it", "★ master-1, the first, 3 of 3 votes",
			"t2     pod default/web-9"}, []string{"┏", "✗", "candidate"}},
		{"the leader is killed: timers run down and what it had alone is named", orphaned(3), 120, 35, []string{
			"✗ master-1  down", "by you", "nobody leads", "stands for election in 0.2s to 0.7s   0.3s without a leader", "13·t2 pod/lost", "never acknowledged",
			"master-2, master-3 have heard nothing of master-1 for 0.3s: each stands", "which only 1 of 3 hold: nobody was told it succeeded", "can lose 0, one more and nothing can be written"}, []string{"follows master-1"}},
		{"a candidate: why, with what log, how many votes", vote, 120, 35, []string{
			"◇ master-2  candidate   t3   voted: itself", "asks for votes in term 3: it has heard no leader for 0.9s", "Its log (12, t2) is as new as that of master-3", "It needs 2 of 3 votes and has 1.",
			"vote t3?", "→ m3 vote t3?"}, nil},
		{"a refusal says why", refused, 120, 35, []string{"master-3 refuses: it is in term 4 already."}, nil},
		{"another leads: the old entry will be overwritten", replaced(), 120, 35, []string{
			"★ master-2  leader   t3", "13·t3 noop", "14·t3 pod/kept", "never acknowledged: will be overwritten", "master-1 holds 13, which master-2 has not", "master-2 won term 3 with 2 of 3 votes, after 901ms without a leader",
			"2 elections", "master-2 after master-1"}, nil},
		{"it was overwritten", cutBack, 120, 35, []string{"gave up 13", "master-1 gave up 13 for what the leader has there: it was never acknowledged."}, []string{"will be overwritten"}},
		{"an entry waits for a majority", waits, 120, 35, []string{"held by 1 of 3: waits for a majority", "Entry 13 is held by 1 of 3: it counts when 2 have it."}, nil},
		{"80x20 is complete", group(3), 80, 20, []string{"★ master-1 leads", "can lose 1", "master-3  follower", "12·t2 pod/web-9", "committed and applied 12", "committed when 2 of 3 have it"}, nil},
		{"80x20 in trouble", orphaned(3), 80, 20, []string{"✗ master-1  down", "nobody leads", "0.3s without a leader", "never acknowledged"}, nil},
		{"five members in 80x20", group(5), 80, 20, []string{"master-5  follower", "5 of 5, can lose 2", "12·t2 pod/web-9"}, nil},
		{"five members in 80x20, in trouble: the timers are seen", orphaned(5), 80, 20, []string{"✗ master-1  down", "follower, hears no leader", "stands in 0.2s to 0.7s", "13·t2 pod/lost"}, nil},
		{"seven members in 80x20", group(7), 80, 20, []string{"master-7  follower", "12·t2 pod/web-9"}, nil},
		{"one member is a majority by itself", group(1), 120, 35, []string{"★ master-1  leader", "it is a majority by itself", "1 of 1: can lose 0; with 3 members it could lose 1", "When it is down, nothing can be read or written."}, nil},
		{"200x55 has everything at once", replaced(), 200, 55, []string{"the log, newest first", "messages, newest last", "2 elections", "◆ yes", "★ leads t3", "net"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := viewtest.Text(View{}, frame(c.tape, c.w, c.h))
			for _, want := range c.want {
				if !strings.Contains(flat(got), want) {
					t.Errorf("%q is not seen", want)
				}
			}
			for _, absent := range c.absent {
				if strings.Contains(got, absent) {
					t.Errorf("%q is seen", absent)
				}
			}
			if t.Failed() {
				t.Log("\n" + got)
			}
		})
	}
}

// flat joins sentences that were wrapped.
func flat(s string) string {
	return s + "\n" + strings.Join(strings.Fields(s), " ")
}

func TestOnlyLostHeartbeatsAreSeenUnlessTimeIsSlow(t *testing.T) {
	g := group(3)
	g.raft("master-1", event.RaftMessage{From: "master-1", To: "master-2", Kind: "heartbeat", Term: 2, Sent: g.wall()})
	f := frame(g, 120, 35)
	if got := viewtest.Text(View{}, f); strings.Contains(got, "→ m2 heartbeat") {
		t.Error("a heartbeat is seen while time runs")
	}
	f.Slow = 100
	got := viewtest.Text(View{}, f)
	viewtest.Says(t, got, "→ m2 heartbeat", "slow motion 1/100")
	g.raft("master-1", event.RaftMessage{From: "master-1", To: "master-3", Kind: "heartbeat", Term: 2, Lost: true, Sent: g.wall()})
	if got := viewtest.Text(View{}, frame(g, 120, 35)); !strings.Contains(got, "→ m3 × heartbeat") {
		t.Errorf("a lost heartbeat is not seen\n%s", got)
	}
}

func TestWhatAMemberHasCommittedItHolds(t *testing.T) {
	g := group(3)
	g.write("master-1", "late", "master-1")
	for _, m := range g.members { // the followers have told how far they are, but not yet what they stored
		g.raft(m, event.RaftProgress{Member: m, LastIndex: 13, CommitIndex: 13, Applied: 13})
	}
	got := viewtest.Text(View{}, frame(g, 120, 35))
	if n := strings.Count(got, "13·t2 pod/late"); n != 3 {
		t.Errorf("%d of 3 members show the entry", n)
	}
	if !strings.Contains(got, "t2     pod default/late                  ●   ●   ●") {
		t.Error("the table does not say that all hold it")
	}
	if strings.Contains(got, "waits for a majority") || t.Failed() {
		t.Error("\n" + got)
	}
}

func TestWithoutAMajorityNothingCanBeLost(t *testing.T) {
	o := orphaned(3)
	o.kill("master-2")
	f := frame(o, 60, 20)
	f.Slow = 10
	for _, w := range []int{60, 80, 120} {
		f.W = w
		if got := viewtest.Text(View{}, f); strings.Contains(got, "can lose 0") || !strings.Contains(got, "needed") {
			t.Errorf("%d\n%s", w, got)
		}
	}
}

func TestANewGroupIsNotSaidToHaveTheOldLeader(t *testing.T) {
	g := group(3)
	for _, m := range g.members { // all disks are wiped: another is leader in the same term, and nobody told of its election
		g.raft(m, event.RaftRole{Member: m, Role: "follower", Term: 2, Leader: "master-3"})
	}
	g.raft("master-3", event.RaftRole{Member: "master-3", Role: "leader", Term: 2, Leader: "master-3"})
	if got := viewtest.Text(View{}, frame(g, 120, 35)); !strings.Contains(got, "★ master-3 leads") || strings.Contains(got, "master-1 leads term 2") {
		t.Error("\n" + got)
	}
}

func TestSlowMotionSaysWhereItIs(t *testing.T) {
	o := orphaned(3)
	o.wait(12 * time.Millisecond)
	o.raft("master-2", event.RaftMessage{From: "master-2", To: "master-3", Kind: "pre-vote", Term: 3, LastIndex: 12, LastTerm: 2, Sent: o.wall()})
	f := frame(o, 120, 35)
	f.Slow = 100
	if got := viewtest.Text(View{}, f); !strings.Contains(got, "slow motion 1/100, +312 ms since the leader was lost") || !strings.Contains(got, "+312ms") {
		t.Error("\n" + got)
	}
}

func TestTheKeyPlaysTheLastElectionEverSlower(t *testing.T) {
	f := frame(replaced(), 120, 35)
	v, out := viewtest.Do(View{}, f, intent.Option{Name: "slow"})
	first, ok := out[0].(intent.Slow)
	e := f.World.Elections[1]
	if !ok || first.Factor != 10 || first.From >= e.LostSeq || first.To < e.Seq {
		t.Fatalf("%+v; lost at %d, elected at %d", out, e.LostSeq, e.Seq)
	}
	f.Slow = 10
	for _, want := range []float64{100, 1000, 10} {
		v, out = viewtest.Do(v, f, intent.Option{Name: "slow"})
		if s := out[0].(intent.Slow); s.Factor != want || s.To != first.To {
			t.Errorf("%+v, want 1/%v", s, want)
		}
		f.Slow = want
	}
	none := frame(&tape{records: group(3).records[:6]}, 120, 35)
	if _, out := viewtest.Do(View{}, none, intent.Option{Name: "slow"}); len(out) != 1 || out[0] != (intent.Tell{Text: "there was no election yet that could be played again"}) {
		t.Errorf("without an election: %+v", out)
	}
}

func TestWhatIsCommittedIsNotSaidToBeOverwritten(t *testing.T) {
	g := group(3)
	// The leader told how far its log goes with a figure older than what it stored; of the entries between nothing is known afterwards.
	g.raft("master-1", event.RaftProgress{Member: "master-1", LastIndex: 9, CommitIndex: 9, Applied: 9})
	for _, m := range g.members {
		g.raft(m, event.RaftAppended{Member: m, From: 13, To: 13, Term: 2, CommitIndex: 13, Applied: 13})
	}
	g.term++
	g.elect("master-1", "master-2", "master-3")
	got := viewtest.Text(View{}, frame(g, 120, 35))
	if strings.Contains(got, "overwrite") || strings.Contains(got, "never acknowledged") {
		t.Error("\n" + got)
	}
}

func TestALongTimeWithoutALeaderIsPassedOver(t *testing.T) {
	o := orphaned(3)
	for range 100 {
		o.wait(time.Second)
		o.raft("master-2", event.RaftMessage{From: "master-2", To: "master-3", Kind: "pre-vote", Term: 3, Lost: true, Sent: o.wall()})
	}
	o.term++
	o.elect("master-2", "master-3")
	f := frame(o, 120, 35)
	_, out := viewtest.Do(View{}, f, intent.Option{Name: "slow"})
	e := f.World.Elections[1]
	if s, ok := out[0].(intent.Slow); !ok || s.From < e.LostSeq+90 || s.From >= e.Seq || s.To < e.Seq {
		t.Errorf("%+v; lost at %d, elected at %d", out, e.LostSeq, e.Seq)
	}
}

func TestSelection(t *testing.T) {
	f := frame(replaced(), 120, 35)
	move := func(v view.View, is ...intent.Intent) View {
		v, _ = viewtest.Do(v, f, is...)
		return v.(View)
	}
	if got := move(View{}, intent.Move{DY: 1}, intent.Move{DY: 1}).Selection(f); got != (target.Target{Kind: target.Process, Host: "master-2", Process: "etcd"}) {
		t.Errorf("%+v", got)
	}
	if got := move(View{}, intent.Move{DX: -1}); got.member != "master-2" || got.entry != 14 {
		t.Errorf("without a selection the log of the leader: %+v", got)
	}
	if got := move(View{}, intent.Next{By: -1}); got.election == 0 || got.Selection(f).Kind != target.Record {
		t.Errorf("after the members come the elections: %+v", got)
	}
	if got := move(View{}, intent.Move{DY: 1}, intent.Edge{To: -1}); got.entry != 1 {
		t.Errorf("the first entry: %+v", got)
	}
	v, out := viewtest.Do(View{member: "master-2", entry: 14}, f, intent.Back{}, intent.Back{}, intent.Back{})
	if v.(View).member != "" || len(out) != 1 || out[0] != (intent.Back{}) {
		t.Errorf("back: %+v, left %+v", v, out)
	}
	if got := move(View{}, intent.Select{Target: target.Target{Kind: target.Master, Host: "master-3"}}); got.member != "master-3" {
		t.Errorf("select: %+v", got)
	}
}

func TestEnterGoesToWhatBecameOfIt(t *testing.T) {
	g := group(3)
	pod := fixture.Healthy(1) // any pod will do
	var made event.Record
	for _, r := range pod.Records {
		if c, ok := r.Event.(event.ObjectChanged); ok && kinds.MustOf(c.Object) == kinds.Pods {
			made = r
		}
	}
	change := made.Event.(event.ObjectChanged)
	ref := kinds.RefOf(change.Object)
	g.last++
	g.raft("master-1", event.RaftAppended{Member: "master-1", From: g.last, To: g.last, Term: 2, Entries: []event.RaftEntry{{Index: g.last, Term: 2, Writes: []event.RaftWrite{{Object: ref}}}}})
	change.Index, change.Term = g.last, 2
	want := g.raft("master-1", change)
	f := frame(g, 120, 35)
	_, out := viewtest.Do(View{member: "master-1", entry: g.last}, f, intent.Enter{})
	if o, ok := out[0].(intent.Open); !ok || o.Page != "chain" || o.Seq != want {
		t.Errorf("%+v, want the record %d", out, want)
	}
	_, out = viewtest.Do(View{member: "master-1", entry: 12}, f, intent.Enter{})
	if o, ok := out[0].(intent.Open); !ok || o.Page != "chain" || o.Seq == 0 {
		t.Errorf("an entry whose change is not recorded: %+v", out)
	}
	_, out = viewtest.Do(View{member: "master-2"}, f, intent.Enter{})
	if o, ok := out[0].(intent.Open); !ok || o.Page != "detail" {
		t.Errorf("a member: %+v", out)
	}
}

func TestAClickSelects(t *testing.T) {
	f := frame(replaced(), 120, 35)
	lines := viewtest.Draw(View{}, f)
	at := func(text string) intent.Point {
		for y, l := range lines {
			if i := strings.Index(l, text); i >= 0 {
				return intent.Point{X: grid.Width(l[:i]) + 2, Y: y}
			}
		}
		t.Fatalf("%q is not seen", text)
		return intent.Point{}
	}
	v, _ := viewtest.Do(View{}, f, at("● master-3"))
	if v.(View).member != "master-3" {
		t.Errorf("a box: %+v", v)
	}
	v, _ = viewtest.Do(View{}, f, at("pod default/kept"))
	if v.(View).entry != 14 {
		t.Errorf("a row of the log: %+v", v)
	}
	p := at("master-2 after")
	v, _ = viewtest.Do(View{}, f, p)
	if v.(View).election == 0 {
		t.Errorf("an election: %+v", v)
	}
	p.Twice = true
	if _, out := viewtest.Do(v, f, p); len(out) != 1 || out[0].(intent.Open).Page != "chain" {
		t.Errorf("again: %+v", out)
	}
}

func TestSearchFindsEntries(t *testing.T) {
	f := frame(group(3), 120, 35)
	v, _ := viewtest.Do(View{}, f, intent.Text{Value: "WEB-3"})
	if got := v.(View); got.entry != 6 || got.Finding() != "WEB-3" {
		t.Errorf("%+v", got)
	}
	v, _ = viewtest.Do(View{}, f, intent.Text{Value: "web"}, intent.Match{By: 1})
	if got := v.(View).entry; got != 11 {
		t.Errorf("the next older: %d", got)
	}
	if _, out := viewtest.Do(View{}, f, intent.Find{}); len(out) != 1 || out[0] != (intent.Find{}) {
		t.Errorf("/ belongs to the root: %+v", out)
	}
}

func TestTroubleFoldsWhatIsWell(t *testing.T) {
	f := frame(replaced(), 120, 35)
	v, _ := viewtest.Do(View{}, f, intent.Trouble{})
	got := viewtest.Text(v, f)
	if strings.Contains(got, "master-3  follower") || !strings.Contains(got, "master-1  down") || !strings.Contains(got, "+2 healthy") {
		t.Error("\n" + got)
	}
}

func TestClips(t *testing.T) {
	f := frame(group(3), 120, 35)
	clips := View{member: "master-1", entry: 12}.Clips(f)
	if len(clips) != 3 || clips[0].Text != "entry 12 of term 2: pod default/web-9" || !strings.HasPrefix(clips[1].Text, "master-1: leader, t2") || !strings.Contains(clips[2].Text, "leads term 2") {
		t.Errorf("%+v", clips)
	}
}

func TestWithoutAGroupItSaysSo(t *testing.T) {
	memory := viewtest.Frame([]event.Record{{Seq: 1, Event: event.ClusterStarted{Store: "memory", Masters: []string{"master-1"}}}}, 80, 20)
	if got := viewtest.Text(View{}, memory); !strings.Contains(flat(got), "keeps its store in memory") {
		t.Error(got)
	}
	if got := viewtest.Text(View{}, viewtest.Frame(nil, 80, 20)); !strings.Contains(flat(got), "has not started yet") {
		t.Error(got)
	}
}

func TestJournalsThatDoNotTellOfLogsAreShownAsFarAsTheyGo(t *testing.T) {
	for _, tp := range []*fixture.Tape{fixture.Healthy(4), fixture.Trouble(4)} {
		got := viewtest.Text(View{}, viewtest.Frame(tp.Records, 120, 35))
		if !strings.Contains(got, "leads") || !strings.Contains(got, "not recorded") {
			t.Error("\n" + got)
		}
	}
}

func TestEverySizeIsSafe(t *testing.T) {
	frames := []view.Frame{frame(group(1), 0, 0), frame(replaced(), 0, 0), frame(group(7), 0, 0), viewtest.Frame(nil, 0, 0)}
	sizes := [][2]int{{80, 24}, {120, 40}, {200, 60}, {500, 500}, {500, 3}, {3, 500}}
	for w := 0; w <= 40; w += 5 {
		for h := 0; h <= 40; h += 5 {
			sizes = append(sizes, [2]int{w, h})
		}
	}
	for _, f := range frames {
		for _, s := range sizes {
			f.W, f.H = s[0], s[1]
			viewtest.Draw(View{member: "master-1", entry: 5}, f)
			if s[0] > 120 || s[0]%10 == 5 {
				continue
			}
			for _, i := range []intent.Intent{intent.Move{DY: 1}, intent.Move{DX: -1}, intent.Next{By: -1}, intent.Page{By: 1}, intent.Edge{To: -1}, intent.Point{X: 3, Y: 3}, intent.Wheel{By: 1}, intent.Enter{}} {
				v, _ := viewtest.Do(View{}, f, i)
				viewtest.Draw(v, f)
			}
		}
	}
}

func TestHostileTextIsNeutralised(t *testing.T) {
	g := group(3)
	g.write("master-1", "\x1b[31mevil\u202e\x07", g.members...)
	g.raft("master-2", event.RaftRole{Member: "master-2", Role: "follower", Term: 2, Leader: "\x1b]0;x\x07", Err: "disk\x1b[2J\nfailed"})
	for _, size := range [][2]int{{80, 20}, {120, 35}, {200, 55}} {
		f := frame(g, size[0], size[1])
		out := viewtest.Text(View{member: "master-1", entry: 13}, f)
		for _, c := range (View{member: "master-1", entry: 13}).Clips(f) {
			out += c.Text
		}
		if strings.ContainsAny(out, "\x1b\x07\u202e") {
			t.Errorf("%v: a control character got through", size)
		}
	}
}

func TestRussian(t *testing.T) {
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	f := frame(replaced(), 120, 35)
	f.Words = ru
	got := viewtest.Text(View{}, f)
	viewtest.Says(t, flat(got), "лидер", "последователь", "не подтверждено: будет переписано", "выиграл срок 3", "зафиксировано и применено 14")
	if strings.Contains(got, "{") {
		t.Error("a word is missing\n" + got)
	}
}

func TestEqualFramesDrawEqualCells(t *testing.T) {
	f := frame(replaced(), 200, 55)
	if a, b := viewtest.Text(View{}, f), viewtest.Text(View{}, f); a != b {
		t.Error("two drawings of one frame differ")
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{1, 3, 7} {
		b.Run(fmt.Sprint(n, " members"), func(b *testing.B) {
			t := group(n)
			for i := range 3000 {
				t.write("master-1", fmt.Sprint("pod-", i), t.members...)
			}
			f := frame(t, 200, 60)
			g := grid.New(200, 60)
			b.ReportAllocs()
			for b.Loop() {
				g.Reset()
				View{}.Draw(f, g.Canvas())
			}
		})
	}
}

// A leader's word that an entry is committed may be told before what the others stored: the picture must not say that a minority has committed it.
func TestWhatIsCommittedIsNotSeenAsHeldByFewerThanAMajority(t *testing.T) {
	early := group(3)
	early.write("master-1", "late", "master-1")
	early.raft("master-1", event.RaftProgress{Member: "master-1", LastIndex: 13, CommitIndex: 13, Applied: 13})
	got := viewtest.Text(View{}, frame(early, 120, 35))
	viewtest.Says(t, got, "committed and applied 13", "●   ?   ?", "13?")
	early.raft("master-2", event.RaftMessage{From: "master-2", To: "master-1", Kind: "append", Term: 2, Reply: true, Granted: true, LastIndex: 13, Sent: early.wall()})
	got = viewtest.Text(View{}, frame(early, 120, 35))
	if strings.Contains(got, "13?") || !strings.Contains(got, "●   ○   ·") && !strings.Contains(got, "●   ●   ·") {
		t.Errorf("its own ok does not show that master-2 has the entry\n%s", got)
	}
	down := group(3)
	down.kill("master-3")
	down.write("master-1", "late", "master-1")
	down.raft("master-1", event.RaftProgress{Member: "master-1", LastIndex: 13, CommitIndex: 13, Applied: 13})
	if got := viewtest.Text(View{}, frame(down, 120, 35)); !strings.Contains(got, "●   ?   ·") {
		t.Errorf("who is down is not who has it\n%s", got)
	}
}

// Times of the screen are simulated; those of raft's own timers are real, which each line says once where the two differ.
func TestARealTimeIsMarkedWhereSimulatedTimeIsAnother(t *testing.T) {
	at := func(rate float64, tapes ...*tape) string {
		var all string
		for _, g := range tapes {
			f := frame(g, 200, 55)
			f.World.Rate = rate
			all += viewtest.Text(View{}, f) + "\n"
		}
		return all
	}
	fast := at(10, group(3), orphaned(3), replaced())
	viewtest.Says(t, fast, "500ms to 1.0s real of silence", "steps down when it reaches no majority for 250ms real", "0.4s to 0.9s real   0.0s without a leader", "for 0.0s real: each stands", "messages by real time")
	for _, line := range strings.Split(fast, "\n") {
		if strings.Count(strings.SplitN(line, "│   ", 2)[0], " real") > 1 {
			t.Errorf("real is said twice: %s", line)
		}
	}
	once := at(1, group(3), orphaned(3), replaced())
	if strings.Contains(once, "s real") || strings.Contains(once, "simulated") || strings.Contains(once, "by real time") {
		t.Errorf("at the rate of real time a time is marked or said twice\n%s", once)
	}
	e := world.Election{Virtual: 4300 * time.Millisecond, Wall: 425 * time.Millisecond}
	p := View{}.figure(frame(group(3), 80, 24))
	if got := p.gap(e); got != "4.3s (425ms real)" {
		t.Errorf("without a leader for %q", got)
	}
}

func TestAnEntryThatChangedNothingSaysSo(t *testing.T) {
	for _, c := range []struct {
		refusal event.RaftRefusal
		want    []string
	}{
		{event.RaftRefusal{Refused: 1, All: 1, Why: "NOSPACE"}, []string{"refused: NOSPACE  pod default/late", "13·t2 refused pod/late", "committed and applied 13, refused: NOSPACE"}},
		{event.RaftRefusal{Refused: 1, All: 1, Why: "compare"}, []string{"nothing changed (compare failed)  pod default/late"}},
		{event.RaftRefusal{Refused: 1, All: 2, Why: "unchanged"}, []string{"1 of 2: nothing changed  pod default/late"}},
	} {
		g := group(3)
		g.write("master-1", "late", g.members...)
		c.refusal.Index, c.refusal.Term = 13, 2
		g.raft("master-1", event.RaftProgress{Member: "master-1", LastIndex: 13, CommitIndex: 13, Applied: 13, Refused: &event.RaftRefused{Entries: []event.RaftRefusal{c.refusal}}})
		viewtest.Says(t, viewtest.Text(View{}, frame(g, 200, 55)), c.want...)
	}
}
