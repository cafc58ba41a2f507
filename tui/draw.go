package tui

import (
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

// View is the frame as text. Bubble Tea asks after every message, so it is kept until something changes.
func (m *model) View() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	if m.dirty || m.grid == nil {
		m.draw()
		m.shown = m.grid.Render(m.theme.Seq, m.ascii)
		m.dirty = false
	}
	return m.shown
}

// refresh makes the scene of now. Where that is dear (thousands of machines), it is done for at most a tenth of the time.
func (m *model) refresh() {
	start := m.clock()
	if start.Sub(m.sceneAt) < 10*m.sceneCost {
		return
	}
	m.scene = m.maker.Of(m.reader.World(), m.reader.Now())
	m.sceneAt = m.clock()
	m.sceneCost = 0
	if cost := m.sceneAt.Sub(start); cost > 2*time.Millisecond {
		m.sceneCost = min(cost, 50*time.Millisecond)
	}
}

func (m *model) draw() {
	if m.grid == nil {
		m.grid = grid.New(m.w, m.h)
	} else {
		m.grid.Reset()
	}
	c := m.grid.Canvas()
	if m.w < minW || m.h < minH {
		m.drawSmall(c)
		return
	}
	m.refresh()
	body := m.body()
	f := m.frame(body)
	m.drawHeader(f, c)
	m.rooms.front().Draw(f, c.Sub(body))
	if r := m.barRect(); !r.Empty() {
		m.timebar().Draw(c.Sub(r))
	}
	if m.overlay.Open() {
		m.overlay.Draw(c.Sub(body))
	}
	m.drawFooter(f, c)
}

// tall screens have a line of tabs.
func (m *model) tall() bool { return m.h >= 30 }

func (m *model) tabsRow() int { return 1 }

// body is where the view draws.
func (m *model) body() layout.Rect {
	top := 2
	if m.tall() {
		top = 3
	}
	return layout.Rect{Y: top, W: m.w, H: max(m.h-top-2-m.barRows(), 0)}
}

// barRows are the rows of the line of time.
func (m *model) barRows() int {
	if m.tall() {
		return 2
	}
	return 1
}

// barRect is where the line of time is.
func (m *model) barRect() layout.Rect {
	return layout.Rect{Y: m.h - 2 - m.barRows(), W: m.w, H: m.barRows()}
}

// drawSmall asks for room, as far as there is room to ask.
func (m *model) drawSmall(c grid.Canvas) {
	text := m.words.Say("ui.small", "w", minW, "h", minH, "width", m.w, "height", m.h)
	lines := widget.Wrap(text, m.w)
	for y, l := range lines {
		if y >= m.h {
			break
		}
		c.Put(0, y, l, theme.Text)
	}
}
