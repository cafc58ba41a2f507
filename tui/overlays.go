package tui

import (
	"strings"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view/listview"
	"example.com/kubeviz/tui/widget"
)

// help is made from the key table, the signs of the map and the words of command.
func (m *model) help() listview.List {
	l := listview.List{Title: m.words.Say("help.title"), Width: min(m.w-4, 92)}
	scopes := []keymap.Scope{keymap.Scope(m.rooms.front().ID()), keymap.Everywhere}
	for _, s := range []keymap.Scope{"map", "story"} {
		if s != scopes[0] {
			scopes = append(scopes, s)
		}
	}
	for _, s := range scopes {
		l.Lines = append(l.Lines, widget.Line{{Text: m.words.Say("help.scope-" + string(s)), Style: theme.Title}})
		for _, b := range m.keys.Rows(s) {
			if b.Label == "" {
				continue
			}
			l.Lines = append(l.Lines, widget.Line{{Text: "  " + grid.Pad(b.Label, 9), Style: theme.Key}, {Text: m.words.Say(b.Help), Style: theme.Text}})
		}
		if s == scopes[0] {
			l.Lines = append(l.Lines, nil)
			l.Lines = append(l.Lines, m.legend()...)
		}
		l.Lines = append(l.Lines, nil)
	}
	l.Lines = append(l.Lines, widget.Line{{Text: m.words.Say("help.words"), Style: theme.Title}})
	for _, w := range command.Words() {
		usage := widget.S("  "+w.Usage, theme.Key)
		if room := 36; grid.Width(usage.Text) <= room {
			usage.Text = grid.Pad(usage.Text, room)
		} else { // a line of its own
			l.Lines = append(l.Lines, widget.Line{usage})
			usage.Text = grid.Pad("", room)
		}
		l.Lines = append(l.Lines, widget.Line{usage, {Text: " "}, {Text: w.Help, Style: theme.Text}})
	}
	return l
}

// legend explains the signs.
func (m *model) legend() []widget.Line {
	signs := []struct {
		sign  rune
		style grid.Style
		key   string
	}{
		{grid.Running, theme.OK, "sign.running"}, {grid.Starting, theme.Busy, "sign.starting"}, {grid.Waiting, theme.Waiting, "sign.waiting"},
		{grid.Terminating, theme.Waiting, "sign.terminating"}, {grid.Failing, theme.Failing, "sign.failing"}, {grid.Unknown, theme.Unknown, "sign.unknown"},
		{grid.Leader, theme.Leader, "sign.leader"}, {grid.Standby, theme.Dim, "sign.standby"}, {grid.CutMark, theme.Fault, "sign.cut"}, {grid.Moment, theme.Accent, "sign.moment"},
	}
	out := []widget.Line{{{Text: m.words.Say("help.signs"), Style: theme.Title}}}
	for i := 0; i < len(signs); i += 2 {
		line := widget.Line{}
		for _, s := range signs[i:min(i+2, len(signs))] {
			line = append(line, widget.S("  "+string(s.sign), s.style), widget.S(" "+grid.Pad(m.words.Say(s.key), 36), theme.Text))
		}
		out = append(out, line)
	}
	for _, key := range []string{"sign.queue", "sign.log", "sign.short"} {
		out = append(out, widget.Line{{Text: "  "}, {Text: m.words.Say(key), Style: theme.Dim}})
	}
	return out
}

// answerList shows the answer of a command that has more than a line.
func answerList(a feed.Answer) listview.List {
	l := listview.List{Title: sanitize.Text(a.Text), Low: true}
	for _, o := range a.Output {
		l.Lines = append(l.Lines, widget.Line{{Text: sanitize.Text(o), Style: theme.Text}})
	}
	return l
}

// usage of the word that a line begins with.
func usage(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	for _, w := range command.Words() {
		if w.Name == strings.ToLower(word) {
			return w.Usage + "  " + w.Help
		}
	}
	return ""
}
