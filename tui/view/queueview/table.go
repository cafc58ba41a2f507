package queueview

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// Widths of the table's columns of numbers, blanks between them included.
const (
	waitW  = 7
	workW  = 6
	delayW = 7
	dueW   = 9
	retryW = 7
	rateW  = 6
	ageW   = 7
)

// columns of the table: what each takes.
type columns struct{ name, spark, ages int }

func fit(w int) columns {
	c := columns{name: w - 1 - (waitW + workW + delayW + dueW + retryW + rateW + ageW)}
	const names = 34
	if room := c.name - names - 2; room >= 10 {
		c.spark = min(room, 45)
		c.name -= c.spark + 1
		if room := c.name - names - 6; room >= 10 {
			c.ages = min(room, 45)
			c.name -= c.ages + 1
		}
	}
	return c
}

func (v View) drawHead(f view.Frame, s *sight, c grid.Canvas) {
	say := f.Words.Say
	waiting, work, delayed, stuckOnes := 0, 0, 0, 0
	for i := range s.groups {
		for k := range s.groups[i].rows {
			r := &s.groups[i].rows[k]
			waiting, work, delayed = waiting+r.waiting, work+r.inWork, delayed+r.delayed
			if r.level == stuck {
				stuckOnes++
			}
		}
	}
	text, style := say("queues.calm", "waiting", waiting, "work", work, "delayed", delayed), theme.Dim
	if stuckOnes > 0 {
		text, style = say("queues.stuck", "n", stuckOnes, "waiting", waiting, "work", work, "delayed", delayed), theme.Waiting
	}
	if len(s.waits) > 0 && s.waits[0].grave { // this is what all else waits for
		text, style = sanitize.Text(strings.Join(s.waits[0].links, " "+string(grid.RightTo)+" ")), theme.Failing
		if until := untilWords(f, s.waits[0].until); until != "" {
			text += "  " + until
		}
	}
	line := widget.Line{widget.S(text, style)}
	if v.find != "" {
		line = append(line, widget.S("  "+say("queues.found", "text", v.find), theme.Accent))
	}
	if v.trouble {
		line = append(line, widget.S("  "+say("queues.only-trouble"), theme.Accent))
	}
	w, _ := c.Size()
	line.Draw(c, 1, 0, w-1)
}

func (v View) drawTable(f view.Frame, s *sight, c grid.Canvas) {
	w, h := c.Size()
	cols := fit(w)
	v.header(f, c, cols)
	if len(s.lines) == 0 {
		text := f.Words.Say("queues.none")
		if v.find != "" || v.trouble {
			text = f.Words.Say("queues.none-kept")
		}
		for i, part := range widget.Wrap(text, w-2) {
			c.Put(1, headRows+i, part, theme.Dim)
		}
		return
	}
	for y := headRows; y < headRows+s.room && s.top+y-headRows < len(s.lines); y++ {
		l := &s.lines[s.top+y-headRows]
		switch {
		case l.row != nil:
			v.drawRow(f, c, cols, y, l.row, s.top+y-headRows == s.cursor)
		case len(l.names) > 0:
			c.PutMax(4, y, w-4, "+"+f.Words.Say("queues.idle", "n", len(l.names), "names", strings.Join(l.names, ", ")), theme.Dim)
		case l.more > 0:
			c.PutMax(4, y, w-4, "+"+f.Words.Say("queues.held-more", "n", l.more), theme.Waiting)
		case l.quiet > 0:
			c.PutMax(1, y, w-1, "+"+f.Words.Say("queues.quiet", "n", l.quiet), theme.Dim)
		default:
			drawGroup(f, c, y, l.group)
		}
	}
	if len(s.lines) > s.room && h > headRows {
		c.PutMax(4, h-1, w-4, f.Words.Say("queues.hidden", "above", s.top, "below", len(s.lines)-s.top-s.room), theme.Dim)
	}
}

