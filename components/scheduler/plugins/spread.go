package plugins

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"example.com/kubeviz/components/scheduler/framework"
)

// PodTopologySpread keeps the pods that match a constraint's selector evenly over the values of a node label: hard for DoNotSchedule, as a preference for
// ScheduleAnyway. Pods of a ReplicaSet that bring no constraints are spread softly over hosts and zones.
type PodTopologySpread struct {
	// Owner gives the selector of the ReplicaSet a pod belongs to; nil when there is none.
	Owner func(*corev1.Pod) labels.Selector
}

var (
	spreadSkew    = framework.Refuse(NamePodTopologySpread, "node(s) didn't match pod topology spread constraints")
	spreadNoLabel = framework.RefuseForGood(NamePodTopologySpread, "node(s) didn't match pod topology spread constraints (missing required label)")
)

// The cluster's default constraints, both ScheduleAnyway (k/k pkg/scheduler/framework/plugins/podtopologyspread/plugin.go).
var defaultSpread = []struct {
	key     string
	maxSkew int32
}{{corev1.LabelHostname, 3}, {corev1.LabelTopologyZone, 5}}

func (PodTopologySpread) Name() string { return NamePodTopologySpread }

// constraint is one constraint of a pod, worked out.
type constraint struct {
	key        string
	maxSkew    int
	minDomains int
	selector   labels.Selector
	affinity   bool // nodeAffinityPolicy Honor
	taints     bool // nodeTaintsPolicy Honor
	counts     *framework.Counts
	topology   *framework.Topology
}

// rules is who counts for a pod.
type rules struct {
	pod         *framework.PodInfo
	constraints []constraint
	required    nodeaffinity.RequiredNodeAffinity
	constrained bool
	allKeys     bool // nodes must have all the labels to count
}

func newRules(pod *framework.PodInfo, allKeys bool) *rules {
	return &rules{pod: pod, allKeys: allKeys, constrained: constrained(pod.Pod), required: nodeaffinity.GetRequiredNodeAffinity(pod.Pod)}
}

// explicit works out the pod's own constraints of one kind.
func explicit(pod *corev1.Pod, when corev1.UnsatisfiableConstraintAction) []constraint {
	var out []constraint
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable != when {
			continue
		}
		sel, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil { // refused by validation
			continue
		}
		for _, key := range c.MatchLabelKeys {
			if v, ok := pod.Labels[key]; ok {
				if r, err := labels.NewRequirement(key, selection.In, []string{v}); err == nil {
					sel = sel.Add(*r)
				}
			}
		}
		k := constraint{key: c.TopologyKey, maxSkew: int(c.MaxSkew), minDomains: 1, selector: sel,
			affinity: c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor,
			taints:   c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor}
		if c.MinDomains != nil {
			k.minDomains = int(*c.MinDomains)
		}
		out = append(out, k)
	}
	return out
}

func (r *rules) count(cl *framework.Cluster) {
	for i := range r.constraints {
		c := &r.constraints[i]
		c.counts = cl.Counts(r.pod.Pod.Namespace, c.selector)
		c.topology = cl.Topology(c.key)
	}
}

// eligible reports that a node has the labels that all constraints need.
func (r *rules) eligible(n *framework.NodeInfo) bool {
	if !r.allKeys {
		return true
	}
	for i := range r.constraints {
		if r.constraints[i].topology.Of(n) == framework.NoDomain {
			return false
		}
	}
	return true
}

// included reports that a node takes part in the counts of a constraint.
func (r *rules) included(c *constraint, node *corev1.Node) bool {
	if c.affinity && r.constrained {
		if ok, _ := r.required.Match(node); !ok {
			return false
		}
	}
	return !c.taints || toleratesNode(r.pod.Pod.Spec.Tolerations, node)
}

