// Package objectview is the view of the API's objects: a table for each kind with kubectl's columns, to sort, filter and go into.
//
// The store's own order is walked from the place that is seen, by the index of the World's tree. A table that is sorted or filtered is filled bit by bit, never more
// than some thousand objects a frame, and then follows the journal object by object; while it is filled, the screen says how far it is. What is chosen is kept by its
// name: rows may move, the choice stays on its object, and goes to the next one when that is deleted.
//
// Imports of ours: engine/event, engine/kinds, engine/world, tui/*. Goroutines: the screen's one. Time: simulated.
package objectview

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// ID of the view.
const ID = "objects"

// View of the objects. The zero value shows pods; New makes one that need not look through the cluster again for each frame until its first key.
type View struct {
	// kind is the place in shown of the kind in front, by name so that the zero value is good; "": pods.
	kind string
	// onKinds: the list of kinds has the keys, not the table.
	onKinds   bool
	namespace string // empty: all
	wide      bool
	column    int // that the cursor is in
	tables    map[string]state
	catalog   *catalog
}

// state of the table of one kind. The map of them is copied when one changes.
type state struct {
	sel     row // key "": the first
	above   int // rows between it and the top of the screen
	column  string
	reverse bool
	filter  string
	trouble bool
}

// New makes the view.
func New() View { return View{catalog: newCatalog()} }

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// first and last are where well-known kinds stand in the list, whether there are objects of them or not; others come between, in the table's order, while there are.
var (
	first = []*kinds.Kind{kinds.Pods, kinds.Deployments, kinds.ReplicaSets}
	last  = []*kinds.Kind{kinds.Nodes, kinds.Namespaces, kinds.Leases, kinds.Events}
	all   = sorted()
)

func sorted() []*kinds.Kind {
	out := slices.Clone(first)
	for _, k := range kinds.All() {
		if !slices.Contains(first, k) && !slices.Contains(last, k) {
			out = append(out, k)
		}
	}
	return append(out, last...)
}

// front is the kind in front.
func (v View) front() *kinds.Kind {
	for _, k := range all {
		if k.String() == v.kind {
			return k
		}
	}
	return kinds.Pods
}

// listed are the kinds of the list: the well-known ones, those of which there are objects, and the one in front; at is its place.
func (v View) listed(w *world.World) (list []*kinds.Kind, at int) {
	front := v.front()
	for _, k := range all {
		from, to := span(w, prefixOf(k, ""))
		if k == front {
			at = len(list)
		} else if from == to && !slices.Contains(first, k) && !slices.Contains(last, k) {
			continue
		}
		list = append(list, k)
	}
	return list, at
}

func (v View) state() state {
	k := v.front()
	s, ok := v.tables[k.String()]
	if !ok && k == kinds.Events { // the newest first: the store's order is by name, which says nothing here
		s.column = "LAST SEEN"
	}
	return s
}

func (v View) with(s state) View {
	k := v.front()
	tables := make(map[string]state, len(v.tables)+1)
	for name, t := range v.tables {
		tables[name] = t
	}
	tables[k.String()] = s
	v.tables = tables
	return v
}

// screen is what is seen of a View in a Frame.
type screen struct {
	kind    *kinds.Kind
	kinds   []*kinds.Kind // of the list
	front   int           // place of kind in it
	state   state
	catalog *catalog
	list    list
	total   int // objects of the kind, in the namespace
	n       int // rows
	at, top int
	lay     plan
	columns []column
}

func (v View) screen(f view.Frame) screen {
	k := v.front()
	s := screen{kind: k, state: v.state(), catalog: v.catalog, lay: layOut(f.W, f.H)}
	if s.catalog == nil {
		s.catalog = &catalog{budget: passingFrame}
	}
	s.kinds, s.front = v.listed(f.World)
	need := v.order()
	s.catalog.advance(f, need)
	prefix := prefixOf(k, v.namespace)
	from, to := span(f.World, prefix)
	s.total = to - from
	switch {
	case need != nil:
		s.list = s.catalog.table
	case s.state.trouble:
		s.list = newTroubled(s.catalog.unwell[k], prefix)
	default:
		s.list = stored{f.World, from, to}
	}
	s.n = s.list.len()
	s.at = 0
	if s.state.sel.key != "" {
		s.at = max(min(s.list.find(s.state.sel), s.n-1), 0)
	}
	h := max(s.lay.rows.H, 1)
	s.top = max(min(s.at-min(s.state.above, h-1), s.n-h), 0)
	s.columns = fit(v.columnsOf(k, f.W), s.lay, v.column)
	return s
}

// order of the table that must be made; nil where the World has the order already.
func (v View) order() *order {
	k := v.front()
	t := v.state()
	if t.column == "" && t.filter == "" && !t.reverse && !(t.trouble && describe.Changing(k)) {
		return nil
	}
	return &order{kind: k, namespace: v.namespace, column: t.column, reverse: t.reverse, filter: t.filter, trouble: t.trouble}
}

func (s screen) object(w *world.World, i int) (*world.Object, bool) {
	if i < 0 || i >= s.n {
		return nil, false
	}
	return w.Objects.Get(s.list.key(i))
}

// Selection is the chosen object.
func (v View) Selection(f view.Frame) target.Target {
	if v.onKinds {
		return target.Target{}
	}
	s := v.screen(f)
	o, ok := s.object(f.World, s.at)
	if !ok {
		return target.Target{}
	}
	return targetOf(o)
}

