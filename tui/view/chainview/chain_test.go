package chainview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

func opened(t *tape, seq event.Seq, w, h int) (view.View, view.Frame) {
	f := viewtest.Frame(t.recs, w, h)
	return New(intent.Open{Seq: seq}, f), f
}

// inOrder fails unless each text stands on a line after that of the one before.
func inOrder(t *testing.T, lines []string, texts ...string) {
	t.Helper()
	at := 0
	for _, text := range texts {
		i := slices.IndexFunc(lines[at:], func(l string) bool { return strings.Contains(l, text) })
		if i < 0 {
			t.Fatalf("%q is not there, or not in its place:\n%s", text, strings.Join(lines, "\n"))
		}
		at += i + 1
	}
}

func has(lines []string, text string) bool { return strings.Contains(strings.Join(lines, "\n"), text) }

func TestACommandIsFollowedToTheLastContainerThatStarts(t *testing.T) {
	tp := newTape()
	command, _ := tp.create(3)
	v, f := opened(tp, command, 120, 40)
	lines := viewtest.Draw(v, f)
	inOrder(t, lines, "kubectl create deployment web", "until: started web-5fc9f4bf66-00002", "waiting", "hops",
		"create deployment web: rev 1, raft i101 t2", "create web-5fc9f4bf66", "create replicaset web-5fc9f4bf66: rev 2", "create 3 pods", "create pod web-5fc9f4bf66-00002", "to queue activ",
		"bound web-5fc9f4bf66-00002 to worker-1", "create pod/binding web-5fc9f4bf66-00002", "pulls nginx", "created c of web-5fc9f4bf66-00002", "started web-5fc9f4bf66-00002")
	if !has(lines, "×3") {
		t.Errorf("three pods go the same way, and nobody says so:\n%s", strings.Join(lines, "\n"))
	}
	if has(lines, "00000") {
		t.Errorf("what goes the same way is not folded:\n%s", strings.Join(lines, "\n"))
	}
}

func TestTheHeadAddsUpWhereTheTimeWent(t *testing.T) {
	tp := newTape()
	command, started := tp.create(1)
	f := viewtest.Frame(tp.recs, 160, 40)
	p := New(intent.Open{Seq: command}, f).look(f)
	first, last := tp.recs[command-1].At, tp.recs[started[0]-1].At
	if p.account.total != last.Sub(first) {
		t.Errorf("it took %v, want %v", p.account.total, last.Sub(first))
	}
	want := map[spell]time.Duration{
		transit: 4 * time.Millisecond, server: 4 * time.Millisecond, store: 12 * time.Millisecond, watching: 10*time.Millisecond + 5*time.Millisecond, queued: 20 * time.Millisecond, unbound: 500 * time.Millisecond,
		creating: 200 * time.Millisecond, pulling: time.Second, starting: 100 * time.Millisecond,
	}
	sum := time.Duration(0)
	for s := range spells {
		if p.account.by[s] != want[s] {
			t.Errorf("%s: %v, want %v", spellWords[s], p.account.by[s], want[s])
		}
		sum += p.account.by[s]
	}
	if sum != p.account.total {
		t.Errorf("the parts add up to %v of %v", sum, p.account.total)
	}
	if want := 535 * time.Millisecond; p.account.waiting != want {
		t.Errorf("waiting took %v, want %v", p.account.waiting, want)
	}
	lines := viewtest.Draw(New(intent.Open{Seq: command}, f), f)
	inOrder(t, lines, "1.85s  until", "waiting 535ms (29%): scheduler queue 500ms, controller queue 20ms, watch delivery 15ms   work 1.32s: image pull 1.00s")
	inOrder(t, lines, "where the time went", "scheduler queue", "image pull")
}

func TestAnEvictionIsFollowedFromTheCutToTheReplacementAndTheEndOfTheOldContainer(t *testing.T) {
	tp := newTape()
	cut, _, _ := tp.evict()
	v, f := opened(tp, cut, 160, 40)
	lines := viewtest.Draw(v, f)
	inOrder(t, lines, "cut worker-2 all", "until: started web-5fc9f4bf66-00008", "toleration 5m00s, silence until judged 50.0s",
		"packets between worker-2 and all vanish", "worker-2 is Unknown", "will be evicted from worker-2", "delete pod web-5fc9f4bf66-00007", "stops c of web-5fc9f4bf66-00007", "create 1 pod", "started web-5fc9f4bf66-00008")
	if !has(lines, "cut off") {
		t.Errorf("the old container ran on because its machine was cut off, and nobody says so:\n%s", strings.Join(lines, "\n"))
	}
}

