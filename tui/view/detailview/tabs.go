package detailview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// The tabs, in their order.
const (
	overview = iota
	manifest
	described
	events
	requests
	queue
	watches
	records
	tabCount
)

// tabIDs are the names that an intent.Open may ask for.
var tabIDs = [tabCount]string{"overview", "yaml", "describe", "events", "requests", "queue", "watches", "records"}

func tabName(f view.Frame, tab int) string {
	say := f.Words.Say
	switch tab {
	case overview:
		return say("detail.tab-overview")
	case manifest:
		return "YAML"
	case described:
		return "describe"
	case events:
		return say("detail.tab-events")
	case requests:
		return say("detail.tab-requests")
	case queue:
		return say("detail.tab-queue")
	case watches:
		return say("detail.tab-watches")
	}
	return say("detail.tab-records")
}

// whyEmpty says why a tab has no content.
func whyEmpty(f view.Frame, tab int, s describe.Subject) string {
	say := f.Words.Say
	switch tab {
	case overview:
		return say("detail.unknown-thing")
	case manifest, described:
		if s.Target.Kind == target.Worker || s.Target.Kind == target.Master {
			return say("detail.no-node-object")
		}
		return say("detail.no-object")
	case events:
		if s.Object == nil {
			return say("detail.no-object")
		}
		return say("detail.no-events")
	case requests:
		return say("detail.no-requests")
	case queue:
		return say("detail.no-queue")
	case watches:
		return say("detail.no-watches")
	}
	return say("detail.no-records")
}

// cache is what a page remembers between frames; all of it can be made again.
type cache struct {
	ledger ledger
	// text of the manifest and of describe, by the record of the object and the second they were made at.
	yamlOf event.Seq
	yaml   []describe.Row
	textOf event.Seq
	textAt int64
	text   []describe.Row
}

// rows are the lines of a tab, nothing for an empty one.
func (c *cache) rows(f view.Frame, s describe.Subject, tab int) []describe.Row {
	switch tab {
	case overview:
		return describe.Overview(f, s)
	case manifest:
		if s.Object != nil && (c.yamlOf != s.Seq || c.yaml == nil) {
			c.yamlOf, c.yaml = s.Seq, yamlRows(describe.YAML(s))
		}
		if s.Object == nil {
			return nil
		}
		return c.yaml
	case described:
		if s.Object == nil {
			return nil
		}
		if at := f.Now.Unix(); c.textOf != f.World.Seq || c.textAt != at || c.text == nil {
			c.textOf, c.textAt, c.text = f.World.Seq, at, textRows(describe.Text(f.World, s, f.Now))
		}
		return c.text
	case events:
		return describe.EventRows(f, s)
	case requests:
		return requestRows(f, c.ledger.requests)
	case queue:
		return describe.QueueRows(f, s)
	case watches:
		return watchRows(f, s)
	}
	return recordRows(f, c.ledger.records(f))
}

// has tells whether a tab has content, at less cost than making it, and how many entries where that is a number worth showing.
func (c *cache) has(f view.Frame, s describe.Subject, tab int) (ok bool, n int) {
	switch tab {
	case overview:
		return true, 0
	case manifest, described:
		return s.Object != nil, 0
	case events:
		if s.Object == nil {
			return false, 0
		}
		n = len(describe.EventsOf(f.World, s.Kind, s.Object.GetNamespace(), s.Object.GetName()))
		return n > 0, n
	case requests:
		return len(c.ledger.requests) > 0, 0
	case queue:
		return len(describe.QueueRows(f, s)) > 0, 0
	case watches:
		list, more := open(f, s.Target)
		return len(list) > 0, len(list) + more
	}
	return len(c.ledger.records(f)) > 0, 0
}

func yamlRows(lines []string) []describe.Row {
	out := make([]describe.Row, len(lines))
	for i, l := range lines {
		l = sanitize.Text(l)
		key, value, ok := strings.Cut(l, ":")
		if trimmed := strings.TrimLeft(key, " -"); ok && trimmed != "" && !strings.ContainsAny(trimmed, ` "'`) && (value == "" || value[0] == ' ') {
			out[i].Line = widget.Line{widget.S(key+":", theme.Cause), widget.S(value, theme.Text)}
		} else {
			out[i].Line = widget.Line{widget.S(l, theme.Text)}
		}
	}
	return out
}

func textRows(lines []string) []describe.Row {
	out := make([]describe.Row, len(lines))
	for i, l := range lines {
		l = sanitize.Text(l)
		style := theme.Text
		if strings.HasSuffix(l, ":") && !strings.HasPrefix(l, "      ") {
			style = theme.Title
		}
		if strings.Contains(l, "----") && strings.Trim(l, " -") == "" {
			style = theme.Frame
		}
		if key, value, ok := strings.Cut(l, ":"); ok && style == theme.Text && !strings.Contains(strings.TrimSpace(key), "  ") && strings.HasPrefix(value, " ") {
			out[i].Line = widget.Line{widget.S(key+":", theme.Dim), widget.S(value, theme.Text)}
			continue
		}
		out[i].Line = widget.Line{widget.S(l, style)}
	}
	return out
}

// took is how long a request was under way on the API server.
func took(f view.Frame, r event.Record, e *event.RequestDone) time.Duration {
	if c, ok := f.Record(r.Cause); ok {
		if _, received := c.Event.(event.RequestReceived); received {
			return r.At.Sub(c.At)
		}
	}
	var sum time.Duration
	for _, s := range e.Stages {
		sum += s.Took
	}
	return sum
}

