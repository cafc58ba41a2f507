package plugins

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// PreScore counts the matching pods per domain, for the pod's ScheduleAnyway constraints or the cluster's defaults.
func (pl PodTopologySpread) PreScore(pod *framework.PodInfo, cl *framework.Cluster, feasible []*framework.NodeInfo) framework.Scorer {
	// Only the pod's own constraints demand that a node has all labels: hosts are spread by default where no zone labels exist.
	own := len(pod.Pod.Spec.TopologySpreadConstraints) > 0
	r := newRules(pod, own)
	if own {
		r.constraints = explicit(pod.Pod, corev1.ScheduleAnyway)
	} else {
		r.constraints = pl.defaults(pod.Pod)
	}
	if len(r.constraints) == 0 {
		return nil
	}
	r.count(cl)
	s := &spreadScorer{rules: r, domains: make([][]int64, len(r.constraints)), weights: make([]float64, len(r.constraints))}
	for i := range r.constraints {
		s.prepare(i, cl, feasible)
	}
	return s
}

// prepare counts the matching pods in the domains of one constraint that feasible nodes are in. Hosts are counted when they are scored.
func (s *spreadScorer) prepare(i int, cl *framework.Cluster, feasible []*framework.NodeInfo) {
	c := &s.constraints[i]
	hosts := c.key == corev1.LabelHostname
	var domains []int64
	if !hosts {
		domains = slices.Repeat([]int64{absent}, c.topology.Domains())
	}
	size, unlabelled := 0, 0
	for _, n := range feasible {
		if !s.eligible(n) {
			continue
		}
		domain := c.topology.Of(n)
		switch {
		case hosts:
			size++
		case domain == framework.NoDomain:
			unlabelled = 1 // together they are one more domain
		case domains[domain] == absent:
			domains[domain] = 0
			size++
		}
	}
	s.weights[i] = math.Log(float64(size + unlabelled + 2))
	if hosts {
		return
	}
	for _, n := range cl.Nodes() {
		domain := c.topology.Of(n)
		if domain == framework.NoDomain || domains[domain] == absent {
			continue
		}
		if count := c.counts.On(n.Index); count > 0 && s.eligible(n) && s.included(c, n.Node) {
			domains[domain] += int64(count)
		}
	}
	s.domains[i] = domains
}

// defaults are the cluster's default constraints for a pod of a ReplicaSet.
func (pl PodTopologySpread) defaults(pod *corev1.Pod) []constraint {
	if pl.Owner == nil {
		return nil
	}
	sel := pl.Owner(pod)
	if sel == nil || sel.Empty() {
		return nil
	}
	out := make([]constraint, 0, len(defaultSpread))
	for _, d := range defaultSpread {
		out = append(out, constraint{key: d.key, maxSkew: int(d.maxSkew), minDomains: 1, selector: sel, affinity: true})
	}
	return out
}

type spreadScorer struct {
	*rules
	domains [][]int64 // by constraint and domain
	weights []float64
}

// unscored marks nodes that miss a label until Normalize makes 0 of it.
const unscored = -1

// Score grows with the matching pods in the node's domains; domains of which there are many weigh more.
func (s *spreadScorer) Score(n *framework.NodeInfo) int64 {
	if !s.eligible(n) {
		return unscored
	}
	var score float64
	for i := range s.constraints {
		c := &s.constraints[i]
		domain := c.topology.Of(n)
		if domain == framework.NoDomain {
			continue
		}
		var count int64
		if s.domains[i] == nil {
			count = int64(c.counts.On(n.Index))
		} else {
			count = s.domains[i][domain]
		}
		score += float64(count)*s.weights[i] + float64(c.maxSkew-1)
	}
	return int64(math.Round(score))
}

// Normalize turns counts into preferences: the emptiest domain gets MaxScore.
func (s *spreadScorer) Normalize(scores []int64) {
	least, most := int64(math.MaxInt64), int64(0)
	for _, v := range scores {
		if v != unscored {
			least, most = min(least, v), max(most, v)
		}
	}
	for i, v := range scores {
		switch {
		case v == unscored:
			scores[i] = 0
		case most == 0:
			scores[i] = framework.MaxScore
		default:
			scores[i] = framework.MaxScore * (most + least - v) / most
		}
	}
}
