package engine

import (
	"time"

	"example.com/kubeviz/engine/event"
)

// runMark marks what a run writes into the store. A write carries the number of the record that asked for it through the log, and a store that is kept tells of writes of earlier runs, too:
// when a member is caught up, for one. Their numbers are those of another journal, so the tag of a write names the run beside the record. 0: the store does not outlive the run.
type runMark uint64

// recordBits of a tag are for the record's number, the others for the run: enough for 68 billion records, and for runs that begin in any second of eight years.
const recordBits = 36

func newRunMark(kept bool, began time.Time) runMark {
	if !kept {
		return 0
	}
	return runMark(max(1, uint64(began.Unix())&(1<<(64-recordBits)-1)))
}

// tag is the mark of a write that a record asked for.
func (r runMark) tag(cause event.Seq) uint64 {
	if cause == 0 {
		return 0
	}
	return uint64(r)<<recordBits | uint64(cause)
}

// record is the record that a tag names; 0 when it is none of this run.
func (r runMark) record(tag uint64) event.Seq {
	if tag>>recordBits != uint64(r) {
		return 0
	}
	return event.Seq(tag & (1<<recordBits - 1))
}