// requestRows: the newest first; when, who, what, the answer, how long, and a bar for each stage.
func requestRows(f view.Frame, seqs []event.Seq) []describe.Row {
	out := make([]describe.Row, 0, len(seqs))
	for i := len(seqs) - 1; i >= 0; i-- {
		r, ok := f.Record(seqs[i])
		if !ok {
			continue
		}
		e := r.Event.(event.RequestDone)
		style, sign := theme.OK, grid.Done
		switch {
		case e.Code >= 500:
			style, sign = theme.Failing, grid.Failing
		case e.Code >= 400:
			style, sign = theme.Waiting, grid.Times
		}
		resource, _, _ := strings.Cut(e.Resource, ".")
		what := e.Verb + " " + resource
		if e.Subresource != "" {
			what += "/" + e.Subresource
		}
		if e.ObjectName != "" {
			what += " " + e.ObjectName
		}
		line := widget.Line{
			widget.S(fmt.Sprintf("%c %3d ", sign, e.Code), style), widget.S(fmt.Sprintf("%6s ", short(took(f, r, &e))), theme.Text),
			widget.S(stageBars(e.Stages)+" ", theme.Busy), widget.S(cell(describe.Who(f, r), 18), theme.Dim), widget.S(sanitize.Text(what), theme.Text),
		}
		if e.Code >= 400 && e.Message != "" {
			line = append(line, widget.S("  "+sanitize.Text(e.Message), style))
		}
		out = append(out, describe.Row{Label: storyview.Clock(f, r.At), Line: line, Seq: r.Seq, Single: e.Code < 400})
	}
	return out
}

// stageBars is one cell for each of the six stages, by its share of the longest.
func stageBars(stages []event.Stage) string {
	values := make([]float64, 0, 6)
	for _, s := range stages[:min(len(stages), 6)] {
		values = append(values, float64(s.Took))
	}
	return grid.Pad(widget.Spark(values, len(values)), 6)
}

// stageText spells the stages of a request out; "" for other records.
func stageText(f view.Frame, seq event.Seq) string {
	r, ok := f.Record(seq)
	if !ok {
		return ""
	}
	e, ok := r.Event.(event.RequestDone)
	if !ok || len(e.Stages) == 0 {
		return ""
	}
	var parts []string
	for _, s := range e.Stages {
		if s.Took == 0 && s.Note == "" {
			continue
		}
		text := sanitize.Text(s.Stage) + " " + short(s.Took)
		if s.Note != "" {
			text += " (" + sanitize.Text(s.Note) + ")"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return f.Words.Say("detail.no-time")
	}
	return strings.Join(parts, " › ")
}

// short writes spans of some milliseconds with a fraction, as stages take.
func short(d time.Duration) string {
	if d > 0 && d < 10*time.Millisecond {
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	}
	return words.Short(d)
}

func watchRows(f view.Frame, s describe.Subject) []describe.Row {
	say := f.Words.Say
	list, more := open(f, s.Target)
	if len(list) == 0 {
		return nil
	}
	var out []describe.Row
	serves := s.Target.Process == "apiserver" || s.Target.Kind == target.Master
	for _, o := range list {
		what := o.Resource
		if o.Namespace != "" {
			what += " -n " + o.Namespace
		}
		if o.Selector != "" {
			what += "  " + o.Selector
		}
		from := ""
		if o.Revision > 0 {
			from = "  " + say("detail.watch-from", "revision", o.Revision)
		}
		other, t := string(o.Client), target.Target{Kind: target.Process, Host: o.Client.Host(), Process: o.Client.Component()}
		if !serves {
			other, t = o.Server, target.Target{Kind: target.Process, Host: o.Server, Process: "apiserver"}
		}
		if _, ok := f.World.Client(other); ok && serves {
			t = target.Target{Kind: target.Client, Name: other}
		}
		if t.Host == "" && t.Kind != target.Client {
			t = target.Target{}
		}
		out = append(out, describe.Row{Label: storyview.Clock(f, o.At), Seq: o.Seq, Target: t, Line: widget.Line{
			widget.S(string(grid.Play)+" ", theme.OK), widget.S(cell(other, 28), theme.Title), widget.S(sanitize.Text(what), theme.Text), widget.S(from, theme.Dim)}})
	}
	if more > 0 {
		out = append(out, describe.Row{Line: widget.Line{widget.S(say("detail.more", "n", more), theme.Dim)}})
	}
	return out
}

// recordRows: the newest first, as sentences.
func recordRows(f view.Frame, seqs []event.Seq) []describe.Row {
	out := make([]describe.Row, 0, len(seqs))
	teller := sentence.NewTeller(f.Words)
	for i := len(seqs) - 1; i >= 0; i-- {
		r, ok := f.Record(seqs[i])
		if !ok {
			continue
		}
		if _, received := r.Event.(event.RequestReceived); received && answered(f, r.Seq) {
			continue // its answer says the same and more
		}
		s := teller.Tell(r, nil)
		out = append(out, describe.Row{Label: storyview.Clock(f, r.At), Seq: r.Seq, Line: widget.Line{widget.S(cell(s.Who, 18), theme.Dim), widget.S(s.One, s.Tone.Style())}})
	}
	return out
}

// answered reports a request whose answer is known.
func answered(f view.Frame, seq event.Seq) bool {
	for _, e := range f.Trace.Effects(seq, f.World.Seq) {
		if r, ok := f.Record(e); ok {
			if _, done := r.Event.(event.RequestDone); done {
				return true
			}
		}
	}
	return false
}

// cell is text from the cluster in a column of its own.
func cell(s string, width int) string {
	return grid.Pad(grid.CutMiddle(sanitize.Text(s), width-1), width)
}
