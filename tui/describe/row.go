// Package describe says what there is to say of one thing: its state in a sign, a table of its fields, its YAML, the text of kubectl describe, its events.
//
// Everything comes out of the fold and the journal; nothing is drawn here. Rows are ready to be drawn: their texts are sanitised.
//
// Imports of ours: engine/event, engine/kinds, engine/world, tui/grid, tui/sanitize, tui/scene, tui/target, tui/theme, tui/view, tui/widget, tui/words. Goroutines: pure
// functions of a Frame. Time: simulated.
package describe

import (
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

// Row is one line of a page.
type Row struct {
	// Title: the row begins a section.
	Title bool
	// Label is the name of a field; empty where the row is a line of its own, or goes on with the row above.
	Label string
	Line  widget.Line
	// Target and Seq are what the row leads to: a thing, or a record and its chain. Either may be empty.
	Target target.Target
	Seq    event.Seq
	// Single: the row is cut at the edge and does not go on below.
	Single bool
}

// Text of the row, for copying and searching.
func (r Row) Text() string {
	var b strings.Builder
	if r.Label != "" {
		b.WriteString(r.Label)
		b.WriteByte(' ')
	}
	for _, s := range r.Line {
		b.WriteString(s.Text)
	}
	return b.String()
}

// rows in the making.
type rows struct{ all []Row }

func (r *rows) title(text string) { r.all = append(r.all, Row{Title: true, Label: text}) }

// field adds a name and a value from the cluster.
func (r *rows) field(label, value string, style grid.Style) *Row {
	return r.line(label, widget.S(sanitize.Text(value), style))
}

func (r *rows) line(label string, spans ...widget.Span) *Row {
	r.all = append(r.all, Row{Label: label, Line: spans})
	return &r.all[len(r.all)-1]
}

// Wrap breaks rows that are wider than width, labels taking labelW cells, so that nothing is lost; what goes on keeps where it leads to.
func Wrap(all []Row, width, labelW int) []Row {
	room := max(width-labelW, 8)
	fits := true
	for i := range all {
		if !all[i].Title && !all[i].Single && all[i].Line.Width() > room {
			fits = false
			break
		}
	}
	if fits {
		return all
	}
	out := make([]Row, 0, len(all)+8)
	for _, r := range all {
		if r.Title || r.Single || r.Line.Width() <= room || len(r.Line) == 0 {
			out = append(out, r)
			continue
		}
		out = append(out, wrapRow(r, room)...)
	}
	return out
}

// wrapRow lets the spans of a row flow over as many lines as they need. What goes on stands under the longest span, which is the one that says something.
func wrapRow(r Row, room int) []Row {
	hang, longest, x := 0, 0, 0
	for _, s := range r.Line {
		n := grid.Width(s.Text)
		if n > longest {
			hang, longest = x+len(s.Text)-len(strings.TrimLeft(s.Text, " ")), n
		}
		x += n
	}
	if hang > room*2/5 {
		hang = 2
	}
	var out []Row
	line, used := widget.Line(nil), 0
	flush := func() {
		r.Line = line
		out = append(out, r)
		r.Label = ""
		line, used = widget.Line{widget.S(grid.Pad("", hang), theme.Text)}, hang
	}
	for _, s := range r.Line {
		for _, word := range pieces(s.Text) {
			n := grid.Width(word)
			text := strings.TrimRight(word, " ")
			if text == "" { // blanks at the edge are nothing
				word = word[:max(min(len(word), room-used), 0)]
				n = len(word)
			}
			if used > hang && used+grid.Width(text) > room {
				flush()
				word = strings.TrimLeft(word, " ")
				n = grid.Width(word)
			}
			for n > room-used && n > 0 { // a word longer than the line
				head := cutAt(word, room-used)
				if head == "" {
					break
				}
				line = append(line, widget.S(head, s.Style))
				word = word[len(head):]
				n = grid.Width(word)
				if strings.TrimSpace(word) == "" {
					word, n = "", 0
					break
				}
				flush()
			}
			if word == "" {
				continue
			}
			if k := len(line) - 1; k >= 0 && line[k].Style == s.Style {
				line[k].Text += word
			} else {
				line = append(line, widget.S(word, s.Style))
			}
			used += n
		}
	}
	if used > hang || len(out) == 0 {
		flush()
	}
	return out
}

// pieces cuts a text into words with the blanks that lie before them.
func pieces(s string) []string {
	var out []string
	start, in := 0, false
	for i := range len(s) {
		if blank := s[i] == ' '; blank && in {
			out = append(out, s[start:i])
			start, in = i, false
		} else if !blank {
			in = true
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
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

// LabelWidth is what the labels of some rows take, with a gap, at most most.
func LabelWidth(all []Row, most int) int {
	n := 0
	for i := range all {
		if !all[i].Title {
			n = max(n, grid.Width(all[i].Label))
		}
	}
	if n == 0 {
		return 0
	}
	return min(n+2, most)
}
