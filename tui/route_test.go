package tui

import (
	"slices"
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
	"example.com/kubeviz/tui/target"
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

// press presses keys; M2 and W3 select master-2 and worker-3 as a jump does.
func (r *rig) press(keys ...string) {
	for _, k := range keys {
		switch {
		case len(k) == 2 && k[0] == 'M':
			r.jump(target.Target{Kind: target.Master, Host: "master-" + k[1:]})
		case len(k) == 2 && k[0] == 'W':
			r.jump(target.Target{Kind: target.Worker, Host: "worker-" + k[1:]})
		default:
			r.Update(keyMsg(k))
		}
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
		{"right of the balancer is the first master, which is down", []string{"tab", "K"}, []string{"start master-1"}},
		{"then comes the next master", []string{"tab", "tab", "K"}, []string{"kill master-2"}},
		{"a worker is cut", []string{"W2", "C"}, []string{"cut worker-2 all"}},
		{"a machine that is cut is healed", []string{"W3", "C"}, []string{"heal worker-3"}},
		{"inside a master are its processes", []string{"M2", "enter", "down", "K"}, []string{"kill master-2/etcd"}},
		{"restart", []string{"M2", "R"}, []string{"restart master-2"}},
		{"a master that is down can be wiped", []string{"M1", "W"}, []string{"wipe master-1"}},
		{"inside a worker are its pods", []string{"W2", "enter", "D"}, []string{"kubectl delete pod nginx-6d4cf56db6-jkx2d -n default"}},
		{"scaling twice counts on", []string{"W2", "enter", "+", "+"}, []string{"kubectl scale deployment nginx --replicas=6 -n default", "kubectl scale deployment nginx --replicas=7 -n default"}},
		{"heal all", []string{"H"}, []string{"heal"}},
		{"time", []string{" ", "]", "["}, []string{"pause", "speed 20x", "speed 10x"}},
		{"a step needs a pause", []string{"."}, nil},
		{"nothing selected, nothing killed", []string{"K"}, nil},
		{"small letters harm nobody", []string{"M2", "k", "c", "esc", "r", "w", "esc", "d", "esc", "h"}, nil},
		{"nothing is killed from behind a list", []string{"M2", "?", "K", "C", "D"}, nil},
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
	r.press("K")
	if !strings.Contains(r.screen(), "K: not now, nothing is selected") {
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
	r.press("W2")
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
	r.press(":", "q", "K", "?", "esc")
	if r.ending || r.overlay.Open() || len(r.cluster.said) > 0 {
		t.Error("a key in the text field acted on the map")
	}
}

func TestAnswersComeIntoTheConsoleWhileItIsOpen(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press(":", "get po", "enter")
	r.takes(t, "kubectl get po")
	r.cluster.j.Emit(event.You, 0, event.CommandDone{Text: "kubectl get po", Output: []string{"NAME  READY", "web   1/1\x1b[31m"}})
	r.Update(tickMsg{})
	if !r.console.open || !strings.Contains(r.screen(), "web   1/1<U+001B>[31m") {
		t.Errorf("the answer is not shown, or not made safe:\n%s", r.screen())
	}
	r.press("get no", "enter")
	r.takes(t, "kubectl get no")
	r.cluster.j.Emit(event.You, 0, event.CommandDone{Text: "kubectl get no", Error: "no such thing"})
	r.Update(tickMsg{})
	if !strings.Contains(r.screen(), "no such thing") || !strings.Contains(r.screen(), "web   1/1") {
		t.Errorf("the second answer is not below the first:\n%s", r.screen())
	}
}

func TestAnswersAfterTheConsoleWasLeftLieOnTop(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press(":", "get po", "enter", "esc")
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

func TestPagesLieOnViewsAndEscComesBack(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("M1", "w")
	if r.rooms.front().ID() != "why" {
		t.Fatalf("w shows %s", r.rooms.front().ID())
	}
	r.press("2", "1")
	if r.rooms.front().ID() != "why" {
		t.Error("the page does not wait while another view is looked at")
	}
	r.press("esc")
	if r.rooms.front().ID() != "map" || r.frame(r.body()).Selected.Host != "master-1" {
		t.Error("esc does not come back to the selection on the map")
	}
	r.press("c", "d", "w")
	if got := strings.Join(r.crumbs(r.frame(r.body())), "/"); !strings.HasPrefix(got, "cluster/master-1/") {
		t.Errorf("the way is %s", got)
	}
	r.press("1")
	if r.rooms.front().ID() != "map" {
		t.Error("the number of the view in front does not leave its pages")
	}
}

func TestQuittingARunningClusterTakesTwo(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.press("q")
	if r.ending || !strings.Contains(r.screen(), "q again leaves") {
		t.Errorf("no question:\n%s", r.screen())
	}
	r.wall = r.wall.Add(quitAgain + time.Second)
	r.press("q")
	if r.ending {
		t.Error("a late second q counts")
	}
	r.press("q")
	if !r.ending {
		t.Error("it stays")
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
	at := r.reader.Now().Sub(fixture.Start)
	if at < time.Second || at > 3*time.Second {
		t.Errorf("two seconds of playing came to %v", at)
	}
	r.press("M1", "K")
	if !strings.Contains(r.screen(), "this is a recording") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
	r.press(" ")
	play(time.Second)
	if r.reader.Now().Sub(fixture.Start) != at {
		t.Error("it goes on while paused")
	}
	before := r.reader.World().Seq
	r.press(".")
	r.Update(tickMsg{})
	if r.reader.World().Seq <= before {
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
	r.press("q")
	if !r.ending {
		t.Error("a recording is not lost, so one q is enough")
	}
}

func click(x, y int) tea.MouseMsg {
	return tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
}

func TestTheMouseWorksOnTabsAndFooter(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	tabs := strings.Split(r.screen(), "\n")[1]
	r.Update(click(strings.Index(tabs, "4 story")+2, 1))
	if r.rooms.front().ID() != "story" {
		t.Error("a click on a tab does not change the view")
	}
	r.press("1")
	at := slices.IndexFunc(r.foot(r.frame(r.body())), func(k footKey) bool { return k.key == " " })
	if at < 0 {
		t.Fatalf("space is not in the footer:\n%s", r.screen())
	}
	r.Update(click(r.foot(r.frame(r.body()))[at].x+1, 39))
	r.takes(t, "pause")
}

func TestNothingIsDrawnTwiceForNothing(t *testing.T) {
	r := newRig(t, fixture.Healthy(4).Records)
	r.wall = r.wall.Add(time.Second) // what travelled has arrived
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
	r.press("enter", "esc")
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
	r.orders.pending = append(r.orders.pending, text)
	r.answer(feed.Answer{Text: text, Error: "that is too much"})
	if !strings.Contains(r.screen(), "that is too much") {
		t.Errorf("the reason is not on the screen:\n%s", r.screen())
	}
}

func TestTextThatSpellsAKeyIsText(t *testing.T) {
	for _, text := range []string{"kubectl delete pod big", "up", "down", "home", "end", "left", "tab", "enter", "esc", "backspace"} {
		r := newRig(t, fixture.Healthy(4).Records)
		r.press(":")
		for _, word := range strings.SplitAfter(text, " ") { // as a terminal's input comes in pieces
			r.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(word)})
		}
		if got := r.console.field.Value(); got != text {
			t.Errorf("%q became %q", text, got)
		}
		r.press("esc", "4", "/")
		r.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
		if got := r.find.field.Value(); got != text {
			t.Errorf("searched for, %q became %q", text, got)
		}
	}
}

func TestWithNothingSelectedTheChainIsOfTheLastOrder(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press("c")
	if r.rooms.front().ID() != "chain" || !strings.Contains(r.screen(), "crash pod/default") {
		t.Errorf("the screen:\n%s", r.screen())
	}
}

func TestAnOrderInThePastIsRefusedInTheConsole(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press(",", ":", "kill master-2", "enter")
	r.takes(t)
	if !r.console.open || !strings.Contains(r.screen(), "you are looking at the past") {
		t.Errorf("the reason is not said:\n%s", r.screen())
	}
}

func TestTheLanguageCanBeChanged(t *testing.T) {
	r := newRig(t, fixture.Trouble(4).Records)
	r.press(":", "lang ru", "enter", "esc", "4")
	if !strings.Contains(r.screen(), "события") || strings.Contains(r.screen(), "fits nowhere") {
		t.Errorf("the screen:\n%s", r.screen())
	}
	r.press(":", "lang xx", "enter")
	if !strings.Contains(r.console.err, "no language is called") {
		t.Errorf("answered %q", r.console.err)
	}
}
