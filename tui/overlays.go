package tui

import (
	"strings"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/timebar"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/listview"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// helpWidth is the width of the help in cells, where there is room.
const helpWidth = 96

// help is made from the key table, the signs of the map and the words of command.
func (m *model) help() listview.List {
	say := m.words.Say
	l := listview.List{Title: say("help.title"), Width: min(m.w-4, helpWidth), Hint: say("help.search"), None: say("help.none")}
	front := keymap.Scope(m.rooms.front().ID())
	scopes := []keymap.Scope{front, keymap.Everywhere}
	for _, s := range m.keys.Scopes() {
		if s != front && s != keymap.Everywhere {
			scopes = append(scopes, s)
		}
	}
	for _, s := range scopes {
		rows := m.keys.Rows(s)
		if len(rows) == 0 {
			continue
		}
		l.Lines = append(l.Lines, widget.Line{{Text: m.words.Say("help.scope-" + string(s)), Style: theme.Title}})
		for _, b := range rows {
			if b.Label == "" {
				continue
			}
			l.Lines = append(l.Lines, widget.Line{{Text: "  " + grid.Pad(b.Label, 9), Style: theme.Key}, {Text: m.words.Say(b.Help), Style: theme.Text}})
		}
		l.Lines = append(l.Lines, nil)
		if s == keymap.Everywhere {
			l.Lines = append(append(l.Lines, m.legend()...), nil)
		}
	}
	l.Lines = append(l.Lines, widget.Line{{Text: say("help.words"), Style: theme.Title}})
	for _, w := range command.Words() {
		l.Lines = append(l.Lines, wordLines(w.Usage, m.words.Say("word."+w.Name))...)
	}
	l.Lines = append(l.Lines, nil, widget.Line{{Text: say("help.screen-words"), Style: theme.Title}})
	for _, w := range screenWords() {
		l.Lines = append(l.Lines, wordLines(w.usage, m.words.Say(w.help))...)
	}
	return l
}

// wordLines are a word of command and what it does: in one line, or in two where the word is long.
func wordLines(usage, help string) []widget.Line {
	const room = 36
	head := widget.S("  "+usage, theme.Key)
	if grid.Width(head.Text) > room {
		return []widget.Line{{head}, {widget.S(grid.Pad("", room+1), theme.Text), widget.S(help, theme.Text)}}
	}
	head.Text = grid.Pad(head.Text, room)
	return []widget.Line{{head, widget.S(" ", theme.Text), widget.S(help, theme.Text)}}
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
		{grid.Packet, theme.Busy, "sign.append"}, {grid.Ballot, theme.Leader, "sign.vote"}, {grid.Granted, theme.Leader, "sign.granted"}, {grid.Play, theme.Busy, "sign.watch"},
		{grid.Times, theme.Failing, "sign.lost"}, {grid.Cordoned, theme.Waiting, "sign.cordoned"},
	}
	out := []widget.Line{{{Text: m.words.Say("help.signs"), Style: theme.Title}}}
	for i := 0; i < len(signs); i += 2 {
		line := widget.Line{}
		for _, s := range signs[i:min(i+2, len(signs))] {
			line = append(line, widget.S("  "+string(s.sign), s.style), widget.S(" "+grid.Pad(m.words.Say(s.key), 40), theme.Text))
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

// choice is a line of a menu.
func choice(text string, do intent.Intent) listview.Choice {
	return listview.Choice{Line: widget.Line{widget.S(text, theme.Text)}, Do: do}
}

// marksShown is how many marks the menu of time offers, the newest first.
const marksShown = 40

// until offers what time can be let run to, and the marks to go to.
func (m *model) until() listview.List {
	say := m.words.Say
	l := listview.List{Title: say("menu.time"), Width: min(m.w-4, 76)}
	run := func(key, what string) { l.Choices = append(l.Choices, choice(say(key), intent.Await{What: what})) }
	run("menu.until-anomaly", event.Anomaly)
	run("menu.until-quiet", event.Quiet)
	run("menu.until-node", "NodeJudged")
	run("menu.until-leader", "RaftRole")
	run("menu.until-scheduled", "Scheduled")
	run("menu.until-started", "Started")
	if m.reader.Live() {
		l.Choices = append(l.Choices, choice(say("menu.until-other"), intent.Console{Line: "until "}))
	} else if m.cluster != nil {
		l.Choices = append(l.Choices, choice(say("menu.live"), intent.Live{}))
	}
	l.Choices = append(l.Choices, choice(say("menu.goto"), intent.Console{Line: "goto "}))
	all := m.sources.marks.All()
	w := m.reader.World()
	for i := len(all) - 1; i >= 0 && i >= len(all)-marksShown; i-- {
		k := all[i]
		sign, style := timebar.Sign(k.Kind)
		l.Choices = append(l.Choices, listview.Choice{Do: intent.ToSeq{Seq: k.Seq}, Line: widget.Line{
			widget.S(grid.Pad("+"+words.Span(k.At.Sub(w.Start)), 9), theme.Dim), widget.S(string(sign)+" ", style), widget.S(sanitize.Text(k.Word), theme.Text)}})
	}
	return l
}

// exports offers what can be kept or shared of the screen.
func (m *model) exports() listview.List {
	say := m.words.Say
	l := listview.List{Title: say("menu.export")}
	l.Choices = append(l.Choices, choice(say("menu.save-text"), intent.Save{What: saveText}), choice(say("menu.save-svg"), intent.Save{What: saveSVG}),
		choice(say("menu.save-recording"), intent.Save{What: saveRecording}))
	if m.saver.record != "" {
		l.Lines = []widget.Line{{widget.S(say("menu.recorded", "path", m.saver.record), theme.Dim)}}
	}
	m.draw()
	m.dirty = true
	l.Choices = append(l.Choices, choice(say("menu.clip-screen"), intent.Clip{Text: trimmed(m.grid.Render(nil, m.ascii))}))
	return l
}

// trimmed is text without blanks at the ends of its lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// offerCopies offers what can be copied of what is selected.
func (m *model) offerCopies(f view.Frame) {
	var clips []view.Clip
	if c, ok := m.rooms.front().(view.Copier); ok {
		clips = c.Clips(f)
	}
	l := listview.List{Title: m.words.Say("menu.copy"), Width: min(m.w-4, 90)}
	for _, c := range clips {
		first, _, _ := strings.Cut(c.Text, "\n")
		l.Choices = append(l.Choices, listview.Choice{Do: intent.Clip{Text: c.Text}, Line: widget.Line{
			widget.S(grid.Pad(c.Label, 24)+" ", theme.Text), widget.S(sanitize.Text(first), theme.Dim)}})
	}
	if m.cluster != nil && (m.outside.open != nil || m.outside.access != nil) {
		line := m.words.Say("menu.opens-api")
		if a := m.outside.access; a != nil {
			line = a.export()
		}
		l.Choices = append(l.Choices, listview.Choice{Do: intent.ExportLine{}, Line: widget.Line{
			widget.S(grid.Pad(m.words.Say("menu.export-line"), 24)+" ", theme.Text), widget.S(sanitize.Text(line), theme.Dim)}})
	}
	m.draw()
	m.dirty = true
	l.Choices = append(l.Choices, choice(m.words.Say("menu.copy-screen"), intent.Clip{Text: trimmed(m.grid.Render(nil, m.ascii))}))
	m.overlay = l
}
