package storyview

import (
	"strconv"
	"strings"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

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
			draw(f, c, y, &lines[top+y], w, look{})
		}
		return
	}
	indent := lead(actorWidth(w))
	rows := make([][]string, 0, h) // of the newest lines, newest first
	used, at := 0, len(lines)
	for at > 0 && used < h {
		text := widget.Wrap(sanitize.Text(lines[at-1].Text()), w-indent)
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
		draw(f, c, y, l, w, look{})
		for n, text := range rows[i] {
			c.Sub(layout.Rect{X: indent, Y: y, W: w - indent, H: 1}).Clear()
			end := c.Put(indent, y, text, l.Tone.Style())
			if l.Count > 1 && l.Many == nil && n == len(rows[i])-1 {
				c.PutMax(end+1, y, max(w-end-1, 0), string(grid.Times)+strconv.Itoa(l.Count), theme.Dim)
			}
			y++
		}
	}
}

// short are names of components that do not fit where columns are few.
var short = map[string]string{"controller-manager": "ctrl-mgr", "garbage-collector": "garbage-coll.", "cloud-controller-manager": "cloud-ctrl-mgr"}

// Who shortens "kubelet/worker-12" to "kubelet/w12" where columns are few.
func Who(who string, width int) string {
	if grid.Width(who) <= width {
		return who
	}
	component, host, ok := strings.Cut(who, "/")
	if s, known := short[component]; known {
		component = s
	}
	if !ok {
		return grid.Cut(component, width)
	}
	who = component + "/" + host
	if i := strings.LastIndexByte(host, '-'); i > 0 && grid.Width(who) > width {
		who = component + "/" + host[:1] + host[i+1:]
	}
	return grid.Cut(who, width)
}
