package whyview

import (
	"strconv"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/why"
	"example.com/kubeviz/tui/widget"
)

// wideFrom is the width from which the records stand beside the answer.
const wideFrom = 116

// measure is how wide a line of the answer gets at most: longer ones are hard to read.
const measure = 96

// row of the page; key is that of the item it stands for, empty for others.
type row struct {
	line widget.Line
	key  string
}

func sentenceOf(f view.Frame, r event.Record) string {
	return sentence.NewTeller(f.Words).Tell(r, nil).One
}

// sign of a mood.
func sign(m why.Mood) (rune, grid.Style) {
	switch m {
	case why.Fine:
		return grid.Running, theme.OK
	case why.Waits:
		return grid.Waiting, theme.Waiting
	case why.Broken:
		return grid.Failing, theme.Failing
	}
	return grid.Dot, theme.Accent
}

// page is everything on it, in one column or two.
type page struct {
	left, right   []row
	leftW, rightX int
	rightW        int
}

func (v View) page(f view.Frame) page {
	all, at := v.answers(f)
	a := &all[at]
	items := v.items(f)
	p := page{leftW: max(f.W-2, 0)}
	if f.W >= wideFrom {
		p.leftW = min(f.W*55/100, measure+4)
		p.rightX = p.leftW + 4
		p.rightW = f.W - p.rightX - 1
	}
	p.left = v.answer(f, a, p.leftW)
	p.left = append(p.left, v.changes(f, a, items, p.leftW)...)
	if a.Next != "" {
		p.left = append(p.left, row{})
		p.left = append(p.left, next(f, a, p.leftW)...)
	}
	w := p.leftW
	if p.rightW > 0 {
		w = p.rightW
	}
	rest := v.list(f, items, "why.head-records", w, func(it item) bool { return it.seq != 0 })
	rest = append(rest, v.list(f, items, "why.head-links", w, func(it item) bool { return it.link != nil })...)
	rest = append(rest, v.list(f, items, "why.head-questions", w, func(it item) bool { return it.ask != "" })...)
	if p.rightW > 0 {
		if len(rest) > 0 {
			rest = rest[1:] // the blank line before the first heading
		}
		p.right = rest
		p.left = append(p.left, others(f, all, at, p.leftW, f.H-len(p.left))...)
		return p
	}
	p.left = append(p.left, rest...)
	return p
}

// answer is the question and its sentences.
func (v View) answer(f view.Frame, a *why.Answer, width int) []row {
	mark, style := sign(a.Mood)
	var out []row
	for i, t := range widget.Wrap(a.Title, max(min(width, measure)-3, 1)) {
		head := "   "
		if i == 0 {
			head = " " + string(mark) + " "
		}
		out = append(out, row{line: widget.Line{widget.S(head, style), widget.S(t, theme.Title)}})
	}
	if f.H >= 16 {
		out = append(out, row{})
	}
	for n, l := range a.Lines {
		look := theme.Text
		if n == 0 && a.Mood == why.Broken {
			look |= grid.Bold
		}
		for i, t := range widget.Wrap(l, max(min(width, measure)-5, 1)) {
			head := "     "
			if i == 0 {
				head = "   " + string(grid.Dot) + " "
			}
			out = append(out, row{line: widget.Line{widget.S(head, theme.Dim), widget.S(t, look)}})
		}
	}
	return out
}

// changes are what would make it otherwise, the smallest first.
func (v View) changes(f view.Frame, a *why.Answer, items []item, width int) []row {
	if len(a.Changes) == 0 {
		return nil
	}
	head := "why.head-change"
	if a.Mood == why.Fine {
		head = "why.head-try"
	} else if len(a.Changes) > 1 {
		head = "why.head-changes"
		if a.Steps {
			head = "why.head-steps"
		}
	}
	out := []row{{}, {line: widget.Line{widget.S(" "+f.Words.Say(head), theme.Dim)}}}
	at := v.cursor(items)
	for i, c := range a.Changes {
		key := "change " + strconv.Itoa(i)
		chosen := at < len(items) && items[at].key == key
		for n, t := range widget.Wrap(c.Text, max(min(width, measure)-5, 1)) {
			look := theme.Accent &^ grid.Bold
			if i > 0 {
				look = theme.Text
			}
			if chosen {
				look |= grid.Reverse
			}
			lead := widget.S("     ", theme.Dim)
			if n == 0 {
				lead = widget.S(marker(chosen)+"  "+string(grid.RightTo)+" ", theme.Accent)
			}
			out = append(out, row{line: widget.Line{lead, widget.S(t, look)}, key: key})
		}
		if c.Command != "" && (chosen || f.H >= 26) {
			out = append(out, row{line: widget.Line{widget.S("     : ", theme.Key), widget.S(sanitize.Text(c.Command), theme.Dim)}, key: key})
		}
	}
	return out
}

