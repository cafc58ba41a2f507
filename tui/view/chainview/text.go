package chainview

import (
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/words"
)

// line is what a row says.
type line struct {
	who, text string
	style     grid.Style
	subject   target.Target
}

// say tells a row. What it says depends on nothing but the row and the language.
func say(f view.Frame, r row) line {
	switch r.id.kind {
	case noteRow:
		return line{text: f.Words.Say("chain.left-out", "n", rowsMax), style: theme.Dim}
	case stageRow:
		d, _ := r.h.done.Event.(event.RequestDone)
		s := d.Stages[r.id.i]
		text := s.Stage
		if s.Note != "" {
			text += ": " + s.Note
		}
		return line{text: sanitize.Text(text), style: theme.Dim, subject: subject(f, r.h)}
	case writeRow:
		w := r.h.writes[r.id.i]
		s := tell(f, w)
		return line{who: sanitize.Text(s.Who), text: s.One, style: theme.Dim, subject: f.Placed(s.Subject)}
	case raftRow:
		return line{who: sanitize.Text(string(r.raft.Actor)), text: raftText(f, r), style: theme.Dim, subject: tell(f, r.raft).Subject}
	}
	if r.h.isRequest() {
		return request(f, r.h)
	}
	s := tell(f, r.h.rec)
	if e, ok := r.h.rec.Event.(event.Reconciled); ok && e.Error == "" && strings.HasPrefix(e.Decision, "report ") { // it names what it reports on
		s.One = sanitize.Text(e.Decision)
	}
	style := s.Tone.Style()
	if s.Tone == sentence.Quiet { // in a chain nothing is beside the point
		style = theme.Text
	}
	return line{who: sanitize.Text(s.Who), text: s.One, style: style, subject: subject(f, r.h)}
}

func tell(f view.Frame, r event.Record) sentence.Sentence {
	return sentence.NewTeller(f.Words).Tell(r, f.World)
}

// subject of a hop; the record itself where there is no thing.
func subject(f view.Frame, h *hop) target.Target {
	if _, ok := h.done.Event.(event.RequestDone); ok { // knows the name that the server chose
		if s := tell(f, h.done).Subject; s.Kind != target.Nothing {
			return f.Placed(s)
		}
	}
	s := tell(f, h.rec).Subject
	if s.Kind == target.Nothing {
		s = target.Target{Kind: target.Record, Seq: h.seq()}
	}
	return f.Placed(s)
}

// request says what was asked for and what came of it.
func request(f view.Frame, h *hop) line {
	e := h.rec.Event.(event.RequestReceived)
	d, answered := h.done.Event.(event.RequestDone)
	out := line{who: sanitize.Text("apiserver/" + e.Server), style: theme.Text, subject: subject(f, h)}
	name := e.ObjectName
	if name == "" {
		name = d.ObjectName
	}
	if name == "" && len(h.writes) > 0 {
		if c, ok := h.writes[0].Event.(event.ObjectChanged); ok && c.Object != nil {
			name = c.Object.GetName()
		}
	}
	args := []any{"what", what(e, name), "code", d.Code, "message", d.Message, "revision", revision(h), "took", dur(h.last().At.Sub(h.rec.At))}
	switch index, term := entry(h); {
	case answered && d.Code >= 400:
		out.text, out.style = f.Words.Say("chain.failed", args...), theme.Waiting
	case !answered && len(h.writes) == 0:
		out.text, out.style = f.Words.Say("chain.no-answer", args...), theme.Waiting
	case len(h.writes) == 0:
		out.text, out.style = f.Words.Say("chain.read", args...), theme.Dim
	case index > 0:
		out.text = f.Words.Say("chain.written-raft", append(args, "index", index, "term", term)...)
	default:
		out.text = f.Words.Say("chain.written", args...)
	}
	return out
}

// what a request is about, as one would type it: "create pod web-1", "patch pod/status web-1".
func what(e event.RequestReceived, name string) string {
	kind := e.Resource
	if k, ok := kinds.Named(e.Resource); ok {
		kind = k.Singular
	}
	if e.Subresource != "" {
		kind += "/" + e.Subresource
	}
	if e.Namespace != "" && e.Namespace != "default" {
		name = e.Namespace + "/" + name
	}
	return strings.TrimSpace(e.Verb + " " + kind + " " + name)
}

// entry is the raft entry that carried what a request wrote; 0 on the memory store.
func entry(h *hop) (index, term uint64) {
	for _, w := range h.writes {
		if c, ok := w.Event.(event.ObjectChanged); ok && c.Index > 0 {
			return c.Index, c.Term
		}
	}
	return 0, 0
}

func revision(h *hop) int64 {
	for i := len(h.writes) - 1; i >= 0; i-- {
		switch c := h.writes[i].Event.(type) {
		case event.ObjectChanged:
			return c.Revision
		case event.LeaseRenewed:
			return c.Revision
		}
	}
	return 0
}

// raftText says where an entry is; how long after the first log had it is wall time, in which raft lives.
func raftText(f view.Frame, r row) string {
	e, ok := r.raft.Event.(event.RaftAppended)
	if !ok {
		return tell(f, r.raft).One
	}
	first := e
	if a, ok := r.h.raft[0].Event.(event.RaftAppended); ok {
		first = a
	}
	index, term := entry(r.h)
	if index == 0 {
		index, term = e.To, e.Term
	}
	if later := e.Stored.Sub(first.Stored); later > 0 && !first.Stored.IsZero() {
		key := "chain.stored-later"
		if e.To != index { // the instant is that of the newest entry of many
			key = "chain.stored-within"
		}
		return f.Words.Say(key, "member", e.Member, "index", index, "term", term, "later", dur(later))
	}
	return f.Words.Say("chain.stored", "member", e.Member, "index", index, "term", term)
}

// dur writes how long something took, with three digits that mean something: 0.08ms, 1.8ms, 420ms, 2.05s, 12.3s, 5m50s.
func dur(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d <= 0:
		return "0"
	case ms < 0.1:
		return strconv.FormatFloat(ms, 'f', 2, 64) + "ms"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + "ms"
	case ms < 999.5:
		return strconv.FormatFloat(ms, 'f', 0, 64) + "ms"
	case d < 9995*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s"
	case d < 60*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return words.Span(d)
}

// took is all the time that a hop stands for: since what it follows from, up to its end.
func took(r row) time.Duration {
	switch r.id.kind {
	case stageRow:
		if d, ok := r.h.done.Event.(event.RequestDone); ok {
			return d.Stages[r.id.i].Took
		}
	case hopRow:
		out := time.Duration(0)
		if r.h.parent != nil {
			out = r.h.rec.At.Sub(r.h.from.At)
		}
		if r.h.isRequest() {
			out += r.h.last().At.Sub(r.h.rec.At)
		}
		return max(out, 0)
	}
	return 0
}
