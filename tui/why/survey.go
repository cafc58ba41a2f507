package why

import (
	"cmp"
	"slices"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
)

// detailMax is how many nodes are looked at for a pod whose filters must look at the pods on each node.
const detailMax = 256

// survey is what the filters say of a pod on all nodes, with the nodes that lack least.
type survey struct {
	need    need
	nodes   int
	skipped int // not looked at, see detailMax
	byWhy   map[reason][]string
	count   map[reason]int
	// free nodes fit as things are.
	free []string
	// near are the nodes that lack least, the least first; at most nearMax of each reason.
	near []lack
	// most is the node with most free cpu (memory) among those that refuse for too little of it alone.
	mostCPU, mostMemory string
	maxCPU, maxMemory   int64
	bestCPU, bestMemory lack
	taints              map[string]int // how many nodes have a taint that is not tolerated, by its text
}

const (
	namesMax = 4
	nearMax  = 4
)

// look runs the filters of all nodes.
func look(w *world.World, p *world.Pod) *survey {
	s := &survey{need: needOf(p.Object), byWhy: map[reason][]string{}, count: map[reason]int{}, taints: map[string]int{}}
	limit := w.Nodes.Len()
	if len(s.need.ports) > 0 || len(s.need.rest) > 0 {
		limit = min(limit, detailMax)
	}
	kept := map[reason]int{}
	w.Nodes.Scan(func(name string, n *world.Node) bool {
		if s.nodes == limit {
			s.skipped = w.Nodes.Len() - limit
			return false
		}
		s.nodes++
		l := s.need.check(w, n, edit{})
		r := l.reason()
		s.count[r]++
		if len(s.byWhy[r]) < namesMax {
			s.byWhy[r] = append(s.byWhy[r], name)
		}
		if r == tainted {
			for i := range l.taints {
				s.taints[l.taints[i].ToString()]++
			}
		}
		if r == fits {
			if len(s.free) < namesMax {
				s.free = append(s.free, name)
			}
			return true
		}
		if r == tooSmall {
			if l.cpu && (s.mostCPU == "" || l.freeCPU > s.maxCPU) {
				s.mostCPU, s.maxCPU = name, l.freeCPU
			}
			if l.memory && (s.mostMemory == "" || l.freeMemory > s.maxMemory) {
				s.mostMemory, s.maxMemory = name, l.freeMemory
			}
			if l.cpu && l.kinds() == 1 && (s.bestCPU.node == nil || l.freeCPU > s.bestCPU.freeCPU) {
				s.bestCPU = l
			}
			if l.memory && l.kinds() == 1 && (s.bestMemory.node == nil || l.freeMemory > s.bestMemory.freeMemory) {
				s.bestMemory = l
			}
		}
		s.keep(l, r, kept)
		return true
	})
	slices.SortStableFunc(s.near, func(a, b lack) int {
		return cmp.Or(cmp.Compare(a.kinds(), b.kinds()), cmp.Compare(rank(&a), rank(&b)), scene.NaturalCompare(a.node.Object.Name, b.node.Object.Name))
	})
	for _, names := range s.byWhy {
		slices.SortFunc(names, scene.NaturalCompare)
	}
	slices.SortFunc(s.free, scene.NaturalCompare)
	return s
}

// keep remembers the nodes that lack least for each reason.
func (s *survey) keep(l lack, r reason, kept map[reason]int) {
	if kept[r] < nearMax {
		kept[r]++
		s.near = append(s.near, l)
		return
	}
	worst := -1
	for i := range s.near {
		if s.near[i].reason() == r && (worst < 0 || s.near[i].kinds() > s.near[worst].kinds()) {
			worst = i
		}
	}
	if worst >= 0 && s.near[worst].kinds() > l.kinds() {
		s.near[worst] = l
	}
}

// rank orders lacks of one kind by how little must be done about them: what is asked of a node of the control plane comes last.
func rank(l *lack) int {
	switch {
	case l.node.Master:
		return 9
	case l.cordoned:
		return 0
	case l.cpu || l.memory:
		return 1
	case l.full:
		return 2
	case l.labels:
		return 3
	case len(l.ports) > 0:
		return 4
	}
	return 5
}