func targetOf(o *world.Object) target.Target {
	t := target.ForObject(o.Kind, o.Object.GetNamespace(), o.Object.GetName())
	if p, ok := nodeOf(o); ok {
		t.Host = p
	}
	return t
}

// Finding is the filter.
func (v View) Finding() string { return v.state().filter }

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	if v.catalog == nil {
		v.catalog = newCatalog()
	}
	switch i := i.(type) {
	case intent.Select:
		return v.choose(i.Target, f), nil
	case intent.Text:
		t := v.state()
		t.filter = strings.TrimSpace(i.Value)
		return v.with(t), nil
	case intent.Trouble:
		t := v.state()
		t.trouble = !t.trouble
		return v.with(t), nil
	case intent.Option:
		return v.option(i, f)
	case intent.Next:
		return v.turn(v.screen(f), i.By), nil
	case intent.Back:
		return v.back(i)
	}
	s := v.screen(f)
	h := max(s.lay.rows.H, 1)
	switch i := i.(type) {
	case intent.Move:
		return v.move(i, f, s), nil
	case intent.Match:
		return v.to(s, s.at+i.By), nil
	case intent.Page:
		return v.scroll(s, i.By*h), nil
	case intent.Wheel:
		if s.lay.kinds.Contains(i.X, i.Y) {
			return v.turn(s, i.By), nil
		}
		return v.scroll(s, 3*i.By), nil
	case intent.Edge:
		if i.To < 0 {
			return v.to(s, 0), nil
		}
		return v.to(s, s.n-1), nil
	case intent.Point:
		return v.point(i, f, s)
	case intent.Enter, intent.Detail:
		return v.enter(f, s)
	}
	return v, []intent.Intent{i}
}

// turn goes to another kind.
func (v View) turn(s screen, by int) View {
	return v.show(s, (s.front+by+len(s.kinds))%len(s.kinds))
}

func (v View) show(s screen, i int) View {
	if i >= 0 && i < len(s.kinds) {
		v.kind, v.column = s.kinds[i].String(), 0
	}
	return v
}

func (v View) move(i intent.Move, f view.Frame, s screen) View {
	switch {
	case v.onKinds && s.lay.strip && i.DX != 0 || v.onKinds && !s.lay.strip && i.DY != 0:
		return v.show(s, max(min(s.front+i.DX+i.DY, len(s.kinds)-1), 0))
	case v.onKinds && (s.lay.strip && i.DY > 0 || !s.lay.strip && i.DX > 0):
		v.onKinds = false
		return v
	case v.onKinds:
		return v
	case i.DX != 0:
		if v.column+i.DX < 0 {
			v.onKinds = true
			return v
		}
		v.column = min(v.column+i.DX, len(v.columnsOf(s.kind, f.W))-1)
		return v
	case s.at == 0 && i.DY < 0 && s.lay.strip:
		v.onKinds = true
		return v
	}
	return v.to(s, s.at+i.DY)
}

// to chooses a row; the screen scrolls only when it must.
func (v View) to(s screen, at int) View {
	v.onKinds = false
	at = max(min(at, s.n-1), 0)
	t := v.state()
	t.above = max(min(at-s.top, s.lay.rows.H-1), 0)
	t.sel = row{}
	if s.n > 0 {
		t.sel = row{key: s.list.key(at)}
		if tb, ok := s.list.(*table); ok {
			t.sel = tb.have[t.sel.key]
		}
	}
	return v.with(t)
}

// scroll moves what is seen and the chosen row with it.
func (v View) scroll(s screen, by int) View {
	above := s.at - s.top
	v = v.to(s, s.at+by)
	t := v.state()
	t.above = above
	return v.with(t)
}

func (v View) enter(f view.Frame, s screen) (view.View, []intent.Intent) {
	if v.onKinds {
		v.onKinds = false
		return v, nil
	}
	o, ok := s.object(f.World, s.at)
	if !ok {
		return v, nil
	}
	return v, []intent.Intent{intent.Open{Page: "detail", Target: targetOf(o)}}
}

// back takes off what narrows the table, the last first; then it is for the root.
func (v View) back(i intent.Back) (view.View, []intent.Intent) {
	t := v.state()
	switch {
	case v.onKinds:
		v.onKinds = false
	case t.filter != "":
		t.filter = ""
		return v.with(t), nil
	case t.trouble:
		t.trouble = false
		return v.with(t), nil
	default:
		return v, []intent.Intent{i}
	}
	return v, nil
}

func (v View) option(i intent.Option, f view.Frame) (view.View, []intent.Intent) {
	t := v.state()
	k := v.front()
	switch i.Name {
	case "sort":
		t.column, t.reverse = nextColumn(v.columnsOf(k, f.W), t.column), false
		return v.with(t), nil
	case "reverse":
		t.reverse = !t.reverse
		return v.with(t), nil
	case "wide":
		v.wide = !v.wide
		v.column = min(v.column, len(v.columnsOf(k, f.W))-1)
		return v, nil
	case "namespaces":
		if v.namespace != "" {
			v.namespace = ""
			return v, nil
		}
		s := v.screen(f)
		v.namespace = "default"
		if o, ok := s.object(f.World, s.at); ok && o.Object.GetNamespace() != "" {
			v.namespace = o.Object.GetNamespace()
		}
		return v, nil
	case "history":
		s := v.screen(f)
		if o, ok := s.object(f.World, s.at); ok && !v.onKinds {
			return v, []intent.Intent{intent.Open{Page: "history", Target: targetOf(o)}}
		}
		return v, nil
	}
	return v, []intent.Intent{i}
}
