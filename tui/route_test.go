package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
)

// asked is a cluster that remembers what it was told.
type asked struct {
	j    *journal.Journal
	said []string
}

func (c *asked) Do(cmd command.Command)    { c.said = append(c.said, cmd.String()) }
func (c *asked) Journal() *journal.Journal { return c.j }
func (c *asked) Targets() []string {
	return []string{"leader", "master-1", "master-2", "master-3", "worker-1", "worker-2", "worker-3", "worker-4"}
}

type rig struct {
	*model
	cluster *asked
	wall    time.Time
}

func newRig(t *testing.T, recs []event.Record) *rig {
	t.Helper()
	j := journal.New(journal.Options{Now: func() time.Time { return recs[len(recs)-1].At }})
	for _, r := range recs {
		j.Append(r)
	}
	r := &rig{cluster: &asked{j: j}, wall: time.Unix(0, 0)}
	r.model = newModel(Options{Cluster: r.cluster, Location: time.UTC, theme: theme.New(theme.Dark, theme.Mono), wall: func() time.Time { return r.wall }})
	r.resize(120, 40)
	r.Update(tickMsg{})
	return r
}

func (r *rig) press(keys ...string) {
	for _, k := range keys {
		r.Update(keyMsg(k))
	}
}

func (r *rig) screen() string { return plain(r.View()) }

func (r *rig) takes(t *testing.T, want ...string) {
	t.Helper()
	if strings.Join(r.cluster.said, "; ") != strings.Join(want, "; ") {
		t.Errorf("told the cluster %q, want %q", r.cluster.said, want)
	}
	r.cluster.said = nil
}

func TestKeysBecomeCommandsAboutTheSelection(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want []string
	}{
		{"the first arrow selects the first master, which is down", []string{"right", "k"}, []string{"start master-1"}},
		{"right of it is the next master", []string{"right", "right", "k"}, []string{"kill master-2"}},
		{"down from it is a worker", []string{"right", "right", "down", "left", "c"}, []string{"cut worker-2 all"}},
		{"a machine that is cut is healed", []string{"right", "right", "down", "c"}, []string{"heal worker-3"}},
		{"inside a master are its processes", []string{"right", "right", "enter", "down", "k"}, []string{"kill master-2/etcd"}},
		{"restart", []string{"right", "right", "r"}, []string{"restart master-2"}},
		{"a master that is down can be wiped", []string{"right", "w"}, []string{"wipe master-1"}},
		{"inside a worker are its pods", []string{"right", "right", "down", "left", "enter", "d"}, []string{"kubectl delete pod nginx-6d4cf56db6-jkx2d -n default"}},
		{"scaling twice counts on", []string{"right", "right", "down", "left", "enter", "+", "+"}, []string{"kubectl scale deployment nginx --replicas=6 -n default", "kubectl scale deployment nginx --replicas=7 -n default"}},
		{"heal all", []string{"H"}, []string{"heal"}},
		{"time", []string{" ", "]", "["}, []string{"pause", "speed 20x", "speed 10x"}},
		{"a step needs a pause", []string{"."}, nil},
		{"nothing selected, nothing killed", []string{"k"}, nil},
		{"keys that come in one piece are keys, each going on from the one before", []string{"]]]["}, []string{"speed 20x", "speed 30x", "speed 60x", "speed 30x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, fixture.Trouble(4).Records)
			r.press(c.keys...)
			r.takes(t, c.want...)
		})
	}
}

func TestAKeyThatCannotActSaysWhy(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press("k")
	if !strings.Contains(r.screen(), "k: not now, nothing is selected") {
		t.Errorf("it is not said:\n%s", r.screen())
	}
	r.wall = r.wall.Add(6 * time.Second)
	r.Update(tickMsg{})
	if strings.Contains(r.screen(), "not now") {
		t.Error("it is still said six seconds later")
	}
}

func TestTheSelectionStaysWhenTheWorldChanges(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press("right", "right", "down")
	before := r.frame(r.body()).Selected
	r.cluster.j.Emit("machine/worker-1", 0, event.MachineDown{Host: "worker-1", Reason: "killed"})
	r.cluster.j.Emit("machine/master-1", 0, event.MachineDown{Host: "master-1", Reason: "killed"})
	r.Update(tickMsg{})
	if after := r.frame(r.body()).Selected; after != before || after.Kind != scene.Worker {
		t.Errorf("%+v became %+v", before, after)
	}
	r.press("esc")
	if r.frame(r.body()).Selected.Kind != scene.Nothing {
		t.Error("esc does not come back")
	}
}

