package peer

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

func TestEntriesBehindASnapshotReplaceALogThatEndsBeforeIt(t *testing.T) {
	store := &gapless{LogStore: raft.NewInmemStore()}
	put := func(from, to uint64) {
		t.Helper()
		var logs []*raft.Log
		for i := from; i <= to; i++ {
			logs = append(logs, &raft.Log{Index: i, Term: 1})
		}
		if err := store.StoreLogs(logs); err != nil {
			t.Fatal(err)
		}
	}
	put(1, 30)
	put(31, 40)
	if first, _ := store.FirstIndex(); first != 1 {
		t.Fatalf("the log begins at %d", first)
	}
	// A snapshot up to 99 was taken over.
	put(100, 101)
	if first, _ := store.FirstIndex(); first != 100 {
		t.Errorf("the log begins at %d, entries from before the snapshot are left", first)
	}
	if err := store.GetLog(35, new(raft.Log)); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("entry 35: %v", err)
	}
	// An end that was cut off and written anew is no gap.
	if err := store.DeleteRange(101, 101); err != nil {
		t.Fatal(err)
	}
	put(101, 105)
	if first, _ := store.FirstIndex(); first != 100 {
		t.Errorf("the log begins at %d after its end was rewritten", first)
	}
}
