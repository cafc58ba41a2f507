package chainview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// foot is the line about the hop under the cursor.
func (v View) foot(f view.Frame, p *page, c grid.Canvas, at, top, height int) {
	w, _ := c.Size()
	text := v.spoken(f, p, at)
	if below := len(p.rows) - top - height; below > 0 {
		more := f.Words.Say("chain.below", "n", below)
		c.PutRight(w-1, 0, more, theme.Dim)
		w -= grid.Width(more) + 2
	}
	c.PutMax(1, 0, w-2, text, theme.Dim)
}

// spoken is the hop in words: its record, its clock, and what its time went into.
func (v View) spoken(f view.Frame, p *page, at int) string {
	r := p.rows[at]
	last := r.h.last()
	text := f.Words.Say("chain.record", "seq", uint64(r.h.seq()), "clock", r.h.rec.At.In(f.Location).Format("15:04:05.000"))
	if last.Seq != r.h.seq() {
		text = f.Words.Say("chain.records", "seq", uint64(r.h.seq()), "last", uint64(last.Seq), "clock", r.h.rec.At.In(f.Location).Format("15:04:05.000"))
	}
	if parts := v.parts(f, r.h); parts != "" {
		text += ": " + parts
	}
	return text
}

// parts is the time of a hop in words.
func (v View) parts(f view.Frame, h *hop) string {
	var out []string
	for _, s := range append(before(f, h), own(h, h.last().At)...) {
		if s.took > 0 {
			out = append(out, f.Words.Say(spellWords[s.spell])+" "+dur(s.took))
		}
	}
	return strings.Join(out, ", ")
}

// pane tells all of the hop under the cursor, and beside it where the time of the whole went.
func (v View) pane(f view.Frame, p *page, c grid.Canvas, at int) {
	w, h := c.Size()
	c.Sub(layout.Rect{W: w, H: 1}).HLine(0, grid.LineH, theme.Frame)
	side := 0
	if p.account.total > 0 && w >= 100 {
		side = min(max(w*38/100, 36), 80)
	}
	v.spell(f, p, c.Sub(layout.Rect{X: w - side, Y: 0, W: side, H: h}))
	c = c.Sub(layout.Rect{W: w - side - 1, H: h})
	w, _ = c.Size()
	r := p.rows[at]
	l := p.line(f, at)
	c.Put(1, 0, " "+f.Words.Say("chain.this-hop")+" ", theme.Dim)
	y := 1
	put := func(text string, style grid.Style) {
		for _, part := range widget.Wrap(text, w-3) {
			if y < h {
				c.PutMax(1, y, w-2, part, style)
				y++
			}
		}
	}
	put(strings.TrimSpace(l.who+"  "+sanitize.Text(l.text)), l.style)
	put(v.spoken(f, p, at), theme.Dim)
	if d, ok := r.h.done.Event.(event.RequestDone); ok {
		for _, l := range askedBy(f, &r.h.done, &d) {
			put(l, theme.Text)
		}
		failed := d.Code >= 400
		var after []string
		if d.Revision > 0 && writes(d.Verb) && !failed {
			after = append(after, f.Words.Say("chain.wrote", "revision", d.Revision))
		}
		if n := len(r.h.kids); n > 0 {
			after = append(after, f.Words.Say("chain.followed", "n", n))
		}
		if len(after) > 0 {
			put(strings.Join(after, ", "), theme.Text)
		}
		for i, s := range d.Stages {
			if s.Took == 0 && s.Note == "" && i < len(d.Stages)-1 {
				continue
			}
			style := theme.Dim
			if failed && i == len(d.Stages)-1 {
				style = theme.Failing
			}
			x := 1 + stageW
			for j, part := range widget.Wrap(sanitize.Text(s.Note), max(w-x-2, 8)) {
				if y >= h {
					break
				}
				if j == 0 {
					c.PutMax(2, y, stageW-9, sanitize.Text(s.Stage), theme.Text)
					c.PutRight(x-2, y, dur(s.Took), theme.Text)
				}
				c.PutMax(x, y, w-x-1, part, style)
				y++
			}
		}
	}
	if r.same > 0 {
		put(f.Words.Say("chain.same", "n", r.same, "names", v.names(f, r)), theme.Text)
	}
	if r.hidden > 0 {
		put(f.Words.Say("chain.hidden", "n", r.hidden), theme.Dim)
	}
	for _, rec := range r.h.records() {
		if y >= h {
			return
		}
		s := tell(f, rec)
		x := c.Put(1, y, fmt.Sprintf("%8d  %9s  ", uint64(rec.Seq), "+"+dur(rec.At.Sub(p.tree.root.rec.At))), theme.Dim)
		c.PutMax(x, y, w-x-1, s.One, theme.Dim)
		y++
	}
}

