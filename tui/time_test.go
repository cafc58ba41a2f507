package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/theme"
)

func TestLookingBackAndComingBack(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	seq := r.reader.World().Seq
	r.press(",")
	if r.reader.Live() || r.reader.World().Seq >= seq || !strings.Contains(r.screen(), "past: ") {
		t.Fatalf("a step back:\n%s", r.screen())
	}
	r.press("M2", "K")
	r.takes(t)
	if !strings.Contains(r.screen(), "you are looking at the past") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
	r.press("0", "K")
	if !r.reader.Live() {
		t.Error("0 does not come back")
	}
	r.takes(t, "kill master-2")
}

func TestTheMapShowsThePastAsItWas(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	if !strings.Contains(r.screen(), "quorum 2 of 3") {
		t.Fatal("master-1 is not down")
	}
	r.press("{", "{", "{", "{", "{", "{") // back through the marks, to before the kill
	for !r.reader.Live() && strings.Contains(r.screen(), "quorum 2 of 3") {
		r.press("{")
	}
	if !strings.Contains(r.screen(), "quorum 3 of 3") {
		t.Errorf("before the kill:\n%s", r.screen())
	}
	r.press("4")
	if strings.Contains(r.screen(), "fits nowhere") {
		t.Errorf("the story knows the future:\n%s", r.screen())
	}
}

func TestWhatHappensMeanwhileIsToldWhileLookingBack(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press(",")
	r.cluster.j.Emit("machine/master-1", 0, event.MachineDown{Host: "master-1", Reason: "killed"})
	r.Update(tickMsg{})
	if !strings.Contains(r.screen(), "meanwhile: master-1 killed") || strings.Contains(r.screen(), "quorum 2 of 3, can lose 0  ") && r.reader.Live() {
		t.Errorf("not told:\n%s", r.screen())
	}
	if !strings.Contains(strings.Split(r.screen(), "\n")[0], "quorum 3 of 3") {
		t.Errorf("the past has changed:\n%s", r.screen())
	}
}

func TestThePastIsPlayedHeldStillAndPlayedFaster(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	pass := func(d time.Duration) {
		for range int(d / (100 * time.Millisecond)) {
			r.wall = r.wall.Add(100 * time.Millisecond)
			r.Update(tickMsg{})
		}
	}
	r.act(intent.At{Time: fixture.Start.Add(time.Minute)})
	r.press(" ")
	pass(2 * time.Second)
	if got := r.reader.Now().Sub(fixture.Start); got < 61*time.Second || got > 63*time.Second {
		t.Errorf("two seconds came to %v", got)
	}
	r.press("]", "]", "]")
	pass(time.Second)
	if got := r.reader.Now().Sub(fixture.Start); got < 70*time.Second || got > 73*time.Second {
		t.Errorf("a second at 10x came to %v", got)
	}
	r.press(" ")
	at := r.reader.Now()
	pass(time.Second)
	if !r.reader.Now().Equal(at) {
		t.Error("space does not hold it still")
	}
	r.takes(t)
}

func TestTheTimeLineIsDragged(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	y := r.barRect().Y
	r.Update(click(30, y))
	if r.reader.Live() {
		t.Fatal("a click on the line does not go there")
	}
	at := r.reader.Now()
	r.Update(tea.MouseMsg{X: 60, Y: y + 3, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion}) // the hand slips off the row
	if !r.reader.Now().After(at) {
		t.Error("dragging to the right does not go on in time")
	}
	r.Update(tea.MouseMsg{X: 118, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion})
	r.Update(tea.MouseMsg{X: 118, Y: y, Action: tea.MouseActionRelease})
	if !r.reader.Live() {
		t.Error("its right end is not the present")
	}
	r.Update(tea.MouseMsg{X: 20, Y: y, Action: tea.MouseActionMotion})
	if !r.reader.Live() {
		t.Error("it is dragged though the button is up")
	}
}

