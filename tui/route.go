package tui

import (
	"cmp"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/listview"
)

// key routes a key: the text field, then overlay, view and everywhere by the table.
func (m *model) key(msg tea.KeyMsg) tea.Cmd {
	if m.console.open {
		return m.consoleKey(msg)
	}
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.press(msg.String())
	}
	var cmds []tea.Cmd
	for i, r := range msg.Runes { // keys typed faster than they are read come as one
		if m.console.open { // the first of them opened the text field
			rest := msg
			rest.Runes = msg.Runes[i:]
			cmds = append(cmds, m.consoleKey(rest))
			break
		}
		if i == 16 { // nobody types that fast
			break
		}
		cmds = append(cmds, m.press(string(r)))
	}
	return tea.Sequence(cmds...)
}

// scopes in force, the first first.
func (m *model) scopes() []keymap.Scope {
	if m.overlay.Open() {
		return []keymap.Scope{keymap.Overlay, keymap.Everywhere}
	}
	return []keymap.Scope{keymap.Scope(m.rooms.front().ID()), keymap.Everywhere}
}

func (m *model) press(key string) tea.Cmd {
	m.refresh()
	f := m.frame(m.body())
	b, ok := m.keys.Find(key, m.scopes()...)
	if !ok {
		return nil
	}
	if b.Unless != nil {
		if why := b.Unless(f); why != "" {
			m.say(m.words.Say("not.now", "key", b.Label, "why", m.words.Say(why)), theme.Waiting)
			return nil
		}
	}
	return m.dispatch(b.Do, f)
}

// dispatch gives an intent to the overlay or the view, and acts on what comes back.
func (m *model) dispatch(i intent.Intent, f view.Frame) tea.Cmd {
	var left []intent.Intent
	if m.overlay.Open() {
		m.overlay, left = m.overlay.Handle(i, f.W, f.H)
	} else {
		var v view.View
		v, left = m.rooms.front().Handle(i, f)
		m.rooms.set(v)
	}
	var cmds []tea.Cmd
	for _, i := range left {
		cmds = append(cmds, m.act(i, f))
	}
	m.dirty = true
	return tea.Sequence(cmds...)
}

// act is the end of the way: an intent becomes a command or a change of the screen.
func (m *model) act(i intent.Intent, f view.Frame) tea.Cmd {
	switch i := i.(type) {
	case intent.Quit:
		m.ending = true
		return tea.Quit
	case intent.Suspend:
		if !m.suspend() {
			m.say(m.words.Say("not.no-shell"), theme.Waiting)
			return nil
		}
		return tea.Suspend
	case intent.Help:
		m.overlay = m.help()
	case intent.Console:
		m.openConsole()
	case intent.Show:
		m.rooms.show(i.View)
	case intent.Cycle:
		m.rooms.at = (m.rooms.at + i.By + len(m.rooms.all)) % len(m.rooms.all)
	case intent.Open:
		if v, ok := page(i, f); ok {
			m.rooms.push(v)
		}
	case intent.Back:
		m.rooms.pop()
	case intent.Detail:
		return m.act(intent.Open{Page: "detail", Target: f.Selected}, f)
	case intent.Chain:
		seq := i.Seq
		if all := f.About(f.Selected); seq == 0 && len(all) > 0 {
			seq = all[len(all)-1]
		}
		return m.act(intent.Open{Page: "chain", Target: f.Selected, Seq: seq}, f)
	case intent.Why:
		return m.act(intent.Open{Page: "why", Target: f.Selected}, f)
	case intent.Tell:
		m.say(i.Text, theme.Text)
	case intent.Run:
		m.do(i.Command)
	case intent.TogglePause, intent.Faster, intent.Step:
		m.pace(i, f)
	default:
		if c := order(i, f, m); c != nil {
			m.do(c)
		}
	}
	return nil
}

// do gives an order to the cluster.
func (m *model) do(c command.Command) {
	if m.cluster == nil || !m.line.Live() {
		m.say(m.words.Say("not.recording"), theme.Waiting)
		return
	}
	m.pending = append(m.pending, c.String())
	if len(m.pending) > 64 {
		m.pending = m.pending[1:]
	}
	m.cluster.Do(c)
	if w := m.line.World(); w.Rate == 0 && !w.Unpaced && !w.Start.IsZero() {
		if _, ok := c.(command.Kubectl); ok { // requests travel in simulated time
			m.say(m.words.Say("toast.waits"), theme.Waiting)
		}
	}
	m.touch()
}

