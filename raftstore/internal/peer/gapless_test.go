package peer

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
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

// snapshotOf99 is a store that holds one snapshot, of the entries up to 99, the last of term 7.
func snapshotOf99(t *testing.T) raft.SnapshotStore {
	t.Helper()
	snaps := newMemoryLog().use(true)
	sink, err := snaps.Create(raft.SnapshotVersionMax, 99, 7, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return snaps
}

func TestTheLastEntryOfASnapshotIsKnownWithoutTheLog(t *testing.T) {
	snaps := snapshotOf99(t)
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

func TestRequestThatReachesBehindTheLogIsTakenFromTheSnapshotOn(t *testing.T) {
	snaps := snapshotOf99(t)
	for _, c := range []struct {
		name             string
		log              uint64 // where the log begins, up to 105; 0: it is empty
		prev, prevTerm   uint64
		from, to         uint64 // entries
		want, wantTerm   uint64
		wantFrom, wantTo uint64
	}{
		{"inside of the log", 98, 98, 7, 99, 110, 98, 7, 99, 110},
		{"behind the snapshot", 100, 103, 8, 104, 110, 103, 8, 104, 110},
		{"at the end of the snapshot", 100, 99, 7, 100, 101, 99, 7, 100, 101},
		{"from before the snapshot on", 100, 90, 6, 91, 110, 99, 7, 100, 110},
		{"all in the snapshot", 100, 80, 6, 81, 90, 99, 7, 0, 0},
		{"from before the snapshot on, without a log", 0, 90, 6, 91, 110, 99, 7, 100, 110},
		{"from the beginning on", 100, 0, 0, 1, 110, 99, 7, 100, 110},
		{"a heartbeat", 100, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &gapless{LogStore: raft.NewInmemStore(), snapshots: snaps}
			for i := c.log; i > 0 && i <= 105; i++ {
				if err := store.StoreLog(&raft.Log{Index: i, Term: 8}); err != nil {
					t.Fatal(err)
				}
			}
			a := &raft.AppendEntriesRequest{PrevLogEntry: c.prev, PrevLogTerm: c.prevTerm}
			for i := c.from; i > 0 && i <= c.to; i++ {
				a.Entries = append(a.Entries, &raft.Log{Index: i})
			}
			store.overtake(a)
			var from, to uint64
			if n := len(a.Entries); n > 0 {
				from, to = a.Entries[0].Index, a.Entries[n-1].Index
			}
			if a.PrevLogEntry != c.want || a.PrevLogTerm != c.wantTerm || from != c.wantFrom || to != c.wantTo {
				t.Errorf("after %d of term %d: %d to %d", a.PrevLogEntry, a.PrevLogTerm, from, to)
			}
		})
	}
}

func TestWhereTheLogBeginsIsKnownAfterItWasCut(t *testing.T) {
	store := &gapless{LogStore: raft.NewInmemStore()}
	for i := uint64(1); i <= 20; i++ {
		if err := store.StoreLog(&raft.Log{Index: i, Term: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.DeleteRange(1, 12); err != nil {
		t.Fatal(err)
	}
	if got := store.first.Load(); got != 13 {
		t.Errorf("the log begins at %d, want 13", got)
	}
}

func TestOwnSnapshotThatALeadersOvertookIsNotKept(t *testing.T) {
	f := &fsm{kv: mvcc.New(), met: new(met)}
	f.index.Store(170)
	own, err := f.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.replace(&State{Index: 213, Term: 7, KV: mvcc.New(), met: new(met)}); err != nil {
		t.Fatal(err)
	}
	snaps := newMemoryLog().use(true)
	sink, err := snaps.Create(raft.SnapshotVersionMax, 170, 5, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Persist(sink); err == nil {
		t.Error("raft was told that its newest snapshot ends at 170")
	}
	if list, err := snaps.List(); err != nil || len(list) > 0 {
		t.Errorf("%d snapshots, %v", len(list), err)
	}
}
