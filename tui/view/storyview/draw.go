package storyview

import (
	"strconv"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// Sizes.
const (
	paneFrom   = 120 // columns from which the selected line has a pane beside the list
	paneLeast  = 36
	listLeast  = 60
	cardRows   = 12 // height of the card below the list, where there is room for both
	listRows   = 5
	actorShort = 14
	actorLong  = 20
)

// plan is where things are.
type plan struct {
	list, pane layout.Rect
	beside     bool // the pane is beside the list
	card       bool // the pane is a card below the list, or instead of it
	foot       int  // row of the foot; -1: none
}

func (v View) plan(w, h int) plan {
	p := plan{list: layout.Rect{Y: 1, W: w, H: max(h-2, 0)}, foot: h - 1}
	switch {
	case w >= paneFrom && h >= 8:
		pw := v.split
		if pw == 0 {
			pw = w * 2 / 5
		}
		pw = min(max(pw, paneLeast), w-listLeast)
		p.beside, p.foot = true, -1
		p.list = layout.Rect{Y: 1, W: w - pw - 1, H: h - 1}
		p.pane = layout.Rect{X: w - pw, Y: 0, W: pw, H: h}
	case v.card && h >= cardRows+listRows+2:
		p.card, p.foot = true, -1
		p.list.H = max(h-2-cardRows, h/3-1)
		p.pane = layout.Rect{Y: p.list.Y + p.list.H + 1, W: w, H: h - p.list.H - 2}
	case v.card:
		p.card, p.foot = true, -1
		p.list.H = 0
		p.pane = layout.Rect{Y: 1, W: w, H: max(h-1, 0)}
	}
	return p
}

// Draw draws the story.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 3 {
		return
	}
	p := v.plan(w, h)
	r := v.rows(f)
	at := v.cursor(&r)
	v.head(f, &r, at).Draw(c, 0, 0, p.list.W)
	if r.len() == 0 {
		v.empty(f, c.Sub(p.list))
		if p.beside {
			c.VLine(p.list.W, grid.Thin.V, theme.Frame)
		}
		return
	}
	chosen := r.at(at)
	v.list(f, c.Sub(p.list), &r, at, &chosen)
	switch {
	case p.beside:
		c.VLine(p.list.W, grid.Thin.V, theme.Frame)
		v.pane(f, c.Sub(p.pane), &chosen)
	case p.card:
		if p.list.H > 0 {
			c.Sub(layout.Rect{Y: p.pane.Y - 1, W: w, H: 1}).HLine(0, grid.LineH, theme.Frame)
		}
		v.pane(f, c.Sub(p.pane), &chosen)
	default:
		v.foot(f, &chosen).Draw(c, 1, p.foot, w-2)
	}
}

// head says what is shown of what there is, and whether it follows.
func (v View) head(f view.Frame, r *rows, at int) widget.Line {
	say := f.Words.Say
	n := r.len()
	head := widget.Line{widget.S(" ", 0)}
	total := len(f.Feed.Lines()) + f.Feed.Dropped()
	if v.filter.wrong != nil {
		return append(head, widget.S(v.filter.wrong.Say(f.Words), theme.Failing), widget.S("  "+say("story.kept", "n", n, "of", total), theme.Dim))
	}
	switch {
	case v.level == facts:
		head = append(head, widget.S(say("story.all-facts")+": "+strconv.Itoa(n), theme.Text))
	case v.filter.on():
		head = append(head, widget.S(say("story.kept", "n", n, "of", total), theme.Text))
	default:
		head = append(head, widget.S(say("story.title", "n", total), theme.Dim))
	}
	chip := func(text string, s grid.Style) { head = append(head, widget.S("  "+text, s)) }
	if v.level == each {
		chip(say("story.unfolded"), theme.Text)
	}
	if v.filter.trouble {
		chip(say("story.only-trouble"), theme.Waiting)
	}
	if k := v.filter.component; k != "" {
		chip(say("story.only-by", "who", k), theme.Accent)
	}
	if k := v.filter.kind; k != "" {
		chip(say("story.only-kind", "kind", k), theme.Accent)
	}
	if q := v.finding; q != "" {
		chip(say("story.only-text", "query", q), theme.Accent)
	}
	if v.typing && v.finding == "" {
		chip(say("story.query-place"), theme.Dim)
		return head
	}
	if v.at == 0 {
		chip(say("story.following"), theme.OK)
	} else {
		chip(say("story.standing", "n", n-1-at), theme.Waiting)
	}
	if text := v.reach(f); text != "" {
		chip(text, theme.Dim)
	}
	return head
}

// reach says how far back was looked, where that is not simply all that the feed remembers.
func (v View) reach(f view.Frame) string {
	looked := v.looked
	if v.level == facts && v.filter.on() {
		looked = v.memo.begin
	}
	rec, ok := f.Record(looked)
	switch {
	case !ok:
		return ""
	case looked <= max(f.Journal.First(), 1):
		return f.Words.Say("story.looked-all")
	}
	return f.Words.Say("story.looked", "seq", uint64(looked), "at", Clock(f, rec.At))
}

