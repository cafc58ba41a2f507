// Package printout holds what a program printed, as lines to scroll and filter through.
//
// No byte of it reaches the terminal as it came: tabs become blanks, colours of the program become roles of the theme, all else that would act on a terminal is spelled out
// by tui/sanitize. It is bounded, in lines and in bytes: the oldest lines go one by one, and how many went is said above the oldest that is left.
//
// Sentences wrap: what a program says on standard error, and what the screen says. Output does not: tables, YAML and the indented columns of describe fall apart when they
// wrap, so they are looked at through a window that goes sideways.
//
// Imports of ours: tui/{grid,sanitize,theme,widget}. Goroutines: the screen's one. Time: none.
package printout

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

// Max is how many lines are kept, and BytesMax how much text: lines are short as a rule, and a few long ones must not take the memory of thousands.
const (
	Max      = 5000
	BytesMax = 4 << 20
)

// pieceMax is how much of one line is a line here, in bytes; what is longer goes on as the next.
const pieceMax = sanitize.MaxBytes / 2

// row is a line, and the same as text for filters.
type row struct {
	line widget.Line
	text string // in lower case
	head bool   // of a table: kept above what a filter leaves
	ours bool   // said by the screen: no filter hides it
	wrap bool   // a sentence
}

// size is what a row counts for, in bytes: its text is kept twice.
func (r row) size() int { return 2*len(r.text) + 64 }

// Log is the lines. The zero value is empty.
type Log struct {
	rows   []row
	bytes  int // in rows
	Gone   int // that were dropped
	up     int // rows of the screen scrolled back from the end
	right  int // columns scrolled to the right
	width  int // of the window that was looked through last
	filter string
	table  columns
	// Above makes the line that stands above the oldest one when others are gone; nil: none does.
	Above func(gone int) widget.Line
}

// columns are where a table's column of statuses is.
type columns struct{ from, to int }

// Clear forgets all.
func (l *Log) Clear() { *l = Log{Above: l.Above, width: l.width} }

// Len counts the rows of the screen that the lines take which the filter leaves.
func (l *Log) Len() (n int) {
	for _, r := range l.shown() {
		n += l.height(r)
	}
	return n
}

// height of a line on the screen.
func (l *Log) height(r row) int {
	if !r.wrap || l.width == 0 || len(r.text) <= l.width { // a column takes a byte at least
		return 1
	}
	return len(wrapped(r.line, l.width))
}

// Say adds a line of the screen's own.
func (l *Log) Say(line widget.Line) {
	l.add(row{line: line, text: lower(line), ours: true, wrap: true})
}

// Begin forgets the table of the program before.
func (l *Log) Begin() { l.table = columns{} }

// Print adds a line of a program.
func (l *Log) Print(text string, wrong bool) {
	for first := true; first || text != ""; first = false {
		piece := text
		if len(piece) > pieceMax {
			n := pieceMax
			for n > pieceMax-utf8.UTFMax && !utf8.RuneStart(piece[n]) {
				n--
			}
			piece = piece[:n]
		}
		text = text[len(piece):]
		l.print(piece, wrong)
	}
}

func (l *Log) print(text string, wrong bool) {
	base := theme.Text
	if wrong {
		base = errorStyle(text)
	}
	line := spans(tabs(text), base)
	r := row{line: line, text: lower(line), wrap: wrong}
	if !wrong && len(line) == 1 {
		switch plain := line[0].Text; {
		case header.MatchString(plain):
			r.head, line[0].Style = true, theme.Title
			l.table = statusColumn(plain)
		case l.table.to > 0:
			r.line = l.table.colour(plain)
		}
	}
	l.add(r)
}

// errorStyle tells errors from the other things that programs say beside their output.
func errorStyle(text string) grid.Style {
	switch low := strings.ToLower(text); {
	case strings.HasPrefix(low, "error"), strings.HasPrefix(low, "the connection to the server"), strings.HasPrefix(low, "unable to"), strings.HasPrefix(low, "panic"):
		return theme.Failing
	case strings.HasPrefix(low, "warning"):
		return theme.Waiting
	}
	return theme.Text
}

func (l *Log) add(r row) {
	l.rows = append(l.rows, r)
	drop := 0
	for l.bytes += r.size(); len(l.rows)-drop > Max || l.bytes > BytesMax && len(l.rows)-drop > 1; drop++ {
		l.bytes -= l.rows[drop].size()
		l.rows[drop] = row{}
	}
	l.rows = l.rows[drop:] // append copies what is left when there is no room behind it any more
	l.Gone += drop
	if l.up > 0 && l.passes(r) { // who has scrolled back reads on where they are
		l.up += l.height(r)
	}
}

