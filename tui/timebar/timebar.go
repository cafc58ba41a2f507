// Package timebar is the line of time below every view: from the first instant that is known to the newest, with marks for what the user did, what broke and who
// was elected, and the place that is looked at.
//
// Imports of ours: engine/event, tui/grid, tui/theme, tui/widget, tui/words. Goroutines: the screen's one. Time: simulated.
package timebar

import (
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// Bar is what the line shows.
type Bar struct {
	// First and Last are the instants at its ends; At is the place looked at. Start is the zero of elapsed times.
	First, Last, At, Start time.Time
	// Live: the place is the end and moves with it. Recording: the end is the end of a file.
	Live, Recording bool
	Marks           []Mark
	Words           *words.Catalogue
	// Location for clocks; elapsed times need none.
}

// margin is what stands left of the line, and tail what stands right of it, in cells.
const margin = 1

// track is the first column of the line and how many columns it has, in a canvas of w cells.
func (b *Bar) track(w int) (x, n int) {
	return margin, max(w-2*margin-grid.Width(b.end())-1, 0)
}

// end is the word at the right end.
func (b *Bar) end() string {
	if b.Recording {
		return b.Words.Say("time.end")
	}
	return b.Words.Say("time.now")
}

// column of an instant on a line of n cells.
func (b *Bar) column(at time.Time, n int) int {
	span := b.Last.Sub(b.First)
	if span <= 0 || n < 2 {
		return max(n-1, 0)
	}
	return min(max(int(float64(at.Sub(b.First))/float64(span)*float64(n-1)+0.5), 0), n-1)
}

// Instant is the instant under a column of a canvas of w cells. ok is false beside the line; end is true on its last cell and right of it, which mean the newest instant.
func (b *Bar) Instant(x, w int) (at time.Time, end, ok bool) {
	from, n := b.track(w)
	i := x - from
	switch {
	case n < 2 || i < 0:
		return time.Time{}, false, false
	case i >= n-1:
		return b.Last, true, true
	}
	return b.First.Add(time.Duration(float64(i) / float64(n-1) * float64(b.Last.Sub(b.First)))), false, true
}

// Step is the span of time that one cell stands for, in a canvas of w cells.
func (b *Bar) Step(w int) time.Duration {
	_, n := b.track(w)
	return max(b.Last.Sub(b.First)/time.Duration(max(n-1, 1)), time.Millisecond)
}

var signs = map[Kind]struct {
	sign  rune
	style grid.Style
}{
	Order: {grid.Moment, theme.Accent}, Trouble: {grid.Unknown, theme.Unknown}, Break: {grid.CutMark, theme.Fault}, Elect: {grid.Leader, theme.Leader},
}

// Draw draws the line in the first row of the canvas, and what its marks are in the second, if there is one.
func (b *Bar) Draw(c grid.Canvas) {
	w, h := c.Size()
	x, n := b.track(w)
	if n < 4 || h < 1 {
		return
	}
	c.Put(x, 0, string(grid.LineStart), theme.Frame)
	for i := 1; i < n-1; i++ {
		c.Put(x+i, 0, string(grid.LineH), theme.Frame)
	}
	c.Put(x+n-1, 0, string(grid.LineEnd), theme.Frame)
	here := b.column(b.At, n)
	if !b.Live { // what is behind the place is the past of what is seen
		for i := 1; i < here; i++ {
			c.Put(x+i, 0, string(grid.LineH), theme.Accent&^grid.Bold)
		}
	}
	b.drawMarks(c, x, n, h)
	style := theme.Dim
	if b.Live {
		style = theme.OK
	}
	c.Put(x+n+1, 0, b.end(), style)
	if !b.Live {
		r := rune(grid.LineH)
		if here == 0 {
			r = grid.LineStart
		} else if here == n-1 {
			r = grid.LineEnd
		}
		c.Put(x+here, 0, string(r), theme.Accent|grid.Reverse)
		if h > 1 {
			from, _ := b.placeLabel(x, n)
			c.Put(from, 1, b.placeText(), theme.Accent|grid.Reverse)
		}
	}
}

// drawMarks puts the signs on the line, the heaviest of each cell, and below it as many words as there is room for, the newest first.
func (b *Bar) drawMarks(c grid.Canvas, x, n, h int) {
	best := make([]int, n) // 1 + index of the mark drawn in the cell
	for i, m := range b.Marks {
		if m.At.Before(b.First) || m.At.After(b.Last) {
			continue
		}
		at := b.column(m.At, n)
		if k := best[at]; k == 0 || b.Marks[k-1].Kind <= m.Kind {
			best[at] = i + 1
		}
	}
	for i, k := range best {
		if k > 0 {
			s := signs[b.Marks[k-1].Kind]
			c.Put(x+i, 0, string(s.sign), s.style)
		}
	}
	if h < 2 {
		return
	}
	c.Put(x, 1, words.Span(b.First.Sub(b.Start)), theme.Dim)
	taken := x + 8 // what is left of it is the start's
	right := x + n + 1
	for i := n - 1; i >= 0; i-- {
		k := best[i]
		if k == 0 || b.Marks[k-1].Kind == Elect {
			continue
		}
		word := grid.Cut(b.Words.Say("time.mark", "word", b.Marks[k-1].Word), 16)
		wide := grid.Width(word)
		at := min(x+i-1, right-1-wide)
		if at < taken || at+wide <= x+i { // no room, or no longer below its sign
			continue
		}
		if from, to := b.placeLabel(x, n); !b.Live && at < to && at+wide > from {
			continue
		}
		c.Put(at, 1, word, theme.Dim)
		right = at
	}
}

// placeLabel is where the label of the place stands: the first column and the one after.
func (b *Bar) placeLabel(x, n int) (from, to int) {
	wide := grid.Width(b.placeText())
	from = min(max(x+b.column(b.At, n)-wide/2, x), x+n-wide)
	return from, from + wide
}

func (b *Bar) placeText() string { return " +" + words.Span(b.At.Sub(b.Start)) + " " }

// Sign of a kind of mark, with its style.
func Sign(k Kind) (rune, grid.Style) { return signs[k].sign, signs[k].style }
