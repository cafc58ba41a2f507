package scheduler

import (
	"math/rand/v2"
	"slices"

	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/plugins"
)

// How many nodes are looked at (SCH-4): all up to 100; above, a share that shrinks with the size of the cluster, in per cent.
const (
	feasibleMin       = 100
	percentMin        = 5
	percentBase       = 50
	percentNodesPerPt = 125
)

// algorithm finds nodes for pods. One pod at a time; buffers are used again.
type algorithm struct {
	plugins.Set
	cluster   *framework.Cluster
	nominated *nominations
	rand      *rand.Rand
	// start is where the next search begins, so that samples go round the cluster.
	start int
	// all switches sampling off (tests and benchmarks).
	all bool

	statuses []*framework.Status
	feasible []*framework.NodeInfo
	scores   [][]int64
	totals   []int64
}

func newAlgorithm(set plugins.Set, cl *framework.Cluster) *algorithm {
	return &algorithm{Set: set, cluster: cl, nominated: newNominations(), scores: make([][]int64, len(set.Scores))}
}

// result of one cycle. Its slices are good until the next.
type result struct {
	pod     *framework.PodInfo
	plugins plugins.Set
	nodes   []*framework.NodeInfo
	// refused is what ended the cycle before nodes were looked at.
	refused *framework.Status
	filters []framework.Filter
	// statuses by place in nodes; nil: passed, or not looked at.
	statuses []*framework.Status
	feasible []*framework.NodeInfo
	chosen   *framework.NodeInfo
	// scores by plugin (nil: no opinion) and place in feasible, normalized and weighted; empty when there was nothing to choose.
	scores [][]int64
	totals []int64
	// postFilter is the second half of the sentence.
	postFilter string
}

// schedule runs filters and scores and chooses a node; result.chosen is nil when none fits.
func (a *algorithm) schedule(pod *framework.PodInfo) *result {
	r := &result{pod: pod, plugins: a.Set, nodes: a.cluster.Nodes()}
	if len(r.nodes) == 0 {
		return r
	}
	only := a.preFilter(r)
	if r.refused != nil {
		return r
	}
	a.filter(r, only)
	switch len(r.feasible) {
	case 0:
		return r
	case 1:
		r.chosen = r.feasible[0]
		return r
	}
	a.score(r)
	r.chosen = r.feasible[a.choose(r.totals)]
	return r
}

// preFilter lets each plugin look at the pod. It returns the nodes that are worth looking at; nil: all.
func (a *algorithm) preFilter(r *result) map[string]bool {
	var only map[string]bool
	for _, pl := range a.Filters {
		res := pl.PreFilter(r.pod, a.cluster)
		if res.Refused != nil {
			r.refused = res.Refused
			return nil
		}
		if res.Filter != nil {
			r.filters = append(r.filters, res.Filter)
		}
		if res.Nodes != nil {
			only = res.Nodes // one plugin of the set does this
		}
	}
	return only
}

// elsewhere refuses nodes that a plugin ruled out by name.
var elsewhere = framework.RefuseForGood(plugins.NameNodeAffinity, "node(s) didn't satisfy plugin(s) ["+plugins.NameNodeAffinity+"]")

// filter looks at nodes from where the last search ended until enough are found.
func (a *algorithm) filter(r *result, only map[string]bool) {
	n := len(r.nodes)
	if cap(a.statuses) < n {
		a.statuses = make([]*framework.Status, n)
	}
	r.statuses = a.statuses[:n]
	clear(r.statuses)
	a.feasible = a.feasible[:0]
	want := a.enough(n)
	if a.start >= n {
		a.start = 0
	}
	looked := 0
	if node := a.nominatedNode(r, only); node != nil { // a node that was made free for this pod comes first
		a.feasible = append(a.feasible, node)
		want, looked = 0, n
	}
	at := a.start
	for i := 0; i < n && len(a.feasible) < want; i++ {
		node := r.nodes[at]
		looked++
		var st *framework.Status
		if only != nil && !only[node.Name] {
			st = elsewhere
		} else {
			st = a.filterNode(r.pod, r.filters, node)
		}
		if st == nil {
			a.feasible = append(a.feasible, node)
		} else {
			r.statuses[at] = st
		}
		if at++; at == n {
			at = 0
		}
	}
	a.start = (a.start + looked) % n
	r.feasible = a.feasible
}

// enough is how many feasible nodes end the search among n.
func (a *algorithm) enough(n int) int {
	if n < feasibleMin || a.all {
		return n
	}
	percent := max(percentBase-n/percentNodesPerPt, percentMin)
	return max(n*percent/100, feasibleMin)
}

func (a *algorithm) nominatedNode(r *result, only map[string]bool) *framework.NodeInfo {
	name := a.nominated.of(r.pod)
	if name == "" {
		return nil
	}
	node, ok := a.cluster.Node(name)
	if !ok || only != nil && !only[name] || a.filterNode(r.pod, r.filters, node) != nil {
		return nil
	}
	return node
}

// filterNode asks the plugins in order; the first refusal counts. A node that pods of at least the same priority are nominated for must fit with them and
// without them.
func (a *algorithm) filterNode(pod *framework.PodInfo, filters []framework.Filter, n *framework.NodeInfo) *framework.Status {
	if others := a.nominated.on(n.Name, pod); len(others) > 0 {
		with := newTrial(filters, n)
		for _, o := range others {
			with.add(o)
		}
		if st := runFilters(with.filters, with.node); st != nil {
			return st
		}
	}
	return runFilters(filters, n)
}

func runFilters(filters []framework.Filter, n *framework.NodeInfo) *framework.Status {
	for _, f := range filters {
		if st := f.Filter(n); st != nil {
			return st
		}
	}
	return nil
}

// score runs the score plugins over the feasible nodes.
func (a *algorithm) score(r *result) {
	n := len(r.feasible)
	a.totals = resized(a.totals, n)
	clear(a.totals)
	r.scores = make([][]int64, len(a.Scores))
	for k, pl := range a.Scores {
		s := pl.PreScore(r.pod, a.cluster, r.feasible)
		if s == nil {
			continue
		}
		a.scores[k] = resized(a.scores[k], n)
		scores := a.scores[k]
		for i, node := range r.feasible {
			scores[i] = s.Score(node)
		}
		s.Normalize(scores)
		for i := range scores {
			scores[i] *= pl.Weight
			a.totals[i] += scores[i]
		}
		r.scores[k] = scores
	}
	r.totals = a.totals
}

func resized(s []int64, n int) []int64 {
	if cap(s) < n {
		return make([]int64, n)
	}
	return s[:n]
}

// choose picks one of the highest totals, each with the same chance.
func (a *algorithm) choose(totals []int64) int {
	best, ties := 0, 1
	for i := 1; i < len(totals); i++ {
		switch {
		case totals[i] > totals[best]:
			best, ties = i, 1
		case totals[i] == totals[best]:
			ties++
			if a.rand.IntN(ties) == 0 {
				best = i
			}
		}
	}
	return best
}

// refusers are the plugins that refused, in their order; changes that they ask for wake the pod.
func (r *result) refusers() []string {
	if r.refused != nil {
		return []string{r.refused.Plugin}
	}
	var out []string
	for _, pl := range r.plugins.Filters {
		if slices.ContainsFunc(r.statuses, func(st *framework.Status) bool { return st != nil && st.Plugin == pl.Name() }) {
			out = append(out, pl.Name())
		}
	}
	return out
}
