package objectview

import (
	"fmt"
	"strings"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// Draw draws the view.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 12 || h < 5 {
		return
	}
	s := v.screen(f)
	if s.lay.strip {
		v.drawStrip(f, c.Sub(s.lay.kinds), s)
	} else {
		v.drawList(f, c.Sub(s.lay.kinds), s)
		c.VLine(s.lay.kinds.Right(), grid.Thin.V, theme.Frame)
	}
	v.drawTitle(f, c.Sub(s.lay.title), s)
	v.drawHeader(f, c.Sub(s.lay.header), s)
	v.drawRows(f, c.Sub(s.lay.rows), s)
	v.drawFoot(f, c.Sub(s.lay.foot), s)
	if s.lay.preview.W > 0 {
		v.drawPreview(f, c, s)
	}
}

// kindLabel is a kind with how many objects of it there are, and how many of those are not well.
func kindLabel(f view.Frame, s screen, k *kinds.Kind) (name, count, unwell string) {
	from, to := span(f.World, k.String()+" ")
	count = fmt.Sprint(to - from)
	if u := s.catalog.unwell[k]; u != nil && (u.keys.Len() > 0 || !u.done) && to > from {
		unwell = fmt.Sprintf("%c%d", '!', u.keys.Len())
		if !u.done {
			unwell += "+"
		}
	}
	return k.Resource, count, unwell
}

func (v View) drawList(f view.Frame, c grid.Canvas, s screen) {
	w, h := c.Size()
	c.PutMax(1, 0, w-1, f.Words.Say("objects.kinds"), theme.Dim)
	at := s.front
	top := widget.Window(at, len(s.kinds), h-2)
	for y := 0; y+2 < h && top+y < len(s.kinds); y++ {
		k := s.kinds[top+y]
		name, count, unwell := kindLabel(f, s, k)
		line := c.Sub(layout.Rect{Y: y + 2, W: w, H: 1})
		style := theme.Text
		if count == "0" {
			style = theme.Dim
		}
		line.PutMax(2, 0, w-9, name, style)
		line.PutRight(w-5, 0, count, theme.Dim)
		line.PutMax(w-4, 0, 4, unwell, theme.Waiting)
		if top+y == at {
			line.Put(0, 0, string(grid.Marker), theme.Accent)
			if v.onKinds {
				line.Reverse(0, 0, w)
			} else {
				line.PutMax(2, 0, w-9, name, theme.Accent)
			}
		}
	}
}

// strip lists the kinds in a line: where each begins, from the first that is shown so that the one in front is.
func (v View) strip(f view.Frame, s screen, width int) (from int, xs []int, labels []string) {
	at := s.front
	for k := range s.kinds {
		name, count, unwell := kindLabel(f, s, s.kinds[k])
		text := " " + name + " " + count + " "
		if unwell != "" {
			text = " " + name + " " + count + unwell + " "
		}
		labels = append(labels, text)
	}
	for from < at {
		x := 0
		for i := from; i <= at; i++ {
			x += grid.Width(labels[i])
		}
		if x <= width {
			break
		}
		from++
	}
	x := 0
	for i := range labels {
		xs = append(xs, x)
		if i >= from {
			x += grid.Width(labels[i])
		}
	}
	return from, xs, labels
}

func (v View) drawStrip(f view.Frame, c grid.Canvas, s screen) {
	w, _ := c.Size()
	at := s.front
	from, xs, labels := v.strip(f, s, w)
	for i := from; i < len(labels); i++ {
		style := theme.Dim
		if i == at {
			style = theme.Accent
			if v.onKinds {
				style |= grid.Reverse
			}
		}
		c.Put(xs[i], 0, labels[i], style)
		if bang := strings.IndexByte(labels[i], '!'); bang >= 0 && !(i == at && v.onKinds) {
			c.Put(xs[i]+bang, 0, labels[i][bang:], theme.Waiting)
		}
		if i == at {
			c.Put(xs[i], 0, string(grid.Marker), theme.Accent)
		}
	}
}

// kindAt is the kind at a cell of the list or strip.
func (v View) kindAt(f view.Frame, s screen, x, y int) (int, bool) {
	at := s.front
	if !s.lay.strip {
		top := widget.Window(at, len(s.kinds), s.lay.kinds.H-2)
		return top + y - 2, y >= 2 && top+y-2 < len(s.kinds)
	}
	from, xs, labels := v.strip(f, s, s.lay.kinds.W)
	for i := from; i < len(labels); i++ {
		if x >= xs[i] && x < xs[i]+grid.Width(labels[i]) {
			return i, true
		}
	}
	return 0, false
}

