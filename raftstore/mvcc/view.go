package mvcc

import (
	"sort"
	"strings"

	"github.com/tidwall/btree"
)

// View is the readable side of the state: what is present, and every change since the last compaction. A View from Store.Snapshot never
// changes; the one inside a Store is its present.
//
// The past is not indexed by key. The state at an older revision is the present with the later events undone, which costs in proportion to the
// changes since then, and reads of the past are for pages of a list, a moment after its first page. In return a write touches one tree.
type View struct {
	revision, compacted int64
	present             *btree.Map[string, *KV]
	// history[i] made revision floor()+1+i.
	history []revision
	answers []answer
	size    int64
}

// Revision is the number of the last change; 1 when there was none.
func (v *View) Revision() int64 { return v.revision }

// CompactedRevision is the revision of the last compaction; 0 when there was none.
func (v *View) CompactedRevision() int64 { return v.compacted }

// Size is the number of bytes of all keys and values kept, older versions included.
func (v *View) Size() int64 { return v.size }

// Len is the number of keys present.
func (v *View) Len() int { return v.present.Len() }

// floor is the revision after which history begins.
func (v *View) floor() int64 { return max(v.compacted, firstRevision) }

// since returns the changes of revisions after rev, which must not lie before floor.
func (v *View) since(rev int64) []revision {
	return v.history[min(rev-v.floor(), int64(len(v.history))):]
}

// Range reads keys in order. It fails with ErrCompacted or ErrFutureRev when r.Revision is not to be had.
func (v *View) Range(r Range) (RangeResult, error) {
	at := r.Revision
	switch {
	case at > v.revision:
		return RangeResult{Revision: v.revision}, ErrFutureRev
	case at <= 0 || at == v.revision:
		at = v.revision
	case at < v.compacted:
		return RangeResult{Revision: v.revision}, ErrCompacted
	}
	res := RangeResult{Revision: v.revision}
	take := func(kv *KV) {
		res.Count++
		if r.CountOnly {
			return
		}
		if r.Limit > 0 && len(res.KVs) >= r.Limit {
			res.More = true
			return
		}
		out := *kv
		if r.KeysOnly {
			out.Value = nil
		}
		res.KVs = append(res.KVs, out)
	}
	switch {
	case at < v.revision:
		v.rangeAt(at, r.Key, func(key string) bool {
			if r.End == "" {
				return key == r.Key
			}
			return key >= r.Key && key < r.End
		}, take)
	case r.End == "":
		if kv, ok := v.present.Get(r.Key); ok {
			take(kv)
		}
	default:
		v.present.Ascend(r.Key, func(key string, kv *KV) bool {
			if key >= r.End {
				return false
			}
			take(kv)
			return true
		})
	}
	return res, nil
}

// rangeAt visits the keys within an interval that starts at first, as they were at an older revision: those changed since then as they were
// before their first change, merged in order with those that did not change.
func (v *View) rangeAt(at int64, first string, within func(key string) bool, take func(*KV)) {
	then := make(map[string]*KV)
	for _, rev := range v.since(max(at, v.floor())) {
		for i := range rev.events {
			e := &rev.events[i]
			if !within(e.KV.Key) {
				continue
			}
			if _, known := then[e.KV.Key]; !known {
				then[e.KV.Key] = e.Prev
			}
		}
	}
	changed := make([]string, 0, len(then))
	for key := range then {
		changed = append(changed, key)
	}
	sort.Strings(changed)
	takeChangedUpTo := func(key string, all bool) {
		for len(changed) > 0 && (all || changed[0] <= key) {
			if kv := then[changed[0]]; kv != nil {
				take(kv)
			}
			changed = changed[1:]
		}
	}
	v.present.Ascend(first, func(key string, kv *KV) bool {
		if !within(key) {
			return false
		}
		takeChangedUpTo(key, false)
		if _, was := then[key]; !was {
			take(kv)
		}
		return true
	})
	takeChangedUpTo("", true)
}

// EventsSince returns the events of keys with prefix in revisions from rev on, oldest first. It fails with ErrCompacted when some of them are
// gone; a rev in the future has no events yet.
func (v *View) EventsSince(prefix string, rev int64) ([]Event, error) {
	if rev <= v.compacted {
		return nil, ErrCompacted
	}
	if rev > v.revision {
		return nil, nil
	}
	var events []Event
	for _, r := range v.since(max(rev-1, v.floor())) {
		for _, e := range r.events {
			if strings.HasPrefix(e.KV.Key, prefix) {
				events = append(events, e)
			}
		}
	}
	return events, nil
}
