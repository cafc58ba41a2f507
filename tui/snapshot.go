package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// Still says how a picture of the screen is taken.
type Still struct {
	// W and H in cells; 0: 120 by 40.
	W, H int
	// Theme as in Options. Depth of colour of the text form; theme.Mono gives weight only, Plain no escape sequences at all.
	Theme string
	Depth theme.Depth
	Plain bool
	ASCII bool
	// Words are the catalogue; nil: English. Still: nothing moves.
	Words *words.Catalogue
	Still bool
	// Keys pressed before the picture is taken, as the terminal library names them.
	Keys []string
	// At is the instant to look at; zero: the last record's.
	At time.Time
	// Palette finds the theme by name; nil: the built-in ones.
	Palette func(name string) (theme.Palette, error)
	// Open is a page to open after the keys; the zero value opens none.
	Open intent.Open
	// Now is the simulated instant of the clock; zero: that of the last record.
	Now time.Time
	// Recording draws the screen as for a recording.
	Recording bool
	// outside and kubectl let the console reach a cluster; for tests.
	outside func(context.Context) (Access, error)
	kubectl kubectl
	// Location of the clock; nil: UTC.
	Location *time.Location
}

// Snapshot is the screen as text after the records have been read: what a user would see, taken without a terminal. Equal arguments give equal text.
func Snapshot(records []event.Record, s Still) string {
	m := still(records, s)
	if s.Plain {
		m.draw()
		return m.grid.Render(nil, s.ASCII)
	}
	return m.View()
}

// stillCluster lets keys act in a picture; orders go nowhere.
type stillCluster struct {
	journal *journal.Journal
	now     time.Time
}

func (c stillCluster) Do(command.Command)        {}
func (c stillCluster) Journal() *journal.Journal { return c.journal }
func (c stillCluster) Targets() []string         { return nil }
func (c stillCluster) Now() time.Time            { return c.now }

func still(records []event.Record, s Still) *model {
	if s.W == 0 {
		s.W, s.H = 120, 40
	}
	if s.Location == nil {
		s.Location = time.UTC
	}
	j := journal.New(journal.Options{Capacity: max(len(records), 1), Now: func() time.Time { return s.Now }})
	for _, r := range records {
		j.Append(r)
	}
	named := s.Palette
	if named == nil {
		named = theme.Named
	}
	palette, err := named(s.Theme)
	if err != nil {
		palette = theme.Dark
	}
	wall := time.Unix(0, 0)
	o := Options{Journal: j, Replay: s.Recording, ASCII: s.ASCII, Words: s.Words, Still: s.Still, Location: s.Location, theme: theme.New(palette, s.Depth), wall: func() time.Time { return wall }}
	o.Outside, o.kubectl = s.outside, s.kubectl
	if !s.Recording {
		o.Cluster = stillCluster{journal: j, now: s.Now}
	}
	m := newModel(o)
	m.resize(s.W, s.H)
	m.sources.whole = true
	if s.Recording {
		m.reader.GoLive()
	}
	for {
		if n, _ := m.reader.Advance(foldBatch); n == 0 {
			break
		}
	}
	for m.sources.trace.Advance(foldBatch)+m.sources.readMarks() > 0 {
	}
	m.pump(true)
	m.sources.head.TakeNews()
	m.sources.head.TakeAnswers()
	m.sources.fresh = true
	if !s.At.IsZero() {
		m.reader.Seek(s.At)
		m.pump(true)
	}
	for _, k := range s.Keys {
		m.Update(keyMsg(k))
	}
	if s.Open.Page != "" {
		m.act(s.Open)
	}
	m.dirty = true
	return m
}

// keyMsg makes the message of a key from its name.
func keyMsg(name string) tea.KeyMsg {
	for t, n := range map[tea.KeyType]string{tea.KeyEnter: "enter", tea.KeyEsc: "esc", tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab", tea.KeyUp: "up", tea.KeyDown: "down",
		tea.KeyLeft: "left", tea.KeyRight: "right", tea.KeySpace: " ", tea.KeyHome: "home", tea.KeyEnd: "end", tea.KeyPgUp: "pgup", tea.KeyPgDown: "pgdown",
		tea.KeyCtrlC: "ctrl+c", tea.KeyBackspace: "backspace", tea.KeyCtrlZ: "ctrl+z"} {
		if n == name || name == "space" && n == " " {
			k := tea.KeyMsg{Type: t}
			if t == tea.KeySpace {
				k.Runes = []rune{' '}
			}
			return k
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// Cells of a picture, in its units.
const (
	cellW, cellH = 8.43, 16.3 // of DejaVu Sans Mono at 14, so that lines of boxes meet
	margin       = 14.0
)

// SVG is the screen as a picture: colours of the theme, a monospaced font, one text element a run of equal style.
func SVG(records []event.Record, s Still) string {
	s.Depth = theme.TrueColour
	m := still(records, s)
	m.draw()
	return svg(m.grid, m.theme, s.ASCII)
}

func svg(g *grid.Grid, t *theme.Theme, ascii bool) string {
	w, h := g.Size()
	var b strings.Builder
	width, height := float64(w)*cellW+2*margin, float64(h)*cellH+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#%06x"/>`+"\n", t.Background())
	b.WriteString(`<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">` + "\n")
	for y := range h {
		for x := 0; x < w; {
			start, style := x, g.At(x, y).Style
			var text strings.Builder
			blank := true
			for x < w && g.At(x, y).Style == style {
				if r := g.At(x, y).Rune; r != 0 {
					blank = blank && r == ' '
					text.WriteString(escape(r, ascii))
				}
				x++
			}
			fg, bg, bold := t.Colours(style)
			left, top := margin+float64(start)*cellW, margin+float64(y)*cellH
			if style&grid.Reverse != 0 {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#%06x"/>`, left, top, float64(x-start)*cellW, cellH, bg)
			}
			if blank {
				continue
			}
			weight := ""
			if bold {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="#%06x"%s>%s</text>`+"\n", left, top+cellH*0.79, float64(x-start)*cellW, fg, weight, text.String())
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func escape(r rune, ascii bool) string {
	if ascii {
		r = grid.ASCII(r)
	}
	switch r {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case ' ':
		return "\u00a0"
	}
	return string(r)
}
