package whyview

import (
	"fmt"
	"strings"
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world/worldtest"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

var big = target.Target{Kind: target.Pod, Namespace: "default", Name: "big"}

func trouble(w, h int) view.Frame { return viewtest.Frame(fixture.Trouble(4).Records, w, h) }

func open(t target.Target, f view.Frame) view.View { return New(intent.Open{Page: ID, Target: t}, f) }

func TestAnAnswerIsOnOneSmallScreen(t *testing.T) {
	f := trouble(80, 20)
	viewtest.Says(t, viewtest.Text(open(big, f), f), "○ Why is big Pending?", "too little cpu", "what would change it", "→ cpu request from 8 to", "▶ tried again", "it stands on these records", "big fits nowhere")
}

func TestAWideScreenHasTheRecordsBesideTheAnswer(t *testing.T) {
	f := trouble(160, 40)
	lines := viewtest.Draw(open(target.Target{Kind: target.Worker, Host: "worker-3"}, f), f)
	viewtest.Says(t, strings.Join(lines, "\n"), "Why is worker-3 Unknown?", "heal worker-3", "evicted in", "other questions")
	if !strings.Contains(lines[0], "Why is worker-3 Unknown?") || !strings.Contains(lines[0], "it stands on these records") {
		t.Errorf("the two are not side by side: %q", lines[0])
	}
}

func TestTheTimeUntilTheNextThingRunsDown(t *testing.T) {
	f := trouble(80, 30)
	v := open(target.Target{Kind: target.Worker, Host: "worker-3"}, f)
	viewtest.Says(t, viewtest.Text(v, f), "evicted in 4m36s")
	f.Now = f.Now.Add(10e9)
	f.Scene.Now = f.Now
	viewtest.Says(t, viewtest.Text(v, f), "evicted in 4m26s")
}

func TestKeys(t *testing.T) {
	f := trouble(80, 30)
	worker := target.Target{Kind: target.Worker, Host: "worker-3"}
	for _, c := range []struct {
		name string
		on   target.Target
		do   []intent.Intent
		left string // what the root gets, in part
		see  string // what is then on the page
	}{
		{"enter on a change types its command", worker, []intent.Intent{intent.Enter{}}, "{Line:heal worker-3}", ""},
		{"enter on a change without a command says so", big, []intent.Intent{intent.Enter{}}, "no single command", ""},
		{"enter on a record opens its chain", worker, []intent.Intent{intent.Move{DY: 1}, intent.Enter{}}, "Page:chain", ""},
		{"chain on a record opens its chain", worker, []intent.Intent{intent.Move{DY: 1}, intent.Chain{}}, "{Seq:", ""},
		{"why of a record asks about it", worker, []intent.Intent{intent.Move{DY: 1}, intent.Why{}}, "Page:why Target:{Kind:10", ""},
		{"tab asks the next question", worker, []intent.Intent{intent.Next{By: 1}}, "", "○ Why is nothing evicted from worker-3 yet?"},
		{"tab there and back", worker, []intent.Intent{intent.Next{By: 1}, intent.Next{By: -1}}, "", "✗ Why is worker-3 Unknown?"},
		{"the last row, another question, entered", worker, []intent.Intent{intent.Edge{To: 1}, intent.Enter{}}, "", "○ Why is nothing evicted from worker-3 yet?"},
		{"go goes to the thing", worker, []intent.Intent{intent.Option{Name: "go"}}, "{Target:{Kind:3 Host:worker-3", ""},
		{"a search goes to the row", worker, []intent.Intent{intent.Text{Value: "vanish"}, intent.Enter{}}, "Page:chain", ""},
		{"and on to the next match", worker, []intent.Intent{intent.Text{Value: "worker-3"}, intent.Match{By: 1}, intent.Match{By: 1}}, "", "▸ +12m03s"},
		{"esc leaves", worker, []intent.Intent{intent.Back{}}, "{}", ""},
		{"the wheel and pages move", worker, []intent.Intent{intent.Wheel{By: 1}, intent.Page{By: 1}, intent.Page{By: -1}, intent.Edge{To: -1}, intent.Enter{}}, "{Line:heal worker-3}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, left := viewtest.Do(open(c.on, f), f, c.do...)
			got := ""
			for _, l := range left {
				got += fmt.Sprintf("%+v ", l)
			}
			if !strings.Contains(got, c.left) || c.left == "" && got != "" {
				t.Errorf("to the root: %q, want %q", got, c.left)
			}
			viewtest.Says(t, viewtest.Text(v, f), c.see)
		})
	}
}

