package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/engine/event"
)

// noteMax bounds the message of an Event, in characters (k/k pkg/apis/core/validation: NoteLengthLimit).
const noteMax = 1024

// message is the FailedScheduling sentence (SCH-6 … SCH-9): how many nodes refused for which reason, and what preemption could do.
func (r *result) message() string {
	if len(r.nodes) == 0 {
		return "no nodes available to schedule pods"
	}
	var first string
	if r.refused != nil {
		first = fmt.Sprintf("0/%d nodes are available: %s.", len(r.nodes), strings.Join(r.refused.Reasons, ", "))
	} else {
		first = unavailable(len(r.nodes), count(r.statuses))
	}
	if r.postFilter == "" {
		return first
	}
	return first + " preemption: " + r.postFilter
}

// count tells how often each reason was given; a node with two reasons counts in both.
func count(statuses []*framework.Status) map[string]int {
	reasons := map[string]int{}
	for _, st := range statuses {
		if st == nil {
			continue
		}
		for _, reason := range st.Reasons {
			reasons[reason]++
		}
	}
	return reasons
}

// unavailable is one half of the sentence. Reasons are sorted as strings with their counts in front, so "10 …" goes before "2 …".
func unavailable(nodes int, reasons map[string]int) string {
	parts := make([]string, 0, len(reasons))
	for reason, n := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	head := fmt.Sprintf("0/%d nodes are available:", nodes)
	if len(parts) == 0 {
		return head
	}
	return head + " " + strings.Join(parts, ", ") + "."
}

// note cuts a message to what an Event may hold.
func note(message string) string {
	if len(message) <= noteMax {
		return message
	}
	const more = " ..."
	return message[:noteMax-len(more)] + more
}

// How much of an attempt is journalled: each node's verdict up to nodesMax nodes while fewer than detailWaitingMax pods wait; beyond, the best few nodes, or
// one node for each way of being refused.
const (
	verdictNodesMax  = 100
	verdictBest      = 10
	detailWaitingMax = 50
)

// verdicts is what the plugins said, per node. Nodes that were not looked at are left out.
func (r *result) verdicts(detail bool) []event.NodeVerdict {
	if len(r.nodes) == 0 || r.refused != nil {
		return nil
	}
	full := detail && len(r.nodes) <= verdictNodesMax
	var out []event.NodeVerdict
	if len(r.feasible) == 0 || full {
		seen := map[*framework.Status]bool{}
		for i, st := range r.statuses {
			if st == nil || !full && (seen[st] || len(out) >= verdictNodesMax) {
				continue
			}
			seen[st] = true
			out = append(out, event.NodeVerdict{Node: r.nodes[i].Name, Plugin: st.Plugin, Reasons: st.Reasons})
		}
	}
	for _, i := range r.best(full) {
		v := event.NodeVerdict{Node: r.feasible[i].Name}
		if r.totals != nil {
			v.Raw, v.Scores, v.Total = map[string]int64{}, map[string]int64{}, r.totals[i]
			for k, scores := range r.scores {
				if pl := r.plugins.Scores[k]; scores != nil {
					v.Raw[pl.Name()], v.Scores[pl.Name()] = scores[i]/pl.Weight, scores[i]
				}
			}
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b event.NodeVerdict) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// weights of the plugins that scored; nil when there was nothing to choose.
func (r *result) weights() map[string]int64 {
	if r.totals == nil {
		return nil
	}
	out := map[string]int64{}
	for k, scores := range r.scores {
		if scores != nil {
			out[r.plugins.Scores[k].Name()] = r.plugins.Scores[k].Weight
		}
	}
	return out
}

// best are the places in feasible to tell of: all, or the chosen one and the highest totals.
func (r *result) best(all bool) []int {
	var at []int
	if all || len(r.feasible) <= verdictBest || r.totals == nil {
		for i := range r.feasible {
			at = append(at, i)
		}
		return at
	}
	for i := range r.feasible {
		higher := func(a, b int) int {
			switch {
			case r.feasible[a] == r.chosen:
				return -1
			case r.feasible[b] == r.chosen:
				return 1
			}
			return int(r.totals[b] - r.totals[a])
		}
		if len(at) == verdictBest && higher(i, at[len(at)-1]) >= 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(at, i, func(x, i int) int {
			if c := higher(x, i); c != 0 {
				return c
			}
			return x - i
		})
		at = slices.Insert(at, k, i)
		at = at[:min(len(at), verdictBest)]
	}
	return at
}
