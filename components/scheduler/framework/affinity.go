package framework

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// AffinityTerm is a term of pod affinity or anti-affinity, worked out: pods of some namespaces that match a selector, seen by a node label.
type AffinityTerm struct {
	TopologyKey string
	Weight      int64 // of preferred terms
	namespaces  []string
	byLabels    labels.Selector // of namespaces; nil: none
	selector    labels.Selector
}

// NamespaceLabels tells the labels of a namespace.
type NamespaceLabels func(name string) labels.Set

// Matches reports that the term speaks of pod.
func (t *AffinityTerm) Matches(pod *corev1.Pod, of NamespaceLabels) bool {
	if !slices.Contains(t.namespaces, pod.Namespace) {
		if t.byLabels == nil {
			return false
		}
		var ns labels.Set
		if of != nil {
			ns = of(pod.Namespace)
		}
		if !t.byLabels.Matches(ns) {
			return false
		}
	}
	return t.selector.Matches(labels.Set(pod.Labels))
}

// PodTerms are the terms of one pod.
type PodTerms struct {
	Affinity, AntiAffinity                   []AffinityTerm // required
	PreferredAffinity, PreferredAntiAffinity []AffinityTerm
}

// podTerms works out a pod's terms; nil when it has none.
func podTerms(pod *corev1.Pod) *PodTerms {
	a := pod.Spec.Affinity
	if a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	t := &PodTerms{}
	if p := a.PodAffinity; p != nil {
		t.Affinity = required(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		t.PreferredAffinity = preferred(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		t.AntiAffinity = required(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)
		t.PreferredAntiAffinity = preferred(pod, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return t
}

func required(pod *corev1.Pod, terms []corev1.PodAffinityTerm) (out []AffinityTerm) {
	for i := range terms {
		if t, ok := affinityTerm(pod, &terms[i], 0); ok {
			out = append(out, t)
		}
	}
	return out
}

func preferred(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm) (out []AffinityTerm) {
	for i := range terms {
		if t, ok := affinityTerm(pod, &terms[i].PodAffinityTerm, int64(terms[i].Weight)); ok && t.Weight != 0 {
			out = append(out, t)
		}
	}
	return out
}

// affinityTerm works one term out; false when its selectors cannot be read (refused by validation).
func affinityTerm(pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int64) (AffinityTerm, bool) {
	t := AffinityTerm{TopologyKey: term.TopologyKey, Weight: weight, namespaces: term.Namespaces}
	var err error
	if t.selector, err = metav1.LabelSelectorAsSelector(term.LabelSelector); err != nil {
		return t, false
	}
	if term.NamespaceSelector != nil {
		if t.byLabels, err = metav1.LabelSelectorAsSelector(term.NamespaceSelector); err != nil {
			return t, false
		}
	} else if len(t.namespaces) == 0 {
		t.namespaces = []string{pod.Namespace}
	}
	for i, keys := range [][]string{term.MatchLabelKeys, term.MismatchLabelKeys} {
		for _, key := range keys {
			v, ok := pod.Labels[key]
			if !ok {
				continue
			}
			if r, err := labels.NewRequirement(key, []selection.Operator{selection.In, selection.NotIn}[i], []string{v}); err == nil {
				t.selector = t.selector.Add(*r)
			}
		}
	}
	return t, true
}

// EachWithTerms calls fn for each placed pod that has terms of pod affinity, by key.
func (c *Cluster) EachWithTerms(fn func(p *PodInfo, n *NodeInfo)) {
	c.withTerms.Scan(func(_ string, at *placed) bool {
		if at.node.Node != nil {
			fn(at.info, at.node)
		}
		return true
	})
}