// stageW are the cells of a stage's name and time, with what is around them.
const stageW = 31

// askedBy is who made a request: the user of the API, and the program outside with what it says of itself and where it came in.
func askedBy(f view.Frame, r *event.Record, d *event.RequestDone) []string {
	c, ok := f.Outside(r)
	if !ok {
		return []string{f.Words.Say("chain.by-user", "user", d.User) + ", " + f.Words.Say("chain.answered", "host", d.Server, "code", d.Code)}
	}
	agent := c.UserAgent
	if c.Command != "" {
		agent = c.Command + ", " + agent
	}
	door := c.Door
	if door == "balancer" {
		door = f.Words.Say("map.balancer")
	}
	return []string{
		f.Words.Say("chain.by-client", "user", d.User, "client", c.Client.Component(), "door", door) + ", " + f.Words.Say("chain.answered", "host", d.Server, "code", d.Code),
		sanitize.Text(agent),
	}
}

// writes tells the verbs that change something.
func writes(verb string) bool {
	switch verb {
	case "get", "list", "watch":
		return false
	}
	return true
}

// records are all that make up the hop, in their order.
func (h *hop) records() []event.Record {
	out := append([]event.Record{h.rec}, h.raft...)
	out = append(out, h.writes...)
	if h.done.Seq != 0 {
		out = append(out, h.done)
	}
	slices.SortFunc(out, func(a, b event.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// names lists the subjects of the hops that are folded into one.
func (v View) names(f view.Frame, r row) string {
	var out []string
	if r.h.parent == nil {
		return ""
	}
	for _, g := range groups(r.h.parent.kids) {
		if g.speaker != r.h {
			continue
		}
		for i, k := range g.same {
			if i == 4 {
				out = append(out, string(grid.Ellipsis))
				break
			}
			if s := subject(f, k); s.Name != "" {
				out = append(out, sanitize.Text(s.Name))
			} else if s.Host != "" {
				out = append(out, sanitize.Text(s.Host))
			}
		}
	}
	return strings.Join(out, ", ")
}

// spell is the table of where the time went.
func (v View) spell(f view.Frame, p *page, c grid.Canvas) {
	w, h := c.Size()
	if w < 20 {
		return
	}
	a := p.account
	c.Put(1, 0, " "+f.Words.Say("chain.where")+" ", theme.Dim)
	y := 1
	name := min(26, w/2)
	for _, waits := range []bool{true, false} {
		for _, s := range a.order(waits) {
			if y >= h {
				return
			}
			style, stroke := theme.Busy, string(grid.BarFull)
			if waits {
				style, stroke = theme.Waiting, string(grid.LineH)
			}
			c.PutMax(1, y, name, f.Words.Say(spellWords[s]), theme.Text)
			c.PutRight(name+9, y, dur(a.by[s]), theme.Text)
			share := float64(a.by[s]) / float64(a.total)
			c.PutRight(name+14, y, fmt.Sprintf("%d%%", int(share*100+0.5)), theme.Dim)
			room := w - name - 16
			c.Put(name+15, y, strings.Repeat(stroke, max(min(int(share*float64(room)+0.5), room), min(1, max(room, 0)))), style)
			y++
		}
	}
}
