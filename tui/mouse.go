package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/tui/intent"
)

// twiceWithin is the wall time between two clicks that count as one double click.
const twiceWithin = 400 * time.Millisecond

// grip is what the mouse holds while its button is down.
type grip uint8

const (
	gripNothing grip = iota
	gripBody
	gripTime
)

// mouse is where the button was pressed, and when.
type mouse struct {
	grip    grip
	x, y    int
	at      time.Time
	dragged bool // it has moved since
}

func (m *model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.h < minH || m.w < minW {
		return nil
	}
	m.refresh()
	switch {
	case msg.Button == tea.MouseButtonWheelUp || msg.Button == tea.MouseButtonWheelDown:
		by := 1
		if msg.Button == tea.MouseButtonWheelUp {
			by = -1
		}
		m.touch()
		if m.onTimebar(msg.Y) && !m.console.open {
			return m.act(intent.Scrub{By: by})
		}
		if rows := m.consoleRoom(); m.console.open && msg.Y >= m.h-2-min(m.console.log.Len(), rows)-1 {
			m.console.log.Scroll(3*by, rows)
			return nil
		}
		body := m.body()
		return m.dispatch(intent.Wheel{By: by, X: msg.X - body.X, Y: msg.Y - body.Y}, m.frame(body))
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress:
		m.touch()
		return m.click(msg.X, msg.Y)
	case msg.Action == tea.MouseActionMotion && m.hand.grip != gripNothing:
		m.touch()
		return m.drag(msg.X, msg.Y, false)
	case msg.Action == tea.MouseActionRelease && m.hand.grip != gripNothing:
		m.touch()
		cmd := m.drag(msg.X, msg.Y, true)
		m.hand.grip = gripNothing
		return cmd
	}
	return nil
}

func (m *model) click(x, y int) tea.Cmd {
	now := m.clock()
	twice := m.hand.x == x && m.hand.y == y && now.Sub(m.hand.at) < twiceWithin
	m.hand = mouse{x: x, y: y, at: now}
	if twice {
		m.hand.at = time.Time{} // a third click begins anew
	}
	body := m.body()
	switch {
	case body.Contains(x, y):
		m.hand.grip = gripBody
		return m.dispatch(intent.Point{X: x - body.X, Y: y - body.Y, Twice: twice}, m.frame(body))
	case m.onTimebar(y):
		m.hand.grip = gripTime
		m.scrubTo(x)
	case y == m.tabsRow():
		if id := m.tabAt(x); id != "" {
			return m.act(intent.Show{View: id})
		}
	case y == m.h-1 && !m.console.open && !m.find.open:
		if key := m.footAt(x); key != "" {
			return m.press(key)
		}
	}
	return nil
}

func (m *model) drag(x, y int, done bool) tea.Cmd {
	switch m.hand.grip {
	case gripTime:
		m.scrubTo(x)
	case gripBody:
		moved := x != m.hand.x || y != m.hand.y
		m.hand.dragged = m.hand.dragged || moved
		if !m.hand.dragged {
			return nil
		}
		body := m.body()
		return m.dispatch(intent.Drag{FromX: m.hand.x - body.X, FromY: m.hand.y - body.Y, X: x - body.X, Y: y - body.Y, Done: done}, m.frame(body))
	}
	return nil
}

// onTimebar reports whether a row is one of the line of time.
func (m *model) onTimebar(y int) bool { return m.barRect().Contains(1, y) }

// scrubTo goes to the instant under a column.
func (m *model) scrubTo(x int) {
	at, end, ok := m.timebar().Instant(x, m.w)
	switch {
	case !ok:
		return
	case end:
		m.reader.GoLive()
	default:
		m.reader.Seek(at)
	}
	m.pump(true)
}
