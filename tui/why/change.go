package why

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
)

// edits lists changes of which each alone lets the pod fit, the smallest first. Every one was tried by the same filters that refuse now. At most four.
func (s *survey) edits(w *world.World) []edit {
	var out []edit
	try := func(e edit) bool {
		node, ok := w.Nodes.Get(e.node)
		if !ok || len(out) == 4 {
			return false
		}
		if l := s.need.check(w, node, e); l.kinds() > 0 {
			return false
		}
		out = append(out, e)
		return true
	}
	if l := &s.bestCPU; l.node != nil && l.freeCPU > 0 {
		try(edit{node: l.node.Object.Name, cpu: &l.freeCPU})
	}
	if l := &s.bestMemory; l.node != nil && l.freeMemory > 0 {
		try(edit{node: l.node.Object.Name, memory: &l.freeMemory})
	}
	seen := map[int]bool{1: len(out) > 0} // ranks that are offered
	for i := range s.near {
		l := &s.near[i]
		if kind := rank(l); l.kinds() > 1 || seen[kind] {
			continue
		}
		if e, ok := s.mend(w, l); ok && try(e) {
			seen[rank(l)] = true
		}
	}
	for i := range s.near { // nothing alone is enough: all that the nearest node lacks, together
		if len(out) > 0 {
			break
		}
		if e, ok := s.mend(w, &s.near[i]); ok {
			try(e)
		}
	}
	slices.SortStableFunc(out, func(a, b edit) int { return cmp.Compare(weight(w, a), weight(w, b)) })
	return out
}

// weight of an edit: how much is asked of whom. A node made well again asks least, since that must be done anyway.
func weight(w *world.World, e edit) int {
	n, _ := w.Nodes.Get(e.node)
	switch {
	case n != nil && n.Master:
		return 9
	case e.parts() > 1:
		return 8
	case len(e.heal) > 0:
		return 0
	case e.uncordon:
		return 1
	case len(e.label) > 0:
		return 2
	case e.cpu != nil || e.memory != nil:
		return 3
	case len(e.remove) > 0:
		return 4
	}
	return 5
}

func (e edit) parts() int {
	n := 0
	for _, is := range []bool{e.cpu != nil, e.memory != nil, len(e.tolerate) > 0, len(e.heal) > 0, e.uncordon, len(e.label) > 0, len(e.remove) > 0} {
		if is {
			n++
		}
	}
	return n
}

// mend makes an edit that removes all that a node lacks; false where nothing does (another node was asked for by name, a resource the node never had).
func (s *survey) mend(w *world.World, l *lack) (edit, bool) {
	e := edit{node: l.node.Object.Name}
	if l.otherName {
		return e, false
	}
	e.uncordon = l.cordoned
	for _, t := range l.taints {
		switch t.Key {
		case corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady:
			e.heal = append(e.heal, t)
		case corev1.TaintNodeUnschedulable:
			e.uncordon = true
		default:
			e.tolerate = append(e.tolerate, t)
		}
	}
	if l.labels {
		if e.label = s.need.labels(l.node.Object); e.label == nil {
			return e, false
		}
	}
	if len(l.ports) > 0 {
		e.remove = append(e.remove, l.ports...)
	}
	if l.cpu || l.memory || l.full || len(l.rest) > 0 {
		if victims := s.victims(w, l, e); victims != nil {
			e.remove = victims
			return e, true
		}
		switch {
		case l.full || len(l.rest) > 0:
			return e, false
		case l.cpu && l.freeCPU > 0 && (!l.memory || l.freeMemory > 0):
			e.cpu = &l.freeCPU
			if l.memory {
				e.memory = &l.freeMemory
			}
		case !l.cpu && l.freeMemory > 0:
			e.memory = &l.freeMemory
		default:
			return e, false
		}
	}
	return e, true
}

