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

func TestTheLastEntryOfASnapshotIsKnownWithoutTheLog(t *testing.T) {
	snaps := newMemoryLog().use(true)
	sink, err := snaps.Create(raft.SnapshotVersionMax, 99, 7, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	store := &gapless{LogStore: raft.NewInmemStore(), snapshots: snaps}
	if err := store.StoreLog(&raft.Log{Index: 100, Term: 8}); err != nil {
		t.Fatal(err)
	}
	var l raft.Log
	if err := store.GetLog(99, &l); err != nil || l.Index != 99 || l.Term != 7 {
		t.Errorf("entry 99: %+v, %v", l, err)
	}
	if err := store.GetLog(98, &l); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("entry 98: %v", err)
	}
}
