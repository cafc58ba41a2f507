// Package storyview is the journal as sentences: the whole story with a cursor, and its tail for other views.
//
// The newest sentence is at the bottom. While the cursor is on it the view follows; otherwise it stands still, whatever happens.
//
// Imports of ours: tui/*. Goroutines: the screen's one. Time: simulated.
package storyview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// ID of the view.
const ID = "story"

// View of the story. The zero value follows.
type View struct {
	// at is the first record of the line under the cursor; 0: the last line, which is followed.
	at event.Seq
	// rows above the cursor on the screen, so that nothing moves under it.
	offset int
}

var _ view.View = View{}

// ID names the view.
func (v View) ID() string { return ID }

// cursor is the index of the line under the cursor.
func (v View) cursor(lines []feed.Line) int {
	if v.at == 0 || len(lines) == 0 {
		return len(lines) - 1
	}
	lo, hi := 0, len(lines)
	for lo < hi { // the first line that is not before it
		mid := (lo + hi) / 2
		if lines[mid].First < v.at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return min(lo, len(lines)-1)
}

// Handle moves the cursor.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	lines := f.Feed.Lines()
	at := v.cursor(lines)
	height := max(f.H-2, 1)
	switch i := i.(type) {
	case intent.Move:
		return v.to(lines, at+i.DY, height), nil
	case intent.Next:
		return v.to(lines, at+i.By, height), nil
	case intent.Wheel:
		return v.to(lines, at+3*i.By, height), nil
	case intent.Page:
		return v.to(lines, at+i.By*height, height), nil
	case intent.Edge:
		if i.To < 0 {
			return v.to(lines, 0, height), nil
		}
		return View{}, nil
	case intent.Back:
		if v.at == 0 {
			return v, []intent.Intent{intent.Show{View: "map"}}
		}
		return View{}, nil
	case intent.Point:
		top := v.top(lines, at, height)
		return v.to(lines, top+i.Y-1, height), nil
	case intent.Enter:
		if at >= 0 {
			return v, []intent.Intent{intent.Chain{Seq: lines[at].Seq}}
		}
	case intent.Chain:
		if i.Seq == 0 && at >= 0 {
			return v, []intent.Intent{intent.Chain{Seq: lines[at].Seq}}
		}
		return v, []intent.Intent{i}
	default:
		return v, []intent.Intent{i}
	}
	return v, nil
}

func (v View) to(lines []feed.Line, at, height int) View {
	if len(lines) == 0 || at >= len(lines)-1 {
		return View{}
	}
	old := v.cursor(lines)
	top := v.top(lines, old, height)
	at = max(at, 0)
	return View{at: lines[at].First, offset: min(max(at-top, 0), height-1)}
}

// top is the first line on the screen.
func (v View) top(lines []feed.Line, at, height int) int {
	if v.at == 0 {
		return max(len(lines)-height, 0)
	}
	return max(min(at-v.offset, len(lines)-height), 0)
}

// Draw draws the story.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 3 {
		return
	}
	lines := f.Feed.Lines()
	at := v.cursor(lines)
	head := widget.Line{{Text: " " + f.Words.Say("story.title", "n", len(lines)+f.Feed.Dropped()), Style: theme.Dim}}
	if v.at == 0 {
		head = append(head, widget.S("  "+f.Words.Say("story.following"), theme.OK))
	} else {
		head = append(head, widget.S("  "+f.Words.Say("story.standing", "n", len(lines)-1-at), theme.Waiting))
	}
	head.Draw(c, 0, 0, w)
	body := c.Sub(layout.Rect{Y: 1, W: w, H: h - 2})
	height := h - 2
	top := v.top(lines, at, height)
	for y := 0; y < height && top+y < len(lines); y++ {
		draw(f, body, y, &lines[top+y], w, top+y == at)
	}
	if len(lines) == 0 {
		body.Put(2, 1, f.Words.Say("story.empty"), theme.Dim)
		return
	}
	if seq := lines[at].Seq; w > 40 {
		c.PutMax(1, h-1, w-2, f.Words.Say("story.foot", "seq", uint64(seq), "clock", lines[at].At.In(f.Location).Format("15:04:05.000"), "actor", string(lines[at].Actor)), theme.Dim)
	}
}