func (v View) header(f view.Frame, c grid.Canvas, cols columns) {
	say := f.Words.Say
	c.PutMax(1, 0, cols.name, say("queues.col-queue"), theme.Dim)
	x := 1 + cols.name
	for _, col := range []struct {
		width int
		key   string
	}{{waitW, say("queues.col-waiting")}, {workW, say("queues.col-work")}, {delayW, say("queues.col-delayed")}, {dueW, say("queues.col-due")}, {retryW, say("queues.col-retries")},
		{rateW, say("queues.col-rate")}} {
		x += col.width
		c.PutRight(x, 0, grid.Cut(col.key, col.width-1), theme.Dim)
	}
	if cols.spark > 0 {
		c.PutMax(x+1, 0, cols.spark, say("queues.col-done", "span", time.Duration(cols.spark)*world.HistoryStep), theme.Dim)
		x += cols.spark + 1
	}
	x += ageW
	c.PutRight(x, 0, grid.Cut(say("queues.col-oldest"), ageW-1), theme.Dim)
	if cols.ages > 0 {
		c.PutMax(x+1, 0, cols.ages, say("queues.col-ages", "span", time.Duration(cols.ages)*world.HistoryStep), theme.Dim)
	}
}

// drawGroup is the head of a component: who leads, who stands by, who is down.
func drawGroup(f view.Frame, c grid.Canvas, y int, g *group) {
	w, _ := c.Size()
	line := widget.Line{widget.S(sanitize.Text(g.component), theme.Title)}
	if g.lease != "" {
		l := leading(f, g)
		switch {
		case l.leader != "":
			line = append(line, widget.S("  "+string(grid.Leader)+" "+sanitize.Text(l.leader), theme.Leader&^grid.Bold))
		case l.holder != "" && l.ends.After(f.Now):
			line = append(line, widget.S("  "+f.Words.Say("queues.head-held", "host", l.holder, "left", l.ends.Sub(f.Now)), theme.Failing))
		case !f.World.Start.IsZero():
			line = append(line, widget.S("  "+f.Words.Say("queues.head-nobody"), theme.Failing))
		}
		if len(l.standby) > 0 {
			line = append(line, widget.S("  "+string(grid.Standby)+" "+f.Words.Say("queues.head-standby", "hosts", join(l.standby)), theme.Dim))
		}
		if len(l.down) > 0 && len(l.down) < len(f.World.Header.Masters) {
			line = append(line, widget.S("  "+string(grid.Failing)+" "+f.Words.Say("queues.head-down", "hosts", join(l.down)), theme.Failing&^grid.Bold))
		}
	}
	line.Draw(c, 1, y, w-1)
}

