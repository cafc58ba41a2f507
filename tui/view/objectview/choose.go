package objectview

import (
	"strings"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// choose shows a thing: an object in the table of its kind, a machine by its Node. What would hide it is taken off.
func (v View) choose(t target.Target, f view.Frame) View {
	k, namespace, name := kinds.Pods, t.Namespace, t.Name
	switch t.Kind {
	case target.Pod:
	case target.Object:
		var ok bool
		if k, ok = kinds.Named(t.Type); !ok {
			return v
		}
	case target.Master, target.Worker:
		k, namespace, name = kinds.Nodes, "", t.Host
	default:
		return v
	}
	v.kind, v.onKinds = k.String(), false
	if v.namespace != "" && v.namespace != namespace && k.Namespaced {
		v.namespace = ""
	}
	key := world.ObjectKey(k, namespace, name)
	st := v.state()
	st.sel, st.above = row{key: key}, max(layOut(f.W, f.H).rows.H/3, 0)
	if o, ok := f.World.Objects.Get(key); ok && (st.filter != "" || st.trouble) {
		q, _ := parse(st.filter, k)
		if !q.matches(f.World, o) || st.trouble && describe.StateOf(f.World, o).Well {
			st.filter, st.trouble = "", false
		}
	}
	return v.with(st)
}

func (v View) point(i intent.Point, f view.Frame, s screen) (view.View, []intent.Intent) {
	switch {
	case s.lay.kinds.Contains(i.X, i.Y):
		if n, ok := v.kindAt(f, s, i.X-s.lay.kinds.X, i.Y-s.lay.kinds.Y); ok {
			v = v.show(s, n)
			v.onKinds = false
		}
	case s.lay.header.Contains(i.X, i.Y):
		for _, c := range s.columns {
			if x := i.X - s.lay.header.X; x >= c.x && x < c.x+c.width {
				t := v.state()
				t.reverse = t.column == c.Header && !t.reverse
				t.column = c.Header
				v.column = c.index
				return v.with(t), nil
			}
		}
	case s.lay.rows.Contains(i.X, i.Y):
		if at := s.top + i.Y - s.lay.rows.Y; at < s.n {
			v = v.to(s, at)
			if i.Twice {
				s.at = at
				return v.enter(f, s)
			}
		}
	}
	return v, nil
}

// Clips are the cell, the row, the name, the lines of kubectl, and the manifest.
func (v View) Clips(f view.Frame) []view.Clip {
	s := v.screen(f)
	o, ok := s.object(f.World, s.at)
	if !ok {
		return nil
	}
	say := f.Words.Say
	all := v.columnsOf(s.kind, f.W)
	cells := make([]string, len(all))
	for i, c := range all {
		cells[i] = c.Cell(o.Object, f.Now)
	}
	get := "kubectl get " + s.kind.Singular + " " + o.Object.GetName()
	if ns := o.Object.GetNamespace(); ns != "" {
		get += " -n " + ns
	}
	at := min(v.column, len(all)-1)
	return []view.Clip{
		{Label: say("detail.clip-name"), Text: o.Object.GetName()},
		{Label: strings.ToLower(all[at].Header), Text: cells[at]},
		{Label: say("detail.clip-row"), Text: strings.Join(cells, "  ")},
		{Label: "kubectl get", Text: get},
		{Label: "kubectl describe", Text: strings.Replace(get, " get ", " describe ", 1)},
		{Label: "YAML", Text: strings.Join(describe.YAML(describe.SubjectOf(f, targetOf(o))), "\n")},
	}
}