// order makes the command for an intent about the selection.
func order(i intent.Intent, f view.Frame, m *model) command.Command {
	t := f.Selected
	target := t.Host
	if t.Kind == scene.Process {
		target += "/" + t.Process
	}
	switch i := i.(type) {
	case intent.Power:
		if t.Kind == scene.Pod {
			return command.Crash{Namespace: t.Namespace, Pod: t.Name, Code: 1}
		}
		verb := command.Kill
		if keymap.Down(f) {
			verb = command.Start
		}
		return command.Power{Verb: verb, Target: target}
	case intent.Restart:
		return command.Power{Verb: command.Restart, Target: target}
	case intent.Wipe:
		return command.Wipe{Target: t.Host}
	case intent.Cut:
		if keymap.Cut(f) {
			return command.Heal{Target: t.Host}
		}
		return command.Cut{A: t.Host, B: "all"}
	case intent.HealAll:
		return command.Heal{}
	case intent.Delete:
		return m.remove(t)
	case intent.Scale:
		return m.scale(i.By, f)
	}
	return nil
}

// scale counts from what was asked for last, because the cluster may not have it yet.
func (m *model) scale(by int, f view.Frame) command.Command {
	namespace, name, now, ok := keymap.DeploymentOf(f)
	if !ok {
		m.say(m.words.Say("not.no-deployment"), theme.Waiting)
		return nil
	}
	key := namespace + "/" + name
	if asked, ok := m.wants[key]; ok && m.clock().Sub(asked.at) < toastTime {
		now = asked.replicas
	}
	next := max(now+by, 0)
	m.wants[key] = want{next, m.clock()}
	return command.Kubectl{Args: []string{"scale", "deployment", name, fmt.Sprintf("--replicas=%d", next), "-n", namespace}}
}

// remove deletes an object as kubectl would.
func (m *model) remove(t target.Target) command.Command {
	what := "pod"
	if t.Kind == target.Object {
		what = t.Type
	}
	args := []string{"delete", what, t.Name}
	if t.Namespace != "" {
		args = append(args, "-n", t.Namespace)
	}
	return command.Kubectl{Args: args}
}

// rates on offer, simulated seconds per second.
var rates = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60}

// pace acts on time: that of the cluster, or that of the player of a recording.
func (m *model) pace(i intent.Intent, f view.Frame) {
	p, recorded := m.line.(Pacer)
	now := f.Rate
	paused := now == 0 && !f.Unpaced
	switch i := i.(type) {
	case intent.TogglePause:
		switch {
		case recorded && paused:
			p.SetRate(cmp.Or(m.replayed, 1))
		case recorded:
			m.replayed = now
			p.SetRate(0)
		case paused:
			m.do(command.Resume{})
		default:
			m.do(command.Pause{})
		}
	case intent.Step:
		switch {
		case !paused:
			m.say(m.words.Say("not.step-running"), theme.Waiting)
		case recorded:
			p.Step()
		default:
			m.do(command.Step{Count: 1})
		}
	case intent.Faster:
		if paused {
			m.say(m.words.Say("not.speed-paused"), theme.Waiting)
			return
		}
		if recorded {
			p.SetRate(ladder(now, i.By))
			return
		}
		if m.asked != 0 && m.asked != now { // keys come faster than answers
			now = m.asked
		}
		m.asked = ladder(now, i.By)
		m.do(command.Speed{Rate: m.asked})
	}
}

// ladder is the next rate up or down.
func ladder(now float64, by int) float64 {
	if by > 0 {
		for _, r := range rates {
			if r > now+1e-9 {
				return r
			}
		}
		return rates[len(rates)-1]
	}
	for i := len(rates) - 1; i >= 0; i-- {
		if rates[i] < now-1e-9 {
			return rates[i]
		}
	}
	return rates[0]
}

func (m *model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.console.open || m.h < minH || m.w < minW {
		return nil
	}
	m.refresh()
	body := m.body()
	f := m.frame(body)
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		return m.dispatch(intent.Wheel{By: -1}, f)
	case msg.Button == tea.MouseButtonWheelDown:
		return m.dispatch(intent.Wheel{By: 1}, f)
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress:
		m.touch()
		if body.Contains(msg.X, msg.Y) {
			return m.dispatch(intent.Point{X: msg.X - body.X, Y: msg.Y - body.Y}, f)
		}
		if m.tabsRow() == msg.Y {
			if id := m.tabAt(msg.X); id != "" {
				m.overlay = listview.List{}
				m.rooms.show(id)
			}
		}
	}
	return nil
}