func lower(line widget.Line) string {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(s.Text)
	}
	return strings.ToLower(b.String())
}

// Filter leaves the lines that hold a text, whatever its case; "" leaves all.
func (l *Log) Filter(text string) {
	l.filter, l.up = strings.ToLower(text), 0
}

// Filtered is the text that lines must hold.
func (l *Log) Filtered() string { return l.filter }

func (l *Log) passes(r row) bool {
	return l.filter == "" || r.head || r.ours || strings.Contains(r.text, l.filter)
}

func (l *Log) shown() []row {
	above := l.Gone > 0 && l.Above != nil
	if l.filter == "" && !above {
		return l.rows
	}
	out := make([]row, 0, len(l.rows)+1)
	if above {
		line := l.Above(l.Gone)
		out = append(out, row{line: line, text: lower(line), wrap: true})
	}
	for _, r := range l.rows {
		if l.passes(r) {
			out = append(out, r)
		}
	}
	return out
}

// Scroll goes back (below zero) or forth by rows of the screen, where height of them are seen.
func (l *Log) Scroll(by, height int) { l.up = max(min(l.up-by, l.Len()-height), 0) }

// Edge goes to the first or the last line.
func (l *Log) Edge(to, height int) {
	l.up = 0
	if to < 0 {
		l.up = max(l.Len()-height, 0)
	}
}

// Aside scrolls sideways.
func (l *Log) Aside(by int) { l.right = max(l.right+by, 0) }

// View is what is seen through a window: its rows, the numbers of the first and last of them, how many there are, and whether some are wider.
func (l *Log) View(width, height int) (lines []widget.Line, from, to, of int, wider bool) {
	l.width = width
	rows := l.shown()
	heights := make([]int, len(rows))
	for i, r := range rows {
		heights[i] = l.height(r)
		of += heights[i]
	}
	height = min(height, of)
	to = of - min(l.up, of-height)
	from = to - height
	at, widest := 0, 0
	var fixed []bool // by row of the screen: it does not move sideways
	for i, r := range rows {
		if at >= to {
			break
		}
		if at += heights[i]; at <= from {
			continue
		}
		all := []widget.Line{r.line}
		if r.wrap {
			all = wrapped(r.line, width)
		}
		for n, line := range all {
			if y := at - heights[i] + n; y < from || y >= to {
				continue
			}
			if !r.wrap {
				widest = max(widest, line.Width())
			}
			lines, fixed = append(lines, line), append(fixed, r.wrap)
		}
	}
	right := min(l.right, max(widest-width, 0))
	for i, line := range lines {
		if fixed[i] {
			lines[i] = window(line, 0, width)
		} else {
			lines[i] = window(line, right, width)
		}
	}
	return lines, from + 1, to, of, widest > width
}

// hang is how far the second row of a sentence and those after it stand in.
const hang = 2

// cell is a letter of a line.
type cell struct {
	r     rune
	w     int
	style grid.Style
}

// wrapped breaks a sentence at blanks into rows of a width, and words that are longer anywhere.
func wrapped(line widget.Line, width int) (out []widget.Line) {
	var cells []cell
	for _, s := range line {
		for _, r := range s.Text {
			cells = append(cells, cell{r, grid.RuneWidth(r), s.Style})
		}
	}
	for len(out) == 0 || len(cells) > 0 {
		var row widget.Line
		used := 0
		if len(out) > 0 && width > 8*hang {
			row, used = widget.Line{widget.S(strings.Repeat(" ", hang), cells[0].style)}, hang
		}
		n, blank, word := 0, 0, false // blank: the last one behind a word
		for ; n < len(cells) && (n == 0 || used+cells[n].w <= width); n++ {
			if used += cells[n].w; cells[n].r != ' ' {
				word = true
			} else if word {
				blank = n
			}
		}
		if n < len(cells) && cells[n].r != ' ' && blank > 0 {
			n = blank
		}
		out = append(out, spansOf(row, cells[:n]))
		for cells = cells[n:]; len(cells) > 0 && cells[0].r == ' '; {
			cells = cells[1:]
		}
	}
	return out
}

// spansOf adds letters to a line.
func spansOf(line widget.Line, cells []cell) widget.Line {
	for len(cells) > 0 {
		var b strings.Builder
		style := cells[0].style
		for len(cells) > 0 && cells[0].style == style {
			b.WriteRune(cells[0].r)
			cells = cells[1:]
		}
		line = append(line, widget.S(b.String(), style))
	}
	return line
}

