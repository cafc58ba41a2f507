package objectview

import (
	"sort"
	"strings"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
)

// order is what a table shows, and how it is sorted.
type order struct {
	kind      *kinds.Kind
	namespace string // empty: all
	// column is what it is sorted by; "": the store's order.
	column  string
	reverse bool
	filter  string
	trouble bool
}

func (o *order) same(p *order) bool { return *o == *p }

// row is one object with its place.
type row struct {
	rank columns.Rank
	key  string
}

func before(a, b row) bool {
	if a.rank.Number != b.rank.Number {
		return a.rank.Number < b.rank.Number
	}
	if a.rank.Text != b.rank.Text {
		if scene.NaturalLess(a.rank.Text, b.rank.Text) {
			return true
		}
		if scene.NaturalLess(b.rank.Text, a.rank.Text) {
			return false
		}
		return a.rank.Text < b.rank.Text
	}
	return a.key < b.key
}

// table is the objects that pass a filter, sorted. It is filled bit by bit and then kept up to date object by object.
type table struct {
	order  order
	query  query
	rankOf func(kinds.Object) columns.Rank
	rows   *btree.BTreeG[row]
	have   map[string]row
	prefix string
	next   string
	looked int
	done   bool
	made   event.Seq
}

func newTable(o *order, at event.Seq) *table {
	t := &table{order: *o, rows: btree.NewBTreeGOptions(before, btree.Options{NoLocks: true}), have: map[string]row{}, prefix: prefixOf(o.kind, o.namespace), made: at}
	t.next = t.prefix
	t.query, _ = parse(o.filter, o.kind)
	for _, c := range columns.Of(o.kind) {
		if c.Header == o.column {
			t.rankOf = c.Rank
		}
	}
	return t
}

func prefixOf(k *kinds.Kind, namespace string) string {
	if namespace == "" || !k.Namespaced {
		return k.String() + " "
	}
	return k.String() + " " + namespace + "/"
}

// fill goes on and returns what it did: each object looked at counts for one, and once more when it is put in its place.
func (t *table) fill(f view.Frame, most int) int {
	if t.done {
		return 0
	}
	n := 0
	t.done = true
	f.World.Objects.Ascend(t.next, func(key string, o *world.Object) bool {
		if !strings.HasPrefix(key, t.prefix) {
			return false
		}
		if n >= most {
			t.next, t.done = key, false
			return false
		}
		n++
		t.looked++
		before := t.rows.Len()
		t.put(f.World, key, o)
		n += t.rows.Len() - before
		return true
	})
	return n
}

// put takes an object in, at its place, or out when it passes the filter no more.
func (t *table) put(w *world.World, key string, o *world.Object) {
	if !strings.HasPrefix(key, t.prefix) {
		return
	}
	if t.order.trouble && describe.StateOf(w, o).Well || !t.query.matches(w, o) {
		t.drop(key)
		return
	}
	r := row{key: key}
	if t.rankOf != nil {
		r.rank = t.rankOf(o.Object)
	}
	if old, ok := t.have[key]; ok {
		if old == r {
			return
		}
		t.rows.Delete(old)
	}
	t.have[key] = r
	t.rows.Set(r)
}

func (t *table) drop(key string) {
	if old, ok := t.have[key]; ok {
		t.rows.Delete(old)
		delete(t.have, key)
	}
}

func (t *table) len() int { return t.rows.Len() }

func (t *table) key(i int) string {
	if t.order.reverse {
		i = t.rows.Len() - 1 - i
	}
	r, _ := t.rows.GetAt(i)
	return r.key
}

func (t *table) find(r row) int {
	if have, ok := t.have[r.key]; ok {
		r = have
	}
	n := t.rows.Len()
	i := sort.Search(n, func(i int) bool {
		x, _ := t.rows.GetAt(i)
		return !before(x, r)
	})
	if t.order.reverse {
		return n - 1 - i
	}
	return i
}
