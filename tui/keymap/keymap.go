// Package keymap is the one table of keys: where a key works, what it means, how help and footer name it, and the sentence for when it cannot act.
//
// Help, footer and the test for clashes read the same table. On the map k is "kill", so lists take j and k for moving and the map the arrows and tab.
//
// Imports of ours: tui/intent, tui/scene, tui/view. Goroutines: the table is immutable. Time: none.
package keymap

import (
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
)

// Scope is where a key works. The first scope that has the key takes it: an overlay, then the view, then everywhere.
type Scope string

// The scopes.
const (
	Everywhere Scope = "everywhere"
	Map        Scope = "map"
	Story      Scope = "story"
	Overlay    Scope = "overlay"
)

// Binding is one row of the table.
type Binding struct {
	Scope Scope
	// Keys as the terminal library names them: "k", "ctrl+c", "shift+tab".
	Keys []string
	// Label is how help and footer write the keys.
	Label string
	// Help is the key in the catalogue of what it does, in a sentence; Short in a word for the footer ("": not in the footer).
	Help, Short string
	// ShortNow replaces Short where the word depends on what is selected.
	ShortNow func(view.Frame) string
	Do       intent.Intent
	// Unless gives the catalogue key of why it cannot act now; "" when it can. nil: it always can.
	Unless func(view.Frame) string
	// Offer keeps it out of the footer where it would say nothing new. nil: it is offered.
	Offer func(view.Frame) bool
}