// window cuts columns off a line on both sides.
func window(line widget.Line, right, width int) widget.Line {
	if right == 0 && line.Width() <= width {
		return line
	}
	var out widget.Line
	at, cut := 0, false
	for _, s := range line {
		var b strings.Builder
		for _, r := range s.Text {
			w := grid.RuneWidth(r)
			x := at - right
			at += w
			if x < 0 {
				continue
			}
			if x+w > width {
				cut = true
				break
			}
			b.WriteRune(r)
		}
		if b.Len() > 0 {
			out = append(out, widget.S(b.String(), s.Style))
		}
	}
	if n := len(out); cut && n > 0 {
		out[n-1].Text = grid.Cut(out[n-1].Text+"  ", grid.Width(out[n-1].Text))
	}
	return out
}

// tabs puts blanks in the place of tabs.
func tabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	x := 0
	for _, r := range s {
		if r != '\t' {
			b.WriteRune(r)
			x += max(grid.RuneWidth(r), 0)
			continue
		}
		n := 8 - x%8
		b.WriteString(strings.Repeat(" ", n))
		x += n
	}
	return b.String()
}

// sgr is a sequence that sets colours.
var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// spans turns a program's colours into ours.
func spans(s string, base grid.Style) widget.Line {
	if !strings.Contains(s, "\x1b[") {
		return widget.Line{widget.S(sanitize.Text(s), base)}
	}
	var out widget.Line
	style := base
	add := func(text string) {
		if text != "" {
			out = append(out, widget.S(sanitize.Text(text), style))
		}
	}
	at := 0
	for _, m := range sgr.FindAllStringSubmatchIndex(s, -1) {
		add(s[at:m[0]])
		at = m[1]
		style = restyle(style, base, s[m[2]:m[3]])
	}
	add(s[at:])
	if len(out) == 0 {
		out = widget.Line{widget.S("", base)}
	}
	return out
}

// restyle is the style after a sequence. Colours by number (38;5;N) are more than a theme has roles for: they are left out.
func restyle(now, base grid.Style, params string) grid.Style {
	if strings.Contains(params, "38;") || strings.Contains(params, "48;") {
		return now
	}
	for p := range strings.SplitSeq(params, ";") {
		switch n, _ := strconv.Atoi(p); n {
		case 0, 39:
			now = base
		case 1:
			now |= grid.Bold
		case 2, 90:
			now = theme.Dim
		case 31, 91:
			now = theme.Failing
		case 32, 92:
			now = theme.OK
		case 33, 93:
			now = theme.Waiting
		case 34, 35, 36, 94, 95, 96:
			now = theme.Accent
		}
	}
	return now
}

// header is the first line of a table of kubectl's.
var header = regexp.MustCompile(`^[A-Z][A-Z0-9()/%-]*(?: [A-Z0-9()/%-]+)*(?: {2,}[A-Z][A-Z0-9()/%-]*(?: [A-Z0-9()/%-]+)*)+ *$|^NAME *$`)

func statusColumn(head string) columns {
	i := strings.Index(head, "STATUS")
	if i < 0 {
		return columns{}
	}
	end := len(head)
	for j := i + len("STATUS"); j < len(head); j++ {
		if head[j] != ' ' {
			end = j
			break
		}
	}
	if end == len(head) {
		end = 1 << 20
	}
	return columns{i, end}
}

// colour marks the status of a row. Cells of tables are one column a byte, or the row is left as it is.
func (c columns) colour(text string) widget.Line {
	if len(text) != grid.Width(text) || len(text) <= c.from || c.from > 0 && text[c.from-1] != ' ' {
		return widget.Line{widget.S(text, theme.Text)}
	}
	cell := text[c.from:min(c.to, len(text))]
	word := strings.TrimRight(cell, " ")
	style := statusStyle(word)
	end := c.from + len(word)
	return widget.Line{widget.S(text[:c.from], theme.Text), widget.S(text[c.from:end], style), widget.S(text[end:], theme.Text)}
}

// statusStyle is the role of a status of a pod, a node, a claim.
func statusStyle(s string) grid.Style {
	switch s {
	case "Running", "Ready", "Active", "Bound", "Available", "Healthy", "Complete", "True":
		return theme.OK
	case "Succeeded", "Completed":
		return theme.Dim
	case "Unknown", "Ready,Unknown":
		return theme.Unknown
	}
	switch {
	case strings.Contains(s, "Error"), strings.Contains(s, "BackOff"), strings.Contains(s, "Err"), strings.HasPrefix(s, "NotReady"), s == "Failed", s == "Evicted", s == "OOMKilled", s == "Lost", s == "Unhealthy":
		return theme.Failing
	case s == "Pending", s == "Terminating", s == "ContainerCreating", strings.HasPrefix(s, "Init:"), s == "PodInitializing", strings.Contains(s, "SchedulingDisabled"), s == "NodeLost":
		return theme.Waiting
	}
	return theme.Text
}
