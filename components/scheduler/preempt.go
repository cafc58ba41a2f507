package scheduler

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// How many nodes a dry run looks for: a tenth of those where preemption may help, at least 100.
const (
	candidatesPercent = 10
	candidatesMin     = 100
)

// candidate is a node that would fit if its victims went.
type candidate struct {
	node    *framework.NodeInfo
	victims []*framework.PodInfo // the most important first
}

var (
	noVictims = framework.RefuseForGood("DefaultPreemption", "No preemption victims found for incoming pod")
	noHelp    = framework.RefuseForGood("DefaultPreemption", "Preemption is not helpful for scheduling")
)

// postFilter looks for a node where removing pods of lower priority makes room (SCH-12). It returns nil when there is none, and then sets the second half of the
// sentence.
func (a *algorithm) postFilter(pod *framework.PodInfo, r *result) *candidate {
	if len(r.nodes) == 0 {
		return nil
	}
	if why := a.ineligible(pod, r); why != "" {
		r.postFilter = why
		return nil
	}
	var potential []int
	for i, st := range r.statuses {
		if st != nil && st.Code == framework.Unschedulable {
			potential = append(potential, i)
		}
	}
	found, statuses := a.dryRun(pod, r, potential)
	if len(found) == 0 {
		reasons := count(statuses)
		if rest := len(r.nodes) - len(statuses); rest > 0 {
			reasons[noHelp.Reasons[0]] += rest
		}
		r.postFilter = unavailable(len(r.nodes), reasons)
		return nil
	}
	return leastHarm(found)
}

// ineligible tells why the pod may not preempt at all.
func (a *algorithm) ineligible(pod *framework.PodInfo, r *result) string {
	if p := pod.Pod.Spec.PreemptionPolicy; p != nil && *p == corev1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	name := a.nominated.of(pod)
	node, ok := a.cluster.Node(name)
	if !ok {
		return ""
	}
	if at := slices.Index(r.nodes, node); at >= 0 && r.statuses != nil && r.statuses[at] != nil &&
		r.statuses[at].Code == framework.UnschedulableAndUnresolvable {
		return "" // that node became useless: look for another
	}
	for _, p := range node.Pods {
		if p.Priority < pod.Priority && p.Terminating() && preempted(p.Pod) {
			return "not eligible due to a terminating pod on the nominated node."
		}
	}
	return ""
}

func preempted(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget {
			return c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
		}
	}
	return false
}

// dryRun tries the nodes from a random one on until enough candidates are found; statuses tell why the others do not help.
func (a *algorithm) dryRun(pod *framework.PodInfo, r *result, potential []int) (found []*candidate, statuses []*framework.Status) {
	if len(potential) == 0 {
		return nil, nil
	}
	offset := a.rand.IntN(len(potential))
	enough := min(max(len(potential)*candidatesPercent/100, candidatesMin), len(potential))
	for i := range potential {
		node := r.nodes[potential[(offset+i)%len(potential)]]
		victims, st := a.selectVictims(pod, r.filters, node)
		if st != nil {
			statuses = append(statuses, st)
			continue
		}
		if found = append(found, &candidate{node, victims}); len(found) >= enough {
			break
		}
	}
	return found, statuses
}

// selectVictims removes all pods of lower priority, and if the pod then fits takes back as many as possible, the most important first.
func (a *algorithm) selectVictims(pod *framework.PodInfo, filters []framework.Filter, node *framework.NodeInfo) ([]*framework.PodInfo, *framework.Status) {
	var lower []*framework.PodInfo
	for _, p := range node.Pods {
		if p.Priority < pod.Priority {
			lower = append(lower, p)
		}
	}
	if len(lower) == 0 {
		return nil, noVictims
	}
	t := newTrial(filters, node)
	for _, p := range lower {
		t.remove(p)
	}
	for _, o := range a.nominated.on(node.Name, pod) {
		t.add(o)
	}
	if st := runFilters(t.filters, t.node); st != nil {
		return nil, st
	}
	slices.SortStableFunc(lower, func(x, y *framework.PodInfo) int { return moreImportant(x, y) })
	var victims []*framework.PodInfo
	for _, p := range lower {
		t.add(p)
		if runFilters(t.filters, t.node) != nil {
			t.remove(p)
			victims = append(victims, p)
		}
	}
	return victims, nil
}

// moreImportant orders pods by priority, then by who started first.
func moreImportant(a, b *framework.PodInfo) int {
	if a.Priority != b.Priority {
		if a.Priority > b.Priority {
			return -1
		}
		return 1
	}
	return started(a).Compare(started(b))
}

// leastHarm picks the candidate whose highest victim is lowest, then the lowest sum of priorities, then the fewest victims, then the highest victim that started
// last.
func leastHarm(found []*candidate) *candidate {
	best := found[0]
	for _, c := range found[1:] {
		if less := harm(c, best); less < 0 {
			best = c
		}
	}
	return best
}

func harm(a, b *candidate) int {
	if len(a.victims) == 0 || len(b.victims) == 0 {
		return len(a.victims) - len(b.victims)
	}
	if d := int64(a.victims[0].Priority) - int64(b.victims[0].Priority); d != 0 {
		return sign(d)
	}
	sum := func(c *candidate) (n int64) {
		for _, v := range c.victims {
			n += int64(v.Priority) + math.MaxInt32 + 1 // above zero, so that more victims are more harm
		}
		return n
	}
	if d := sum(a) - sum(b); d != 0 {
		return sign(d)
	}
	if d := len(a.victims) - len(b.victims); d != 0 {
		return d
	}
	return earliestTop(b).Compare(earliestTop(a))
}

func sign(d int64) int {
	if d < 0 {
		return -1
	}
	return 1
}