func (PodTopologySpread) PreFilter(pod *framework.PodInfo, cl *framework.Cluster) framework.PreFilterResult {
	if len(pod.Pod.Spec.TopologySpreadConstraints) == 0 {
		return framework.PreFilterResult{}
	}
	r := newRules(pod, true)
	r.constraints = explicit(pod.Pod, corev1.DoNotSchedule)
	if len(r.constraints) == 0 {
		return framework.PreFilterResult{}
	}
	r.count(cl)
	f := &spreadFilter{rules: r, domains: make([][]int, len(r.constraints)), least: make([]int, len(r.constraints))}
	for i := range r.constraints {
		f.domains[i] = slices.Repeat([]int{absent}, r.constraints[i].topology.Domains())
	}
	for _, n := range cl.Nodes() {
		if !r.eligible(n) {
			continue
		}
		for i := range r.constraints {
			if c := &r.constraints[i]; r.included(c, n.Node) {
				f.add(i, c.topology.Of(n), c.counts.On(n.Index))
			}
		}
	}
	for i := range f.domains {
		f.findLeast(i)
	}
	return framework.PreFilterResult{Filter: f}
}

// absent marks domains that no node that counts is in.
const absent = -1

// spreadFilter holds how many matching pods each domain has.
type spreadFilter struct {
	*rules
	domains [][]int // by constraint and domain
	least   []int
}

func (f *spreadFilter) add(i, domain, n int) {
	f.domains[i][domain] = max(f.domains[i][domain], 0) + n
}

func (f *spreadFilter) findLeast(i int) {
	least, present := math.MaxInt32, 0
	for _, n := range f.domains[i] {
		if n != absent {
			least = min(least, n)
			present++
		}
	}
	if present < f.constraints[i].minDomains {
		least = 0
	}
	f.least[i] = least
}

func (f *spreadFilter) Filter(n *framework.NodeInfo) *framework.Status {
	for i := range f.constraints {
		c := &f.constraints[i]
		domain := c.topology.Of(n)
		if domain == framework.NoDomain {
			return spreadNoLabel
		}
		self := 0
		if c.selector.Matches(labels.Set(f.pod.Pod.Labels)) {
			self = 1
		}
		if max(f.domains[i][domain], 0)+self-f.least[i] > c.maxSkew {
			return spreadSkew
		}
	}
	return nil
}

// Copy is the filter to try changes on.
func (f *spreadFilter) Copy() framework.Adjuster {
	c := &spreadFilter{rules: f.rules, domains: make([][]int, len(f.domains)), least: slices.Clone(f.least)}
	for i := range f.domains {
		c.domains[i] = slices.Clone(f.domains[i])
	}
	return c
}

// Adjust counts a pod that came to or left a node.
func (f *spreadFilter) Adjust(p *framework.PodInfo, n *framework.NodeInfo, by int) {
	if p.Pod.Namespace != f.pod.Pod.Namespace || p.Terminating() || !f.eligible(n) {
		return
	}
	for i := range f.constraints {
		c := &f.constraints[i]
		if c.selector.Matches(labels.Set(p.Pod.Labels)) && f.included(c, n.Node) {
			f.add(i, c.topology.Of(n), by)
			f.findLeast(i)
		}
	}
}

// Wakes when pods that count come, go or change labels, and when a node brings or takes a domain.
func (PodTopologySpread) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	constraints := explicit(pod.Pod, corev1.DoNotSchedule)
	counts := func(p *corev1.Pod) bool {
		if p == nil || p.Namespace != pod.Pod.Namespace {
			return false
		}
		for i := range constraints {
			if constraints[i].selector.Matches(labels.Set(p.Labels)) {
				return true
			}
		}
		return false
	}
	if ch.Kind&(framework.PodPlaced|framework.PodGone|framework.PodLabels) != 0 && (counts(ch.OldPod) || counts(ch.NewPod)) {
		return true
	}
	if ch.Kind&(framework.OwnSpec|framework.NodeAdded|framework.NodeRemoved) != 0 {
		return true
	}
	for i := range constraints {
		c := &constraints[i]
		if ch.Kind&framework.NodeLabels != 0 && ch.OldNode.Labels[c.key] != ch.NewNode.Labels[c.key] || ch.Kind&framework.NodeTaints != 0 && c.taints {
			return true
		}
	}
	return false
}
