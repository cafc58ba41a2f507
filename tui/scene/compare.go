package scene

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// What a frame may spend on pods of machines in trouble: on machines not looked at before, and on looking again.
const (
	firstLooks = 40_000
	againLooks = 1_500
)

// looks are the comparisons of belief and truth made so far, by machine.
type looks struct {
	by   map[string]look
	next int // where looking again goes on
}

type look struct {
	believed, truth, ghosts, strays int
	seq                             event.Seq
}

// compare sets belief against truth on the machines in trouble. All are looked at once; where they are many, looking again takes turns.
func (k *Maker) compare(w *world.World, s *Scene) {
	if len(k.trouble) == 0 {
		k.looks = looks{}
		return
	}
	if k.looks.by == nil || len(k.looks.by) > 2*len(k.trouble)+64 {
		k.looks = looks{by: map[string]look{}}
	}
	first, again := firstLooks, againLooks
	n := len(k.trouble)
	start := k.looks.next % n
	for turn := range n {
		i := &k.workers[k.trouble[(start+turn)%n]]
		l, ok := k.looks.by[i.Name]
		switch {
		case !ok && first > 0:
			first -= 2*i.Pods + 4
		case ok && l.seq != w.Seq && again > 0:
			again -= 2*i.Pods + 4
			k.looks.next = (start + turn + 1) % n
		default:
			i.note(l, ok)
			continue
		}
		l = compare(w, i.Name)
		k.looks.by[i.Name] = l
		i.note(l, true)
	}
	for _, at := range k.trouble {
		s.Ghosts += k.workers[at].Ghosts
		s.Strays += k.workers[at].Strays
	}
}

func (i *WorkerInfo) note(l look, ok bool) {
	i.Believed, i.True, i.Ghosts, i.Strays, i.Compared = l.believed, l.truth, l.ghosts, l.strays, ok
	i.Differ = l.ghosts > 0 || l.strays > 0
}

// compare walks the pods that the store has on a node and the containers that the node has.
func compare(w *world.World, node string) look {
	l := look{seq: w.Seq}
	runs := map[string]bool{} // by namespace and name: a static pod has another UID in the store
	w.RunningOnNode(node, func(c *world.Container) bool {
		if c.State == event.ContainerRunning || c.State == event.ContainerStopping {
			runs[c.Pod.Namespace+"/"+c.Pod.Name] = true
		}
		return true
	})
	l.truth = len(runs)
	w.PodsOnNode(node, func(p *world.Pod) bool {
		key := p.Object.Namespace + "/" + p.Object.Name
		on := runs[key]
		if p.Status == "Running" {
			l.believed++
			if !on {
				l.ghosts++
			}
		}
		delete(runs, key)
		return true
	})
	l.strays = len(runs)
	return l
}