func TestAClickChoosesAndASecondEnters(t *testing.T) {
	for _, w := range []int{80, 160} {
		f := trouble(w, 30)
		v := open(target.Target{Kind: target.Worker, Host: "worker-3"}, f)
		clicked := false
		for y, l := range viewtest.Draw(v, f) {
			at := strings.Index(l, "packets between")
			if at < 0 {
				continue
			}
			clicked = true
			x := len([]rune(l[:at]))
			v, left := viewtest.Do(v, f, intent.Point{X: x, Y: y}, intent.Point{X: x, Y: y, Twice: true})
			if len(left) != 1 || !strings.Contains(fmt.Sprintf("%+v", left[0]), "Page:chain") {
				t.Errorf("%d wide: %v", w, left)
			}
			viewtest.Says(t, viewtest.Text(v, f), "▸")
		}
		if !clicked {
			t.Errorf("%d wide, the record is not on the page", w)
		}
	}
}

func TestTheQuestionStaysWhileTheWorldMoves(t *testing.T) {
	f := trouble(80, 30)
	v, _ := viewtest.Do(open(target.Target{Kind: target.Worker, Host: "worker-3"}, f), f, intent.Next{By: 1}, intent.Move{DY: 1})
	title := viewtest.Draw(v, f)[0]
	later := fixture.Trouble(4)
	later.Beat()
	g := viewtest.Frame(later.Records, 80, 30)
	if got := viewtest.Draw(v, g)[0]; got != title {
		t.Errorf("%q became %q", title, got)
	}
}

func TestTheAnswerCanBeCopied(t *testing.T) {
	f := trouble(80, 20)
	clips := open(target.Target{Kind: target.Worker, Host: "worker-3"}, f).(view.Copier).Clips(f)
	if len(clips) != 3 || !strings.Contains(clips[0].Text, "Why is worker-3 Unknown?") || !strings.Contains(clips[0].Text, "evicted in 4m") || clips[2].Text != "heal worker-3" {
		t.Errorf("%+v", clips)
	}
}

func TestAllIsWellIsSaid(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 80, 20)
	viewtest.Says(t, viewtest.Text(open(target.Target{}, f), f), "● All is well", "worth trying")
}

func TestRussianIsDrawn(t *testing.T) {
	f := trouble(80, 20)
	f.Words, _ = words.Language("ru")
	viewtest.Says(t, viewtest.Text(open(big, f), f), "Почему big в Pending?", "запрос cpu с 8 до")
}

func TestEverySizeAndEveryThingIsSafe(t *testing.T) {
	f := trouble(80, 20)
	things := []target.Target{{}, big, {Kind: target.Master, Host: "master-1"}, {Kind: target.Balancer}, {Kind: target.Zone, Name: "x"}, {Kind: target.Worker, Host: "nobody"},
		{Kind: target.Record, Seq: 1}, {Kind: target.Record, Seq: 1 << 40}, {Kind: target.Object, Type: "none", Name: "x"}, {Kind: target.Client, Name: "x"}}
	for _, on := range things {
		v := open(on, f)
		for w := 0; w <= 200; w += 40 {
			for h := 0; h <= 40; h += 5 {
				f.W, f.H = w, h
				v, _ = viewtest.Do(v, f, intent.Edge{To: 1}, intent.Point{X: w / 2, Y: h / 2})
				viewtest.Draw(v, f)
			}
		}
	}
	for _, s := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {500, 500}} {
		f.W, f.H = s[0], s[1]
		viewtest.Draw(open(big, f), f)
	}
}

func TestEveryRecordOfARandomStoryCanBeAskedAbout(t *testing.T) {
	records := worldtest.Records(worldtest.Options{Seed: 5}, 400)
	f := viewtest.Frame(records, 80, 20)
	for i := 0; i < len(records); i += 7 {
		for _, l := range viewtest.Draw(open(target.Target{Kind: target.Record, Seq: event.Seq(i + 1)}, f), f) {
			if strings.Contains(l, "{") {
				t.Errorf("record %d (%T): %s", i+1, records[i].Event, l)
			}
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{10, 1000} {
		f := viewtest.Frame(worldtest.Records(worldtest.Options{Seed: 1, Workers: 50, Pods: n, Calm: true}, 12*n+500), 200, 60)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v := open(target.Target{}, f)
			for range b.N {
				f.Now = f.Now.Add(1)
				viewtest.Draw(v, f)
			}
		})
	}
}
