package peer

import (
	"fmt"

	"github.com/hashicorp/raft"
)

// run is a log as an unbroken run of entries: where it begins and ends (0 and 0: it is empty), and those of its entries that are in memory. Whoever has one guards it.
type run struct {
	first, last uint64
	entries     map[uint64]*raft.Log
}

// put takes in entries, which must not be changed any more.
func (r *run) put(logs []*raft.Log) {
	for _, l := range logs {
		r.entries[l.Index] = l
		if r.last == 0 {
			r.first, r.last = l.Index, l.Index
		}
		r.first, r.last = min(r.first, l.Index), max(r.last, l.Index)
	}
}

// mayCut refuses to delete from the middle. From one of the ends, or all, is all that raft ever deletes.
func (r *run) mayCut(from, to uint64) error {
	if from > r.first && to < r.last {
		return fmt.Errorf("delete entries %d to %d from the middle of a log of %d to %d", from, to, r.first, r.last)
	}
	return nil
}

// cut deletes from one of the ends, or all, and returns what was in memory of that.
func (r *run) cut(from, to uint64) (gone []*raft.Log) {
	for i := max(from, r.first); i <= min(to, r.last) && r.last > 0; i++ {
		if l := r.entries[i]; l != nil {
			gone = append(gone, l)
		}
		delete(r.entries, i)
	}
	switch {
	case from <= r.first && to >= r.last:
		r.first, r.last = 0, 0
	case from <= r.first:
		r.first = max(r.first, to+1)
	default:
		r.last = min(r.last, from-1)
	}
	return gone
}
