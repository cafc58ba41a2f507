package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
)

// ledger remembers the index of the newest snapshot, so that its loss is noticed. It is written after the snapshot. kept is false where nothing was ever stored.
type ledger interface {
	Noted() (snapshot uint64, kept bool, err error)
	Note(snapshot uint64) error
}

// tailIndex is where the tail is kept: behind every entry, so in the page that is written with the newest ones anyway.
const tailIndex = math.MaxUint64

// tailed keeps beside the entries, and in the same transaction, where they end. Without it a page that lost its last elements, or a tree that lost its last page, is a sound file with a
// shorter log: the member would have forgotten silently what it acknowledged. It is the ledger too.
//
// A truncation is two transactions, as bolt's store has it: first the tail says where the log may end from now on, then the entries go. The next entries make it one again.
type tailed struct {
	backing
	mu   sync.Mutex
	at   tail
	kept bool
	last uint64 // of what is there; 0: nothing
}

// tail is what is kept: the log ends at Last, or, while it is being truncated, at Floor (0: it is empty). Snapshot is the ledger's.
type tail struct{ Last, Floor, Snapshot uint64 }

func (t tail) entry() *raft.Log {
	var b []byte
	for _, v := range []uint64{t.Last, t.Floor, t.Snapshot} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	l := &raft.Log{Index: tailIndex, Data: b}
	l.Extensions = binary.LittleEndian.AppendUint32(nil, entrySum(l))
	return l
}

func readTail(l *raft.Log) (t tail, err error) {
	if len(l.Data) != 24 || len(l.Extensions) != 4 || binary.LittleEndian.Uint32(l.Extensions) != entrySum(l) {
		return t, fmt.Errorf("%w: the note on where the log ends does not read", errDamagedDisk)
	}
	for i, v := range []*uint64{&t.Last, &t.Floor, &t.Snapshot} {
		*v = binary.LittleEndian.Uint64(l.Data[8*i:])
	}
	return t, nil
}

// newTailed opens a log and finds its end. It fails where that is not the one that was noted.
func newTailed(b backing) (*tailed, error) {
	t := &tailed{backing: b}
	found, err := b.LastIndex()
	if err != nil || found == 0 {
		return t, err
	}
	if found != tailIndex {
		return nil, fmt.Errorf("%w: nothing says where the log ends; its last entry is %d", errDamagedDisk, found)
	}
	var l raft.Log
	if err := b.GetLog(tailIndex, &l); err != nil {
		return nil, fmt.Errorf("%w: the note on where the log ends: %w", errDamagedDisk, err)
	}
	if t.at, err = readTail(&l); err != nil {
		return nil, err
	}
	t.kept = true
	first, err := t.FirstIndex()
	if err != nil {
		return nil, err
	}
	for _, end := range []uint64{t.at.Last, t.at.Floor} {
		switch {
		case end == 0 && first == 0:
			return t, nil
		case end == 0:
			continue
		}
		err := b.GetLog(end, &l)
		if err == nil {
			t.last = end
			return t, nil
		}
		if !errors.Is(err, raft.ErrLogNotFound) {
			return nil, fmt.Errorf("%w: entry %d: %w", errDamagedDisk, end, err)
		}
	}
	return nil, fmt.Errorf("%w: the log should end with entry %d, which is not there", errDamagedDisk, t.at.Last)
}

func (t *tailed) FirstIndex() (uint64, error) {
	first, err := t.backing.FirstIndex()
	if first == tailIndex {
		return 0, err
	}
	return first, err
}

func (t *tailed) LastIndex() (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, nil
}

func (t *tailed) GetLog(index uint64, l *raft.Log) error {
	if index == tailIndex {
		return raft.ErrLogNotFound
	}
	return t.backing.GetLog(index, l)
}

func (t *tailed) StoreLog(l *raft.Log) error { return t.StoreLogs([]*raft.Log{l}) }

func (t *tailed) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	last := max(t.last, logs[len(logs)-1].Index)
	return t.put(logs, tail{Last: last, Floor: last, Snapshot: t.at.Snapshot}, last)
}

// put stores entries and the tail in one transaction.
func (t *tailed) put(logs []*raft.Log, at tail, last uint64) error {
	if err := t.backing.StoreLogs(append(logs[:len(logs):len(logs)], at.entry())); err != nil {
		return err
	}
	t.at, t.kept, t.last = at, true, last
	return nil
}

// DeleteRange deletes from one of the ends of the log, or all of it, which is all that raft ever does.
func (t *tailed) DeleteRange(from, to uint64) error {
	first, err := t.FirstIndex()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last
	switch {
	case t.last == 0 || first == 0:
		return nil
	case from > first && to < t.last:
		return fmt.Errorf("delete entries %d to %d from the middle of a log of %d to %d", from, to, first, t.last)
	case to >= t.last:
		last = 0
		if from > first {
			last = from - 1
		}
		if err := t.put(nil, tail{Last: t.last, Floor: last, Snapshot: t.at.Snapshot}, t.last); err != nil {
			return err
		}
	}
	if err := t.backing.DeleteRange(from, min(to, tailIndex-1)); err != nil {
		return err
	}
	t.last = last
	return nil
}

// Noted and Note are the ledger's.
func (t *tailed) Noted() (uint64, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at.Snapshot, t.kept, nil
}

func (t *tailed) Note(snapshot uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.at
	at.Snapshot = snapshot
	return t.put(nil, at, t.last)
}

// gatedSnapshots lets a member make snapshots as far as its disk allows. An error is the end of the member, as one of the log is.
type gatedSnapshots struct {
	raft.SnapshotStore
	guard  *guard
	ledger ledger
}

func (s *gatedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, t raft.Transport) (raft.SnapshotSink, error) {
	var sink raft.SnapshotSink
	err := s.guard.write("", "", func() (err error) {
		sink, err = s.SnapshotStore.Create(version, index, term, c, cIndex, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &gatedSink{SnapshotSink: sink, store: s, index: index}, nil
}

// Open checks the snapshot as a whole before it hands it out.
func (s *gatedSnapshots) Open(id string) (meta *raft.SnapshotMeta, r io.ReadCloser, err error) {
	err = s.guard.try(func() error {
		meta, r, err = s.SnapshotStore.Open(id)
		if errors.Is(err, mvcc.ErrDamaged) {
			return s.guard.fail(err)
		}
		return err
	})
	return meta, r, err
}

type gatedSink struct {
	raft.SnapshotSink
	store  *gatedSnapshots
	index  uint64
	closed bool
}

func (s *gatedSink) Write(p []byte) (n int, err error) {
	g := s.store.guard
	err = g.try(func() error {
		if g.gate.dead.Load() {
			return g.fail(errPowerLost)
		}
		if err := g.gate.condition.lasting(); err != nil {
			return g.fail(err)
		}
		if n, err = s.SnapshotSink.Write(p); err != nil {
			return g.fail(err)
		}
		return nil
	})
	return n, err
}

// Close gives the snapshot its name, and notes it.
func (s *gatedSink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	g := s.store.guard
	if err := g.write("", "", s.SnapshotSink.Close); err != nil {
		return errors.Join(err, s.SnapshotSink.Cancel())
	}
	return g.try(func() error {
		if g.gate.dead.Load() {
			return g.fail(errPowerLost)
		}
		if err := s.store.ledger.Note(s.index); err != nil {
			return g.fail(err)
		}
		return nil
	})
}

func (s *gatedSink) Cancel() error {
	s.closed = true
	return s.SnapshotSink.Cancel()
}
