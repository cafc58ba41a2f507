package mapview

import (
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// Limits of what is walked through one by one.
const (
	partsMax   = 500
	pendingMax = 20
)

// places lists what can be selected, with where it is, in the order of the tab key: masters, members, waiting pods, workers or zones, then who asks.
func (v View) places(f view.Frame, p *plan) []placed {
	out := append([]placed{}, p.masters...)
	for _, l := range links(f, p) {
		out = append(out, placed{etcdOf(l.m.Name), l.rect})
	}
	if !p.pending.Empty() {
		for i, pod := range f.Scene.Pending {
			if i == pendingMax {
				break
			}
			out = append(out, placed{scene.PodTarget(pod), p.pending})
		}
	}
	l := &p.floor
	out = append(append(out, l.cards...), l.rows...)
	if !l.big.rect.Empty() {
		out = append(out, l.big)
	}
	named := map[string]bool{}
	for _, t := range l.rows {
		named[t.target.Host] = true
	}
	for i := range l.blocks {
		b := &l.blocks[i]
		if len(l.blocks) > 1 || l.group > 1 {
			out = append(out, placed{zoneTarget(f, b.zoom), layout.Rect{X: b.rect.X, Y: b.rect.Y, W: min(b.rect.W, 24), H: 1}})
		}
		if l.group > 1 {
			continue
		}
		for at, member := range b.members {
			if named[f.Scene.Workers[member].Name] {
				continue // it has a line of its own
			}
			x, y := b.cellAt(at, 1)
			out = append(out, placed{workerAt(f, member), layout.Rect{X: x, Y: y, W: 1, H: 1}})
		}
	}
	out = append(out, clientPlaces(f, p)...)
	if !p.balancer.Empty() {
		r := p.balancer
		if p.users.Empty() {
			r = layout.Rect{X: r.X + balancerAt(f, r.W), Y: r.Y, W: grid.Width(f.Words.Say("map.balancer")), H: 1}
		}
		out = append(out, placed{balancerTarget, r})
	}
	return out
}

// move goes to the nearest thing in a direction; inside a machine, along its parts.
func (v View) move(f view.Frame, m intent.Move) View {
	if v.inside != "" {
		v.selected = along(v.parts(f, v.inside), v.selected, m.DX+m.DY)
		return v
	}
	p := makePlan(f, v)
	all := v.places(f, &p)
	if len(all) == 0 {
		return v
	}
	from := -1
	for i, t := range all {
		if t.target == v.selected {
			from = i
			break
		}
	}
	if from < 0 {
		v.selected = v.first(f, all)
		return v
	}
	if m.DY != 0 && p.floor.before+p.floor.after > 0 && v.selected.Kind == scene.Worker {
		if next, ok := v.alongRows(f, &p.floor, m.DY); ok {
			return next
		}
	}
	if t, ok := nearest(all, all[from], m); ok {
		v.selected = t
	}
	return v
}

// alongRows goes to the row before or after where rows scroll; false: there is none.
func (v View) alongRows(f view.Frame, l *floor, by int) (View, bool) {
	for i, t := range l.rows {
		if t.target != v.selected {
			continue
		}
		members := v.zoom.members(f.Scene)
		at := l.before + i + by
		if len(l.blocks) > 0 || at < 0 || at >= len(members) {
			return v, false
		}
		v.selected = workerAt(f, members[at])
		if i+by < 0 || i+by >= len(l.rows) {
			v.top = l.before + by
		}
		return v, true
	}
	return v, false
}

// at selects the row with a number among those on the screen.
func (v View) at(f view.Frame, row int) View {
	p := makePlan(f, v)
	if rows := p.floor.rows; len(rows) > 0 {
		v.selected = rows[min(max(row, 0), len(rows)-1)].target
	}
	return v
}

// first is where a selection begins: with what is worst, else with the first machine.
func (v View) first(f view.Frame, all []placed) scene.Target {
	for _, t := range all {
		if m, w := f.Scene.Find(t.target); (t.target.Kind == scene.Master && m != nil && !m.Up) || (t.target.Kind == scene.Worker && w != nil && w.Wrong) {
			return t.target
		}
	}
	return all[0].target
}

// nearest is the thing that lies next in a direction: what is straight ahead comes before what is aside.
func nearest(all []placed, from placed, m intent.Move) (scene.Target, bool) {
	best, score := from.target, 1<<30
	for _, t := range all {
		if t.target == from.target || t.rect == from.rect {
			continue
		}
		var ahead, aside, skew int
		a, b := from.rect, t.rect
		switch {
		case m.DX > 0:
			ahead, aside, skew = b.X-a.Right(), gap(a.Y, a.Bottom(), b.Y, b.Bottom()), a.Y-b.Y
		case m.DX < 0:
			ahead, aside, skew = a.X-b.Right(), gap(a.Y, a.Bottom(), b.Y, b.Bottom()), a.Y-b.Y
		case m.DY > 0:
			ahead, aside, skew = b.Y-a.Bottom(), gap(a.X, a.Right(), b.X, b.Right()), a.X+a.W/2-b.X-b.W/2
		default:
			ahead, aside, skew = a.Y-b.Bottom(), gap(a.X, a.Right(), b.X, b.Right()), a.X+a.W/2-b.X-b.W/2
		}
		if ahead < 0 || (m.DX != 0 && aside > 0) { // sideways one stays in the row
			continue
		}
		s := ahead*16 + aside*24 + max(skew, -skew)
		if s < score {
			best, score = t.target, s
		}
	}
	return best, score < 1<<30
}

// gap between two stretches; 0 where they overlap.
func gap(a, aEnd, b, bEnd int) int {
	return max(b-aEnd+1, a-bEnd+1, 0)
}

// next goes through everything in reading order; inside a machine, through its parts.
func (v View) next(f view.Frame, by int) View {
	if v.inside != "" {
		v.selected = wrap(v.parts(f, v.inside), v.selected, by)
		return v
	}
	p := makePlan(f, v)
	all := v.places(f, &p)
	targets := make([]scene.Target, len(all))
	for i, t := range all {
		targets[i] = t.target
	}
	v.selected = wrap(targets, v.selected, by)
	return v
}

// deeper goes into what is selected: a zone, a machine, then the page about a thing.
func (v View) deeper(f view.Frame) (view.View, []intent.Intent) {
	v.acted = true
	t := v.selected
	switch t.Kind {
	case scene.Nothing:
		p := makePlan(f, v)
		if all := v.places(f, &p); len(all) > 0 {
			v.selected = v.first(f, all)
		}
		return v, nil
	case target.Client:
		if t.Name == motion.You {
			return v, []intent.Intent{intent.Console{}}
		}
	case target.Zone:
		p := makePlan(f, v)
		for i := range p.floor.blocks {
			b := &p.floor.blocks[i]
			if zoneTarget(f, b.zoom) == t && b.zoom != v.zoom {
				v.zoom, v.top, v.scale = b.zoom, 0, byRoom
				v.selected = workerAt(f, b.members[0])
				q := makePlan(f, v)
				for _, pl := range v.places(f, &q) {
					if _, w := f.Scene.Find(pl.target); pl.target.Kind == target.Zone || (w != nil && pl.target.Kind == scene.Worker) {
						v.selected = pl.target
						break
					}
				}
				return v, nil
			}
		}
		v.scale, v.top = asRows, 0 // no finer picture: the machines one by one
		return v.at(f, 0), nil
	case scene.Master, scene.Worker:
		if all := v.parts(f, t.Host); len(all) > 0 && v.inside == "" {
			v.inside, v.selected = t.Host, all[0]
			return v, nil
		}
	case scene.Process:
		if v.inside == "" { // on the raft lane
			return v, []intent.Intent{intent.Show{View: "raft"}, intent.Select{Target: t}}
		}
	}
	return v, []intent.Intent{intent.Open{Page: "detail", Target: t}}
}

// shallower comes back: from a part to its machine, from a machine out of the zone or to nothing; false: there is nothing to leave.
func (v View) shallower(f view.Frame) (View, bool) {
	v.acted = true
	switch {
	case v.inside != "":
		kind := scene.Worker
		if m, _ := f.Scene.Find(scene.Target{Host: v.inside}); m != nil {
			kind = scene.Master
		}
		v.selected, v.inside = scene.Target{Kind: kind, Host: v.inside}, ""
	case v.scale == asRows && v.zoom != (zoom{}):
		v.scale, v.top = byRoom, 0
	case v.zoom != (zoom{}):
		v.selected = zoneTarget(f, v.zoom)
		v.zoom, v.top = v.zoom.out(), 0
	case v.scale != byRoom:
		v.scale, v.top = byRoom, 0
	case v.selected.Kind != scene.Nothing:
		v.selected = scene.Target{}
	default:
		return v, false
	}
	return v, true
}

// parts of a machine that can be selected: the processes of a master; the pods of a worker, then its processes.
func (v View) parts(f view.Frame, host string) []scene.Target {
	m, w := f.Scene.Find(scene.Target{Host: host})
	var out []scene.Target
	var h *world.Host
	switch {
	case m != nil:
		h = m.Host
	case w != nil:
		h = w.Host
		for _, p := range scene.PodsOn(f.World, w.Name, partsMax) {
			out = append(out, scene.PodTarget(p))
		}
	}
	for _, name := range scene.ProcessNames(h) {
		out = append(out, scene.Target{Kind: scene.Process, Host: host, Process: name})
	}
	if m != nil {
		for _, p := range scene.PodsOn(f.World, host, partsMax) {
			if !mirror(p) {
				out = append(out, scene.PodTarget(p))
			}
		}
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
			return all[((i+by)%len(all)+len(all))%len(all)]
		}
	}
	if by < 0 {
		return all[len(all)-1]
	}
	return all[0]
}