func TestWhatJustHappenedIsToldWithTheQuorum(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	if len(r.toasts) != 0 {
		t.Errorf("what happened before the screen is news: %v", r.toasts)
	}
	r.cluster.j.Emit("machine/master-1", 0, event.MachineDown{Host: "master-1", Reason: "killed"})
	r.Update(tickMsg{})
	if !strings.Contains(r.screen(), "master-1 killed: quorum 2 of 3, can lose 0") {
		t.Errorf("not told:\n%s", r.screen())
	}
}

func TestTheConsole(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press(":", "k", "i", "l", "tab", "m", "a", "tab")
	if got := r.console.field.Value(); got != "kill master-" {
		t.Errorf("completed to %q", got)
	}
	if !strings.Contains(r.screen(), "master-1  master-2  master-3") {
		t.Errorf("offers are not shown:\n%s", r.screen())
	}
	r.press("2", "enter")
	r.takes(t, "kill master-2")
	r.press(":", "n", "o", "enter")
	if !r.console.open || !strings.Contains(r.screen(), `no command is called "no"`) {
		t.Errorf("the mistake is not said under the line:\n%s", r.screen())
	}
	r.press("up")
	if got := r.console.field.Value(); got != "kill master-2" {
		t.Errorf("up recalls %q", got)
	}
	r.press("down")
	if got := r.console.field.Value(); got != "no" {
		t.Errorf("down comes back to %q", got)
	}
	r.press("esc")
	r.takes(t)
	r.press(":kil")
	if got := r.console.field.Value(); got != "kil" {
		t.Errorf("typed in one piece, the line is %q", got)
	}
	r.press("esc")
	// keys of the map are letters here
	r.press(":", "q", "k", "?", "esc")
	if r.ending || r.overlay.Open() || len(r.cluster.said) > 0 {
		t.Error("a key in the text field acted on the map")
	}
}

func TestAnswersOfMoreThanALineLieOnTop(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press(":", "g", "e", "t", " ", "p", "o", "enter")
	r.takes(t, "kubectl get po")
	r.cluster.j.Emit(event.You, 0, event.CommandDone{Text: "kubectl get po", Output: []string{"NAME  READY", "web   1/1\x1b[31m"}})
	r.Update(tickMsg{})
	if !strings.Contains(r.screen(), "web   1/1<U+001B>[31m") {
		t.Errorf("the answer is not shown, or not made safe:\n%s", r.screen())
	}
	r.press("q")
	if r.overlay.Open() || r.ending {
		t.Error("q closes what lies on top, not the program")
	}
	r.cluster.j.Emit(event.You, 0, event.CommandDone{Text: "somebody else's", Output: []string{"1", "2"}})
	r.Update(tickMsg{})
	if r.overlay.Open() {
		t.Error("an answer to somebody else is shown")
	}
}

func TestCausesOfALine(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("2", "up", "up", "up", "enter")
	for _, want := range []string{"what led here", "you kubectl run big", "└ scheduler big fits nowhere"} {
		if !strings.Contains(r.screen(), want) {
			t.Errorf("%q is missing:\n%s", want, r.screen())
		}
	}
	r.press("esc", "esc", "esc")
	if r.views[r.active].ID() != "map" {
		t.Error("esc does not come back to the map")
	}
}

func TestTheStoryStandsStillUnderTheCursor(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("2", "up", "up")
	row := func() (int, string) {
		for y, l := range strings.Split(r.screen(), "\n") {
			if strings.HasPrefix(l, "▸") {
				return y, l
			}
		}
		return -1, ""
	}
	y, line := row()
	for range 5 {
		r.cluster.j.Emit("machine/worker-1", 0, event.MachineDown{Host: "worker-1", Reason: "killed"})
		r.Update(tickMsg{})
	}
	if y2, line2 := row(); y2 != y || line2 != line {
		t.Errorf("row %d %q became row %d %q", y, line, y2, line2)
	}
	r.press("end")
	if !strings.Contains(r.screen(), "following") {
		t.Error("end does not follow")
	}
}