func (v View) drawRow(f view.Frame, c grid.Canvas, cols columns, y int, r *row, chosen bool) {
	w, _ := c.Size()
	text, quiet := theme.Text, theme.Dim
	symbol := grid.Starting
	switch r.level {
	case stuck:
		symbol, text = grid.Waiting, theme.Waiting
	case idle:
		symbol, text = grid.Done, theme.Dim
	}
	if r.level == busy && r.waiting+r.inWork == 0 {
		symbol = grid.Done
	}
	c.Put(2, y, string(symbol), text)
	label := sanitize.Text(r.label)
	if r.watches > 0 {
		label += "  " + f.Words.Say("queues.watches", "n", r.watches)
	}
	c.Put(4, y, grid.CutMiddle(label, cols.name-4), text)

	x := 1 + cols.name
	put := func(width int, value string, style grid.Style) {
		x += width
		c.PutRight(x, y, value, style)
	}
	number := func(width, n int, known bool, style grid.Style) {
		switch {
		case !known:
			put(width, "", 0)
		case n == 0:
			put(width, string(grid.Dot), quiet)
		default:
			put(width, short(n), style)
		}
	}
	server := r.t.Process == apiserver
	number(waitW, r.waiting, r.t.Process != kubelet && (r.states == nil || r.history != nil), theme.Text)
	number(workW, r.inWork, r.t.Process != kubelet && (r.states == nil || r.history != nil), text)
	number(delayW, r.delayed, !server && (r.states == nil || r.history == nil), text)
	put(dueW, due(f, r), dueStyle(f, r))
	tries, triesStyle := retries(r)
	put(retryW, tries, triesStyle)
	rate := 0.0
	if r.history != nil {
		rate = r.history.PerSecond(f.Now, 5)
	}
	switch {
	case r.history == nil:
		put(rateW, "", 0)
	case rate == 0:
		put(rateW, string(grid.Dot), quiet)
	case rate < 99.95:
		put(rateW, strconv.FormatFloat(rate, 'f', 1, 64), text)
	default:
		put(rateW, short(int(rate+0.5)), text)
	}
	if cols.spark > 0 {
		if r.history != nil {
			points := r.history.Chart(nil, f.Now, cols.spark)
			values := make([]float64, len(points))
			for i, p := range points {
				values[i] = float64(p.Done)
			}
			c.Put(x+1, y, spark(values, 4), sparkStyle(r))
		}
		x += cols.spark + 1
	}
	switch {
	case r.oldest.IsZero():
		put(ageW, string(grid.Dot), quiet)
	default:
		put(ageW, words.Span(f.Now.Sub(r.oldest)), text)
	}
	if cols.ages > 0 && r.history != nil && !server {
		points := r.history.Chart(nil, f.Now, cols.ages)
		values := make([]float64, len(points))
		for i, p := range points {
			values[i] = p.Age.Seconds()
		}
		c.Put(x+1, y, spark(values, 1), sparkStyle(r))
	}
	if chosen {
		c.Put(0, y, string(grid.Marker), theme.Accent)
		end := w
		if v.pane != queuesPane {
			end = 1 + cols.name
		}
		c.Reverse(1, y, end-1)
	}
}

func sparkStyle(r *row) grid.Style {
	if r.level == stuck {
		return theme.Waiting
	}
	return theme.OK
}

// spark draws values as heights; floor is the least value that fills a cell, so that a trickle does not look like a flood. All zero: nothing.
func spark(values []float64, floor float64) string {
	top := floor
	some := false
	for _, v := range values {
		top = max(top, v)
		some = some || v > 0
	}
	if !some {
		return ""
	}
	b := make([]rune, len(values))
	for i, v := range values {
		b[i] = ' '
		if v > 0 {
			b[i] = grid.Spark[min(int(v/top*float64(len(grid.Spark)-1)+0.5), len(grid.Spark)-1)]
		}
	}
	return string(b)
}

func due(f view.Frame, r *row) string {
	left := r.next.Sub(f.Now)
	switch {
	case r.next.IsZero():
		return string(grid.Dot)
	case r.overdue(f):
		return "-" + words.Span(-left)
	case len(r.states) > 0 && r.states[0] == event.ItemUnschedulable: // that is when it is looked at again at the latest
		return "<" + words.Span(left)
	}
	return words.Span(left)
}

func dueStyle(f view.Frame, r *row) grid.Style {
	switch {
	case r.next.IsZero():
		return theme.Dim
	case r.overdue(f):
		return theme.Failing
	case r.next.Sub(f.Now) < time.Minute:
		return theme.Waiting
	}
	return theme.Text
}

// retries is how many keys failed at their last try, of how many failures ever.
func retries(r *row) (string, grid.Style) {
	switch {
	case r.queue == nil || r.states != nil || r.t.Process == apiserver:
		return "", 0
	case r.failing > 0:
		return short(r.failing) + "/" + short(int(r.queue.Retried)), theme.Waiting
	case r.queue.Retried > 0:
		return short(int(r.queue.Retried)), theme.Dim
	}
	return string(grid.Dot), theme.Dim
}

// short writes a count in at most four cells.
func short(n int) string {
	switch {
	case n < 10_000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}
