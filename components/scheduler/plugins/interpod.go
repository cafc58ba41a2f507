package plugins

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// InterPodAffinity brings pods near to some pods and keeps them away from others, "near" being the same value of a node label. It also keeps a pod away from pods
// that do not want it near.
type InterPodAffinity struct {
	// Namespaces gives the labels of a namespace, for terms that select namespaces by label.
	Namespaces framework.NamespaceLabels
}

var (
	notNear  = framework.RefuseForGood(NameInterPodAffinity, "node(s) didn't match pod affinity rules")
	tooNear  = framework.Refuse(NameInterPodAffinity, "node(s) didn't match pod anti-affinity rules")
	unwanted = framework.Refuse(NameInterPodAffinity, "node(s) didn't satisfy existing pods anti-affinity rules")
)

// hardAffinityWeight is what a required affinity of a placed pod counts when others are scored.
const hardAffinityWeight = 1

func (InterPodAffinity) Name() string { return NameInterPodAffinity }

// pair is one value of one node label.
type pair struct{ key, value string }

// pairs counts by pair.
type pairs map[pair]int64

func (m pairs) add(key string, n *framework.NodeInfo, by int64) {
	value, ok := n.Node.Labels[key]
	if !ok {
		return
	}
	k := pair{key, value}
	if m[k] += by; m[k] == 0 {
		delete(m, k)
	}
}

// interpodFilter holds where pods are that the terms speak of.
type interpodFilter struct {
	pl   InterPodAffinity
	pod  *framework.PodInfo
	near pairs // pods that match all affinity terms
	away pairs // pods that match an anti-affinity term
	bans pairs // pods whose anti-affinity matches this pod
}

// PreFilter looks at all placed pods if the pod has terms, else only at those that have some.
func (pl InterPodAffinity) PreFilter(pod *framework.PodInfo, cl *framework.Cluster) framework.PreFilterResult {
	f := &interpodFilter{pl: pl, pod: pod, near: pairs{}, away: pairs{}, bans: pairs{}}
	cl.EachWithTerms(func(p *framework.PodInfo, n *framework.NodeInfo) { f.ban(p, n, 1) })
	own := pod.Terms != nil && len(pod.Terms.Affinity)+len(pod.Terms.AntiAffinity) > 0
	if !own && len(f.bans) == 0 {
		return framework.PreFilterResult{}
	}
	if own {
		for _, n := range cl.Nodes() {
			for _, p := range n.Pods {
				f.meet(p, n, 1)
			}
		}
	}
	return framework.PreFilterResult{Filter: f}
}

// ban counts a placed pod that does not want this one near.
func (f *interpodFilter) ban(p *framework.PodInfo, n *framework.NodeInfo, by int64) {
	if p.Terms == nil {
		return
	}
	for i := range p.Terms.AntiAffinity {
		if t := &p.Terms.AntiAffinity[i]; t.Matches(f.pod.Pod, f.pl.Namespaces) {
			f.bans.add(t.TopologyKey, n, by)
		}
	}
}

// meet counts a placed pod that this one's terms speak of.
func (f *interpodFilter) meet(p *framework.PodInfo, n *framework.NodeInfo, by int64) {
	if f.pod.Terms == nil {
		return
	}
	if f.matchesAll(p.Pod) {
		for i := range f.pod.Terms.Affinity {
			f.near.add(f.pod.Terms.Affinity[i].TopologyKey, n, by)
		}
	}
	for i := range f.pod.Terms.AntiAffinity {
		if t := &f.pod.Terms.AntiAffinity[i]; t.Matches(p.Pod, f.pl.Namespaces) {
			f.away.add(t.TopologyKey, n, by)
		}
	}
}

func (f *interpodFilter) matchesAll(pod *corev1.Pod) bool {
	terms := f.pod.Terms.Affinity
	for i := range terms {
		if !terms[i].Matches(pod, f.pl.Namespaces) {
			return false
		}
	}
	return len(terms) > 0
}

func (f *interpodFilter) Filter(n *framework.NodeInfo) *framework.Status {
	if f.pod.Terms != nil {
		if !f.nearEnough(n) {
			return notNear
		}
		for i := range f.pod.Terms.AntiAffinity {
			key := f.pod.Terms.AntiAffinity[i].TopologyKey
			if value, ok := n.Node.Labels[key]; ok && f.away[pair{key, value}] > 0 {
				return tooNear
			}
		}
	}
	for key, value := range n.Node.Labels {
		if len(f.bans) == 0 {
			break
		}
		if f.bans[pair{key, value}] > 0 {
			return unwanted
		}
	}
	return nil
}