func TestARecordingTakesNoCommandsAndHasItsOwnPace(t *testing.T) {
	recs := fixture.Trouble(4).Records
	j := journal.New(journal.Options{})
	for _, rec := range recs {
		j.Append(rec)
	}
	r := &rig{wall: time.Unix(0, 0)}
	r.model = newModel(Options{Journal: j, Replay: true, Location: time.UTC, theme: theme.New(theme.Dark, theme.Mono), wall: func() time.Time { return r.wall }})
	r.resize(120, 40)
	play := func(d time.Duration) {
		for range int(d / (100 * time.Millisecond)) {
			r.wall = r.wall.Add(100 * time.Millisecond)
			r.Update(tickMsg{})
		}
	}
	play(2 * time.Second)
	at := r.line.Now().Sub(fixture.Start)
	if at < time.Second || at > 3*time.Second {
		t.Errorf("two seconds of playing came to %v", at)
	}
	r.press("right", "k")
	if !strings.Contains(r.screen(), "this is a recording") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
	r.press(" ")
	play(time.Second)
	if r.line.Now().Sub(fixture.Start) != at {
		t.Error("it goes on while paused")
	}
	before := r.line.World().Seq
	r.press(".")
	r.Update(tickMsg{})
	if r.line.World().Seq <= before {
		t.Error("a step does not step")
	}
	r.press(" ")
	for range 10 {
		r.press("]")
	}
	play(30 * time.Second)
	if !strings.Contains(r.screen(), "end of recording") {
		t.Errorf("the end is not said:\n%s", r.screen())
	}
}

func TestTheMouseSelectsWhatIsUnderIt(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.Update(tea.MouseMsg{X: 40, Y: 5, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if got := r.frame(r.body()).Selected; got.Host != "master-1" {
		t.Errorf("selected %+v", got)
	}
	r.Update(tea.MouseMsg{X: 40, Y: 5, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if got := r.frame(r.body()).Selected; got.Process != "etcd" {
		t.Errorf("a second click selected %+v", got)
	}
	r.Update(tea.MouseMsg{X: 10, Y: 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if r.views[r.active].ID() != "story" {
		t.Error("a click on a tab does not change the view")
	}
}

func TestNothingIsDrawnTwiceForNothing(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	first := r.View()
	r.dirty = false
	r.shown = "kept"
	r.Update(tea.MouseMsg{X: 1, Y: 1, Action: tea.MouseActionMotion})
	r.Update(tickMsg{})
	if r.View() != "kept" {
		t.Error("a frame was drawn though nothing changed")
	}
	_ = first
}

func BenchmarkMapFrame200x60(b *testing.B) {
	m := still(fixture.Trouble(60).Records, Still{W: 200, H: 60, Depth: theme.Colours256})
	b.ReportAllocs()
	for b.Loop() {
		m.dirty = true
		m.View()
	}
}

func BenchmarkMapFrame5000Workers(b *testing.B) {
	m := still(fixture.Trouble(5000).Records, Still{W: 200, H: 60, Depth: theme.Colours256})
	b.ReportAllocs()
	for b.Loop() {
		m.dirty = true
		m.View()
	}
}

func TestAToastLeavesNothingOfWhatLiesUnderIt(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.say("first", theme.Text)
	r.say("second", theme.Text)
	lines := strings.Split(r.screen(), "\n")
	if got := strings.TrimSpace(lines[len(lines)-3]); got != string(grid.Marker)+" first" {
		t.Errorf("the line of the first toast reads %q", got)
	}
}

func TestAnOrderToTheAPIWhileTimeStandsStillSaysThatItWaits(t *testing.T) {
	recs := fixture.Trouble(4).Records
	last := recs[len(recs)-1]
	r := newRig(t, append(recs, event.Record{Seq: last.Seq + 1, At: last.At, Actor: event.Engine, Event: event.RateChanged{}}))
	r.press(":")
	for _, k := range "get pods" {
		r.press(string(k))
	}
	r.press("enter")
	if !strings.Contains(r.screen(), "time stands still") {
		t.Errorf("nothing says so:\n%s", r.screen())
	}
}

func TestTheConsoleKnowsHowToHelpAndToLeave(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press(":", "h", "e", "l", "p", "enter")
	if r.console.open || !strings.Contains(r.screen(), "keys, signs and words") {
		t.Errorf("no help:\n%s", r.screen())
	}
	r.press("esc", ":", "q", "u", "i", "t", "enter")
	if !r.ending {
		t.Error("it stays")
	}
	r.takes(t)
}

func TestALongOrderDoesNotHideWhyItFailed(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	text := "kubectl get " + strings.Repeat("pods ", 300)
	r.pending = append(r.pending, text)
	r.answer(feed.Answer{Text: text, Error: "that is too much"})
	if !strings.Contains(r.screen(), "that is too much") {
		t.Errorf("the reason is not on the screen:\n%s", r.screen())
	}
}
