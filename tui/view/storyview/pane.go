package storyview

import (
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// Lines of the parts of the pane.
const (
	causesShown  = 5
	effectsShown = 6
	factLines    = 60
)

// pane draws the selected line in full: what it says, about what, what led to it, what followed, and the record.
func (v View) pane(f view.Frame, c grid.Canvas, l *feed.Line) {
	w, h := c.Size()
	lines := v.full(f, l, max(w-2, 1), h)
	top := 0
	if v.card {
		top = min(max(v.scroll, 0), max(len(lines)-h, 0))
	}
	for y := 0; y < h && top+y < len(lines); y++ {
		if y == h-1 && top+y < len(lines)-1 {
			c.Put(1, y, f.Words.Say("story.pane-more", "n", len(lines)-top-y), theme.Dim)
			break
		}
		lines[top+y].Draw(c, 1, y, w-2)
	}
}

// scrolled moves the card.
func (v View) scrolled(f view.Frame, by int) View {
	l, ok := v.line(f)
	if !ok {
		return v
	}
	p := v.plan(f.W, f.H)
	n := len(v.full(f, &l, max(p.pane.W-2, 1), p.pane.H))
	v.scroll = min(max(v.scroll+by, 0), max(n-p.pane.H, 0))
	return v
}

// full is the text of the pane for a width, and a height that says how much of each part there is room for.
func (v View) full(f view.Frame, l *feed.Line, w, h int) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	text := sanitize.Text(l.Text())
	for _, s := range widget.Wrap(text, w) {
		out = append(out, widget.Line{widget.S(s, l.Tone.Style()|grid.Bold)})
	}
	record := say("story.record", "seq", uint64(l.Seq))
	if l.Count > 1 {
		record = say("story.record-folded", "first", uint64(l.First), "seq", uint64(l.Seq), "n", l.Count)
	}
	out = append(out, widget.Line{widget.S(Clock(f, l.At)+"  "+l.At.In(f.Location).Format("15:04:05.000")+"  "+record, theme.Dim)}, nil)
	label := func(key, text string, s grid.Style) {
		out = append(out, widget.Line{widget.S(grid.Pad(say(key), 10)+" ", theme.Dim), widget.S(sanitize.Text(text), s)})
	}
	about := say("story.about-none")
	if t := l.Subject; t.Kind != target.Nothing && t.Kind != target.Record {
		about = kindOf(t) + " " + full(t)
	}
	label("story.pane-about", about, theme.Text)
	who := string(l.Actor)
	if l.Who != who && !strings.HasPrefix(who, l.Who) {
		who = l.Who + " (" + who + ")"
	}
	label("story.pane-actor", who, theme.Text)

	title := func(text string) { out = append(out, nil, widget.Line{widget.S(text, theme.Title)}) }
	short := h < 20
	most := causesShown
	if short {
		most = 2
	}
	title(say("story.pane-cause"))
	above, gone := causes(f, l, most)
	for i := range above {
		out = append(out, v.other(f, &above[i], grid.UpTo, w)...)
	}
	switch {
	case gone:
		out = append(out, widget.Line{widget.S("  "+say("story.cause-gone"), theme.Dim)})
	case len(above) == 0:
		out = append(out, widget.Line{widget.S("  "+say("story.cause-none"), theme.Dim)})
	}
	e := effects(f, l, v.level)
	title(v.followed(f, e))
	if e.n > 0 {
		most = effectsShown
		if short {
			most = 3
		}
		below, more := e.told(f, l, most)
		for i := range below {
			out = append(out, v.other(f, &below[i], grid.Into, w)...)
		}
		if more > 0 {
			out = append(out, widget.Line{widget.S("  "+say("story.pane-more", "n", more), theme.Dim)})
		}
	}
	rec, ok := f.Record(l.Seq)
	if !ok {
		return out
	}
	title(say("story.pane-fact") + ": " + rec.Event.Name())
	for _, s := range fact(rec) {
		out = append(out, widget.Line{widget.S("  "+s, theme.Dim)})
	}
	return out
}

// other is another line beside the selected one, in at most two rows.
func (v View) other(f view.Frame, l *feed.Line, mark rune, w int) []widget.Line {
	head := string(mark) + " " + grid.Pad(Clock(f, l.Since), 8) + " "
	text := widget.Wrap(sanitize.Text(l.Who+": "+l.Text()), max(w-grid.Width(head), 1))
	if len(text) == 0 {
		return nil
	}
	out := []widget.Line{{widget.S(head, theme.Cause), widget.S(text[0], l.Tone.Style())}}
	if len(text) > 1 {
		rest := grid.Cut(strings.Join(text[1:], " "), max(w-grid.Width(head), 1))
		out = append(out, widget.Line{widget.S(grid.Pad("", grid.Width(head)), 0), widget.S(rest, l.Tone.Style())})
	}
	return out
}

// full names a thing with its namespace or machine.
func full(t target.Target) string {
	switch {
	case t.Kind == target.Process:
		return t.Host + "/" + t.Process
	case t.Kind == target.Queue:
		return t.Host + "/" + t.Process + " " + t.Name
	case t.Namespace != "":
		return t.Namespace + "/" + t.Name
	case t.Name != "":
		return t.Name
	}
	return t.Host
}

// fact is what a record holds as YAML, in lines that can be drawn.
func fact(rec event.Record) []string {
	data, err := yaml.Marshal(rec.Event)
	if err != nil {
		data = []byte(err.Error())
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	lines = lines[:min(len(lines), factLines)]
	for i, s := range lines {
		indent := len(s) - len(strings.TrimLeft(s, " "))
		lines[i] = s[:indent] + sanitize.Text(s[indent:])
	}
	return lines
}

// written is a record as it is shown: what an object holds is a matter of its own page.
type written struct {
	Record event.Seq   `json:"record"`
	At     time.Time   `json:"at"`
	Actor  event.Actor `json:"actor"`
	Cause  event.Seq   `json:"cause,omitempty"`
	Fact   string      `json:"fact"`
	Object string      `json:"object,omitempty"`
	Data   event.Event `json:"data,omitempty"`
}

func asYAML(rec event.Record) string {
	o := written{Record: rec.Seq, At: rec.At, Actor: rec.Actor, Cause: rec.Cause, Fact: rec.Event.Name(), Data: rec.Event}
	if c, ok := rec.Event.(event.ObjectChanged); ok && c.Object != nil {
		if k, err := kinds.Of(c.Object); err == nil {
			o.Object = k.Kind + " " + c.Object.GetNamespace() + "/" + c.Object.GetName()
		}
	}
	data, err := yaml.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Clips are the sentence, the line with its time and actor, and the record.
func (v View) Clips(f view.Frame) []view.Clip {
	l, ok := v.line(f)
	if !ok {
		return nil
	}
	clips := []view.Clip{
		{Label: f.Words.Say("story.clip-sentence"), Text: l.Text()},
		{Label: f.Words.Say("story.clip-line"), Text: f.Words.Say("story.cause-at", "at", Clock(f, l.Since), "who", l.Who, "what", l.Text())},
	}
	if rec, ok := f.Record(l.Seq); ok {
		clips = append(clips, view.Clip{Label: f.Words.Say("story.clip-fact"), Text: asYAML(rec)})
	}
	return clips
}