// others are the first sentences of the answers to the other questions, where a large screen has room for them.
func others(f view.Frame, all []why.Answer, at, width, room int) []row {
	var out []row
	for i := range all {
		a := &all[i]
		if i == at {
			continue
		}
		mark, style := sign(a.Mood)
		block := []row{{}, {line: widget.Line{widget.S(" "+string(mark)+" ", style), widget.S(grid.Cut(a.Title, max(width-3, 1)), theme.Text)}}}
		for n, l := range a.Lines {
			if n == 2 {
				break
			}
			for _, t := range widget.Wrap(l, max(min(width, measure)-5, 1)) {
				block = append(block, row{line: widget.Line{widget.S("     "+t, theme.Dim)}})
			}
		}
		if len(out)+len(block)+1 > room {
			break
		}
		if len(out) == 0 {
			out = append(out, row{})
		}
		out = append(out, block...)
	}
	return out
}

func marker(chosen bool) string {
	if chosen {
		return string(grid.Marker)
	}
	return " "
}

// next is what happens by itself, with the time until then running down.
func next(f view.Frame, a *why.Answer, width int) []row {
	var out []row
	lines := widget.Wrap(nextText(f, a), max(min(width, measure)-3, 1))
	for i, t := range lines {
		head := "   "
		if i == 0 {
			head = " " + string(grid.Play) + " "
		}
		line := widget.Line{widget.S(head, theme.Waiting), widget.S(t, theme.Waiting)}
		if i == len(lines)-1 && !a.Until.IsZero() && !a.From.IsZero() && width-line.Width() >= 14 {
			whole, left := a.Until.Sub(a.From), a.Until.Sub(f.Now)
			line = append(line, widget.S("  "+widget.Bar(int64(left), int64(max(whole, 1)), min(width-line.Width()-3, 24)), theme.Waiting))
		}
		out = append(out, row{line: line})
	}
	return out
}

// list is the items of a sort under their heading.
func (v View) list(f view.Frame, items []item, heading string, width int, of func(item) bool) []row {
	var out []row
	at := v.cursor(items)
	for i, it := range items {
		if !of(it) {
			continue
		}
		if len(out) == 0 {
			out = append(out, row{}, row{line: widget.Line{widget.S(" "+f.Words.Say(heading), theme.Dim)}})
		}
		line := widget.Line{widget.S(marker(i == at)+" ", theme.Accent)}
		look := theme.Text
		if r, ok := f.Record(it.seq); ok {
			actor := grid.Pad(sanitize.Text(storyview.Who(string(r.Actor), 20)), 20)
			if width < 70 {
				actor = ""
			}
			line = append(line, widget.S(grid.Pad(storyview.Clock(f, r.At), 9)+actor, theme.Dim))
			if r.Actor == event.You {
				look = theme.Fault
			}
		}
		if i == at {
			look |= grid.Reverse
		}
		line = append(line, widget.S(grid.Cut(it.text, max(width-line.Width(), 1)), look))
		out = append(out, row{line: line, key: it.key})
	}
	return out
}

// scroll is the first row that shows the cursor, as near to the present one as can be.
func (v View) scroll(f view.Frame) int {
	p := v.page(f)
	items := v.items(f)
	if len(items) == 0 {
		return 0
	}
	key := items[v.cursor(items)].key
	top := min(v.top, max(len(p.left)-f.H, 0))
	if key == items[0].key {
		top = 0
	}
	for y, r := range p.left {
		if r.key == key {
			if y >= top+f.H {
				top = y - f.H + 1
			}
			if y < top {
				top = y
			}
		}
	}
	return top
}

// Draw draws the page.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 8 || h < 1 {
		return
	}
	f.W, f.H = w, h
	p := v.page(f)
	top := v.scroll(f)
	draw(c.Sub(layout.Rect{W: p.leftW + 1, H: h}), p.left, top, p.leftW+1)
	if below := len(p.left) - top - h; below > 0 {
		text := " " + f.Words.Say("why.below", "n", below) + " "
		c.PutRight(w, h-1, text, theme.Dim)
	}
	if p.rightW > 0 {
		c.VLine(p.rightX-2, grid.Thin.V, theme.Frame)
		right := c.Sub(layout.Rect{X: p.rightX, W: p.rightW, H: h})
		draw(right, p.right, v.rightTop(f, p), p.rightW)
	}
}

// rightTop is the first row of the second column: it scrolls only where the cursor would be out of sight.
func (v View) rightTop(f view.Frame, p page) int {
	items := v.items(f)
	if len(items) == 0 {
		return 0
	}
	key := items[v.cursor(items)].key
	for y, r := range p.right {
		if r.key == key && y >= f.H {
			return y - f.H + 1
		}
	}
	return 0
}

func draw(c grid.Canvas, rows []row, top, width int) {
	_, h := c.Size()
	for y := 0; y < h && top+y < len(rows); y++ {
		rows[top+y].line.Draw(c, 0, y, width)
	}
}

// hit is the key of the item at a cell.
func (v View) hit(f view.Frame, x, y int) string {
	p := v.page(f)
	rows, at := p.left, v.scroll(f)+y
	if p.rightW > 0 && x >= p.rightX-1 {
		rows, at = p.right, v.rightTop(f, p)+y
	}
	if y < 0 || at < 0 || at >= len(rows) {
		return ""
	}
	return rows[at].key
}
