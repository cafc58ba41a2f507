package objectview

import (
	"sort"
	"strings"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/view"
)

// Limits of the work of one frame, which is some milliseconds: objects looked at or put in order, and records read to follow the World.
const (
	objectsFrame = 6000
	recordsFrame = 1 << 13
	behindMost   = 1 << 15 // further behind the World than this, it is quicker to begin anew
)

// catalog knows which objects are not well, and holds one table in its order. It is made bit by bit, so that no frame waits for it, and then follows the journal.
type catalog struct {
	begun bool
	seq   event.Seq // of the last record followed
	// unwell holds the objects that are not as they should be, by kind.
	unwell map[*kinds.Kind]*census
	table  *table
	buf    []event.Record
	budget int // objects a frame
}

// census is what was found of a kind, and how far it was looked through.
type census struct {
	keys btree.Set[string]
	next string // key to go on from
	done bool
}

// passingFrame is the budget of a catalog that is thrown away after the frame, for a View that has not been given one.
const passingFrame = 1000

func newCatalog() *catalog { return &catalog{budget: objectsFrame} }

func (c *catalog) reset(w *world.World) {
	*c = catalog{begun: true, seq: w.Seq, unwell: map[*kinds.Kind]*census{}, buf: c.buf, budget: c.budget}
	for _, k := range kinds.All() {
		c.unwell[k] = &census{next: k.String() + " "}
	}
}

// advance follows the World and goes on with what is not finished; need describes the table that is wanted, nil for the store's own order.
func (c *catalog) advance(f view.Frame, need *order) {
	w := f.World
	if !c.begun || w.Seq < c.seq || w.Seq > c.seq+behindMost || f.Journal == nil && w.Seq != c.seq {
		c.reset(w)
	}
	for c.seq < w.Seq {
		recs, lost := f.Journal.Read(c.buf[:0], c.seq+1, int(min(w.Seq-c.seq, recordsFrame)))
		if lost > 0 || len(recs) == 0 {
			c.reset(w)
			break
		}
		for i := range recs {
			c.follow(w, &recs[i])
		}
		c.seq = recs[len(recs)-1].Seq
		c.buf = recs[:0]
		clear(recs)
	}
	if need == nil {
		c.table = nil
	} else if c.table == nil || !c.table.order.same(need) || need.kind != nil && describe.Changing(need.kind) && need.trouble && c.table.made != w.Seq {
		c.table = newTable(need, w.Seq)
	}
	left := c.budget
	if c.table != nil {
		left -= c.table.fill(f, left)
	}
	for _, k := range kinds.All() {
		if left <= 0 {
			break
		}
		left -= c.unwell[k].look(w, k, left)
	}
}

func (c *catalog) follow(w *world.World, r *event.Record) {
	switch e := r.Event.(type) {
	case event.ObjectChanged:
		if e.Object == nil {
			return
		}
		k, err := kinds.Of(e.Object)
		if err != nil {
			return
		}
		was := k == kinds.Nodes && c.unwell[k].has(world.ObjectKey(k, "", e.Object.GetName()))
		c.touch(w, k, e.Object.GetNamespace(), e.Object.GetName())
		if n, ok := e.Object.(*corev1.Node); ok && was != c.unwell[k].has(world.ObjectKey(k, "", n.Name)) { // pods on it are held for running no more, or again
			w.PodsOnNode(n.Name, func(p *world.Pod) bool {
				c.touch(w, kinds.Pods, p.Object.Namespace, p.Object.Name)
				return true
			})
		}
	case event.LeaseRenewed:
		c.touch(w, kinds.Leases, e.Namespace, e.Lease)
	}
}

func (c *catalog) touch(w *world.World, k *kinds.Kind, namespace, name string) {
	key := world.ObjectKey(k, namespace, name)
	o, ok := w.Objects.Get(key)
	u := c.unwell[k]
	if ok && !describe.StateOf(w, o).Well {
		u.keys.Insert(key)
	} else {
		u.keys.Delete(key)
	}
	if c.table != nil && c.table.order.kind == k {
		if ok {
			c.table.put(w, key, o)
		} else {
			c.table.drop(key)
		}
	}
}

func (u *census) has(key string) bool { return u.keys.Contains(key) }

// look goes on through a kind's objects and returns how many it looked at.
func (u *census) look(w *world.World, k *kinds.Kind, most int) int {
	if u.done {
		return 0
	}
	prefix, n := k.String()+" ", 0
	u.done = true
	w.Objects.Ascend(u.next, func(key string, o *world.Object) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		if n >= most {
			u.next, u.done = key, false
			return false
		}
		n++
		if !describe.StateOf(w, o).Well {
			u.keys.Insert(key)
		}
		return true
	})
	return max(n, 1)
}

// span is a range of the store's keys that begin alike.
func span(w *world.World, prefix string) (from, to int) {
	return rank(w, prefix), rank(w, prefix+"\xff")
}

// rank is how many keys are below a key.
func rank(w *world.World, key string) int {
	return sort.Search(w.Objects.Len(), func(i int) bool {
		k, _, _ := w.Objects.GetAt(i)
		return k >= key
	})
}

// list is the rows of a table in their order, by the keys of the World's objects.
type list interface {
	len() int
	key(i int) string
	// find is the place of a row, or where it would be; row is what the table held of it.
	find(r row) int
}

// stored is the store's own order.
type stored struct {
	w        *world.World
	from, to int
}

func (s stored) len() int         { return s.to - s.from }
func (s stored) key(i int) string { k, _, _ := s.w.Objects.GetAt(s.from + i); return k }
func (s stored) find(r row) int   { return max(min(rank(s.w, r.key), s.to)-s.from, 0) }

// troubled is what is not well, in the store's order.
type troubled struct {
	keys     *btree.Set[string]
	from, to int
}

func newTroubled(u *census, prefix string) troubled {
	t := troubled{keys: &u.keys}
	t.from, t.to = t.below(prefix), t.below(prefix+"\xff")
	return t
}

func (t troubled) below(key string) int {
	return sort.Search(t.keys.Len(), func(i int) bool {
		k, _ := t.keys.GetAt(i)
		return k >= key
	})
}

func (t troubled) len() int         { return t.to - t.from }
func (t troubled) key(i int) string { k, _ := t.keys.GetAt(t.from + i); return k }
func (t troubled) find(r row) int   { return max(min(t.below(r.key), t.to)-t.from, 0) }