// victims are the fewest pods whose going makes room on a node: one that is just large enough, or the largest ones together. Pods that would come back to the same
// node at once, and those of the cluster itself, are not among them. nil: all of them together do not make room.
func (s *survey) victims(w *world.World, l *lack, e edit) []*world.Pod {
	type candidate struct {
		pod  *world.Pod
		size need
	}
	var all []candidate
	w.PodsOnNode(l.node.Object.Name, func(p *world.Pod) bool {
		if !p.Ended && !p.Deleting && p.Object.Namespace != metav1.NamespaceSystem && p.Object.Annotations[corev1.MirrorPodAnnotationKey] == "" && !slices.Contains(e.remove, p) {
			all = append(all, candidate{p, needOf(p.Object)})
		}
		return len(all) < 200
	})
	enough := func(remove []*world.Pod) bool {
		e := e
		e.remove = append(slices.Clone(e.remove), remove...)
		after := s.need.check(w, l.node, e)
		return !after.cpu && !after.memory && !after.full && len(after.rest) == 0
	}
	bySize := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.size.cpu, b.size.cpu), cmp.Compare(a.size.memory, b.size.memory), cmp.Compare(a.pod.Object.Name, b.pod.Object.Name))
	}
	slices.SortFunc(all, bySize)
	for _, c := range all { // the smallest one that is large enough
		if enough([]*world.Pod{c.pod}) {
			return append(slices.Clone(e.remove), c.pod)
		}
	}
	var some []*world.Pod
	for i := len(all) - 1; i >= 0 && len(some) < 3; i-- {
		some = append(some, all[i].pod)
		if enough(some) {
			return append(slices.Clone(e.remove), some...)
		}
	}
	return nil
}

// labels that a node would need for the pod's selectors; nil where labels do not help. Of several terms of an affinity, the first that labels can satisfy.
func (n *need) labels(node *corev1.Node) map[string]string {
	base := map[string]string{}
	for k, v := range n.pod.Spec.NodeSelector {
		if node.Labels[k] != v {
			base[k] = v
		}
	}
	a := n.pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return orNil(base)
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if l, ok := termLabels(term, node); ok {
			for k, v := range base {
				l[k] = v
			}
			return orNil(l)
		}
	}
	return nil
}

func orNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

func termLabels(term corev1.NodeSelectorTerm, node *corev1.Node) (map[string]string, bool) {
	out := map[string]string{}
	if len(term.MatchFields) > 0 {
		return nil, false
	}
	for _, x := range term.MatchExpressions {
		have, there := node.Labels[x.Key]
		switch x.Operator {
		case corev1.NodeSelectorOpIn:
			if !there || !slices.Contains(x.Values, have) {
				out[x.Key] = x.Values[0]
			}
		case corev1.NodeSelectorOpExists:
			if !there {
				out[x.Key] = ""
			}
		default: // a label must go or be a number
			return nil, false
		}
	}
	return out, len(out) > 0
}

// command that makes an edit, as the console takes it; empty where none does.
func (e edit) command(cut, down bool) string {
	switch {
	case e.parts() != 1:
	case e.uncordon:
		return "kubectl uncordon " + e.node
	case len(e.heal) > 0 && down:
		return "start " + e.node
	case len(e.heal) > 0 && cut:
		return "heal " + e.node
	case len(e.remove) == 1:
		o := e.remove[0].Object
		return "kubectl delete pod " + o.Name + " -n " + o.Namespace
	}
	return ""
}

// cpuText writes milli-CPU as people do: 8, 3.4, 0.25.
func cpuText(milli int64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(float64(milli)/1000, 'f', 3, 64), "0"), ".")
}

// memoryText writes bytes in the largest binary unit that keeps it exact enough: 512Mi, 1.5Gi. It rounds down, so that what is called free is free.
func memoryText(bytes int64) string {
	const mi = 1 << 20
	switch {
	case bytes >= 10<<30 || bytes >= 1<<30 && bytes%(1<<30) == 0:
		return strconv.FormatInt(bytes>>30, 10) + "Gi"
	case bytes >= mi:
		return strconv.FormatInt(bytes/mi, 10) + "Mi"
	case bytes >= 1024:
		return strconv.FormatInt(bytes>>10, 10) + "Ki"
	}
	return strconv.FormatInt(bytes, 10)
}

// exactMemory writes bytes as Kubernetes does.
func exactMemory(bytes int64) string {
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}

// key of a pod as World.Pods has it.
func key(namespace, name string) string {
	return kinds.ObjectRef{Namespace: namespace, Name: name}.String()
}