// empty explains why there is nothing.
func (v View) empty(f view.Frame, c grid.Canvas) {
	text := f.Words.Say("story.empty")
	switch {
	case v.filter.on() && v.level == facts:
		begin := v.memo.begin
		at := ""
		if rec, ok := f.Record(begin); ok {
			at = Clock(f, rec.At)
		}
		text = f.Words.Say("story.none-facts", "n", int(f.World.Seq+1-min(begin, f.World.Seq+1)), "at", at)
	case v.filter.on():
		text = f.Words.Say("story.none", "n", len(f.Feed.Lines()))
	}
	w, _ := c.Size()
	for y, line := range widget.Wrap(text, w-4) {
		c.Put(2, 1+y, line, theme.Dim)
	}
}

// list draws the rows that fit, with marks for what led to the chosen one and what followed.
func (v View) list(f view.Frame, c grid.Canvas, r *rows, at int, chosen *feed.Line) {
	w, h := c.Size()
	top := v.top(r, at, max(h, 1))
	cause := event.Seq(0)
	for seq := range ancestors(f, chosen.Seq) { // the nearest that is shown
		if i := r.holds(f, seq, chosen); i >= 0 {
			cause = r.key(i)
			break
		}
	}
	for y := 0; y < h && top+y < r.len(); y++ {
		l := r.at(top + y)
		o := look{chosen: top+y == at, query: v.filter.query.Marks}
		switch {
		case o.chosen:
		case l.First == cause:
			o.mark = grid.UpTo
		case leads(f, chosen, &l, v.level):
			o.mark = grid.Into
		}
		draw(f, c, y, &l, w, o)
	}
}

// look is how a line is drawn.
type look struct {
	chosen bool
	mark   rune // in the margin; 0: none
	query  func(string) [][2]int
}

// draw is one line: when, who, what, and how many times.
func draw(f view.Frame, c grid.Canvas, y int, l *feed.Line, w int, o look) {
	actorW := actorWidth(w)
	mark := widget.S(" ", 0)
	switch {
	case o.chosen:
		mark = widget.S(string(grid.Marker), theme.Accent)
	case o.mark != 0:
		mark = widget.S(string(o.mark), theme.Cause)
	}
	body := l.Tone.Style()
	if o.chosen {
		body |= grid.Reverse
	}
	times := ""
	if l.Count > 1 && l.Many == nil {
		times = string(grid.Times) + strconv.Itoa(l.Count)
		w -= grid.Width(times) + 1
	}
	text := sanitize.Text(l.Text())
	line := widget.Line{mark, {Text: grid.Pad(Clock(f, l.Since), 8), Style: theme.Dim}, {Text: " "}, {Text: grid.Pad(Who(l.Who, actorW), actorW), Style: whoStyle(l)}, {Text: " "}}
	line.Draw(c, 0, y, w)
	room := w - lead(actorW)
	if room < 1 {
		return
	}
	shown := grid.Cut(text, room)
	x := lead(actorW)
	end := c.Put(x, y, shown, body)
	if o.query != nil {
		for _, m := range o.query(text) {
			if m[1] <= len(shown) && shown[:m[1]] == text[:m[1]] {
				c.Put(x+grid.Width(text[:m[0]]), y, text[m[0]:m[1]], theme.Accent|body&grid.Reverse)
			}
		}
	}
	if times != "" {
		c.Put(end+1, y, times, theme.Dim)
	}
}

// foot says of the chosen line, in one row, what is in the pane where there is one.
func (v View) foot(f view.Frame, l *feed.Line) widget.Line {
	say := f.Words.Say
	line := widget.Line{widget.S(say("story.record", "seq", uint64(l.Seq)), theme.Dim), widget.S("  "+v.followed(f, effects(f, l, v.level)), theme.Cause)}
	if c, _ := causes(f, l, 1); len(c) > 0 {
		line = append(line, widget.S("  "+say("story.cause", "who", c[0].Who, "what", c[0].Text()), theme.Dim))
	}
	return line
}

// followed says how much followed.
func (v View) followed(f view.Frame, e effect) string {
	switch {
	case e.more:
		return string(grid.UpTo) + " " + f.Words.Say("story.effects-many", "n", e.n)
	case e.n > 0:
		return string(grid.UpTo) + " " + f.Words.Say("story.effects", "n", e.n)
	}
	return f.Words.Say("story.effects-none")
}

// lead is the width of when and who.
func lead(actorW int) int { return 1 + 8 + 1 + actorW + 1 }

func actorWidth(w int) int {
	if w >= 90 {
		return actorLong
	}
	return actorShort
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
