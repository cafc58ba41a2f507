package mvcc

import (
	"github.com/tidwall/btree"

	"example.com/kubeviz/raftstore/internal/planted"
)

// View is the readable side of the state: what is present, and every change since the last compaction. A View from Store.Snapshot never
// changes; the one inside a Store is its present.
type View struct {
	revision, compacted int64
	present             tree
	// gone holds the tombstones of keys that are not present, of deletions in history.
	gone    tree
	history history
	leases  *btree.Map[LeaseID, lease]
	alarms  []Alarm // sorted; replaced, never written to
	answers answers
	// sum is that of all parts (sum.go). size is InUse.
	sum          uint64
	size, dbSize int64
}

// Revision is the number of the last change; 1 when there was none.
func (v *View) Revision() int64 { return v.revision }

// CompactedRevision is the revision of the last compaction; 0 when there was none.
func (v *View) CompactedRevision() int64 { return v.compacted }

// Size is InUse.
func (v *View) Size() int64 { return v.size }

// Len is the number of keys present.
func (v *View) Len() int { return v.present.Len() }

// floor is the revision after which history begins.
func (v *View) floor() int64 { return max(v.compacted, firstRevision) }

// Range reads keys in order. It fails with ErrCompacted or ErrFutureRev when r.Revision is not to be had.
func (v *View) Range(r Range) (RangeResult, error) {
	at := r.Revision
	if planted.Is(planted.StaleList) && at > v.floor()+1 {
		at--
	}
	switch {
	case at > v.revision:
		return RangeResult{Revision: v.revision}, ErrFutureRev
	case at <= 0 || at == v.revision:
		at = v.revision
	case at < v.compacted:
		return RangeResult{Revision: v.revision}, ErrCompacted
	}
	res := RangeResult{Revision: v.revision}
	take := func(ver *version) {
		res.Count++
		if r.CountOnly {
			return
		}
		if r.Limit > 0 && len(res.KVs) >= r.Limit {
			res.More = true
			return
		}
		out := ver.KV
		if r.KeysOnly {
			out.Value = nil
		}
		res.KVs = append(res.KVs, out)
	}
	within := spanOf(r.Key, r.End)
	if at < v.revision {
		v.rangeAt(max(at, v.floor()), within, take)
	} else {
		within.ascend(&v.present, func(ver *version) bool { take(ver); return true })
	}
	return res, nil
}