func TestFiveMinutesDoNotSquashTheMilliseconds(t *testing.T) {
	tp := newTape()
	cut, _, _ := tp.evict()
	f := viewtest.Frame(tp.recs, 160, 40)
	v := New(intent.Open{Seq: cut}, f)
	p := v.look(f)
	at := func(part string) (a, b int) {
		for i := range p.rows {
			if h := p.rows[i].h; strings.Contains(p.line(f, i).text, part) {
				return p.scale.column(h.rec.At, 60), p.scale.column(h.last().At, 60)
			}
		}
		t.Fatalf("no %q", part)
		return 0, 0
	}
	if a, b := at("delete pod"); a == b {
		t.Error("the milliseconds of a request take no cell beside five minutes")
	}
	v.linear = true
	p = v.look(f)
	if a, b := at("delete pod"); a != b {
		t.Error("on a linear scale the milliseconds of a request are not to be seen")
	}
}

func TestTheScaleKeepsTheOrderOfInstants(t *testing.T) {
	tp := newTape()
	cut, _, _ := tp.evict()
	f := viewtest.Frame(tp.recs, 160, 40)
	for _, linear := range []bool{false, true} {
		s := newScale(New(intent.Open{Seq: cut}, f).look(f).rows, linear)
		last := -1
		for _, r := range tp.recs {
			x := s.column(r.At, 500)
			if x < last || x > 499 {
				t.Fatalf("linear %v: column %d after %d", linear, x, last)
			}
			last = x
		}
		if s.column(time.Time{}, 500) != 0 || s.column(tp.at.Add(time.Hour), 500) != 499 {
			t.Error("what lies outside is not at the edges")
		}
	}
	if (scale{}).column(tp.at, 10) != 0 || (scale{}).ticks(10, 2) != nil {
		t.Error("an empty scale has columns")
	}
}

func TestARecordInTheMiddleIsMarkedAndTheWayToItToo(t *testing.T) {
	tp := newTape()
	_, started := tp.create(3)
	v, f := opened(tp, started[0], 120, 40)
	lines := viewtest.Draw(v, f)
	inOrder(t, lines, "│you", "│apiserver/master-1", "create pod web-5fc9f4bf66-00000", "→kubelet/worker-1")
	if has(lines, "00002") {
		t.Errorf("another pod speaks for the one that was asked for:\n%s", strings.Join(lines, "\n"))
	}
	if s := v.(View).Selection(f); s.Kind != target.Pod || s.Name != "web-5fc9f4bf66-00000" || s.Host != "worker-1" {
		t.Errorf("selected is %+v", s)
	}
	// A record inside a request is that request.
	v, _ = opened(tp, started[0]-5, 120, 40)
	if !slices.ContainsFunc(viewtest.Draw(v, f), func(l string) bool { return strings.HasPrefix(l, grid1(grid.Marker, grid.RightTo)+"apiserver") }) {
		t.Errorf("the answer to a request leads to\n%s", strings.Join(viewtest.Draw(v, f), "\n"))
	}
}

func grid1(r ...rune) string { return string(r) }

