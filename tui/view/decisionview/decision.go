// Package decisionview is the page about the scheduler's decisions on a pod: its attempts and the queue it waited in between, and for the chosen attempt what each
// plugin said of each node, with scores as they are and weighted, and why the chosen node beat the one under the cursor.
//
// Everything comes from the records SchedulingAttempt and PodQueued. A record holds at most 100 verdicts; in larger clusters nodes are told of by groups of one
// reason, with the counts of the scheduler's own sentence.
//
// Imports of ours: engine/event, tui/*. Goroutines: the screen's one. Time: simulated.
package decisionview

import (
	"strconv"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// ID of the view.
const ID = "decision"

// View is the page about a pod.
type View struct {
	pod target.Target
	// attempt looked at, by its record; 0: the newest.
	attempt event.Seq
	// node under the cursor, by the key of its row; empty: the first.
	node string
	// times: keys move in the list of attempts, not in that of nodes.
	times bool
	// raw shows scores before they are weighted; byName sorts nodes by name instead of by how well they did.
	raw, byName bool
	find        string
	memo        *memo
}

// memo keeps what was made of the records, by the state of the World.
type memo struct {
	seq   event.Seq
	steps []step
	// table of the attempt it was made for.
	of     event.Seq
	byName bool
	table  table
}

// New makes the page.
func New(about intent.Open, f view.Frame) View {
	v := View{pod: about.Target, attempt: about.Seq, memo: &memo{}}
	if r, ok := f.Record(about.Seq); ok {
		switch e := r.Event.(type) {
		case event.SchedulingAttempt:
			v.pod = target.Target{Kind: target.Pod, Namespace: e.Pod.Namespace, Name: e.Pod.Name}
		default: // of another record the newest attempt is the answer
			v.attempt = 0
		}
	}
	return v
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Titled   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Title names the page in the path.
func (v View) Title(f view.Frame) string {
	return f.Words.Say("why.crumb-decision", "pod", v.pod.Name)
}

// Selection is the pod; keys act on it.
func (v View) Selection(f view.Frame) target.Target { return f.Placed(v.pod) }

// Finding is the text searched for.
func (v View) Finding() string { return v.find }

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	switch i := i.(type) {
	case intent.Move:
		if i.DX != 0 {
			return v.pane(f, i.DX < 0), nil
		}
		return v.move(f, i.DY), nil
	case intent.Next:
		return v.pane(f, !v.times), nil
	case intent.Wheel:
		if p := v.places(f); p.times.Contains(i.X, i.Y) {
			v.times = len(v.steps(f)) > 1
		} else {
			v.times = false
		}
		return v.move(f, i.By), nil
	case intent.Page:
		return v.move(f, i.By*max(f.H/2, 1)), nil
	case intent.Edge:
		return v.move(f, i.To*1_000_000), nil
	case intent.Point:
		return v.point(f, i)
	case intent.Option:
		switch i.Name {
		case "raw":
			v.raw = !v.raw
			return v, nil
		case "sort":
			v.byName = !v.byName
			return v, nil
		}
	case intent.Text:
		v.find = i.Value
		if rows := v.rows(f); i.Value != "" && !matches(rows, v.cursor(rows), i.Value) {
			return v.match(f, 1), nil
		}
		return v, nil
	case intent.Match:
		return v.match(f, i.By), nil
	case intent.Enter:
		return v.enter(f)
	case intent.Chain:
		if i.Seq == 0 {
			if s, ok := v.chosen(f); ok {
				return v, []intent.Intent{intent.Chain{Seq: s.seq}}
			}
		}
	case intent.Why:
		return v, []intent.Intent{intent.Open{Page: "why", Target: v.Selection(f)}}
	}
	return v, []intent.Intent{i}
}

// pane moves the keys to the list of attempts or back to that of nodes.
func (v View) pane(f view.Frame, times bool) View {
	v.times = times && len(v.steps(f)) > 1
	return v
}

func (v View) move(f view.Frame, by int) View {
	if v.times {
		steps := v.steps(f)
		at := v.stepAt(steps)
		v.attempt = steps[min(max(at+by, 0), len(steps)-1)].seq
		if v.attempt == steps[len(steps)-1].seq && by > 0 {
			v.attempt = 0 // the newest is followed
		}
		return v
	}
	if rows := v.rows(f); len(rows) > 0 {
		v.node = rows[min(max(v.cursor(rows)+by, 0), len(rows)-1)].key
	}
	return v
}

func matches(rows []verdict, at int, text string) bool {
	if at < 0 || at >= len(rows) {
		return false
	}
	r := &rows[at]
	text = strings.ToLower(text)
	return strings.Contains(strings.ToLower(r.name), text) || strings.Contains(strings.ToLower(r.plugin), text) || strings.Contains(strings.ToLower(r.reason), text)
}

func (v View) match(f view.Frame, by int) View {
	if v.find == "" {
		return v
	}
	rows := v.rows(f)
	if i, ok := widget.Seek(len(rows), v.cursor(rows)+by, by, func(i int) bool { return matches(rows, i, v.find) }); ok {
		v.node, v.times = rows[i].key, false
	}
	return v
}

// enter goes to the node under the cursor, or to the chain of a move between queues.
func (v View) enter(f view.Frame) (view.View, []intent.Intent) {
	if v.times {
		if s, ok := v.chosen(f); ok && !s.attempt() {
			return v, []intent.Intent{intent.Open{Page: "chain", Target: v.pod, Seq: s.seq}}
		}
		v.times = false
		return v, nil
	}
	rows := v.rows(f)
	if at := v.cursor(rows); at < len(rows) && len(rows[at].nodes) == 0 {
		kind := target.Worker
		if h, ok := f.World.Hosts.Get(rows[at].name); ok && h.Master {
			kind = target.Master
		}
		return v, []intent.Intent{intent.Open{Page: "why", Target: target.Target{Kind: kind, Host: rows[at].name}}}
	}
	return v, nil
}

func (v View) point(f view.Frame, p intent.Point) (view.View, []intent.Intent) {
	at := v.places(f)
	switch {
	case at.times.Contains(p.X, p.Y):
		steps := v.steps(f)
		if i := at.timesTop + p.Y - at.times.Y; i >= 0 && i < len(steps) {
			again := v.times && i == v.stepAt(steps)
			v.times, v.attempt = len(steps) > 1, steps[i].seq
			if p.Twice && again {
				return v.enter(f)
			}
		}
	case at.nodes.Contains(p.X, p.Y):
		rows := v.rows(f)
		if i := at.nodesTop + p.Y - at.nodes.Y; i >= 0 && i < len(rows) {
			again := !v.times && i == v.cursor(rows)
			v.times, v.node = false, rows[i].key
			if p.Twice && again {
				return v.enter(f)
			}
		}
	}
	return v, nil
}

// Clips are the verdict under the cursor, the scheduler's sentence, and the whole table.
func (v View) Clips(f view.Frame) []view.Clip {
	var out []view.Clip
	rows := v.rows(f)
	if at := v.cursor(rows); at < len(rows) {
		out = append(out, view.Clip{Label: f.Words.Say("why.clip-row"), Text: rows[at].plain()})
	}
	if s, ok := v.shown(f); ok && s.try.Message != "" {
		out = append(out, view.Clip{Label: f.Words.Say("why.clip-message"), Text: s.try.Message})
	}
	var all []string
	for i := range rows {
		all = append(all, rows[i].plain())
	}
	if len(all) > 0 {
		out = append(out, view.Clip{Label: f.Words.Say("why.clip-table"), Text: strings.Join(all, "\n")})
	}
	return out
}

// plain is a verdict as tab-separated text.
func (r *verdict) plain() string {
	if r.plugin != "" {
		return r.name + "\t" + r.plugin + "\t" + r.reason
	}
	var parts []string
	for _, p := range scorers {
		if s, ok := r.scores[p]; ok {
			parts = append(parts, p+"="+strconv.FormatInt(s, 10))
		}
	}
	return r.name + "\t" + strconv.FormatInt(r.total, 10) + "\t" + strings.Join(parts, " ")
}