// Table lists all keys in the order of help and footer.
func Table() []Binding {
	return []Binding{
		{Scope: Map, Keys: []string{"k"}, Label: "k", Help: "key.power", Short: "foot.kill", ShortNow: powerWord, Do: intent.Power{}, Unless: all(live, powerable)},
		{Scope: Map, Keys: []string{"r"}, Label: "r", Help: "key.restart", Short: "foot.restart", Do: intent.Restart{}, Unless: all(live, restartable)},
		{Scope: Map, Keys: []string{"c"}, Label: "c", Help: "key.cut", Short: "foot.cut", ShortNow: cutWord, Do: intent.Cut{}, Unless: all(live, onMachine)},
		{Scope: Map, Keys: []string{"w"}, Label: "w", Help: "key.wipe", Short: "foot.wipe", Do: intent.Wipe{}, Unless: all(live, wipeable)},
		{Scope: Map, Keys: []string{"d"}, Label: "d", Help: "key.delete", Short: "foot.delete", Do: intent.Delete{}, Unless: all(live, onPod)},
		{Scope: Everywhere, Keys: []string{"H"}, Label: "H", Help: "key.heal-all", Short: "foot.heal-all", Do: intent.HealAll{}, Unless: all(live, broken)},
		{Scope: Map, Keys: []string{"+", "="}, Label: "+", Help: "key.more", Short: "foot.more", Offer: podOrNothing, Do: intent.Scale{By: 1}, Unless: all(live, scalable)},
		{Scope: Map, Keys: []string{"-", "_"}, Label: "-", Help: "key.fewer", Short: "foot.fewer", Offer: podOrNothing, Do: intent.Scale{By: -1}, Unless: all(live, scalable)},
		{Scope: Map, Keys: []string{"y"}, Label: "y", Help: "key.why", Short: "foot.why", Do: intent.Chain{}, Unless: selected},

		{Scope: Map, Keys: []string{"left"}, Label: "← →", Help: "key.arrows", Do: intent.Move{DX: -1}},
		{Scope: Map, Keys: []string{"right"}, Do: intent.Move{DX: 1}},
		{Scope: Map, Keys: []string{"up"}, Label: "↑ ↓", Help: "key.arrows", Do: intent.Move{DY: -1}},
		{Scope: Map, Keys: []string{"down"}, Do: intent.Move{DY: 1}},
		{Scope: Map, Keys: []string{"tab"}, Label: "tab", Help: "key.next", Short: "foot.choose", Offer: nothing, Do: intent.Next{By: 1}},
		{Scope: Map, Keys: []string{"shift+tab"}, Do: intent.Next{By: -1}},
		{Scope: Map, Keys: []string{"enter"}, Label: "enter", Help: "key.deeper", Short: "foot.deeper", Offer: machine, Do: intent.Enter{}},
		{Scope: Map, Keys: []string{"esc", "backspace"}, Label: "esc", Help: "key.back", Short: "foot.back", Offer: inside, Do: intent.Back{}},

		{Scope: Story, Keys: []string{"up", "k"}, Label: "↑ k", Help: "key.up", Do: intent.Move{DY: -1}},
		{Scope: Story, Keys: []string{"down", "j"}, Label: "↓ j", Help: "key.down", Do: intent.Move{DY: 1}},
		{Scope: Story, Keys: []string{"pgup", "ctrl+b"}, Label: "pgup", Help: "key.page", Do: intent.Page{By: -1}},
		{Scope: Story, Keys: []string{"pgdown", "ctrl+f"}, Label: "pgdn", Help: "key.page", Do: intent.Page{By: 1}},
		{Scope: Story, Keys: []string{"home", "g"}, Label: "home g", Help: "key.first", Do: intent.Edge{To: -1}},
		{Scope: Story, Keys: []string{"end", "G", "f"}, Label: "end f", Help: "key.follow", Short: "foot.follow", Do: intent.Edge{To: 1}},
		{Scope: Story, Keys: []string{"enter", "c", "y"}, Label: "enter c", Help: "key.chain", Short: "foot.chain", Do: intent.Chain{}, Unless: told},
		{Scope: Story, Keys: []string{"tab"}, Label: "tab", Help: "key.cycle", Short: "foot.map", Do: intent.Cycle{By: 1}},
		{Scope: Story, Keys: []string{"shift+tab"}, Do: intent.Cycle{By: -1}},
		{Scope: Story, Keys: []string{"esc", "backspace"}, Label: "esc", Help: "key.story-back", Do: intent.Back{}},

		{Scope: Overlay, Keys: []string{"up", "k"}, Label: "↑ k", Help: "key.up", Do: intent.Move{DY: -1}},
		{Scope: Overlay, Keys: []string{"down", "j"}, Label: "↓ j", Help: "key.down", Do: intent.Move{DY: 1}},
		{Scope: Overlay, Keys: []string{"pgup", "ctrl+b"}, Label: "pgup", Help: "key.page", Do: intent.Page{By: -1}},
		{Scope: Overlay, Keys: []string{"pgdown", "ctrl+f"}, Label: "pgdn", Help: "key.page", Do: intent.Page{By: 1}},
		{Scope: Overlay, Keys: []string{"home", "g"}, Label: "home", Help: "key.first", Do: intent.Edge{To: -1}},
		{Scope: Overlay, Keys: []string{"end", "G"}, Label: "end", Help: "key.last", Do: intent.Edge{To: 1}},
		{Scope: Overlay, Keys: []string{"esc", "enter", "backspace", "q", "?"}, Label: "esc", Help: "key.close", Short: "foot.close", Do: intent.Back{}},

		{Scope: Everywhere, Keys: []string{" "}, Label: "space", Help: "key.pause", Short: "foot.pause", ShortNow: pauseWord, Do: intent.TogglePause{}},
		{Scope: Everywhere, Keys: []string{"["}, Label: "[", Help: "key.slower", Short: "foot.slower", Do: intent.Faster{By: -1}},
		{Scope: Everywhere, Keys: []string{"]"}, Label: "]", Help: "key.faster", Short: "foot.faster", Do: intent.Faster{By: 1}},
		{Scope: Everywhere, Keys: []string{"."}, Label: ".", Help: "key.step", Short: "foot.step", Do: intent.Step{}},
		{Scope: Everywhere, Keys: []string{"1"}, Label: "1", Help: "key.map", Do: intent.Show{View: "map"}},
		{Scope: Everywhere, Keys: []string{"2"}, Label: "2", Help: "key.story", Short: "foot.story", Do: intent.Show{View: "story"}},
		{Scope: Everywhere, Keys: []string{":"}, Label: ":", Help: "key.console", Short: "foot.console", Do: intent.Console{}, Unless: live},
		{Scope: Everywhere, Keys: []string{"?", "f1"}, Label: "?", Help: "key.help", Short: "foot.help", Do: intent.Help{}},
		{Scope: Everywhere, Keys: []string{"ctrl+z"}, Label: "ctrl+z", Help: "key.suspend", Do: intent.Suspend{}},
		{Scope: Everywhere, Keys: []string{"q", "ctrl+c"}, Label: "q", Help: "key.quit", Short: "foot.quit", Do: intent.Quit{}},
	}
}

// Keys by scope, made once from the table.
type Keys struct {
	rows  []Binding
	index map[Scope]map[string]*Binding
}

// New makes the map of a table.
func New(rows []Binding) *Keys {
	m := &Keys{rows: rows, index: map[Scope]map[string]*Binding{}}
	for i := range rows {
		b := &rows[i]
		if m.index[b.Scope] == nil {
			m.index[b.Scope] = map[string]*Binding{}
		}
		for _, k := range b.Keys {
			m.index[b.Scope][k] = b
		}
	}
	return m
}

// Find looks a key up in the scopes, the first first.
func (m *Keys) Find(key string, scopes ...Scope) (*Binding, bool) {
	for _, s := range scopes {
		if b, ok := m.index[s][key]; ok {
			return b, true
		}
	}
	return nil, false
}

