package historyview

import (
	"fmt"
	"slices"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/diff"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// fieldRows are the changes under the thing they belong to: a line for what is common, then one for each field.
func fieldRows(f view.Frame, ch change, width int) []describe.Row {
	var out []describe.Row
	var parent []string
	for _, c := range ch.diff.Changes {
		at := c.Path[:len(c.Path)-1]
		if len(out) == 0 || !slices.Equal(at, parent) {
			parent = at
			if len(at) > 0 {
				out = append(out, describe.Row{Line: widget.Line{widget.S(sanitize.Text(diff.Join(at)), theme.Title)}})
			}
		}
		name := sanitize.Text(diff.Join(c.Path[len(c.Path)-1:]))
		old, now := sanitize.Text(c.Old), sanitize.Text(c.New)
		var line widget.Line
		switch c.Op {
		case diff.Added:
			line = widget.Line{widget.S("  + ", theme.OK), widget.S(name+"  ", theme.Text), widget.S(now, theme.OK)}
		case diff.Removed:
			line = widget.Line{widget.S("  - ", theme.Failing), widget.S(name+"  ", theme.Text), widget.S(old, theme.Failing)}
		case diff.Changed:
			line = widget.Line{widget.S("  ~ ", theme.Waiting), widget.S(name+"  ", theme.Text), widget.S(old, theme.Dim), widget.S(fmt.Sprintf(" %c ", grid.RightTo), theme.Waiting), widget.S(now, theme.Text)}
		case diff.Moved:
			line = widget.Line{widget.S("  ~ ", theme.Waiting), widget.S(name+"  ", theme.Text), widget.S(f.Words.Say("history.moved", "order", now), theme.Dim)}
		}
		out = append(out, describe.Row{Line: line})
	}
	if n := ch.diff.More; n > 0 {
		out = append(out, describe.Row{Line: widget.Line{widget.S(f.Words.Say("history.more", "n", n), theme.Dim)}})
	}
	return describe.Wrap(out, width, 0)
}

// Draw draws the page.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 12 || h < 4 {
		return
	}
	p := v.page(f)
	v.drawHead(f, c.Sub(p.lay.head), p)
	if len(p.cache.list) == 0 {
		for i, line := range widget.Wrap(f.Words.Say("history.none"), w-4) {
			c.Put(2, 2+i, line, theme.Dim)
		}
		return
	}
	v.drawList(f, c.Sub(p.lay.list), p)
	if p.lay.fields.X > 0 {
		c.Sub(layout.Rect{X: p.lay.fields.X - 1, Y: p.lay.fields.Y, W: 1, H: p.lay.fields.H}).VLine(0, grid.Thin.V, theme.Frame)
	}
	v.drawFields(f, c.Sub(p.lay.fields), p)
	v.drawFoot(f, c.Sub(p.lay.foot), p)
}

func (v View) drawHead(f view.Frame, c grid.Canvas, p page) {
	w, _ := c.Size()
	name := v.about.Target.Name
	if ns := v.about.Target.Namespace; ns != "" {
		name = ns + "/" + name
	}
	line := widget.Line{widget.S(" "+f.Words.Say("history.of")+" ", theme.Dim), widget.S(sanitize.Text(name), theme.Title),
		widget.S("  "+f.Words.Say("history.revisions", "n", len(p.cache.list)), theme.Dim)}
	if v.find != "" {
		line = append(line, widget.S("  / "+sanitize.Text(v.find), theme.Accent))
		if p.at < len(p.cache.list) && !holds(p.cache.change(f, p.cache.list[p.at]), v.find) {
			line = append(line, widget.S("  "+f.Words.Say("history.no-match"), theme.Waiting))
		}
	}
	line.Draw(c, 0, 0, w)
}

func (v View) drawList(f view.Frame, c grid.Canvas, p page) {
	w, h := c.Size()
	whoW := 18
	if w < 90 {
		whoW = 17
	}
	for y := 0; y < h && p.top+y < len(p.cache.list); y++ {
		rev := p.cache.list[p.top+y]
		r, ok := f.Record(rev.seq)
		if !ok {
			continue
		}
		e := r.Event.(event.ObjectChanged)
		ch := p.cache.change(f, rev)
		line := widget.Line{
			widget.S(" "+grid.Pad(storyview.Clock(f, r.At), 8), theme.Dim), widget.S(fmt.Sprintf("%6d ", e.Revision), theme.Text),
			widget.S(grid.Pad(grid.CutMiddle(sanitize.Text(ch.who), whoW-1), whoW), theme.Dim), widget.S(ch.phrase, ch.style),
		}
		line.Draw(c, 1, y, w-2)
		if p.top+y == p.at {
			c.Put(0, y, string(grid.Marker), theme.Accent)
			if !v.onFields {
				c.Reverse(1, y, w-1)
			}
		}
	}
	if p.cache.cut && p.top+h > len(p.cache.list) && h > len(p.cache.list)-p.top {
		c.PutMax(2, len(p.cache.list)-p.top, w-3, f.Words.Say("history.cut"), theme.Dim)
	}
}

func (v View) drawFields(f view.Frame, c grid.Canvas, p page) {
	w, h := c.Size()
	rev := p.cache.list[p.at]
	r, _ := f.Record(rev.seq)
	e, _ := r.Event.(event.ObjectChanged)
	style := theme.Accent &^ grid.Bold
	if v.onFields {
		style = theme.Accent
	}
	title := f.Words.Say("history.fields", "revision", e.Revision)
	if b, ok := f.Record(rev.before); ok {
		if o, ok := b.Event.(event.ObjectChanged); ok {
			title = f.Words.Say("history.fields-against", "revision", e.Revision, "before", o.Revision, "span", words.Short(r.At.Sub(b.At)))
		}
	}
	x := c.PutMax(1, 0, w-2, title+" ", style)
	c.Sub(layout.Rect{X: x, W: max(w-x-1, 0), H: 1}).HLine(0, grid.LineH, theme.Frame)
	if len(p.fields) == 0 {
		text := f.Words.Say("history.same")
		if ch := p.cache.change(f, rev); ch.diff.Changes == nil && rev.before == 0 && e.Type != event.Added {
			text = f.Words.Say("history.no-before")
		}
		for i, line := range widget.Wrap(text, w-4) {
			c.Put(2, 1+i, line, theme.Dim)
		}
		return
	}
	top := max(min(v.below, len(p.fields)-(h-1)), 0)
	for y := 0; y < h-1 && top+y < len(p.fields); y++ {
		p.fields[top+y].Line.Draw(c, 1, y+1, w-2)
	}
	if hidden := len(p.fields) - top - (h - 1); hidden > 0 {
		c.PutRight(w-1, h-1, " "+f.Words.Say("detail.more", "n", hidden)+" ", theme.Dim)
	}
}

func (v View) drawFoot(f view.Frame, c grid.Canvas, p page) {
	w, _ := c.Size()
	end := c.PutRight(w-1, 0, fmt.Sprintf("%d / %d", p.at+1, len(p.cache.list)), theme.Dim)
	rev := p.cache.list[p.at]
	r, ok := f.Record(rev.seq)
	if !ok {
		return
	}
	e := r.Event.(event.ObjectChanged)
	text := f.Words.Say("history.foot", "seq", uint64(rev.seq))
	if e.Index > 0 {
		text = f.Words.Say("history.foot-raft", "seq", uint64(rev.seq), "index", e.Index, "term", e.Term)
	}
	c.PutMax(1, 0, max(end-3, 0), text, theme.Dim)
}
