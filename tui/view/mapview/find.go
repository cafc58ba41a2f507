package mapview

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// point selects what lies under the mouse; the second click goes into it.
func (v View) point(f view.Frame, i intent.Point) (view.View, []intent.Intent) {
	t, ok := v.under(f, i.X, i.Y)
	if !ok {
		return v, nil
	}
	v.acted = true
	if i.Twice && t == v.selected {
		return v.deeper(f)
	}
	if t.Host == "" || t.Host != v.inside || t.Kind == scene.Master || t.Kind == scene.Worker {
		v.inside = ""
	}
	v.selected = t
	return v, nil
}

// under finds what lies at a cell; on the machine that is gone into, the part there.
func (v View) under(f view.Frame, x, y int) (scene.Target, bool) {
	p := makePlan(f, v)
	if p.pending.Contains(x, y) && len(f.Scene.Pending) > 0 {
		for _, pod := range f.Scene.Pending {
			if scene.PodTarget(pod) == v.selected {
				return v.selected, true
			}
		}
		return scene.PodTarget(f.Scene.Pending[0]), true
	}
	if p.floor.group > 1 {
		for i := range p.floor.blocks {
			if b := &p.floor.blocks[i]; b.rect.Contains(x, y) {
				return zoneTarget(f, b.zoom), true
			}
		}
	}
	var zone scene.Target
	for _, t := range v.places(f, &p) {
		if !t.rect.Contains(x, y) {
			continue
		}
		if t.target.Kind == target.Zone {
			zone = t.target
			continue
		}
		if t.target.Kind == scene.Master && v.inside == t.target.Host {
			if m, _ := f.Scene.Find(t.target); m != nil {
				if names := scene.ProcessNames(m.Host); y-t.rect.Y-1 >= 0 && y-t.rect.Y-1 < len(names) {
					return scene.Target{Kind: scene.Process, Host: t.target.Host, Process: names[y-t.rect.Y-1]}, true
				}
			}
		}
		return t.target, true
	}
	return zone, zone.Kind != scene.Nothing
}

// page scrolls rows by screens.
func (v View) page(f view.Frame, by int) View {
	p := makePlan(f, v)
	if v.inside != "" {
		v.selected = along(v.parts(f, v.inside), v.selected, by*max(p.floor.area.H-4, 1))
		return v
	}
	if n := len(p.floor.rows); n > 0 && len(p.floor.blocks) == 0 {
		v.top = v.scrolled(f, by*n)
		return v.at(f, 0)
	}
	return v
}

// scrolled is the first row after rows were scrolled.
func (v View) scrolled(f view.Frame, by int) int {
	p := makePlan(f, v)
	l := &p.floor
	return min(max(l.before+by, 0), l.before+l.after)
}

// edge goes to the first or the last: row, part of a machine, or thing.
func (v View) edge(f view.Frame, to int) View {
	if v.inside != "" {
		all := v.parts(f, v.inside)
		v.selected = along(all, v.selected, to*len(all))
		return v
	}
	p := makePlan(f, v)
	if n := len(p.floor.rows); n > 0 && len(p.floor.blocks) == 0 {
		v.top = v.scrolled(f, to*len(f.Scene.Workers))
		if to < 0 {
			return v.at(f, 0)
		}
		return v.at(f, n-1)
	}
	if all := v.places(f, &p); len(all) > 0 {
		v.selected = all[0].target
		if to > 0 {
			v.selected = all[len(all)-1].target
		}
	}
	return v
}

// show selects a thing and goes where it is seen.
func (v View) show(f view.Frame, t scene.Target) View {
	v.selected, v.inside = t, ""
	if t.Kind == scene.Pod && t.Host == "" { // found by name alone: it may have a node
		if p, ok := f.World.Pods.Get(t.Namespace + "/" + t.Name); ok {
			v.selected = scene.PodTarget(p)
		}
	}
	host := v.selected.Host
	m, w := f.Scene.Find(scene.Target{Host: host})
	if m == nil && w == nil {
		return v
	}
	if v.selected.Kind == scene.Pod || v.selected.Kind == scene.Process {
		v.inside = host
	}
	if w == nil {
		return v
	}
	for i := range f.Scene.Workers {
		if f.Scene.Workers[i].Name != host {
			continue
		}
		if !slices.Contains(v.zoom.members(f.Scene), i) {
			v.zoom, v.top = zoom{}, 0
		}
		for range 3 { // into the zones it lies in, until it has a cell of its own
			p := makePlan(f, v)
			if p.floor.group == 1 {
				break
			}
			for b := range p.floor.blocks {
				if slices.Contains(p.floor.blocks[b].members, i) {
					v.zoom = p.floor.blocks[b].zoom
				}
			}
		}
		if p := makePlan(f, v); p.floor.before+p.floor.after > 0 {
			for row, member := range v.zoom.members(f.Scene) {
				if member == i && (row < p.floor.before || row >= p.floor.before+len(p.floor.rows)) {
					v.top = max(row-len(p.floor.rows)/2, 0)
				}
			}
		}
	}
	return v
}

// nextTrouble goes to the next machine, member or pod that is in trouble.
func (v View) nextTrouble(f view.Frame) View {
	var all []scene.Target
	seen := map[scene.Target]bool{}
	for _, p := range f.Scene.Problems(f.World, f.Words) {
		if p.Target.Kind != scene.Nothing && !seen[p.Target] {
			seen[p.Target] = true
			all = append(all, p.Target)
		}
	}
	if len(all) == 0 {
		return v
	}
	return v.show(f, wrap(all, v.selected, 1))
}

// hits are the machines whose name holds the text, and pods whose name begins with it; a bounded number of them.
func (v View) hits(f view.Frame) []scene.Target {
	const most = 200
	want := strings.ToLower(v.find)
	if want == "" {
		return nil
	}
	var out []scene.Target
	for i := range f.Scene.Masters {
		if strings.Contains(f.Scene.Masters[i].Name, want) {
			out = append(out, scene.Target{Kind: scene.Master, Host: f.Scene.Masters[i].Name})
		}
	}
	f.World.Programs.Scan(func(key string, p *world.Program) bool {
		if strings.Contains(strings.ToLower(p.Name), want) {
			out = append(out, clientTarget(motion.Outside(key)))
		}
		return len(out) < most
	})
	for i := range f.Scene.Workers {
		if len(out) < most && strings.Contains(f.Scene.Workers[i].Name, want) {
			out = append(out, workerAt(f, i))
		}
	}
	const kind = "namespaces "
	f.World.Objects.Ascend(kind, func(key string, _ *world.Object) bool {
		namespace, ok := strings.CutPrefix(key, kind)
		if !ok || len(out) >= most {
			return false
		}
		f.World.Pods.Ascend(namespace+"/"+want, func(key string, p *world.Pod) bool {
			if !strings.HasPrefix(key, namespace+"/"+want) || len(out) >= most {
				return false
			}
			out = append(out, scene.PodTarget(p))
			return true
		})
		return true
	})
	return out
}

// findNext goes to a hit: the first (0), the next (1) or the one before (-1).
func (v View) findNext(f view.Frame, by int) View {
	all := v.hits(f)
	if len(all) == 0 {
		return v
	}
	if by == 0 {
		return v.show(f, all[0])
	}
	return v.show(f, wrap(all, v.selected, by))
}