// Tail draws the newest lines, the last at the bottom of those there are.
func Tail(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	lines := f.Feed.Lines()
	if len(lines) == 0 {
		c.Put(1, 0, f.Words.Say("story.empty"), theme.Dim)
		return
	}
	if h < 8 || w < 40 {
		top := max(len(lines)-h, 0)
		for y := range min(h, len(lines)) {
			draw(f, c, y, &lines[top+y], w, false)
		}
		return
	}
	indent := lead(w)
	rows := make([][]string, 0, h) // of the newest lines, newest first
	used, at := 0, len(lines)
	for at > 0 && used < h {
		text := widget.Wrap(lines[at-1].Text(), w-indent)
		if len(text) > 2 {
			text = []string{text[0], grid.Cut(strings.Join(text[1:], " "), w-indent)}
		}
		if used+len(text) > h {
			break
		}
		used += len(text)
		rows = append(rows, text)
		at--
	}
	y := 0
	for i := len(rows) - 1; i >= 0; i-- {
		l := &lines[len(lines)-1-i]
		draw(f, c, y, l, w, false)
		for n, text := range rows[i] {
			c.Sub(layout.Rect{X: indent, Y: y, W: w - indent, H: 1}).Clear()
			end := c.Put(indent, y, text, Style(l.Tone))
			if l.Count > 1 && l.Many == nil && n == len(rows[i])-1 {
				c.PutMax(end+1, y, max(w-end-1, 0), fmt.Sprintf("%c%d", grid.Times, l.Count), theme.Dim)
			}
			y++
		}
	}
}

// lead is the width of when and who.
func lead(w int) int { return 1 + 8 + 1 + actorWidth(w) + 1 }

func actorWidth(w int) int {
	if w >= 90 {
		return 20
	}
	return 14
}

// draw is one line: when, who, what.
func draw(f view.Frame, c grid.Canvas, y int, l *feed.Line, w int, chosen bool) {
	actorW := actorWidth(w)
	mark := " "
	if chosen {
		mark = string(grid.Marker)
	}
	body := Style(l.Tone)
	if chosen {
		body |= grid.Reverse
	}
	line := widget.Line{
		{Text: mark, Style: theme.Accent},
		{Text: grid.Pad(Clock(f, l.Since), 8), Style: theme.Dim},
		{Text: " "},
		{Text: grid.Pad(Who(l.Who, actorW), actorW), Style: whoStyle(l)},
		{Text: " "},
		{Text: l.Text(), Style: body},
	}
	if l.Count > 1 && l.Many == nil {
		line = append(line, widget.S(fmt.Sprintf(" %c%d", grid.Times, l.Count), theme.Dim))
	}
	line.Draw(c, 0, y, w)
}

// Who shortens "kubelet/worker-12" to "kubelet/w12" where columns are few.
func Who(who string, width int) string {
	if component, host, ok := strings.Cut(who, "/"); ok && grid.Width(who) > width {
		if i := strings.LastIndexByte(host, '-'); i > 0 {
			host = host[:1] + host[i+1:]
		}
		who = component + "/" + host
	}
	return grid.Cut(who, width)
}

// Clock is the time since the start of the run.
func Clock(f view.Frame, t time.Time) string {
	if f.World.Start.IsZero() {
		return ""
	}
	return "+" + words.Span(t.Sub(f.World.Start))
}

func whoStyle(l *feed.Line) grid.Style {
	if l.Who == string(event.You) {
		return theme.Fault
	}
	return theme.Dim
}

// Style of a tone.
func Style(t sentence.Tone) grid.Style {
	switch t {
	case sentence.Quiet:
		return theme.Dim
	case sentence.Good:
		return theme.OK
	case sentence.Warn:
		return theme.Waiting
	case sentence.Bad:
		return theme.Failing &^ grid.Bold
	case sentence.Lead:
		return theme.Leader
	case sentence.User:
		return theme.Fault
	}
	return theme.Text
}
