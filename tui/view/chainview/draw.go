package chainview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/widget"
)

// headHeight is the rows above the list: what it is, what it took, where the time went, the axis.
func headHeight(h int) int {
	switch {
	case h >= 14:
		return 4
	case h >= 8:
		return 3
	}
	return min(h, 1)
}

// footHeight is the rows below the list: a line about the hop under the cursor, or a pane where there is room. A short list leaves it more.
func footHeight(w, h, rows int) int {
	least := 0
	switch {
	case h >= 44 && w >= 100:
		least = 13
	case h >= 26 && w >= 100:
		least = 8
	case h >= 8:
		if free := h - headHeight(h) - rows - 1; w >= 60 && free >= 6 {
			return free
		}
		return 1
	default:
		return 0
	}
	return min(max(least, h-headHeight(h)-rows-1), 3*least)
}

func bodyHeight(w, h, rows int) int { return max(h-headHeight(h)-footHeight(w, h, rows), 0) }

// columns of a row.
type columns struct{ who, since, text, took, bar int }

func columnsOf(w int) columns {
	c := columns{who: 14, took: 7}
	switch {
	case w >= 150:
		c.who, c.since, c.bar = 24, 9, w*38/100
	case w >= 100:
		c.who, c.since, c.bar = 18, 9, w*30/100
	case w >= 60:
		c.bar = w * 28 / 100
	default:
		c.who = min(13, w/4)
	}
	c.text = max(w-2-c.who-1-c.since-1-c.took-1-c.bar-1, 0)
	return c
}

// Draw draws the page.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 8 || h < 1 {
		return
	}
	p := v.look(f)
	if len(p.rows) == 0 {
		v.nothing(f, p, c)
		return
	}
	head, foot := headHeight(h), footHeight(w, h, len(p.rows))
	v.head(f, p, c.Sub(layout.Rect{W: w, H: head}))
	height := max(h-head-foot, 0)
	at := v.cursor(p)
	top := v.top(p, at, height)
	body := c.Sub(layout.Rect{Y: head, W: w, H: height})
	cols := columnsOf(w)
	for y := 0; y < height && top+y < len(p.rows); y++ {
		v.row(f, p, body, y, top+y, top+y == at, cols)
	}
	if foot == 1 {
		v.foot(f, p, c.Sub(layout.Rect{Y: h - 1, W: w, H: 1}), at, top, height)
	} else if foot > 1 {
		v.pane(f, p, c.Sub(layout.Rect{Y: h - foot, W: w, H: foot}), at)
	}
}

// nothing says why there is no chain.
func (v View) nothing(f view.Frame, p *page, c grid.Canvas) {
	w, h := c.Size()
	key := "chain.none"
	switch {
	case len(v.path) == 0:
		key = "chain.no-record"
	case p.tree.future:
		key = "chain.not-yet"
	}
	y := min(1, h-1)
	for _, l := range widget.Wrap(f.Words.Say(key), max(w-4, 1)) {
		c.Put(2, y, l, theme.Dim)
		y++
	}
}

// head says what the chain began with, how long it took and where the time went, and draws the axis.
func (v View) head(f view.Frame, p *page, c grid.Canvas) {
	w, h := c.Size()
	root := p.line(f, 0)
	when := storyview.Clock(f, p.tree.root.rec.At)
	line := widget.Line{{Text: " "}, {Text: root.who, Style: theme.Dim}, {Text: "  "}, {Text: root.text, Style: root.style | grid.Bold}}
	if p.tree.lost || p.tree.cut {
		key := "chain.lost-above"
		if p.tree.cut {
			key = "chain.cut-above"
		}
		line = widget.Line{{Text: " "}, {Text: f.Words.Say(key, "seq", uint64(p.tree.root.seq())), Style: theme.Waiting}}
	}
	line.Draw(c, 0, 0, w-grid.Width(when)-2)
	c.PutRight(w-1, 0, when, theme.Dim)
	if h < 3 {
		return
	}
	v.total(f, p, c, 1)
	if h > 3 {
		v.spent(f, p, c, 2)
	}
	v.axis(f, p, c, h-1)
}