// drawTitle says what the table shows: of what, how sorted, what is left out.
func (v View) drawTitle(f view.Frame, c grid.Canvas, s screen) {
	w, _ := c.Size()
	say := f.Words.Say
	line := widget.Line{widget.S(" "+s.kind.Resource, theme.Title)}
	if s.n != s.total {
		line = append(line, widget.S("  "+say("objects.of", "n", s.n, "total", s.total), theme.Waiting))
	} else {
		line = append(line, widget.S(fmt.Sprintf("  %d", s.total), theme.Text))
	}
	if s.kind.Namespaced {
		if v.namespace == "" {
			line = append(line, widget.S("  "+say("objects.all-namespaces"), theme.Dim))
		} else {
			line = append(line, widget.S("  "+say("objects.namespace", "namespace", v.namespace), theme.Accent&^grid.Bold))
		}
	}
	if s.state.trouble {
		line = append(line, widget.S("  "+say("objects.trouble"), theme.Waiting))
	}
	if s.state.filter != "" {
		line = append(line, widget.S("  / "+sanitize.Text(s.state.filter), theme.Accent))
		if _, err := parse(s.state.filter, s.kind); err != nil {
			line = append(line, widget.S("  "+say("objects.bad-filter", "error", err.Error()), theme.Failing))
		}
	}
	if t := s.catalog.table; t != nil && !t.done {
		line = append(line, widget.S("  "+say("objects.looking", "n", t.looked, "total", s.total), theme.Busy))
	}
	line.Draw(c, 0, 0, w)
}

func (v View) drawHeader(f view.Frame, c grid.Canvas, s screen) {
	w, _ := c.Size()
	for _, col := range s.columns {
		style, text := theme.Dim, col.Header
		if col.Header == s.state.column {
			style = theme.Accent
			if s.state.reverse {
				text += string(grid.DownTo)
			} else {
				text += string(grid.UpTo)
			}
		}
		if col.index == v.column && !v.onKinds {
			style |= grid.Bold
		}
		c.PutMax(col.x, 0, min(max(col.width, grid.Width(text)), w-col.x), text, style)
	}
	if n := len(s.columns); n > 0 {
		all := len(v.columnsOf(s.kind, f.W))
		if last := s.columns[n-1]; last.index < all-1 || last.x+last.width > w {
			c.Put(w-1, 0, string(grid.RightTo), theme.Accent)
		}
		if n > 2 && s.columns[2].index > 2 || s.columns[0].index > 0 {
			c.Put(0, 0, string(grid.LeftTo), theme.Accent)
		}
	}
}

func (v View) drawRows(f view.Frame, c grid.Canvas, s screen) {
	w, h := c.Size()
	if s.n == 0 {
		for i, line := range widget.Wrap(v.whyNone(f, s), w-4) {
			c.Put(2, 1+i, line, theme.Dim)
		}
		return
	}
	for y := 0; y < h && s.top+y < s.n; y++ {
		o, ok := s.object(f.World, s.top+y)
		if !ok {
			continue
		}
		drawObject(f, c, y, o, s.columns)
		if s.top+y == s.at {
			c.Put(0, y, string(grid.Marker), theme.Accent)
			if !v.onKinds {
				c.Reverse(1, y, w-1)
			}
		}
	}
}

func drawObject(f view.Frame, c grid.Canvas, y int, o *world.Object, columns []column) {
	w, _ := c.Size()
	st := describe.StateOf(f.World, o)
	c.Put(2, y, string(st.Symbol), st.Style)
	for _, col := range columns {
		style := theme.Text
		text := sanitize.Text(col.Cell(o.Object, f.Now))
		if n, _, ago := strings.Cut(text, " ("); ago && col.Header == "RESTARTS" && grid.Width(text) > col.width {
			text = n // half a bracket says nothing
		}
		switch col.Header {
		case "NAME", "OBJECT":
			style = theme.Title &^ grid.Bold
			text = grid.CutMiddle(text, col.width)
		case "NAMESPACE", "AGE", "LAST SEEN", "FIRST SEEN":
			style = theme.Dim
		case "STATUS", "READY", "AVAILABLE", "TYPE", "REASON":
			if !st.Well {
				style = st.Style
			}
		}
		if text == "<none>" || text == "<unknown>" || text == "0" && col.Header == "RESTARTS" {
			style = theme.Dim
		}
		c.PutMax(col.x, y, min(col.width, w-col.x), text, style)
	}
}