func TestWordsOfTheScreen(t *testing.T) {
	for _, c := range []struct {
		line string
		good func(*rig) bool
	}{
		{"goto +1m", func(r *rig) bool { return r.reader.Now().Equal(fixture.Start.Add(time.Minute)) }},
		{"goto -10s", func(r *rig) bool { return !r.reader.Live() }},
		{"goto end", func(r *rig) bool { return r.reader.Live() }},
		{"view raft", func(r *rig) bool { return r.rooms.front().ID() == "raft" }},
		{"why", func(r *rig) bool { return r.rooms.front().ID() == "why" }},
		{"theme light", func(r *rig) bool { return r.theme.Background() == theme.Light.Background }},
		{"help", func(r *rig) bool { return r.overlay.Open() && !r.console.open }},
		{"quit", func(r *rig) bool { return r.ending }},
	} {
		t.Run(c.line, func(t *testing.T) {
			r := newRig(t, fixture.Trouble(4).Records)
			r.press(":", c.line, "enter")
			if !c.good(r) {
				t.Errorf("after %q:\n%s", c.line, r.screen())
			}
			r.takes(t)
		})
	}
	for line, want := range map[string]string{
		"goto":          "needs an instant",
		"goto nowhere":  `"nowhere" is not an instant`,
		"goto +later":   "not a span of time",
		"goto 03:00:00": "is not between",
		"view mop":      "needs the name of a view",
		"theme mud":     "mud",
		"save":          "needs to know what",
		"live long":     "takes nothing after it",
	} {
		r := newRig(t, fixture.Trouble(4).Records)
		r.press(":", line, "enter")
		if !r.console.open || !strings.Contains(r.console.err, want) {
			t.Errorf("%q is answered by %q, want %q", line, r.console.err, want)
		}
		r.takes(t)
	}
}

func TestTheMenuOfTimeRunsUntilAndGoesToMarks(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("t", "enter")
	r.takes(t, command.Until{What: "anomaly"}.String())
	r.press("t", "G", "enter")
	if r.reader.Live() {
		t.Error("the last line of the menu is no mark to go to")
	}
	r.press("t")
	if !strings.Contains(r.screen(), "back to now") {
		t.Errorf("the way back is missing:\n%s", r.screen())
	}
	before := r.reader.World().Seq
	r.press("g", "enter") // until something goes wrong
	r.takes(t)
	if now := r.reader.World(); now.Seq <= before || r.reader.Live() {
		t.Errorf("from record %d the next anomaly is at %d", before, now.Seq)
	}
}

// hour is the journal of an hour of a small busy cluster.
func hour() (*journal.Journal, int) {
	tape := fixture.Trouble(12)
	j := journal.New(journal.Options{Capacity: 200_000})
	for _, r := range tape.Records {
		j.Append(r)
	}
	at := tape.At()
	for i := range 100_000 {
		at = at.Add(36 * time.Millisecond)
		var e event.Event = event.LeaseRenewed{Namespace: "kube-node-lease", Lease: "worker-1", Holder: "worker-1"}
		if i%4 == 0 {
			e = event.Reconciled{Controller: "replicaset", Key: "default/web", Decision: "nothing"}
		}
		j.Append(event.Record{At: at, Actor: event.Engine, Event: e})
	}
	return j, 100_000
}

// BenchmarkSeekAnHour jumps to and fro in an hour's journal, story and frame included.
func BenchmarkSeekAnHour(b *testing.B) {
	j, _ := hour()
	m := newModel(Options{Cluster: stillCluster{journal: j}, Location: time.UTC, theme: theme.New(theme.Dark, theme.Mono)})
	m.resize(120, 40)
	for m.reader.Head().Seq < j.Last() {
		m.tick()
	}
	first, last := m.reader.Bounds()
	span := last.Sub(first)
	i := 0
	worst := time.Duration(0)
	for b.Loop() {
		i++
		start := time.Now()
		m.act(intent.At{Time: first.Add(time.Duration(float64(i*37%100) / 100 * float64(span)))})
		m.dirty = true
		m.View()
		worst = max(worst, time.Since(start))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
}
