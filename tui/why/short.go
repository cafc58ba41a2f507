package why

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// Short is the most pressing answer about a thing in at most rows lines of width cells, for a pane beside something else: its sentences, the smallest change, and
// what comes next. Change and next are kept where not all fits; sentences are cut from the end.
func (a *Asker) Short(f view.Frame, t target.Target, width, rows int) []widget.Line {
	if width < 8 || rows < 1 {
		return nil
	}
	answer := a.Ask(f, t)[0]
	var tail []widget.Line
	if len(answer.Changes) > 0 && answer.Mood != Fine {
		tail = append(tail, wrapped(string(grid.RightTo)+" ", f.Words.Say("why.head-change")+": "+answer.Changes[0].Text, width, theme.Accent&^grid.Bold)...)
	}
	if answer.Next != "" {
		text := answer.Next
		if !answer.Until.IsZero() {
			text += " " + words.Span(answer.Until.Sub(f.Now))
		}
		tail = append(tail, wrapped(string(grid.Play)+" ", text, width, theme.Waiting)...)
	}
	tail = tail[:min(len(tail), max(rows-1, 0))]
	var out []widget.Line
	for _, l := range answer.Lines {
		out = append(out, wrapped("", l, width, theme.Text)...)
	}
	if room := rows - len(tail); len(out) > room {
		out = out[:room]
		last := &out[room-1][len(out[room-1])-1]
		last.Text = grid.Cut(last.Text+" "+string(grid.Ellipsis), width)
	}
	return append(out, tail...)
}

// wrapped breaks text at blanks, with a sign before the first line.
func wrapped(head, text string, width int, style grid.Style) []widget.Line {
	indent := grid.Width(head)
	var out []widget.Line
	for i, t := range widget.Wrap(text, max(width-indent, 1)) {
		if i > 0 {
			head = grid.Pad("", indent)
		}
		out = append(out, widget.Line{widget.S(head, style), widget.S(t, style)})
	}
	return out
}
