package detailview

import (
	"fmt"
	"strings"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// plan is where the parts of the page lie.
type plan struct {
	head, tabs, main, foot layout.Rect
	// side shows other tabs beside the main one where there is room.
	side layout.Rect
}

// sideFrom is the width from which two panes are shown.
const sideFrom = 116

func layOut(f view.Frame, split int) plan {
	rows := layout.Rect{W: f.W, H: f.H}.Rows(layout.Fixed(1), layout.Fixed(1), layout.Fill(1), layout.Fixed(1))
	p := plan{head: rows[0], tabs: rows[1], main: rows[2], foot: rows[3]}
	p.tabs.X++
	if f.W >= sideFrom && rows[2].H >= 8 {
		at := split
		if at == 0 {
			at = f.W * 11 / 20
		}
		at = max(min(at, f.W-40), 60)
		p.main.W = at - 1
		p.side = layout.Rect{X: at + 1, Y: rows[2].Y, W: f.W - at - 1, H: rows[2].H}
	}
	return p
}

// Draw draws the page.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 12 || h < 4 {
		return
	}
	p := v.page(f)
	v.drawHead(f, c.Sub(p.lay.head), p.subject)
	v.drawTabs(f, c.Sub(p.lay.tabs), p)
	main := c.Sub(p.lay.main)
	if len(p.rows) == 0 {
		drawEmpty(f, main, v.tab, p.subject)
	}
	lines := p.rows[min(p.top, len(p.rows)):]
	for y := 0; y < p.lay.main.H && y < len(lines); y++ {
		drawRow(main, y, lines[y], p.labelW, p.lay.main.W, p.top+y == p.at, v.find)
	}
	if p.lay.side.W > 0 {
		v.drawSide(f, c, p)
	}
	v.drawFoot(f, c.Sub(p.lay.foot), p)
}

func drawEmpty(f view.Frame, c grid.Canvas, tab int, s describe.Subject) {
	w, _ := c.Size()
	for i, line := range widget.Wrap(whyEmpty(f, tab, s), w-4) {
		c.Put(2, 1+i, line, theme.Dim)
	}
}

// kindOf names what sort of thing the page is about.
func kindOf(f view.Frame, s describe.Subject) string {
	say := f.Words.Say
	switch s.Target.Kind {
	case target.Master:
		return say("detail.kind-master")
	case target.Worker:
		return say("detail.kind-worker")
	case target.Process:
		return say("detail.kind-process")
	case target.Queue:
		return say("detail.kind-queue")
	case target.Client:
		if s.Target.Name == motion.Others || motion.ProgramOf(s.Target.Name) != "" {
			return say("map.clients")
		}
		return say("detail.kind-client")
	case target.Zone:
		return say("detail.kind-zone")
	case target.Balancer:
		return say("detail.kind-balancer")
	}
	if s.Kind != nil {
		return s.Kind.Kind
	}
	return ""
}

func (v View) drawHead(f view.Frame, c grid.Canvas, s describe.Subject) {
	w, _ := c.Size()
	full := name(s.Target)
	if s.Target.Namespace != "" {
		full = s.Target.Namespace + "/" + full
	}
	line := widget.Line{widget.S(" ", theme.Text)}
	switch {
	case s.Gone:
		line = append(line, widget.S(string(grid.Failing)+" ", theme.Failing))
	case s.Object != nil:
		st := describe.StateOf(f.World, &world.Object{Kind: s.Kind, Object: s.Object})
		if h, ok := f.World.Hosts.Get(s.Target.Host); ok && s.Target.Kind != target.Pod && !h.Up {
			st.Symbol, st.Style = grid.Failing, theme.Failing
		}
		line = append(line, widget.S(string(st.Symbol)+" ", st.Style))
	}
	line = append(line, widget.S(kindOf(f, s)+" ", theme.Dim), widget.S(sanitize.Text(full), theme.Title))
	if s.Gone {
		line = append(line, widget.S("  "+f.Words.Say("detail.deleted-since", "since", max(f.Now.Sub(s.GoneAt), 0)), theme.Failing))
	}
	line.Draw(c, 0, 0, w)
}

func tabLabel(f view.Frame, p page, tab int) (string, bool) {
	ok, n := p.cache.has(f, p.subject, tab)
	text := " " + tabName(f, tab)
	if n > 0 {
		text += fmt.Sprintf(" %d", n)
	}
	return text + " ", ok
}

func tabWidth(f view.Frame, p page, tab int) int {
	text, _ := tabLabel(f, p, tab)
	return grid.Width(text)
}

func (v View) drawTabs(f view.Frame, c grid.Canvas, p page) {
	x := 0
	for tab := range tabCount {
		text, ok := tabLabel(f, p, tab)
		style := theme.Text
		switch {
		case tab == v.tab:
			style = theme.Accent | grid.Reverse
		case !ok:
			style = theme.Frame
		}
		x = c.Put(x, 0, text, style)
	}
}

