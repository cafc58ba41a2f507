package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
)

// Outcome is what became of one command of an entry.
type Outcome struct {
	ID     uint64
	Tag    uint64
	Result mvcc.TxnResult
	// Events is nil when nothing changed.
	Events []mvcc.Event
	// Err is set for a compaction that was refused.
	Err error
}

// fsm applies committed entries to the state machine. It is thin: everything that decides anything is in mvcc.
type fsm struct {
	decoder *Decoder
	hooks   Hooks
	// halt is called when an entry cannot be applied; it stops the member.
	halt func(error)
	// committed is called after each entry.
	committed func()
	// closed is set when the member is killed: nothing that raft still delivers is to have any effect.
	closed atomic.Bool
	// index and term of the newest entry applied.
	index, term atomic.Uint64

	mu     sync.Mutex
	kv     *mvcc.Store
	view   *mvcc.View // frozen copy of kv, when current
	halted error
	// begun is set when the start is over, from when on a restore means that a leader sent a snapshot.
	begun bool
}

var (
	_ raft.FSM                = (*fsm)(nil)
	_ raft.ConfigurationStore = (*fsm)(nil)
)

// Apply runs one committed entry. An entry that cannot be read, or a panic, halts this member and not the program: from then on it answers
// with the same error and changes nothing.
func (f *fsm) Apply(l *raft.Log) (answer any) {
	if f.closed.Load() {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			answer = f.stop(fmt.Errorf("log index %d: panic: %v\n%s", l.Index, r, debug.Stack()))
		}
	}()
	entry, err := f.decoder.Decode(l.Index, l.Term, l.Data)
	if err != nil {
		return f.stop(fmt.Errorf("log index %d: %w", l.Index, err))
	}
	outcomes, err := f.apply(entry, l)
	if err != nil {
		return err
	}
	f.committed()
	f.hooks.Answer(l.Index, l.Term, outcomes)
	return nil
}

// apply runs the commands of an entry that is meant for the term it was logged in.
func (f *fsm) apply(entry *Entry, l *raft.Log) ([]Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted != nil {
		return nil, f.halted
	}
	var outcomes []Outcome
	if entry.Term == l.Term {
		outcomes = make([]Outcome, len(entry.Commands))
		for i := range entry.Commands {
			outcomes[i] = f.run(&entry.Commands[i])
		}
		f.view = nil
	}
	f.index.Store(l.Index)
	f.term.Store(l.Term)
	f.hooks.Applied(l.Index, l.Term, outcomes, f.kv)
	return outcomes, nil
}

func (f *fsm) run(c *Command) Outcome {
	if c.Compact > 0 {
		return Outcome{ID: c.ID, Err: f.kv.Compact(c.Compact)}
	}
	result, events := f.kv.Apply(c.Txn)
	return Outcome{ID: c.ID, Tag: c.Txn.Tag, Result: result, Events: events}
}

func (f *fsm) stop(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted == nil {
		f.halted = err
		f.halt(err)
	}
	return f.halted
}

// StoreConfiguration only takes notice of the index, so that waiting for an index works whatever kind of entry it is.
func (f *fsm) StoreConfiguration(index uint64, _ raft.Configuration) {
	if f.closed.Load() {
		return
	}
	f.mu.Lock()
	f.index.Store(index)
	f.hooks.Applied(index, f.term.Load(), nil, f.kv)
	f.mu.Unlock()
	f.hooks.Answer(index, f.term.Load(), nil)
}

// frozen returns a view of the present state that never changes.
func (f *fsm) frozen() *mvcc.View {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.view == nil {
		f.view = f.kv.Snapshot()
	}
	return f.view
}

// stateMagic opens the snapshot of a member: the index and term it stands for, then the state machine, then a checksum.
const stateMagic = "kvmember\x01"

// Snapshot takes constant time; the work is done in Persist, beside further entries.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted != nil {
		return nil, f.halted
	}
	return &stateSnapshot{view: f.kv.Snapshot(), index: f.index.Load(), term: f.term.Load(), saved: f.hooks.Saved}, nil
}

type stateSnapshot struct {
	view        *mvcc.View
	index, term uint64
	saved       func(index, term uint64) // nil: nobody wants to know
}

func (s *stateSnapshot) Persist(sink raft.SnapshotSink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write snapshot: panic: %v", r)
		}
		if err != nil {
			err = errors.Join(err, sink.Cancel())
		}
	}()
	b := []byte(stateMagic)
	b = binary.LittleEndian.AppendUint64(b, s.index)
	b = binary.LittleEndian.AppendUint64(b, s.term)
	if _, err := sink.Write(b); err != nil {
		return err
	}
	if _, err := sink.Write(s.view.Encode()); err != nil {
		return err
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if s.saved != nil {
		s.saved(s.index, s.term)
	}
	return nil
}

func (s *stateSnapshot) Release() {}

// Restore replaces the state by a snapshot, read aside first. Watches end, because they cannot tell what they missed. One that would turn the
// state back is refused.
func (f *fsm) Restore(r io.ReadCloser) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read snapshot: panic: %v", p)
		}
	}()
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if len(b) < len(stateMagic)+16 || string(b[:len(stateMagic)]) != stateMagic {
		return fmt.Errorf("read snapshot: %w: not a snapshot of this version", mvcc.ErrDamaged)
	}
	b = b[len(stateMagic):]
	index, term := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	kv, err := mvcc.DecodeSnapshot(b[16:])
	if err != nil {
		return err
	}
	if f.closed.Load() {
		return errStopped
	}
	if err := f.replace(kv, index, term); err != nil {
		return err
	}
	f.hooks.Answer(index, term, nil)
	return nil
}

func (f *fsm) replace(kv *mvcc.Store, index, term uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun && index < f.index.Load() {
		return fmt.Errorf("read snapshot: it ends at index %d, %d is applied", index, f.index.Load())
	}
	f.kv, f.view = kv, nil
	f.index.Store(index)
	f.term.Store(term)
	if f.begun {
		f.hooks.Restored(index, term, kv)
	}
	return nil
}