// total says how long it took until what.
func (v View) total(f view.Frame, p *page, c grid.Canvas, y int) {
	w, _ := c.Size()
	goal := p.line(f, p.shown(p.goal))
	text := goal.text
	if p.rows[p.shown(p.goal)].h != p.goal {
		text = say(f, row{h: p.goal}).text
	}
	line := widget.Line{{Text: " "}, {Text: dur(p.account.total), Style: theme.Title}, {Text: "  "}, {Text: f.Words.Say("chain.until", "what", text), Style: theme.Text}}
	if p.tree.focus == p.tree.root && p.goal == p.tree.root {
		line = widget.Line{{Text: " "}, {Text: f.Words.Say("chain.nothing-yet"), Style: theme.Dim}}
	}
	if p.tree.future {
		line = append(line, widget.S("  "+f.Words.Say("chain.rest-later"), theme.Waiting))
	}
	line.Draw(c, 0, y, w-1)
}

// spent lists what the time went into, the most first: waiting, then work.
func (v View) spent(f view.Frame, p *page, c grid.Canvas, y int) {
	w, _ := c.Size()
	a := p.account
	if a.total <= 0 {
		return
	}
	percent := int(float64(a.waiting)/float64(a.total)*100 + 0.5)
	line := widget.Line{{Text: " "}, widget.S(f.Words.Say("chain.of-which", "took", dur(a.waiting), "percent", percent), theme.Waiting)}
	if items := v.items(f, a, true, 3); items != "" {
		line = append(line, widget.S(": "+items, theme.Text))
	}
	if items := v.items(f, a, false, 3); items != "" {
		line = append(line, widget.S("   "+f.Words.Say("chain.work", "took", dur(a.total-a.waiting)), theme.Busy), widget.S(": "+items, theme.Dim))
	}
	line.Draw(c, 0, y, w-1)
}

// items are the longest spells of waiting or of work, those that are worth a word.
func (v View) items(f view.Frame, a account, waits bool, most int) string {
	var out []string
	for _, s := range a.order(waits) {
		if len(out) == most || len(out) > 0 && a.by[s]*200 < a.total {
			break
		}
		out = append(out, f.Words.Say(spellWords[s])+" "+dur(a.by[s]))
	}
	return strings.Join(out, ", ")
}

// order lists the spells that took time, the longest first.
func (a account) order(waits bool) []spell {
	var out []spell
	for s := range spells {
		if a.by[s] <= 0 || s.waits() != waits {
			continue
		}
		i := len(out)
		for i > 0 && a.by[out[i-1]] < a.by[s] {
			i--
		}
		out = append(out[:i], append([]spell{s}, out[i:]...)...)
	}
	return out
}

// axis names the columns and marks instants above the bars.
func (v View) axis(f view.Frame, p *page, c grid.Canvas, y int) {
	w, _ := c.Size()
	cols := columnsOf(w)
	c.Sub(layout.Rect{Y: y, W: w, H: 1}).HLine(0, grid.LineH, theme.Frame)
	key := "chain.scale-log"
	if v.linear {
		key = "chain.scale-linear"
	}
	label := " " + f.Words.Say("chain.head", "n", len(p.tree.all)) + ", " + f.Words.Say(key) + " "
	if v.fold.only {
		label += "· " + f.Words.Say("chain.path-only") + " "
	}
	c.PutMax(1, y, max(w-cols.bar-cols.took-4, 0), label, theme.Dim)
	if cols.bar == 0 {
		return
	}
	tw := w - cols.bar - 1
	c.PutRight(tw-1, y, f.Words.Say("chain.took"), theme.Dim)
	bar := c.Sub(layout.Rect{X: tw, Y: y, W: cols.bar, H: 1})
	before := ""
	for _, t := range p.scale.ticks(cols.bar, 8) {
		if label := dur(t.after); label != before {
			bar.Put(t.x, 0, label, theme.Dim)
			before = label
		}
	}
}

// row draws one line of the list.
func (v View) row(f view.Frame, p *page, c grid.Canvas, y, n int, chosen bool, cols columns) {
	w, _ := c.Size()
	r := p.rows[n]
	l := p.line(f, n)
	on := r.h.onPath && r.id.kind == hopRow
	x := 0
	if chosen {
		c.Put(0, y, string(grid.Marker), theme.Accent)
	}
	switch {
	case r.h == p.tree.focus && r.id.kind == hopRow:
		c.Put(1, y, string(grid.RightTo), theme.Cause|grid.Bold)
	case on:
		c.Put(1, y, "│", theme.Cause)
	}
	x = 2
	who := theme.Dim
	if on {
		who = theme.Cause
	}
	c.PutMax(x, y, cols.who, storyview.Who(l.who, cols.who), who)
	x += cols.who + 1
	if cols.since > 0 {
		if r.id.kind == hopRow {
			c.PutRight(x+cols.since-2, y, "+"+dur(r.h.rec.At.Sub(p.tree.root.rec.At)), theme.Dim)
		}
		x += cols.since
	}
	v.text(f, c, x, y, cols.text, r, l, chosen)
	right := w - cols.bar - 1
	if d := took(r); r.id.kind == hopRow && r.h.parent != nil || r.id.kind == stageRow || d > 0 {
		c.PutRight(right-1, y, dur(d), tookStyle(f, p, r, d))
	}
	if cols.bar > 0 && r.id.kind != noteRow {
		v.bar(f, p, c.Sub(layout.Rect{X: right, Y: y, W: cols.bar, H: 1}), r)
	}
}

