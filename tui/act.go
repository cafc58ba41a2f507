package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/chainview"
	"example.com/kubeviz/tui/view/detailview"
	"example.com/kubeviz/tui/view/listview"
	"example.com/kubeviz/tui/view/mapview"
	"example.com/kubeviz/tui/view/objectview"
	"example.com/kubeviz/tui/view/queueview"
	"example.com/kubeviz/tui/view/whyview"
)

// act is the end of the way: an intent becomes a command or a change of the screen.
func (m *model) act(i intent.Intent) tea.Cmd {
	f := m.frame(m.body())
	switch i := i.(type) {
	case intent.Quit:
		return m.quit(i.Now)
	case intent.Suspend:
		if !m.suspend() {
			m.say(m.words.Say("not.no-shell"), theme.Waiting)
			return nil
		}
		return tea.Suspend
	case intent.Help:
		m.overlay = m.help()
	case intent.Console:
		m.openConsole(i.Line)
	case intent.Show:
		m.overlay = listview.List{}
		m.rooms.show(i.View)
	case intent.Cycle:
		m.rooms.at = (m.rooms.at + i.By + len(m.rooms.all)) % len(m.rooms.all)
	case intent.Back:
		m.back()
	case intent.Tell:
		m.say(i.Text, theme.Text)
	case intent.Run:
		m.do(i.Command)
	case intent.Find:
		m.openFind()
	case intent.Match, intent.Trouble, intent.Text:
		m.say(m.words.Say("not.no-search"), theme.Waiting)
	case intent.Copy:
		m.offerCopies(f)
	case intent.Clip:
		return m.clip(i.Text)
	case intent.ExportLine:
		return m.copyExport()
	case intent.Export:
		m.overlay = m.exports()
	case intent.Save:
		return m.save(i.What, "")
	case intent.Open, intent.Detail, intent.Chain, intent.Why, intent.Jump:
		return m.open(i, f)
	case intent.TogglePause, intent.Faster, intent.Step, intent.Scrub, intent.Mark, intent.At, intent.ToSeq, intent.Live, intent.Until, intent.Await, intent.Slow:
		m.pace(i, f)
	case intent.Power, intent.Restart, intent.Wipe, intent.Cut, intent.HealAll, intent.Scale, intent.Delete:
		if c := m.order(i, f); c != nil {
			m.do(c)
		}
	}
	return nil
}

// quitAgain is how long the question stays, and a second q counts as its answer.
const quitAgain = 10 * time.Second

// quit leaves; a running cluster is gone then, so it takes two.
func (m *model) quit(now bool) tea.Cmd {
	if !now && m.cluster != nil && m.clock().After(m.leaving) {
		m.leaving = m.clock().Add(quitAgain)
		m.touch()
		return nil
	}
	m.ending = true
	return tea.Quit
}

// back leaves the page in front; where there is none, the past.
func (m *model) back() {
	if m.rooms.pop() {
		return
	}
	if !m.reader.Live() && m.cluster != nil {
		m.reader.GoLive()
		m.pump(true)
		return
	}
	m.rooms.at = 0
}

// open puts a page in front, or goes to where a thing is at home.
func (m *model) open(i intent.Intent, f view.Frame) tea.Cmd {
	var o intent.Open
	switch i := i.(type) {
	case intent.Open:
		o = i
	case intent.Detail:
		o = intent.Open{Page: detailview.ID, Target: f.Selected}
	case intent.Why:
		o = intent.Open{Page: whyview.ID, Target: f.Selected}
	case intent.Chain:
		o = intent.Open{Page: chainview.ID, Target: f.Selected, Seq: i.Seq}
		if f.Selected.Kind == target.Record && o.Seq == 0 {
			o.Seq = f.Selected.Seq
		}
		if f.Selected == (target.Target{}) && o.Seq == 0 { // nothing is selected: what the user did last
			if n := len(f.World.Commands); n > 0 {
				o.Seq = f.World.Commands[n-1].Seq
			}
		}
		if o.Seq == 0 && len(f.About(f.Selected)) == 0 { // else the page picks the record that matters most
			m.say(m.words.Say("not.no-record"), theme.Waiting)
			return nil
		}
	case intent.Jump:
		return m.jump(i.Target)
	}
	if v, ok := page(o, f); ok {
		m.overlay = listview.List{}
		m.rooms.push(v)
	}
	return nil
}

// jump shows a thing where it is at home.
func (m *model) jump(t target.Target) tea.Cmd {
	home := ""
	switch t.Kind {
	case target.Master, target.Worker, target.Process, target.Balancer, target.Client, target.Zone:
		home = mapview.ID
	case target.Pod, target.Object:
		home = objectview.ID
	case target.Queue:
		home = queueview.ID
	case target.Record:
		return m.act(intent.Open{Page: chainview.ID, Seq: t.Seq})
	default:
		return nil
	}
	m.overlay = listview.List{}
	m.rooms.show(home)
	m.rooms.all[m.rooms.at].pages = nil
	return m.tell(intent.Select{Target: t})
}