// nearEnough reports that every affinity term finds a pod in the node's domain. The first pod of a group that wants to be near its own kind may go anywhere.
func (f *interpodFilter) nearEnough(n *framework.NodeInfo) bool {
	found := true
	for i := range f.pod.Terms.Affinity {
		key := f.pod.Terms.Affinity[i].TopologyKey
		value, ok := n.Node.Labels[key]
		if !ok {
			return false
		}
		found = found && f.near[pair{key, value}] > 0
	}
	return found || len(f.near) == 0 && f.matchesAll(f.pod.Pod)
}

// Copy is the filter to try changes on.
func (f *interpodFilter) Copy() framework.Adjuster {
	c := *f
	for _, m := range []*pairs{&c.near, &c.away, &c.bans} {
		old := *m
		*m = make(pairs, len(old))
		for k, v := range old {
			(*m)[k] = v
		}
	}
	return &c
}

// Adjust counts a pod that came to or left a node.
func (f *interpodFilter) Adjust(p *framework.PodInfo, n *framework.NodeInfo, by int) {
	f.ban(p, n, int64(by))
	f.meet(p, n, int64(by))
}

// Wakes when a pod to be near to comes, one to be away from (or that does not want this one) goes, and when a node's domains change.
func (pl InterPodAffinity) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	f := &interpodFilter{pl: pl, pod: pod, near: pairs{}, away: pairs{}, bans: pairs{}}
	if ch.Kind&(framework.PodPlaced|framework.PodLabels) != 0 && pod.Terms != nil && f.matchesAll(ch.NewPod) {
		return true
	}
	if ch.Kind&(framework.PodGone|framework.PodLabels) != 0 {
		if pod.Terms != nil {
			for i := range pod.Terms.AntiAffinity {
				if pod.Terms.AntiAffinity[i].Matches(ch.OldPod, pl.Namespaces) {
					return true
				}
			}
		}
		if gone := framework.NewPodInfo(ch.OldPod); gone.Terms != nil {
			for i := range gone.Terms.AntiAffinity {
				if gone.Terms.AntiAffinity[i].Matches(pod.Pod, pl.Namespaces) {
					return true
				}
			}
		}
	}
	if ch.Kind&(framework.NodeAdded|framework.OwnSpec) != 0 {
		return true
	}
	if ch.Kind&framework.NodeLabels != 0 && pod.Terms != nil {
		for _, terms := range [][]framework.AffinityTerm{pod.Terms.Affinity, pod.Terms.AntiAffinity} {
			for i := range terms {
				if key := terms[i].TopologyKey; ch.OldNode.Labels[key] != ch.NewNode.Labels[key] {
					return true
				}
			}
		}
	}
	return false
}

// PreScore adds up, per domain, what the pod's preferences say of the pods there and what theirs say of it.
func (pl InterPodAffinity) PreScore(pod *framework.PodInfo, cl *framework.Cluster, _ []*framework.NodeInfo) framework.Scorer {
	s := interpodScorer{}
	tell := func(terms []framework.AffinityTerm, of *corev1.Pod, n *framework.NodeInfo, weight int64) {
		for i := range terms {
			if t := &terms[i]; t.Matches(of, pl.Namespaces) {
				w := weight
				if t.Weight != 0 {
					w *= t.Weight
				}
				pairs(s).add(t.TopologyKey, n, w)
			}
		}
	}
	cl.EachWithTerms(func(p *framework.PodInfo, n *framework.NodeInfo) {
		tell(p.Terms.Affinity, pod.Pod, n, hardAffinityWeight)
		tell(p.Terms.PreferredAffinity, pod.Pod, n, 1)
		tell(p.Terms.PreferredAntiAffinity, pod.Pod, n, -1)
	})
	if t := pod.Terms; t != nil && len(t.PreferredAffinity)+len(t.PreferredAntiAffinity) > 0 {
		for _, n := range cl.Nodes() {
			for _, p := range n.Pods {
				tell(t.PreferredAffinity, p.Pod, n, 1)
				tell(t.PreferredAntiAffinity, p.Pod, n, -1)
			}
		}
	}
	if len(s) == 0 {
		return nil
	}
	return s
}

type interpodScorer pairs

func (s interpodScorer) Score(n *framework.NodeInfo) (sum int64) {
	for key, value := range n.Node.Labels {
		sum += s[pair{key, value}]
	}
	return sum
}

// Normalize stretches the scores over 0 … MaxScore.
func (interpodScorer) Normalize(scores []int64) {
	if len(scores) == 0 {
		return
	}
	least, most := scores[0], scores[0]
	for _, v := range scores {
		least, most = min(least, v), max(most, v)
	}
	for i, v := range scores {
		if most == least {
			scores[i] = 0
			continue
		}
		scores[i] = int64(float64(framework.MaxScore) * (float64(v-least) / float64(most-least)))
	}
}
