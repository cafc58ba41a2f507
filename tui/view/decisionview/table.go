package decisionview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
)

// stepsMax is how many records about the pod are looked through, from the newest.
const stepsMax = 2000

// step is one thing that happened to the pod at the scheduler: an attempt, or a move between its queues.
type step struct {
	seq   event.Seq
	at    time.Time
	actor event.Actor
	try   *event.SchedulingAttempt
	move  *event.PodQueued
}

func (s *step) attempt() bool { return s.try != nil }

// steps of the pod, oldest first.
func (v View) steps(f view.Frame) []step {
	m := v.memo
	if m == nil {
		m = &memo{}
	}
	if m.seq == f.World.Seq && m.steps != nil {
		return m.steps
	}
	all := f.About(v.pod)
	if len(all) > stepsMax {
		all = all[len(all)-stepsMax:]
	}
	steps := []step{}
	for _, seq := range all {
		r, ok := f.Record(seq)
		if !ok {
			continue
		}
		switch e := r.Event.(type) {
		case event.SchedulingAttempt:
			steps = append(steps, step{seq: seq, at: r.At, actor: r.Actor, try: &e})
		case event.PodQueued:
			steps = append(steps, step{seq: seq, at: r.At, actor: r.Actor, move: &e})
		}
	}
	*m = memo{seq: f.World.Seq, steps: steps}
	return steps
}

// stepAt is the index of the step under the cursor; the newest where none was chosen.
func (v View) stepAt(steps []step) int {
	for i := range steps {
		if steps[i].seq == v.attempt {
			return i
		}
	}
	return len(steps) - 1
}

// chosen is the step under the cursor.
func (v View) chosen(f view.Frame) (step, bool) {
	steps := v.steps(f)
	if len(steps) == 0 {
		return step{}, false
	}
	return steps[v.stepAt(steps)], true
}

// shown is the attempt whose verdicts are shown: the one under the cursor, or the last before it; else the first after it.
func (v View) shown(f view.Frame) (step, bool) {
	steps := v.steps(f)
	at := v.stepAt(steps)
	for i := at; i >= 0; i-- {
		if steps[i].attempt() {
			return steps[i], true
		}
	}
	for i := at + 1; i > 0 && i < len(steps); i++ {
		if steps[i].attempt() {
			return steps[i], true
		}
	}
	return step{}, false
}

// filters in the order in which the scheduler asks them, and scorers in the order of their columns. Source: plugins.Default.
var (
	filters = []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"}
	scorers = []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"}
)

// verdict is a row: one node, or all nodes refused for one reason of which only examples are recorded.
type verdict struct {
	key, name string
	chosen    bool
	plugin    string // that refused; empty: it passed
	reason    string
	scores    map[string]int64 // weighted
	raw       map[string]int64
	total     int64
	// nodes are the examples of a group, and count how many there are; 0: not recorded.
	nodes []string
	count int
}

// table of an attempt.
type table struct {
	rows []verdict
	// best is the row of the chosen node, -1: none.
	best int
	// untold counts nodes that the record says nothing of.
	untold  int
	weights map[string]int64
}

// rows of the attempt shown.
func (v View) rows(f view.Frame) []verdict { return v.table(f).rows }

func (v View) table(f view.Frame) table {
	s, ok := v.shown(f)
	if !ok {
		return table{best: -1}
	}
	if m := v.memo; m != nil {
		if m.of != s.seq || m.byName != v.byName {
			m.of, m.byName, m.table = s.seq, v.byName, tabulate(s.try, v.byName)
		}
		return m.table
	}
	return tabulate(s.try, v.byName)
}

// tabulate makes the rows: those that passed by their total, then the refused by how far they came in the order of the filters.
func tabulate(a *event.SchedulingAttempt, byName bool) table {
	t := table{best: -1, weights: a.Weights}
	groups := map[string]int{}
	sampled := len(a.Verdicts) < a.Nodes
	counts := countsOf(a.Message)
	for i := range a.Verdicts {
		n := &a.Verdicts[i]
		reason := strings.Join(n.Reasons, ", ")
		if sampled && n.Plugin != "" {
			key := n.Plugin + " " + reason
			at, ok := groups[key]
			if !ok {
				at = len(t.rows)
				groups[key] = at
				r := verdict{key: "group " + key, plugin: n.Plugin, reason: reason}
				if len(n.Reasons) == 1 {
					r.count = counts[n.Reasons[0]]
				}
				t.rows = append(t.rows, r)
			}
			t.rows[at].nodes = append(t.rows[at].nodes, n.Node)
			continue
		}
		t.rows = append(t.rows, verdict{key: "node " + n.Node, name: n.Node, chosen: n.Node == a.Node && a.Node != "", plugin: n.Plugin, reason: reason,
			scores: n.Scores, raw: n.Raw, total: n.Total})
	}
	told := 0
	for i := range t.rows {
		switch r := &t.rows[i]; {
		case r.nodes == nil:
			told++
		default:
			told += max(r.count, len(r.nodes))
		}
	}
	t.untold = max(a.Nodes-told, 0)
	slices.SortStableFunc(t.rows, func(x, y verdict) int { return compare(&x, &y, byName) })
	for i := range t.rows {
		if t.rows[i].chosen {
			t.best = i
		}
	}
	return t
}

func compare(x, y *verdict, byName bool) int {
	if !byName {
		if c := cmp.Or(boolFirst(x.chosen, y.chosen), boolFirst(x.plugin == "", y.plugin == ""), cmp.Compare(y.total, x.total),
			-cmp.Compare(slices.Index(filters, x.plugin), slices.Index(filters, y.plugin))); c != 0 {
			return c
		}
	}
	switch {
	case scene.NaturalLess(x.name, y.name):
		return -1
	case scene.NaturalLess(y.name, x.name):
		return 1
	}
	return 0
}

func boolFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// countsOf reads how many nodes gave each reason from the scheduler's sentence: "0/5000 nodes are available: 3 node(s) had untolerated taint(s), 4997 Insufficient cpu."
func countsOf(message string) map[string]int {
	out := map[string]int{}
	_, list, ok := strings.Cut(message, "available: ")
	if !ok {
		return out
	}
	list, _, _ = strings.Cut(list, " preemption:")
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), "."), ", ") {
		number, reason, ok := strings.Cut(part, " ")
		if n, err := strconv.Atoi(number); ok && err == nil {
			out[reason] += n
		}
	}
	return out
}

func (v View) cursor(rows []verdict) int {
	for i := range rows {
		if rows[i].key == v.node {
			return i
		}
	}
	return 0
}