func TestTheKeysOfTheChain(t *testing.T) {
	tp := newTape()
	command, _ := tp.create(3)
	v, f := opened(tp, command, 120, 60)
	before := viewtest.Draw(v, f)

	right, _ := viewtest.Do(v, f, intent.Move{DY: 1}, intent.Move{DX: 1})
	inOrder(t, viewtest.Draw(right, f), "create deployment web", "└ authentication", "└ authorization", "└ store", "master-1 has entry i101 t2 in its log", "master-2 has it 2.0ms of wall time later", "default/web wants 3 pods")
	left, _ := viewtest.Do(right, f, intent.Move{DX: -1}, intent.Move{DY: -1})
	if got := viewtest.Draw(left, f); !slices.Equal(got, before) {
		t.Errorf("closing does not undo opening:\n%s", strings.Join(got, "\n"))
	}

	all, _ := viewtest.Do(v, f, intent.Option{Name: "expand"}, intent.Edge{To: 1})
	if lines := viewtest.Draw(all, f); !has(lines, "00001") && !has(lines, "00000") {
		t.Errorf("opening everything does not open what is folded:\n%s", strings.Join(lines, "\n"))
	}
	again, _ := viewtest.Do(v, f, intent.Option{Name: "expand"}, intent.Option{Name: "expand"})
	if !slices.Equal(viewtest.Draw(again, f), before) {
		t.Error("opening everything twice is not what was before")
	}

	scale, _ := viewtest.Do(v, f, intent.Option{Name: "scale"})
	if !has(viewtest.Draw(scale, f), "to scale") || has(before, "to scale") {
		t.Error("the scale does not change")
	}

	_, left1 := viewtest.Do(v, f, intent.Move{DY: 1}, intent.Option{Name: "goto"})
	if len(left1) != 1 || left1[0] != any(intent.ToSeq{Seq: command + 4}) {
		t.Errorf("going to the record of a request gives %v", left1)
	}

	_, jump := viewtest.Do(v, f, intent.Move{DY: 1}, intent.Enter{})
	if len(jump) != 1 || jump[0] != any(intent.Jump{Target: target.Target{Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "web"}}) {
		t.Errorf("enter gives %+v", jump)
	}
	_, chain := viewtest.Do(v, f, intent.Move{DY: 1}, intent.Chain{})
	if len(chain) != 1 || chain[0].(intent.Open).Page != ID || chain[0].(intent.Open).Seq != command+3 {
		t.Errorf("chain gives %+v", chain)
	}
	for _, i := range []intent.Intent{intent.Back{}, intent.Find{}, intent.Why{}, intent.Detail{}, intent.Chain{Seq: 3}, intent.Option{Name: "what"}, intent.Copy{}} {
		if _, left := viewtest.Do(v, f, i); len(left) != 1 || left[0] != i {
			t.Errorf("%T is not left to the root: %v", i, left)
		}
	}
}

func TestOnlyThePathHidesTheBranches(t *testing.T) {
	tp := newTape()
	cut, _, _ := tp.evict()
	v, f := opened(tp, cut, 120, 40)
	if !has(viewtest.Draw(v, f), "stops c of") {
		t.Fatal("the branch is not there at all")
	}
	v, _ = viewtest.Do(v, f, intent.Option{Name: "path"})
	lines := viewtest.Draw(v, f)
	inOrder(t, lines, "path only", "will be evicted", "delete pod", "create 1 pod")
	if has(lines, "stops c of") {
		t.Errorf("a branch is still there:\n%s", strings.Join(lines, "\n"))
	}
}

func TestABranchOpensAndEnterGoesIntoWhatIsClosed(t *testing.T) {
	tp := newTape()
	command, _ := tp.create(3)
	v, f := opened(tp, command, 120, 60)
	line := func(v view.View, part string) int {
		return slices.IndexFunc(viewtest.Draw(v, f), func(l string) bool { return strings.Contains(l, part) })
	}
	y := line(v, "create pod web-")
	v, _ = viewtest.Do(v, f, intent.Point{X: 30, Y: y}, intent.Move{DX: 1})
	inOrder(t, viewtest.Draw(v, f), "create pod web-5fc9f4bf66-00002", "└ create pod web-5fc9f4bf66-00000", "└ create pod web-5fc9f4bf66-00001", "to queue activ")
	y = line(v, "└ create pod web-5fc9f4bf66-00000")
	v, left := viewtest.Do(v, f, intent.Point{X: 30, Y: y}, intent.Point{X: 30, Y: y, Twice: true})
	if len(left) != 0 {
		t.Errorf("a click on what is closed gives %v", left)
	}
	inOrder(t, viewtest.Draw(v, f), "create pod web-5fc9f4bf66-00000", "bound web-5fc9f4bf66-00000", "started web-5fc9f4bf66-00000", "create pod web-5fc9f4bf66-00001", "started web-5fc9f4bf66-00002")
	// left closes it again, then goes up to what it hangs on
	v, _ = viewtest.Do(v, f, intent.Move{DX: -1})
	if has(viewtest.Draw(v, f), "started web-5fc9f4bf66-00000") {
		t.Error("left does not close it")
	}
	v, _ = viewtest.Do(v, f, intent.Move{DX: -1})
	inOrder(t, viewtest.Draw(v, f), "▸ replicaset")
}

