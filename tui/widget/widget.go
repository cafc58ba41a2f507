// Package widget draws small things out of text and numbers: lines of spans, bars, sparks, wrapped text; and finds rows of lists. It knows columns, not Pods.
//
// Imports of ours: tui/grid. Goroutines: values. Time: none.
package widget

import "example.com/kubeviz/tui/grid"

// Span is text in one style.
type Span struct {
	Text  string
	Style grid.Style
}

// S makes a span.
func S(text string, style grid.Style) Span { return Span{text, style} }

// Line is spans one after the other.
type Line []Span

// Width in cells.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += grid.Width(s.Text)
	}
	return n
}

// Draw writes the line at (x, y) into at most width cells and returns the column after it. What is cut ends in an ellipsis.
func (l Line) Draw(c grid.Canvas, x, y, width int) int {
	left := width
	for _, s := range l {
		n := grid.Width(s.Text)
		if n > left {
			c.PutMax(x, y, left, s.Text, s.Style)
			return x + left
		}
		x = c.Put(x, y, s.Text, s.Style)
		left -= n
	}
	return x
}

// Bar of width cells, filled by part of whole. Anything above zero shows at least one cell.
func Bar(part, whole int64, width int) string {
	full := 0
	if whole > 0 && part > 0 {
		full = min(max(int(float64(part)/float64(whole)*float64(width)+0.5), 1), width)
	}
	b := make([]rune, width)
	for i := range b {
		b[i] = grid.BarEmpty
		if i < full {
			b[i] = grid.BarFull
		}
	}
	return string(b)
}

// Spark draws the newest width values as heights.
func Spark(values []float64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	b := make([]rune, 0, width)
	for range width - len(values) {
		b = append(b, ' ')
	}
	for _, v := range values {
		i := 0
		if top > 0 {
			i = min(int(v/top*float64(len(grid.Spark)-1)+0.5), len(grid.Spark)-2)
		}
		b = append(b, grid.Spark[i])
	}
	return string(b)
}

// Wrap breaks text at blanks into lines of at most width cells.
func Wrap(text string, width int) []string {
	if width < 1 {
		return nil
	}
	var out []string
	line, used := "", 0
	start := 0
	flush := func(word string) {
		n := grid.Width(word)
		for n > width { // a word longer than the line
			head := cutAt(word, width-used-boolInt(used > 0))
			if head == "" {
				out, line, used = append(out, line), "", 0
				continue
			}
			if used > 0 {
				line += " "
			}
			out, line, used = append(out, line+head), "", 0
			word = word[len(head):]
			n = grid.Width(word)
		}
		if used > 0 && used+1+n > width {
			out, line, used = append(out, line), "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == ' ' {
			if i > start {
				flush(text[start:i])
			}
			start = i + 1
		}
	}
	if used > 0 {
		out = append(out, line)
	}
	return out
}

func cutAt(word string, width int) string {
	used := 0
	for i, r := range word {
		if used += grid.RuneWidth(r); used > width {
			return word[:i]
		}
	}
	return word
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
