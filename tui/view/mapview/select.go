package mapview

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
)

// move goes to the nearest thing in a direction; inside a machine, along its parts.
func (v View) move(f view.Frame, p *plan, m intent.Move) scene.Target {
	if v.inside() {
		by := m.DX + m.DY
		return along(parts(f, v.selected.Host), v.selected, by)
	}
	all := p.all()
	if len(all) == 0 {
		return scene.Target{}
	}
	from, ok := p.find(v.selected.Host)
	if v.selected.Kind == scene.Pod { // a pending pod lies between masters and workers
		from, ok = placed{rect: p.pending}, !p.pending.Empty()
	}
	if !ok {
		return all[0].target
	}
	best, score := v.selected, 1<<30
	cx, cy := from.rect.X+from.rect.W/2, from.rect.Y+from.rect.H/2
	for _, t := range all {
		x, y := t.rect.X+t.rect.W/2, t.rect.Y+t.rect.H/2
		dx, dy := (x-cx)*m.DX, (y-cy)*m.DY
		across := abs((x - cx) * m.DY)
		if m.DX != 0 {
			across = abs(y-cy) * 8 // stay in the row
		}
		if dx+dy <= 0 || t.target == v.selected {
			continue
		}
		if m.DX != 0 && abs(y-cy) > 1 && !p.rows {
			continue
		}
		if s := dx + dy*4 + across; s < score {
			best, score = t.target, s
		}
	}
	return best
}

// next goes through machines and pending pods in reading order; inside a machine, through its parts.
func (v View) next(f view.Frame, p *plan, by int) scene.Target {
	if v.inside() {
		return wrap(parts(f, v.selected.Host), v.selected, by)
	}
	var all []scene.Target
	for _, t := range p.masters {
		all = append(all, t.target)
	}
	for i, pod := range f.Scene.Pending {
		if i == 20 {
			break
		}
		all = append(all, scene.PodTarget(pod))
	}
	for _, t := range p.workers {
		all = append(all, t.target)
	}
	return wrap(all, v.selected, by)
}

// deeper goes into the selected machine.
func (v View) deeper(f view.Frame) (scene.Target, bool) {
	if v.selected.Kind != scene.Master && v.selected.Kind != scene.Worker {
		return v.selected, false
	}
	all := parts(f, v.selected.Host)
	if len(all) == 0 {
		return v.selected, false
	}
	return all[0], true
}

// shallower comes back: from a part to its machine, from a machine to nothing.
func (v View) shallower(f view.Frame) scene.Target {
	if !v.inside() {
		return scene.Target{}
	}
	if m, _ := f.Scene.Find(v.selected); m != nil {
		return scene.Target{Kind: scene.Master, Host: v.selected.Host}
	}
	return scene.Target{Kind: scene.Worker, Host: v.selected.Host}
}

// at finds what lies under the mouse. A second click on a machine goes to the part under it.
func (v View) at(f view.Frame, p *plan, x, y int) (scene.Target, bool) {
	if p.pending.Contains(x, y) && len(f.Scene.Pending) > 0 {
		return scene.PodTarget(f.Scene.Pending[0]), true
	}
	for _, t := range p.all() {
		if !t.rect.Contains(x, y) {
			continue
		}
		if t.target.Kind == scene.Master && v.selected.Host == t.target.Host {
			names := masterParts(f, t.target.Host)
			if row := y - t.rect.Y - 1; row >= 0 && row < len(names) && names[row] != "" {
				return scene.Target{Kind: scene.Process, Host: t.target.Host, Process: names[row]}, true
			}
		}
		return t.target, true
	}
	return scene.Target{}, false
}

// parts of a machine that can be selected: the processes of a master; the pods of a worker, then its processes.
func parts(f view.Frame, host string) []scene.Target {
	m, w := f.Scene.Find(scene.Target{Host: host})
	var out []scene.Target
	var h *world.Host
	switch {
	case m != nil:
		h = m.Host
	case w != nil:
		h = w.Host
		for _, p := range scene.PodsOn(f.World, w.Name, 500) {
			out = append(out, scene.PodTarget(p))
		}
	}
	for _, name := range scene.ProcessNames(h) {
		out = append(out, scene.Target{Kind: scene.Process, Host: host, Process: name})
	}
	return out
}

func along(all []scene.Target, at scene.Target, by int) scene.Target {
	for i, t := range all {
		if t == at {
			return all[max(min(i+by, len(all)-1), 0)]
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return at
}

func wrap(all []scene.Target, at scene.Target, by int) scene.Target {
	if len(all) == 0 {
		return at
	}
	for i, t := range all {
		if t == at {
			return all[(i+by+len(all))%len(all)]
		}
	}
	if by < 0 {
		return all[len(all)-1]
	}
	return all[0]
}

// about is the record that made the selected thing what it is now.
func (v View) about(f view.Frame) event.Seq {
	t := v.selected
	switch t.Kind {
	case scene.Pod:
		if p, ok := f.World.Pods.Get(t.Namespace + "/" + t.Name); ok {
			if a, ok := f.World.Attempts.Get(t.Namespace + "/" + t.Name); ok && t.Host == "" {
				return a.Seq
			}
			return p.Seq
		}
	case scene.Process:
		if h, ok := f.World.Hosts.Get(t.Host); ok {
			if s := h.Processes[t.Process].Seq; s != 0 {
				return s
			}
			return h.Seq
		}
	case scene.Master, scene.Worker:
		h, ok := f.World.Hosts.Get(t.Host)
		if ok && h.Seq != 0 {
			return h.Seq
		}
		m, w := f.Scene.Find(t)
		if w != nil && w.Node != nil {
			return w.Node.Seq
		}
		if m != nil && len(m.Faults) > 0 {
			return m.Faults[0].Seq
		}
		if m != nil && m.Member != nil {
			return m.Member.Seq
		}
	}
	return 0
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