func TestTextIsFoundInTheChain(t *testing.T) {
	tp := newTape()
	command, _ := tp.create(1)
	v, f := opened(tp, command, 120, 40)
	v, _ = viewtest.Do(v, f, intent.Text{Value: "PULLS"})
	inOrder(t, viewtest.Draw(v, f), "▸ kubelet/worker-1")
	if v.(View).Finding() != "PULLS" {
		t.Error("it forgot what is searched for")
	}
	v, _ = viewtest.Do(v, f, intent.Text{Value: "create"}, intent.Match{By: 1}, intent.Match{By: -1})
	v2, _ := viewtest.Do(v, f, intent.Text{Value: "nowhere at all"})
	if !slices.Equal(viewtest.Draw(v, f), viewtest.Draw(v2, f)) {
		t.Error("a text that is nowhere moves the cursor")
	}
}

func TestAPageThatIsLeftOpenGoesOn(t *testing.T) {
	tp := newTape()
	command, started := tp.create(1)
	half := tp.recs[:started[0]-3]
	f := viewtest.Frame(half, 120, 40)
	var v view.View = New(intent.Open{Seq: command}, f)
	v, _ = viewtest.Do(v, f, intent.Move{DY: 3})
	inOrder(t, viewtest.Draw(v, f), "until: ", "▸ apiserver/master-1", "create pod/binding")
	later := viewtest.Frame(tp.recs, 120, 40)
	lines := viewtest.Draw(v, later)
	inOrder(t, lines, "until: started web-5fc9f4bf66-00000", "▸ apiserver/master-1", "started web-5fc9f4bf66-00000")
	if fresh, _ := viewtest.Do(New(intent.Open{Seq: command}, later), later, intent.Move{DY: 3}); !slices.Equal(lines, viewtest.Draw(fresh, later)) {
		t.Error("a page that was open shows something else than a new one")
	}
	// back in time, the rest has not happened
	if back := viewtest.Draw(v, f); has(back, "started") {
		t.Errorf("the past knows the future:\n%s", strings.Join(back, "\n"))
	}
}

func TestAFreshRecordElsewhereDoesNotMakeThePageAnew(t *testing.T) {
	tp := newTape()
	command, _ := tp.create(1)
	f := viewtest.Frame(tp.recs, 120, 40)
	v := New(intent.Open{Seq: command}, f)
	p := v.look(f)
	tp.put("apiserver/master-1", 1, event.RequestTally{Server: "master-1", Total: 3})
	if v.look(viewtest.Frame(tp.recs, 120, 40)) != p {
		t.Error("a record that does not belong to the chain made the page anew")
	}
}

func TestInThePastTheRestOfAChainIsSaidToComeLater(t *testing.T) {
	tp := newTape()
	_, started := tp.create(1)
	f := viewtest.Frame(tp.recs, 120, 40)
	v := New(intent.Open{Seq: started[0]}, f)
	past := viewtest.Frame(tp.recs[:started[0]-1], 120, 40)
	lines := viewtest.Draw(v, past)
	inOrder(t, lines, "the rest comes later than the instant you look at", "created c of")
	if has(lines, "started web") {
		t.Errorf("the past knows the future:\n%s", strings.Join(lines, "\n"))
	}
	inOrder(t, viewtest.Draw(v, viewtest.Frame(tp.recs[:3], 120, 40)), "this chain has not begun yet")
}

func TestThePageAboutAThingTakesTheRecordThatMatters(t *testing.T) {
	tp := newTape()
	cut, replaced, _ := tp.evict()
	f := viewtest.Frame(tp.recs, 120, 40)
	for _, c := range []struct {
		name string
		open intent.Open
		want event.Seq
	}{
		{"of a pod that runs, its start", intent.Open{Target: target.Target{Kind: target.Pod, Namespace: "default", Name: "web-5fc9f4bf66-00008"}}, replaced},
		{"of a machine, what broke or mended it", intent.Open{Target: target.Target{Kind: target.Worker, Host: "worker-2"}}, event.Seq(len(tp.recs) - 1)},
		{"the last record, if it is the one that is named", intent.Open{Target: target.Target{Kind: target.Worker, Host: "worker-2"}, Seq: event.Seq(len(tp.recs))}, event.Seq(len(tp.recs))},
		{"a record that is named", intent.Open{Target: target.Target{Kind: target.Worker, Host: "worker-2"}, Seq: cut}, cut},
		{"a record that is chosen", intent.Open{Target: target.Target{Kind: target.Record, Seq: cut}}, cut},
		{"nothing", intent.Open{}, 0},
	} {
		if got := pick(c.open, f); got != c.want {
			t.Errorf("%s: record %d, want %d", c.name, got, c.want)
		}
	}
}

