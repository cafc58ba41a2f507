package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// The snapshot of a member: magic, length of a header (4 bytes), the header (index and term it stands for, size of the database, the commands met in that term, CRC-32C), and the state machine,
// which has a checksum of its own.

const stateMagic = "kvmember\x02"

// State is a member's snapshot: what it had applied up to an index.
type State struct {
	Index, Term uint64
	KV          *mvcc.Store
	met         *met
}

// WriteState writes a snapshot that stands for index of term, of a state whose clients are all new. It fails with the error of the writer.
func WriteState(w io.Writer, index, term uint64, view *mvcc.View) error {
	if _, err := w.Write(stateHeader(index, term, view.DBSize(), new(met))); err != nil {
		return err
	}
	return view.EncodeTo(w)
}

func stateHeader(index, term uint64, dbSize int64, m *met) []byte {
	h := binary.LittleEndian.AppendUint64(nil, index)
	h = binary.LittleEndian.AppendUint64(h, term)
	h = binary.LittleEndian.AppendUint64(h, uint64(dbSize))
	h = mvcc.Seal(m.append(h))
	b := binary.LittleEndian.AppendUint32([]byte(stateMagic), uint32(len(h)))
	return append(b, h...)
}

// DecodeState reads what WriteState, or a member's Snapshot, wrote. It fails with mvcc.ErrDamaged.
func DecodeState(b []byte) (*State, error) {
	damaged := func(what string) (*State, error) {
		return nil, fmt.Errorf("read snapshot: %w: %s", mvcc.ErrDamaged, what)
	}
	if len(b) < len(stateMagic)+4 || string(b[:len(stateMagic)]) != stateMagic {
		return damaged("not a snapshot of this version")
	}
	b = b[len(stateMagic):]
	size := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(size) > uint64(len(b)) {
		return damaged("cut short")
	}
	h, err := mvcc.Unseal(b[:size])
	if err != nil {
		return nil, fmt.Errorf("read snapshot: header: %w", err)
	}
	if len(h) < 24 {
		return damaged("a header that is too short")
	}
	s := &State{Index: binary.LittleEndian.Uint64(h), Term: binary.LittleEndian.Uint64(h[8:])}
	dbSize, r := int64(binary.LittleEndian.Uint64(h[16:])), &reader{b: h[24:]}
	if s.met = readMet(r); r.bad || len(r.b) > 0 {
		return damaged("a header that makes no sense")
	}
	if s.KV, err = mvcc.DecodeSnapshot(b[size:]); err != nil {
		return nil, err
	}
	s.KV.Grow(dbSize)
	return s, nil
}

// Snapshot takes nearly constant time; the work is done in Persist, beside further entries.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted != nil {
		return nil, f.halted
	}
	view := f.kv.Snapshot()
	if planted.Is(planted.SnapshotMisses) {
		view = planted.Kept(f).(*mvcc.View)
	}
	return &stateSnapshot{view: view, met: f.met.clone(), index: f.index.Load(), term: f.term.Load(), saved: f.hooks.Saved, pass: f.pass, halt: f.halt, restored: &f.restored}, nil
}

type stateSnapshot struct {
	view        *mvcc.View
	met         *met
	index, term uint64
	saved       func(index, term uint64)  // nil: nobody wants to know
	pass        func(failure.Point) error // nil: no traps
	halt        func(error)               // stops the member: raft would only try again
	// restored is the end of the newest snapshot of a leader that was taken over.
	restored *atomic.Uint64
}

func (s *stateSnapshot) at(p failure.Point) error {
	if s.pass == nil {
		return nil
	}
	return s.pass(p)
}

func (s *stateSnapshot) Persist(sink raft.SnapshotSink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write snapshot: panic: %v\n%s", r, debug.Stack())
			s.halt(err)
		}
		if err != nil {
			err = errors.Join(err, sink.Cancel())
		}
	}()
	if err := s.at(failure.BeforeSnapshot); err != nil {
		return err
	}
	if _, err := sink.Write(stateHeader(s.index, s.term, s.view.DBSize(), s.met)); err != nil {
		return err
	}
	if err := s.view.EncodeTo(&midway{Writer: sink, pass: func() error { return s.at(failure.InSnapshot) }}); err != nil {
		return err
	}
	if err := s.at(failure.BeforeSnapshotClose); err != nil {
		return err
	}
	if err := s.overtaken(); err != nil {
		return err
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if err := s.at(failure.AfterSnapshot); err != nil {
		return err
	}
	if err := s.overtaken(); err != nil {
		return err
	}
	if s.saved != nil {
		s.saved(s.index, s.term)
	}
	return nil
}

// midway calls pass when something has been written and more is to come: before the second write. A state takes two at least, its checksum being the last.
type midway struct {
	io.Writer
	writes int
	pass   func() error
}

func (m *midway) Write(p []byte) (int, error) {
	if m.writes++; m.writes == 2 {
		if err := m.pass(); err != nil {
			return 0, err
		}
	}
	return m.Writer.Write(p)
}

// overtaken fails when a leader's later snapshot has come in meanwhile. Raft would go back to this one, and believe that its log ends where it ended before.
func (s *stateSnapshot) overtaken() error {
	if at := s.restored.Load(); at > s.index {
		return fmt.Errorf("snapshot up to %d: the leader's, up to %d, came first", s.index, at)
	}
	return nil
}

func (s *stateSnapshot) Release() {}

// Restore replaces the state by a snapshot, read aside first. Watches end, because they cannot tell what they missed. One that would turn the
// state back is refused.
func (f *fsm) Restore(r io.ReadCloser) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read snapshot: panic: %v\n%s", p, debug.Stack())
			f.halt(err)
		}
	}()
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s, err := DecodeState(b)
	if err != nil {
		return err
	}
	if f.closed.Load() {
		return errStopped
	}
	if err := f.replace(s); err != nil {
		return err
	}
	f.hooks.Answer(s.Index, s.Term, nil)
	return nil
}

func (f *fsm) replace(s *State) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun && s.Index < f.index.Load() {
		return fmt.Errorf("read snapshot: it ends at index %d, %d is applied", s.Index, f.index.Load())
	}
	f.restored.Store(s.Index)
	f.kv, f.met, f.view = s.KV, s.met, nil
	f.index.Store(s.Index)
	f.term.Store(s.Term)
	if f.begun {
		f.hooks.Restored(s.Index, s.Term, s.KV)
	}
	return nil
}
