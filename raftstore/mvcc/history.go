package mvcc

import (
	"slices"

	"github.com/tidwall/btree"
)

// version is a key at one revision: present, or in history, or both. Immutable. One with Version 0 is a tombstone, the mark of a deletion; its CreateRevision holds its place among the
// changes of its revision.
//
// It fills 80 bytes. A key that was written once costs a member one of these, 8 to 16 bytes of tree, and 20 of history until the next compaction.
type version struct {
	KV
	sum uint64
}

func (v *version) tombstone() bool { return v.Version == 0 }

// change makes after of before: nil where there was nothing, and the tombstone where the key was deleted since history began.
type change struct{ after, before *version }

// event is the change as clients see it.
func (c change) event() Event {
	e := Event{KV: c.after.KV}
	if c.after.tombstone() {
		e.Deleted = true
		e.KV = KV{Key: c.after.Key, ModRevision: c.after.ModRevision}
	}
	if c.before != nil && !c.before.tombstone() {
		e.Prev = &c.before.KV
	}
	return e
}

// tree holds one version per key. Pointers alone take a third of what pairs of key and pointer do, and no more time.
type tree struct{ *btree.BTreeG[*version] }

func newTree() tree {
	return tree{btree.NewBTreeGOptions(func(a, b *version) bool { return a.Key < b.Key }, btree.Options{NoLocks: true})}
}

func (t tree) copy() tree { return tree{t.Copy()} }

func (t tree) get(key string) (*version, bool) { return t.Get(pivot(key)) }

func pivot(key string) *version { return &version{KV: KV{Key: key}} }

// history is all changes after the floor, oldest first. It is not indexed by key: each change points at the version before it, which names the revision that made it, and so the changes of
// a key are a chain that starts at its newest version, present or gone.
type history struct {
	changes []change
	// starts[i] is where in changes the (i+1)th revision after the floor begins.
	starts []uint32
}

// frozen is the same history, unmoved by what is added later.
func (h *history) frozen() history {
	return history{changes: slices.Clip(h.changes), starts: slices.Clip(h.starts)}
}

// at returns the bounds of the changes that made the nth revision after the floor.
func (h *history) at(n int64) (from, to int) {
	from, to = int(h.starts[n-1]), len(h.changes)
	if n < int64(len(h.starts)) {
		to = int(h.starts[n])
	}
	return from, to
}

// begin is where the changes after the nth revision behind the floor begin.
func (h *history) begin(n int64) int {
	if n >= int64(len(h.starts)) {
		return len(h.changes)
	}
	return int(h.starts[n])
}

// drop forgets the first n revisions. What is left moves to new arrays; frozen views keep the old ones.
func (h *history) drop(n int64) {
	gone := h.begin(n)
	h.changes = append([]change(nil), h.changes[gone:]...)
	h.starts = append([]uint32(nil), h.starts[n:]...)
	for i := range h.starts {
		h.starts[i] -= uint32(gone)
	}
}

// place finds the change that made v, which is after the floor.
func (v *View) place(ver *version) int {
	from, to := v.history.at(ver.ModRevision - v.floor())
	if ver.tombstone() {
		return from + int(ver.CreateRevision)
	}
	// A revision has few changes, but for deletions of many keys.
	for i := to - 1; i >= from; i-- {
		if v.history.changes[i].after == ver {
			return i
		}
	}
	panic("mvcc: a version that is in no history")
}

// was is what a key whose newest version is ver was at an older revision, not before the floor; nil: nothing.
func (v *View) was(ver *version, at int64) *version {
	for ver != nil && ver.ModRevision > at {
		ver = v.history.changes[v.place(ver)].before
	}
	if ver == nil || ver.tombstone() {
		return nil
	}
	return ver
}

// rangeAt visits the keys within an interval in order, as they were at an older revision: those present and those gone since, each followed back along its chain. It costs nothing for keys
// and changes outside of the interval.
func (v *View) rangeAt(at int64, within span, take func(*version)) {
	var gone []*version
	within.ascend(&v.gone, func(ver *version) bool { gone = append(gone, ver); return true })
	takeIf := func(ver *version) {
		if was := v.was(ver, at); was != nil {
			take(was)
		}
	}
	within.ascend(&v.present, func(ver *version) bool {
		for len(gone) > 0 && compareKeys(gone[0], ver) < 0 {
			takeIf(gone[0])
			gone = gone[1:]
		}
		takeIf(ver)
		return true
	})
	for _, ver := range gone {
		takeIf(ver)
	}
}

// EventsSince returns the events of keys with prefix in revisions from rev on, oldest first. It fails with ErrCompacted when some of them are
// gone; a rev in the future has no events yet.
func (v *View) EventsSince(prefix string, rev int64) ([]Event, error) {
	return v.EventsWithin(prefix, PrefixEnd(prefix), rev)
}

// EventsWithin is EventsSince for the interval of a Range: the one key when end is empty.
//
// One key, or an interval with few keys, is followed back along the chains of its keys. Where the keys turn out to be more than an eighth of the changes to look through, the changes are looked
// through instead, so that it costs at most an eighth more than that.
func (v *View) EventsWithin(key, end string, rev int64) ([]Event, error) {
	if rev <= v.compacted {
		return nil, ErrCompacted
	}
	if rev > v.revision {
		return nil, nil
	}
	from := v.history.begin(max(rev-1, v.floor()) - v.floor())
	within := spanOf(key, end)
	places, few := v.chains(within, rev, (len(v.history.changes)-from)/8+1)
	if !few {
		var events []Event
		for _, c := range v.history.changes[from:] {
			if within.holds(c.after.Key) {
				events = append(events, c.event())
			}
		}
		return events, nil
	}
	if len(places) == 0 {
		return nil, nil
	}
	events := make([]Event, len(places))
	for i, p := range places {
		events[i] = v.history.changes[p].event()
	}
	return events, nil
}

// chains finds the changes within an interval from rev on, in order, by following back the keys, unless those are more than limit.
func (v *View) chains(within span, rev int64, limit int) (places []int, few bool) {
	keys := 0
	follow := func(ver *version) bool {
		if keys++; keys > limit && !within.one {
			return false
		}
		for ver != nil && ver.ModRevision >= rev && ver.ModRevision > v.floor() {
			p := v.place(ver)
			places = append(places, p)
			ver = v.history.changes[p].before
		}
		return true
	}
	within.ascend(&v.gone, follow)
	if keys <= limit {
		within.ascend(&v.present, follow)
	}
	if keys > limit && !within.one {
		return nil, false
	}
	slices.Sort(places)
	return places, true
}