// text draws what a row says, with how much is folded into it at its end.
func (v View) text(f view.Frame, c grid.Canvas, x, y, width int, r row, l line, chosen bool) {
	end := x + width
	for range min(r.depth, 6) - 1 {
		x += 2
	}
	if r.depth > 0 {
		if r.branch || r.id.kind != hopRow {
			c.Put(x, y, string(grid.Into), theme.Frame)
		}
		x += 2
	}
	var folded string
	if r.same > 0 {
		folded += fmt.Sprintf(" %c%d", grid.Times, r.same+1)
		if r.h.parent != nil && r.h.parent.more { // there are further effects than are read
			folded += "+"
		}
	}
	if r.hidden > 0 {
		folded += fmt.Sprintf(" +%d", r.hidden)
	}
	room := max(end-x-grid.Width(folded), 0)
	style := l.style
	if chosen {
		style |= grid.Reverse
	}
	x = c.PutMax(x, y, room, sanitize.Text(l.text), style)
	c.Put(x, y, folded, theme.Dim)
}

// tookStyle makes what took a good part of the whole stand out.
func tookStyle(f view.Frame, p *page, r row, d time.Duration) grid.Style {
	if r.id.kind != hopRow || p.account.total <= 0 || d*10 < p.account.total {
		return theme.Dim
	}
	for _, s := range before(f, r.h) {
		if s.spell.waits() && s.took*2 > d {
			return theme.Waiting
		}
	}
	return theme.Busy
}

// bar draws when a hop waited and worked.
func (v View) bar(f view.Frame, p *page, c grid.Canvas, r row) {
	w, _ := c.Size()
	h := r.h
	switch r.id.kind {
	case stageRow:
		v.stageBar(f, p, c, r)
		return
	case raftRow:
		if r.id.i == 0 { // the others are told later than they happen
			c.Put(p.scale.column(r.raft.At, w), 0, string(grid.Dot), theme.Busy)
		}
		return
	case writeRow:
		c.Put(p.scale.column(h.writes[r.id.i].At, w), 0, string(grid.Moment), theme.OK)
		return
	}
	if r.level == closed && h.count > 0 {
		for x := p.scale.column(h.last().At, w); x <= p.scale.column(h.end.last().At, w); x++ {
			c.Put(x, 0, string(grid.BarEmpty), theme.Frame)
		}
	}
	from := h.rec.At
	parts := before(f, h)
	if h.parent != nil {
		from = h.from.At
	}
	for _, s := range append(parts, own(h, h.last().At)...) {
		to := from.Add(s.took)
		a, b := p.scale.column(from, w), p.scale.column(to, w)
		stroke, style := grid.BarFull, theme.Busy
		if s.spell.waits() {
			stroke, style = grid.LineH, theme.Waiting
		}
		for x := a; x < b; x++ {
			c.Put(x, 0, string(stroke), style)
		}
		if label := " " + f.Words.Say(spellWords[s.spell]) + " "; (s.spell.waits() || s.took*20 > p.account.total) && b-a >= grid.Width(label)+3 {
			c.Put(a+(b-a-grid.Width(label))/2, 0, label, theme.Dim)
		}
		from = to
	}
	style := theme.Busy
	if h.onPath {
		style = theme.Cause
	}
	c.Put(p.scale.column(h.last().At, w), 0, string(grid.BarFull), style|grid.Bold)
}

func (v View) stageBar(f view.Frame, p *page, c grid.Canvas, r row) {
	w, _ := c.Size()
	at := r.h.rec.At
	for i := range r.id.i {
		at = at.Add(took(row{id: rowID{r.id.seq, stageRow, i}, h: r.h}))
	}
	a, b := p.scale.column(at, w), p.scale.column(at.Add(took(r)), w)
	for x := a; x <= b; x++ {
		c.Put(x, 0, string(grid.BarFull), theme.Dim)
	}
}