// whyNone explains an empty table.
func (v View) whyNone(f view.Frame, s screen) string {
	say := f.Words.Say
	switch {
	case s.catalog.table != nil && !s.catalog.table.done:
		return say("objects.still-looking")
	case s.state.filter != "" && s.total > 0:
		return say("objects.none-match", "filter", s.state.filter, "total", s.total)
	case s.state.trouble && s.total > 0:
		return say("objects.all-well", "total", s.total, "kind", s.kind.Resource)
	case v.namespace != "" && s.kind.Namespaced:
		return say("objects.none-in", "kind", s.kind.Resource, "namespace", v.namespace)
	}
	return say("objects.none", "kind", s.kind.Resource)
}

// drawFoot says why the chosen object is as it is, and where in the table one is.
func (v View) drawFoot(f view.Frame, c grid.Canvas, s screen) {
	w, h := c.Size()
	if s.n == 0 {
		return
	}
	end := c.PutRight(w-1, h-1, fmt.Sprintf("%d / %d", s.at+1, s.n), theme.Dim)
	o, ok := s.object(f.World, s.at)
	if !ok {
		return
	}
	style := theme.Dim
	if st := describe.StateOf(f.World, o); !st.Well {
		style = theme.Waiting
	}
	text := describe.Why(f, o)
	if text == "" {
		c.PutMax(1, h-1, max(end-3, 0), f.Words.Say("objects.enter"), theme.Dim)
		return
	}
	lines := widget.Wrap(text, max(end-3, 10))
	if len(lines) > h {
		lines = append(lines[:h-1:h-1], strings.Join(lines[h-1:], " "))
	}
	for y, line := range lines {
		c.PutMax(1, h-len(lines)+y, max(end-3, 0), line, style)
	}
}

// drawPreview shows the chosen object beside the table.
func (v View) drawPreview(f view.Frame, c grid.Canvas, s screen) {
	r := s.lay.preview
	c.VLine(r.X-1, grid.Thin.V, theme.Frame)
	o, ok := s.object(f.World, s.at)
	if !ok {
		return
	}
	pane := c.Sub(r)
	sub := describe.Subject{Target: targetOf(o), Kind: o.Kind, Object: o.Object, Seq: o.Seq}
	rows := describe.Overview(f, sub)
	if events := describe.EventRows(f, sub); len(events) > 0 {
		rows = append(rows, describe.Row{Title: true, Label: f.Words.Say("detail.tab-events")})
		for _, e := range events {
			e.Label, e.Line = "", append(widget.Line{widget.S(grid.Pad(e.Label, 6), theme.Dim)}, e.Line...)
			rows = append(rows, e)
		}
	}
	labelW := describe.LabelWidth(rows, r.W*2/5)
	rows = describe.Wrap(rows, r.W-2, labelW)
	st := describe.StateOf(f.World, o)
	widget.Line{widget.S(" "+string(st.Symbol)+" ", st.Style), widget.S(o.Kind.Kind+" ", theme.Dim), widget.S(sanitize.Text(o.Object.GetName()), theme.Title)}.Draw(pane, 0, 0, r.W)
	for y := 1; y < r.H && y-1 < len(rows); y++ {
		row := rows[y-1]
		if row.Title {
			x := pane.PutMax(1, y, r.W-2, row.Label+" ", theme.Accent&^grid.Bold)
			pane.Sub(layout.Rect{X: x, Y: y, W: max(r.W-x-1, 0), H: 1}).HLine(0, grid.LineH, theme.Frame)
			continue
		}
		pane.PutMax(1, y, max(labelW-1, 0), row.Label, theme.Dim)
		row.Line.Draw(pane, 1+labelW, y, r.W-2-labelW)
	}
	if hidden := len(rows) - (r.H - 1); hidden > 0 {
		pane.PutRight(r.W-1, r.H-1, " "+f.Words.Say("detail.more", "n", hidden)+" ", theme.Dim)
	}
}