func TestWhereThereIsNoChainThePageSaysWhy(t *testing.T) {
	f := viewtest.Frame(newTape().recs, 80, 20)
	for want, o := range map[string]intent.Open{
		"No record is about this yet":        {Target: target.Target{Kind: target.Pod, Namespace: "default", Name: "nobody"}},
		"At the instant you look at":         {Seq: 99999},
		"nothing has followed from this yet": {Seq: 1},
	} {
		g := f
		if o.Seq == 1 {
			g = viewtest.Frame(newTape().recs[:1], 80, 20)
		}
		if lines := viewtest.Draw(New(o, g), g); !has(lines, want) {
			t.Errorf("%+v: %q is not said:\n%s", o, want, strings.Join(lines, "\n"))
		}
	}
}

// kept is a journal that has forgotten what came before a record.
type kept struct {
	view.Journal
	first event.Seq
}

func (k kept) Get(seq event.Seq) (event.Record, bool) {
	if seq < k.first {
		return event.Record{}, false
	}
	return k.Journal.Get(seq)
}

func TestWhatTheJournalForgotIsSaidToBeMissing(t *testing.T) {
	tp := newTape()
	command, started := tp.create(1)
	f := viewtest.Frame(tp.recs, 120, 40)
	f.Journal = kept{f.Journal, command + 4}
	lines := viewtest.Draw(New(intent.Open{Seq: started[0]}, f), f)
	inOrder(t, lines, "is no longer in memory", "create web-5fc9f4bf66", "started web")
	v := New(intent.Open{Seq: command}, f)
	inOrder(t, viewtest.Draw(v, f), "no longer in memory")
}

func TestTheChainIsCopiedAsText(t *testing.T) {
	tp := newTape()
	command, _ := tp.create(2)
	f := viewtest.Frame(tp.recs, 80, 20)
	v, _ := viewtest.Do(New(intent.Open{Seq: command}, f), f, intent.Move{DY: 1})
	clips := v.(View).Clips(f)
	if len(clips) != 2 || clips[0].Text != "+1.0ms  apiserver/master-1  create deployment web: rev 1, raft i101 t2  (on the way 1.0ms, API server 1.0ms, store 3.0ms)" {
		t.Fatalf("%+v", clips)
	}
	inOrder(t, strings.Split(clips[1].Text, "\n"), "kubectl create deployment", "apiserver/master-1", "started web-5fc9f4bf66-00001")
}

func TestHostileTextReachesNoCell(t *testing.T) {
	const evil = "x\x1b[31m\u202e\u200by\tz"
	tp := newTape()
	command := tp.put(event.You, 0, event.CommandGiven{Text: evil})
	got := tp.put(event.Actor("apiserver/"+evil), command, event.RequestReceived{Server: evil, Verb: evil, Resource: evil, Subresource: evil, Namespace: evil, ObjectName: evil, User: evil})
	tp.put(event.Actor("apiserver/"+evil), got, event.RequestDone{Server: evil, Verb: evil, Resource: evil, ObjectName: evil, User: evil, Code: 403, Message: evil, Stages: []event.Stage{{Stage: evil, Note: evil}}})
	tp.put(event.Actor(evil+"/"+evil), command, event.Reconciled{Controller: evil, Key: evil, Decision: "report " + evil})
	f := viewtest.Frame(tp.recs, 160, 50)
	v, _ := viewtest.Do(New(intent.Open{Seq: command, Target: target.Target{Name: evil}}, f), f, intent.Option{Name: "expand"}, intent.Move{DY: 1})
	for _, text := range append(viewtest.Draw(v, f), v.(View).Clips(f)[1].Text, v.(View).Title(f)) {
		if strings.ContainsAny(text, "\x1b\u202e\u200b\t") {
			t.Errorf("%q", text)
		}
	}
}