// Rows of the table in the scope.
func (m *Keys) Rows(scope Scope) []Binding {
	var out []Binding
	for _, b := range m.rows {
		if b.Scope == scope {
			out = append(out, b)
		}
	}
	return out
}

// Foot lists what the footer shows: the keys of the scopes that do something now. A key that a scope before has taken is not shown twice.
func (m *Keys) Foot(f view.Frame, scopes ...Scope) []Binding {
	var out []Binding
	taken := map[string]bool{}
	for _, s := range scopes {
		for _, b := range m.rows {
			if b.Scope != s || taken[b.Keys[0]] {
				continue
			}
			for _, k := range b.Keys {
				taken[k] = true
			}
			if b.Short == "" || (b.Unless != nil && b.Unless(f) != "") || (b.Offer != nil && !b.Offer(f)) {
				continue
			}
			if b.ShortNow != nil {
				b.Short = b.ShortNow(f)
			}
			out = append(out, b)
		}
	}
	return out
}

// all gives the first reason against.
func all(conditions ...func(view.Frame) string) func(view.Frame) string {
	return func(f view.Frame) string {
		for _, c := range conditions {
			if why := c(f); why != "" {
				return why
			}
		}
		return ""
	}
}

func live(f view.Frame) string {
	if !f.Live {
		return "not.recording"
	}
	return ""
}

func selected(f view.Frame) string {
	if f.Selected.Kind == scene.Nothing {
		return "not.nothing-selected"
	}
	return ""
}

func powerable(f view.Frame) string {
	switch f.Selected.Kind {
	case scene.Nothing:
		return "not.nothing-selected"
	case scene.Pod:
		if f.Selected.Host == "" {
			return "not.pod-has-no-node"
		}
	}
	return ""
}

func restartable(f view.Frame) string {
	if why := onMachineOrProcess(f); why != "" {
		return why
	}
	if Down(f) {
		return "not.down-already"
	}
	return ""
}

func onMachineOrProcess(f view.Frame) string {
	switch f.Selected.Kind {
	case scene.Nothing:
		return "not.nothing-selected"
	case scene.Pod:
		return "not.for-pods"
	}
	return ""
}

func onMachine(f view.Frame) string {
	if f.Selected.Host == "" {
		return "not.nothing-selected"
	}
	if f.Selected.Kind == scene.Pod {
		return "not.for-pods"
	}
	return ""
}

func wipeable(f view.Frame) string {
	if f.Selected.Kind != scene.Master {
		return "not.wipe-master"
	}
	if !Down(f) {
		return "not.wipe-down"
	}
	return ""
}

func onPod(f view.Frame) string {
	if f.Selected.Kind != scene.Pod {
		return "not.only-pods"
	}
	return ""
}

func broken(f view.Frame) string {
	if len(f.Scene.Faults) == 0 {
		return "not.nothing-cut"
	}
	return ""
}

func scalable(f view.Frame) string {
	if f.Selected.Kind != scene.Pod && f.Scene.OnlyDeployment == nil {
		return "not.no-deployment"
	}
	return ""
}

func told(f view.Frame) string {
	if len(f.Feed.Lines()) == 0 {
		return "not.no-story"
	}
	return ""
}

func nothing(f view.Frame) bool { return f.Selected.Kind == scene.Nothing }

func podOrNothing(f view.Frame) bool { return nothing(f) || f.Selected.Kind == scene.Pod }

func machine(f view.Frame) bool {
	return f.Selected.Kind == scene.Master || f.Selected.Kind == scene.Worker
}

func inside(f view.Frame) bool { return !nothing(f) && !machine(f) }

func powerWord(f view.Frame) string {
	switch {
	case f.Selected.Kind == scene.Pod:
		return "foot.crash"
	case Down(f):
		return "foot.start"
	}
	return "foot.kill"
}

func cutWord(f view.Frame) string {
	if Cut(f) {
		return "foot.heal"
	}
	return "foot.cut"
}

func pauseWord(f view.Frame) string {
	if f.Rate == 0 && !f.Unpaced {
		return "foot.resume"
	}
	return "foot.pause"
}

// Down reports whether the selected machine or process does not run.
func Down(f view.Frame) bool {
	h, ok := f.World.Hosts.Get(f.Selected.Host)
	if !ok {
		return false
	}
	if f.Selected.Kind == scene.Process {
		p, ok := h.Processes[f.Selected.Process]
		return ok && !p.Up
	}
	return !h.Up
}

// Cut reports whether a cut touches the selected machine.
func Cut(f view.Frame) bool {
	for _, fl := range f.Scene.Faults {
		if fl.Fault.Kind == fault.Cut && fl.Fault.Touches(f.Selected.Host) {
			return true
		}
	}
	return false
}