// drawRow draws one row; find is marked in it.
func drawRow(c grid.Canvas, y int, r describe.Row, labelW, w int, chosen bool, find string) {
	if r.Title {
		x := c.PutMax(1, y, w-2, r.Label+" ", theme.Accent&^grid.Bold)
		c.Sub(layout.Rect{X: x, Y: y, W: max(w-x-1, 0), H: 1}).HLine(0, grid.LineH, theme.Frame)
	} else {
		c.PutMax(1, y, max(labelW-1, 0), r.Label, theme.Dim)
		mark(r.Line, find).Draw(c, 1+labelW, y, w-1-labelW)
	}
	if r.Target.Kind != target.Nothing && !r.Title {
		if end := 1 + labelW + r.Line.Width() + 1; end < w {
			c.Put(end, y, string(grid.Crumb), theme.Frame)
		}
	}
	if chosen {
		c.Put(0, y, string(grid.Marker), theme.Accent)
		c.Reverse(1, y, w-1)
	}
}

// mark sets what is searched for off from the rest of a line.
func mark(l widget.Line, find string) widget.Line {
	if find == "" {
		return l
	}
	find = strings.ToLower(find)
	var out widget.Line
	for _, s := range l {
		text, low := s.Text, strings.ToLower(s.Text)
		for len(low) == len(text) { // letters whose small form is of another length are not marked
			i := strings.Index(low, find)
			if i < 0 {
				break
			}
			out = append(out, widget.S(text[:i], s.Style), widget.S(text[i:i+len(find)], theme.Accent|grid.Reverse))
			text, low = text[i+len(find):], low[i+len(find):]
		}
		out = append(out, widget.S(text, s.Style))
	}
	return out
}

// drawSide shows what goes with the tab in front: beside the fields what happened, beside what happened the fields.
func (v View) drawSide(f view.Frame, c grid.Canvas, p page) {
	side := p.lay.side
	c.Sub(layout.Rect{X: side.X - 1, Y: side.Y, W: 1, H: side.H}).VLine(0, grid.Thin.V, theme.Frame)
	tabs := []int{overview}
	switch v.tab {
	case overview, manifest, described:
		tabs = []int{events, requests, records}
		if side.H < 24 {
			tabs = []int{events, records}
		}
	}
	y := side.Y
	for i, tab := range tabs {
		h := (side.Bottom() - y) / (len(tabs) - i)
		rows := p.cache.rows(f, p.subject, tab)
		labelW := describe.LabelWidth(rows, max(side.W/3, 8))
		if tab != requests {
			rows = describe.Wrap(rows, side.W-2, labelW)
		}
		if need := max(len(rows), 1) + 2; i < len(tabs)-1 && need < h {
			h = need
		}
		pane := c.Sub(layout.Rect{X: side.X, Y: y, W: side.W, H: h})
		if tab != overview {
			x := pane.Put(1, 0, tabName(f, tab)+" ", theme.Accent&^grid.Bold)
			pane.Sub(layout.Rect{X: x, W: side.W - x - 1, H: 1}).HLine(0, grid.LineH, theme.Frame)
			pane = pane.Sub(layout.Rect{Y: 1, W: side.W, H: h - 1})
		}
		_, ph := pane.Size()
		if len(rows) == 0 {
			pane.PutMax(1, 0, side.W-2, whyEmpty(f, tab, p.subject), theme.Dim)
		}
		if tab == events && len(rows) > ph { // the newest are last
			rows = rows[len(rows)-ph:]
		}
		for n := 0; n < ph && n < len(rows); n++ {
			drawRow(pane, n, rows[n], labelW, side.W, false, "")
		}
		if hidden := len(rows) - ph; hidden > 0 {
			pane.PutRight(side.W-1, ph-1, " "+f.Words.Say("detail.more", "n", hidden)+" ", theme.Dim)
		}
		y += h
	}
}

// drawFoot says where one is, and what the chosen row leads to.
func (v View) drawFoot(f view.Frame, c grid.Canvas, p page) {
	w, _ := c.Size()
	right := ""
	if len(p.rows) > p.lay.main.H {
		right = fmt.Sprintf("%d-%d / %d", p.top+1, min(p.top+p.lay.main.H, len(p.rows)), len(p.rows))
	}
	if v.find != "" {
		n := 0
		for _, r := range p.rows {
			if matches(r, v.find) {
				n++
			}
		}
		right = f.Words.Say("detail.found", "find", v.find, "n", n) + "  " + right
	}
	end := c.PutRight(w-1, 0, right, theme.Dim)
	hint := ""
	switch {
	case stageText(f, p.seq()) != "":
		hint = stageText(f, p.seq())
	case p.target().Kind != target.Nothing && p.target() != v.about.Target:
		hint = f.Words.Say("detail.leads-to", "what", name(p.target()))
	case p.seq() != 0:
		hint = f.Words.Say("detail.leads-to-chain", "seq", uint64(p.seq()))
	}
	c.PutMax(1, 0, max(end-3, 0), hint, theme.Dim)
}