func TestRussianIsDrawnToo(t *testing.T) {
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	tp := newTape()
	cut, _, _ := tp.evict()
	f := viewtest.Frame(tp.recs, 120, 40)
	f.Words = ru
	inOrder(t, viewtest.Draw(New(intent.Open{Seq: cut}, f), f), "cut worker-2 all", "до: ", "ожидание 5m50s", "шагов", "этот шаг")
}

func TestNoSizePanicsAndNothingIsDrawnOutside(t *testing.T) {
	tp := fixture.Trouble(4)
	last := tp.Records[len(tp.Records)-1].Seq
	f := viewtest.Frame(tp.Records, 0, 0)
	var seq event.Seq
	for _, r := range tp.Records {
		if c, ok := r.Event.(event.CommandGiven); ok && strings.HasPrefix(c.Text, "cut") {
			seq = r.Seq
		}
	}
	sizes := [][2]int{{80, 24}, {120, 40}, {200, 60}, {500, 500}}
	for w := 0; w <= 40; w += 3 {
		for h := 0; h <= 40; h += 3 {
			sizes = append(sizes, [2]int{w, h})
		}
	}
	for _, open := range []intent.Open{{Seq: seq}, {Seq: last}, {}} {
		for _, s := range sizes {
			f.W, f.H = s[0], s[1]
			var v view.View = New(open, f)
			v, _ = viewtest.Do(v, f, intent.Move{DY: 1}, intent.Move{DX: 1}, intent.Page{By: 1}, intent.Wheel{By: -1}, intent.Point{X: 1, Y: 5}, intent.Edge{To: 1}, intent.Next{By: -1})
			for _, l := range viewtest.Draw(v, f) {
				if grid.Width(l) > s[0] {
					t.Fatalf("%v: a line of %d cells", s, grid.Width(l))
				}
			}
		}
	}
}

func TestFixturesOfCalmAndTroubleHaveTheirChains(t *testing.T) {
	calm := fixture.Healthy(4)
	f := viewtest.Frame(calm.Records, 80, 20)
	inOrder(t, viewtest.Draw(New(intent.Open{Target: target.ForObject(podsKind, "default", podNamed(f, "nginx"))}, f), f), "kubectl create deployment nginx", "until: started nginx", "→kubelet")
	trouble := fixture.Trouble(4)
	f = viewtest.Frame(trouble.Records, 80, 20)
	inOrder(t, viewtest.Draw(New(intent.Open{Target: target.Target{Kind: target.Worker, Host: "worker-3"}}, f), f), "cut worker-3 all", "packets between worker-3 and all vanish", "worker-3 is Unknown")
}

func TestAllAndThePathAloneExcludeEachOther(t *testing.T) {
	tp := newTape()
	cut, _, _ := tp.evict()
	v, f := opened(tp, cut, 120, 40)
	v, _ = viewtest.Do(v, f, intent.Option{Name: "path"})
	path := strings.Join(viewtest.Draw(v, f), "\n")
	v, _ = viewtest.Do(v, f, intent.Option{Name: "path"}, intent.Option{Name: "expand"}, intent.Option{Name: "path"})
	if got := strings.Join(viewtest.Draw(v, f), "\n"); got != path {
		t.Errorf("the path alone is not what is shown:\n%s", got)
	}
	v, _ = viewtest.Do(v, f, intent.Option{Name: "expand"})
	if lines := viewtest.Draw(v, f); has(lines, "path only") || !has(lines, "authentication") {
		t.Errorf("not all is shown:\n%s", strings.Join(lines, "\n"))
	}
}

func TestAProgramThatItsProbesStopWaitedForThem(t *testing.T) {
	at := time.Unix(0, 0)
	stops := event.ContainerChanged{Node: "master-1", Container: "kube-apiserver", State: event.ContainerStopping}
	for _, c := range []struct {
		from event.Event
		gap  time.Duration
		want spell
	}{
		{event.ProcessStopped{Host: "master-2", Process: "etcd"}, 74 * time.Second, probing},
		{event.CommandGiven{Text: "break liveness pod/default/web"}, 30 * time.Second, probing},
		{event.ObjectChanged{}, time.Second, watching},
		{event.CommandGiven{Text: "crash pod/default/web"}, 0, watching},
	} {
		h := &hop{rec: event.Record{At: at.Add(c.gap), Event: stops}, from: event.Record{At: at, Event: c.from}}
		if got := after(h); got != c.want {
			t.Errorf("%s after %T: %s", c.gap, c.from, spellWords[got])
		}
	}
}
