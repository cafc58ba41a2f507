package storyview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

func trouble(w, h int) view.Frame { return viewtest.Frame(fixture.Trouble(4).Records, w, h) }

// row is the drawn line that holds a text; "" where there is none.
func row(v view.View, f view.Frame, text string) string {
	for _, l := range viewtest.Draw(v, f) {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

func do(f view.Frame, v view.View, is ...intent.Intent) view.View {
	v, _ = viewtest.Do(v, f, is...)
	return v
}

// on puts the cursor on the line that holds a text.
func on(t *testing.T, f view.Frame, v View, text string) View {
	t.Helper()
	for range len(f.Feed.Lines()) + 1 {
		if l, ok := v.line(f); ok && strings.Contains(l.Text(), text) {
			return v
		}
		v = do(f, v, intent.Move{DY: -1}).(View)
	}
	t.Fatalf("no line holds %q", text)
	return v
}

func TestItFollowsUntilTheCursorMovesAndThenStandsStill(t *testing.T) {
	records := fixture.Trouble(4).Records
	before := viewtest.Frame(records[:len(records)-60], 80, 12)
	v := do(before, View{}, intent.Move{DY: -1}, intent.Move{DY: -1})
	after := viewtest.Frame(records, 80, 12)
	was, is := viewtest.Draw(v, before), viewtest.Draw(v, after)
	for y := 1; y < 9; y++ { // the last rows of the list have newer ones now
		if was[y] != is[y] {
			t.Errorf("row %d moved:\n%s\n%s", y, was[y], is[y])
		}
	}
	if !strings.Contains(is[0], "newer below") {
		t.Errorf("it does not say how many are newer: %q", is[0])
	}
	if got := viewtest.Text(do(after, v, intent.Edge{To: 1}), after); !strings.Contains(got, "following") {
		t.Errorf("end does not follow again:\n%s", got)
	}
}

func TestTheFollowKeyStopsAndGoesOn(t *testing.T) {
	f := trouble(80, 20)
	v := do(f, View{}, intent.Option{Name: "follow"})
	if got := viewtest.Text(v, f); strings.Contains(got, "following") {
		t.Errorf("it still follows:\n%s", got)
	}
	if got := viewtest.Text(do(f, v, intent.Option{Name: "follow"}), f); !strings.Contains(got, "following") {
		t.Errorf("it does not follow:\n%s", got)
	}
}

func TestASearchKeepsOnlyWhatMatches(t *testing.T) {
	f := trouble(80, 20)
	for query, want := range map[string]struct{ in, out string }{
		"unknown":             {"worker-3 is Unknown", "kill master-1"},
		"by:raft":             {"won term 4", "kill master-1"},
		"about:pod/big":       {"big fits nowhere", "worker-3 is Unknown"},
		"about:default/big":   {"big fits nowhere", "worker-3 is Unknown"},
		"kind:Deployment":     {"default/web wants 3 pods", "worker-3"},
		"weight:headline":     {"master-1 killed", "bound"},
		"actor:etcd/master-2": {"won term 4", "killed"},
		"since:30s":           {"big fits nowhere", "kill master-1"},
		"master-1 !by:you":    {"master-1 killed", "you"},
		"mst1 kil":            {"master-1 killed", "worker-3"},
	} {
		got := viewtest.Text(do(f, View{}, intent.Text{Value: query, Done: true}), f)
		got = strings.Join(strings.Split(got, "\n")[1:19], "\n") // without head and foot
		if !strings.Contains(got, want.in) || strings.Contains(got, want.out) {
			t.Errorf("%s: want %q and not %q:\n%s", query, want.in, want.out, got)
		}
	}
}

func TestAWrongQueryIsToldInlineAndEscShowsAllAgain(t *testing.T) {
	f := trouble(80, 20)
	v := do(f, View{}, intent.Text{Value: "since:noon master-1"})
	got := viewtest.Draw(v, f)
	if !strings.Contains(got[0], "since:noon is not a span of time") {
		t.Errorf("%q", got[0])
	}
	if v.(view.Finder).Finding() != "since:noon master-1" {
		t.Errorf("finding %q", v.(view.Finder).Finding())
	}
	if got := viewtest.Text(do(f, v, intent.Back{}), f); !strings.Contains(got, "following") || strings.Contains(got, "since:noon") {
		t.Errorf("esc keeps the search:\n%s", got)
	}
}

func TestAQueryThatFindsNothingExplainsItself(t *testing.T) {
	f := trouble(80, 20)
	v := do(f, View{}, intent.Text{Value: "zzzz", Done: true})
	if got := viewtest.Text(v, f); !strings.Contains(got, "nothing of the") {
		t.Errorf("%s", got)
	}
	if got := viewtest.Text(do(f, View{}, intent.Find{}), f); !strings.Contains(got, "by:scheduler") {
		t.Errorf("an empty search does not say what can be typed:\n%s", got)
	}
}

func TestTroubleShowsOnlyWhatIsNotWellAndBack(t *testing.T) {
	f := trouble(80, 24)
	v := do(f, View{}, intent.Trouble{})
	got := viewtest.Text(v, f)
	if !strings.Contains(got, "only what is not well") || !strings.Contains(got, "fits nowhere") || strings.Contains(got, "won term 4") {
		t.Errorf("%s", got)
	}
	if got := viewtest.Text(do(f, v, intent.Trouble{}), f); !strings.Contains(got, "won term 4") {
		t.Errorf("the second press does not show all:\n%s", got)
	}
}

func TestTheComponentKeyBeginsWithTheSelectedOneAndEndsWithAll(t *testing.T) {
	f := trouble(80, 24)
	v := on(t, f, View{}, "worker-3 is Unknown")
	v = do(f, v, intent.Option{Name: "component"}).(View)
	if v.filter.component != "node-lifecycle" || row(v, f, "worker-3 is Unknown") == "" {
		t.Fatalf("%q:\n%s", v.filter.component, viewtest.Text(v, f))
	}
	seen := map[string]bool{}
	for range 50 {
		if v.filter.component == "" {
			break
		}
		if seen[v.filter.component] {
			t.Fatalf("%q twice", v.filter.component)
		}
		seen[v.filter.component] = true
		v = do(f, v, intent.Option{Name: "component"}).(View)
	}
	if v.filter.component != "" || !seen["you"] || !seen["raft"] || !seen["scheduler"] {
		t.Errorf("went through %v and ended with %q", seen, v.filter.component)
	}
}

func TestTheKindKeyKeepsOneKind(t *testing.T) {
	f := trouble(80, 24)
	v := do(f, on(t, f, View{}, "worker-3 is Unknown"), intent.Option{Name: "kind"}).(View)
	if v.filter.kind != "Worker" || row(v, f, "worker-3 is Unknown") == "" || row(v, f, "fits nowhere") != "" {
		t.Errorf("%q:\n%s", v.filter.kind, viewtest.Text(v, f))
	}
}

func TestRepetitionsAreUnfoldedAndFolded(t *testing.T) {
	f := trouble(80, 60)
	if row(View{}, f, "bound 5 pods of nginx-6d4cf56db6") == "" {
		t.Fatalf("%s", viewtest.Text(View{}, f))
	}
	v := on(t, f, View{}, "bound 5 pods")
	v = do(f, v, intent.Option{Name: "fold"}).(View)
	got := viewtest.Text(v, f)
	if strings.Contains(got, "bound 5 pods") || strings.Count(got, "bound nginx-6d4cf56db6-") != 5 {
		t.Errorf("%s", got)
	}
	v = do(f, v, intent.Option{Name: "fold"}).(View)
	if l, _ := v.line(f); !strings.Contains(l.Text(), "bound 5 pods") {
		t.Errorf("the cursor is on %q", l.Text())
	}
}

func TestHowManyTimesIsNeverCutOff(t *testing.T) {
	records := fixture.Healthy(4).Records
	n := event.Seq(len(records))
	at := records[n-1].At
	for i := range event.Seq(3) {
		records = append(records, event.Record{Seq: n + 1 + i, At: at, Actor: "controller-manager/master-2", Cause: 1,
			Event: event.Reconciled{Controller: "deployment", Key: "default/nginx", Decision: "scale up nginx-6d4cf56db6 because " + strings.Repeat("long ", 30)}})
	}
	if got := row(View{}, viewtest.Frame(records, 80, 20), "scale up"); !strings.HasSuffix(got, "×3") {
		t.Errorf("%q", got)
	}
}

func TestEveryRecordIsShownAndSearched(t *testing.T) {
	f := trouble(80, 20)
	v := do(f, View{}, intent.Option{Name: "facts"})
	got := viewtest.Text(v, f)
	if !strings.Contains(got, fmt.Sprintf("every record: %d", f.World.Seq)) || !strings.Contains(got, "has log") {
		t.Errorf("%s", got)
	}
	found := do(f, v, intent.Text{Value: "lease by:etcd", Done: true})
	if got := viewtest.Text(found, f); !strings.Contains(got, "renewed the lease") || strings.Contains(got, "has log") {
		t.Errorf("%s", got)
	}
	top := do(f, v, intent.Edge{To: -1})
	if l, _ := top.(View).line(f); l.First != 1 {
		t.Errorf("the first is record %d", l.First)
	}
}

func TestEnterOpensTheLineAndThenWhatItIsAbout(t *testing.T) {
	f := trouble(80, 20)
	v := on(t, f, View{}, "worker-3 is Unknown")
	opened, left := viewtest.Do(v, f, intent.Enter{})
	if len(left) > 0 {
		t.Errorf("%v", left)
	}
	got := viewtest.Text(opened, f)
	viewtest.Says(t, got, "about      Worker worker-3", "node-lifecycle (controller-manager/master-2)", "led here")
	page := viewtest.Text(do(f, opened, intent.Page{By: 1}, intent.Page{By: 1}), f)
	if !strings.Contains(page, "NodeJudged") || !strings.Contains(page, "SilentFor") {
		t.Errorf("pages do not reach the record:\n%s", page)
	}
	_, left = viewtest.Do(opened, f, intent.Enter{})
	if len(left) != 1 {
		t.Fatalf("%v", left)
	}
	if o, ok := left[0].(intent.Open); !ok || o.Page != "detail" || o.Target != (target.Target{Kind: target.Worker, Host: "worker-3"}) {
		t.Errorf("%+v", left[0])
	}
	if closed := do(f, opened, intent.Back{}); viewtest.Text(closed, f) != viewtest.Text(v, f) {
		t.Error("esc does not close it")
	}
}

func TestAWideScreenShowsTheSelectedLineBeside(t *testing.T) {
	f := trouble(120, 40)
	v := on(t, f, View{}, "worker-3 is Unknown")
	got := viewtest.Text(v, f)
	viewtest.Says(t, got, "Worker worker-3", "led here", "you: cut worker-3 all", "caused", "will be", "NodeJudged")
	_, left := viewtest.Do(v, f, intent.Enter{})
	if len(left) != 1 || left[0].(intent.Open).Page != "detail" {
		t.Errorf("%v", left)
	}
	wider := do(f, v, intent.Drag{FromX: 71, FromY: 3, X: 60, Y: 3})
	if p := wider.(View).plan(f.W, f.H); p.pane.W != 60 {
		t.Errorf("the pane is %d wide after the drag", p.pane.W)
	}
}

func TestWhatFollowedIsMarkedAndCounted(t *testing.T) {
	f := trouble(80, 24)
	v := on(t, f, View{}, "cut worker-3 all")
	if got := row(v, f, "worker-3 is Unknown"); !strings.HasPrefix(got, "└") {
		t.Errorf("an effect is not marked: %q", got)
	}
	if got := row(v, f, "fits nowhere"); strings.HasPrefix(got, "└") {
		t.Errorf("what did not follow is marked: %q", got)
	}
	if got := row(v, f, "caused"); !strings.Contains(got, "↑ caused 5 records below it") {
		t.Errorf("%q", got)
	}
	v = on(t, f, View{}, "worker-3 is Unknown")
	if got := row(v, f, "cut worker-3 all"); !strings.HasPrefix(got, "↑") {
		t.Errorf("the cause is not marked: %q", got)
	}
}

func TestTheCursorGoesToTheCauseAndToTheEffect(t *testing.T) {
	f := trouble(80, 24)
	v := on(t, f, View{}, "worker-3 is Unknown")
	up := do(f, v, intent.Option{Name: "cause"}).(View)
	if l, _ := up.line(f); l.Text() != "cut worker-3 all" {
		t.Errorf("the cause is %q", l.Text())
	}
	down := do(f, up, intent.Option{Name: "effect"}).(View)
	if l, _ := down.line(f); !strings.Contains(l.Text(), "packets between worker-3") {
		t.Errorf("the effect is %q", l.Text())
	}
	_, left := viewtest.Do(on(t, f, View{}, "kill master-1"), f, intent.Option{Name: "cause"})
	if len(left) != 1 || left[0] != (intent.Tell{Text: "nothing recorded led to it"}) {
		t.Errorf("%v", left)
	}
}

func TestTheCauseOfALineThatIsFilteredAwayIsToldOf(t *testing.T) {
	f := trouble(80, 24)
	v := do(f, View{}, intent.Text{Value: "Unknown", Done: true})
	_, left := viewtest.Do(v, f, intent.Option{Name: "cause"})
	if len(left) != 1 || !strings.Contains(left[0].(intent.Tell).Text, "not among the lines shown") {
		t.Errorf("%v", left)
	}
}

func TestChainAndInstantAreThoseOfTheLine(t *testing.T) {
	f := trouble(80, 24)
	v := on(t, f, View{}, "worker-3 is Unknown")
	l, _ := v.line(f)
	_, left := viewtest.Do(v, f, intent.Chain{}, intent.Option{Name: "goto"}, intent.Why{})
	want := []intent.Intent{intent.Chain{Seq: l.Seq}, intent.ToSeq{Seq: l.Seq}, intent.Why{}}
	if fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", left, want)
	}
}

func TestTheSelectionIsTheSubject(t *testing.T) {
	f := trouble(80, 24)
	for text, want := range map[string]target.Target{
		"master-1 killed":        {Kind: target.Master, Host: "master-1"},
		"big fits nowhere":       {Kind: target.Pod, Namespace: "default", Name: "big"},
		"default/nginx wants":    {Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "nginx"},
		"won term 4":             {Kind: target.Process, Host: "master-2", Process: "etcd"},
		"the cluster ha starts:": {Kind: target.Record, Seq: 1},
	} {
		if got := on(t, f, View{}, text).Selection(f); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	v := on(t, f, View{}, "waits before it is started again")
	if got := v.Selection(f); got.Kind != target.Pod || got.Host == "" {
		t.Errorf("a pod without its node: %+v", got)
	}
}

func TestClicks(t *testing.T) {
	f := trouble(80, 24)
	v, left := viewtest.Do(View{}, f, intent.Point{X: 20, Y: 5})
	if len(left) > 0 {
		t.Errorf("%v", left)
	}
	if lines := viewtest.Draw(v, f); !strings.HasPrefix(lines[5], "▸") {
		t.Errorf("%q", lines[5])
	}
	if opened := do(f, v, intent.Point{X: 20, Y: 5, Twice: true}); !opened.(View).card {
		t.Error("the second click does not open the line")
	}
	if w := do(f, v, intent.Wheel{By: -1, X: 20, Y: 5}); viewtest.Text(w, f) == viewtest.Text(v, f) {
		t.Error("the wheel moves nothing")
	}
}

func TestEscLeavesForTheMapInTheEnd(t *testing.T) {
	f := trouble(80, 24)
	v := do(f, View{}, intent.Text{Value: "master", Done: true}, intent.Move{DY: -1}, intent.Enter{})
	for range 3 {
		var left []intent.Intent
		if v, left = viewtest.Do(v, f, intent.Back{}); len(left) > 0 {
			t.Fatalf("too early: %v", left)
		}
	}
	if _, left := viewtest.Do(v, f, intent.Back{}); len(left) != 1 || left[0] != (intent.Show{View: "map"}) {
		t.Errorf("%v", left)
	}
}

func TestClipsAreTheSentenceTheLineAndTheRecord(t *testing.T) {
	f := trouble(80, 24)
	clips := on(t, f, View{}, "worker-3 is Unknown").Clips(f)
	if len(clips) != 3 || clips[0].Text != "worker-3 is Unknown: not heard for 52s" || !strings.HasPrefix(clips[1].Text, "+13m40s node-lifecycle: ") || !strings.Contains(clips[2].Text, "fact: NodeJudged") {
		t.Errorf("%+v", clips)
	}
}

// A feed that was made in the middle of a journal remembers nothing before; the view looks there when asked.
func TestItLooksFurtherBackThanTheFeedRemembers(t *testing.T) {
	records := fixture.Trouble(4).Records
	f := viewtest.Frame(records, 80, 24)
	late := feed.New(f.Words)
	for _, r := range records[len(records)-60:] {
		late.Read(r, f.World)
	}
	f.Feed = late
	v := do(f, View{}, intent.Text{Value: "wants"})
	if got := viewtest.Text(v, f); strings.Contains(got, "default/nginx wants 5 pods") {
		t.Fatalf("it is remembered:\n%s", got)
	}
	if got := viewtest.Text(do(f, v, intent.Text{Value: "create deployment nginx", Done: true}), f); strings.Contains(got, "nothing of the") {
		t.Errorf("enter gives up at once:\n%s", got)
	}
	v = do(f, v, intent.Match{By: -1})
	if got := viewtest.Text(v, f); !strings.Contains(got, "default/nginx wants 5 pods") || !strings.Contains(got, "all records searched") {
		t.Errorf("%s", got)
	}
	all := do(f, View{}, intent.Edge{To: -1}, intent.Move{DY: -1}, intent.Edge{To: -1})
	if l, _ := all.(View).line(f); l.First != 1 {
		t.Errorf("the first line is record %d", l.First)
	}
}

// Filters look only at what is new; what they show must be what looking at everything would show.
func TestAFilterKeepsUpWithTheFeed(t *testing.T) {
	records := fixture.Trouble(4).Records
	f := viewtest.Frame(records[:1], 80, 30)
	fd := feed.New(f.Words)
	f.Feed = fd
	v := do(f, View{}, intent.Text{Value: "nginx !gone", Done: true})
	for i, r := range records {
		fd.Read(r, f.World)
		if i%13 == 0 || i == len(records)-1 {
			viewtest.Draw(v, f)
		}
	}
	fresh := do(f, View{}, intent.Text{Value: "nginx !gone", Done: true})
	if got, want := viewtest.Text(v, f), viewtest.Text(fresh, f); got != want {
		t.Errorf("kept up:\n%s\nat once:\n%s", got, want)
	}
	fd.Rewind()
	for _, r := range records[:200] {
		fd.Read(r, f.World)
	}
	fresh = do(f, View{}, intent.Text{Value: "nginx !gone", Done: true})
	if got, want := viewtest.Text(v, f), viewtest.Text(fresh, f); got != want {
		t.Errorf("after going back:\n%s\nat once:\n%s", got, want)
	}
}

func TestEverySizeIsSafe(t *testing.T) {
	keys := [][]intent.Intent{nil, {intent.Move{DY: -1}, intent.Enter{}}, {intent.Option{Name: "facts"}, intent.Edge{To: -1}}, {intent.Text{Value: "master by:x,y !z"}, intent.Trouble{}}}
	sizes := [][2]int{{80, 24}, {120, 40}, {200, 60}, {500, 500}}
	for w := 0; w <= 40; w += 5 {
		for h := 0; h <= 40; h += 3 {
			sizes = append(sizes, [2]int{w, h})
		}
	}
	f := trouble(0, 0)
	empty := viewtest.Frame(nil, 0, 0)
	for _, s := range sizes {
		for _, f := range []view.Frame{f, empty} {
			f.W, f.H = s[0], s[1]
			for _, k := range keys {
				viewtest.Draw(do(f, View{}, k...), f)
			}
		}
	}
}

func TestAnEmptyStoryExplainsItself(t *testing.T) {
	f := viewtest.Frame(nil, 80, 24)
	if got := viewtest.Text(View{}, f); !strings.Contains(got, "nothing has happened yet") {
		t.Errorf("%s", got)
	}
	v := do(f, View{}, intent.Option{Name: "cause"}, intent.Option{Name: "goto"}, intent.Option{Name: "facts"}, intent.Option{Name: "component"}, intent.Enter{}, intent.Match{By: -1})
	viewtest.Draw(v, f)
}

func TestHostileTextIsNeutral(t *testing.T) {
	records := fixture.Healthy(4).Records
	n := event.Seq(len(records))
	const hostile = "evil\x1b[2J\u202e\x07"
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", hostile
	at := records[n-1].At
	records = append(records,
		event.Record{Seq: n + 1, At: at, Actor: event.Actor("kubelet/" + hostile), Event: event.CommandGiven{Text: hostile}},
		event.Record{Seq: n + 2, At: at, Actor: event.Actor(hostile), Event: event.SchedulingAttempt{Pod: kinds.RefOf(pod), Message: hostile}})
	for _, w := range []int{80, 200} {
		f := viewtest.Frame(records, w, 30)
		for _, keys := range [][]intent.Intent{nil, {intent.Enter{}}, {intent.Move{DY: -1}, intent.Enter{}}, {intent.Option{Name: "facts"}}, {intent.Text{Value: hostile}}} {
			if got := viewtest.Text(do(f, View{}, keys...), f); strings.ContainsAny(got, "\x1b\x07\u202e") {
				t.Errorf("%d %v: %q", w, keys, got)
			}
		}
	}
}

func TestInRussian(t *testing.T) {
	f := trouble(120, 30)
	f.Words, _ = words.Language("ru")
	f.Feed = feed.New(f.Words)
	for _, r := range fixture.Trouble(4).Records {
		f.Feed.Read(r, f.World)
	}
	got := viewtest.Text(do(f, View{}, intent.Move{DY: -1}, intent.Trouble{}), f)
	viewtest.Says(t, got, "только то, что не в порядке", "к этому привело", "никуда не помещается")
}

func TestTheTailEndsWithTheNewest(t *testing.T) {
	f := trouble(60, 10)
	lines := viewtest.Draw(tail{}, f)
	if got := strings.Join(lines[len(lines)-2:], " "); !strings.Contains(got, "is started again") && !strings.Contains(got, "CrashLoopBackOff") {
		t.Errorf("%q", got)
	}
}

// tail draws the tail alone.
type tail struct{ View }

func (tail) Draw(f view.Frame, c grid.Canvas) { Tail(f, c) }

func TestNamesOfComponentsAreNotCutAtEightyColumns(t *testing.T) {
	for who, want := range map[string]string{"controller-manager": "ctrl-mgr", "kubelet/worker-12": "kubelet/w12", "apiserver/master-1": "apiserver/m1", "node-lifecycle": "node-lifecycle", "controller-manager/master-1": "ctrl-mgr/m1", "scheduler": "scheduler"} {
		if got := Who(who, actorShort); got != want {
			t.Errorf("%s: %q, want %q", who, got, want)
		}
	}
}

// long is the story of many Deployments: about four thousand lines.
func long() []event.Record {
	records := fixture.Healthy(4).Records
	at := records[len(records)-1].At
	for i := range 4200 {
		n := event.Seq(len(records))
		at = at.Add(100 * time.Second)
		records = append(records, event.Record{Seq: n + 1, At: at, Actor: event.You, Event: event.CommandGiven{Text: fmt.Sprint("kubectl delete pod web-", i)}},
			event.Record{Seq: n + 2, At: at, Actor: "etcd/master-1", Cause: n + 1, Event: event.RaftProgress{Member: "master-1"}})
	}
	return records
}

func BenchmarkDraw(b *testing.B) {
	f := viewtest.Frame(long(), 200, 60)
	for name, keys := range map[string][]intent.Intent{"all": nil, "search": {intent.Text{Value: "web !99"}}, "facts": {intent.Option{Name: "facts"}}, "first": {intent.Edge{To: -1}}} {
		b.Run(name, func(b *testing.B) {
			v := do(f, View{}, keys...)
			for range b.N {
				viewtest.Draw(v, f)
			}
		})
	}
}

func BenchmarkTypeALetter(b *testing.B) {
	f := viewtest.Frame(long(), 200, 60)
	for i := range b.N {
		do(f, View{}, intent.Text{Value: fmt.Sprint("web ", i%10)})
	}
}

func TestEveryKeyOfTheStoryIsTaken(t *testing.T) {
	f := trouble(80, 24)
	v := on(t, f, View{}, "worker-3 is Unknown")
	rows := keymap.New(keymap.Table()).Rows(keymap.Story)
	if len(rows) == 0 {
		t.Fatal("no keys")
	}
	for _, b := range rows {
		_, left := viewtest.Do(v, f, b.Do)
		for _, i := range left {
			if i == b.Do {
				t.Errorf("%s does nothing", b.Label)
			}
		}
	}
}

func TestWhyOfWhatFailedAsksAboutTheFailure(t *testing.T) {
	records := append([]event.Record(nil), fixture.Healthy(2).Records...)
	last := records[len(records)-1]
	given := event.Record{Seq: last.Seq + 1, At: last.At, Actor: event.You, Event: event.CommandGiven{Text: "kubectl delete deployment ghost"}}
	done := event.Record{Seq: last.Seq + 2, At: last.At, Actor: event.You, Cause: given.Seq, Event: event.CommandDone{Text: given.Event.(event.CommandGiven).Text, Error: `deployments.apps "ghost" not found`}}
	f := viewtest.Frame(append(records, given, done), 120, 30)
	v := on(t, f, View{}, "failed")
	_, left := viewtest.Do(v, f, intent.Why{})
	want := intent.Open{Page: "why", Target: target.Target{Kind: target.Record, Seq: done.Seq}}
	if len(left) != 1 || left[0] != want {
		t.Errorf("why is %+v, not %+v", left, want)
	}
}
