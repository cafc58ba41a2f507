package peer

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// Outcome is what became of one command of an entry.
type Outcome struct {
	ID  uint64
	Tag uint64
	// Command is the one that was run; shared and immutable.
	Command *Command
	Result  mvcc.TxnResult
	// Events is nil when nothing changed.
	Events []mvcc.Event
	// Err is set for a command other than a transaction that was turned down, and for any that came too late to know whether it was run before (ErrLate).
	Err error
	// Repeated: it was run before, and not again.
	Repeated bool
	// Alarms that a Raise put in force or a Disarm lifted.
	Alarms []mvcc.Alarm
}

// ErrLate turns down a command that has been on its way for so long that nobody knows whether a copy of it was applied. Whoever was not answered by then knows now
// that it was not: the first copy is answered first.
var ErrLate = errors.New("the request was overtaken by too many later ones")

// fsm applies committed entries to the state machine. It is thin: everything that decides anything is in mvcc.
type fsm struct {
	decoder *Decoder
	hooks   Hooks
	// pass passes a point of the work on the disk.
	pass func(failure.Point) error
	// halt is called when an entry cannot be applied; it stops the member.
	halt func(error)
	// committed is called after each entry.
	committed func()
	// configured is called for each configuration that is committed.
	configured func(index uint64, c raft.Configuration)
	// closed is set when the member is killed: nothing that raft still delivers is to have any effect.
	closed atomic.Bool
	// index and term of the newest entry applied; restored is the end of the newest snapshot taken over.
	index, term, restored atomic.Uint64

	mu     sync.Mutex
	kv     *mvcc.Store
	met    *met
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
// with the same error, as all members do that were given the same bytes, and changes nothing.
func (f *fsm) Apply(l *raft.Log) (answer any) {
	if f.closed.Load() {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			answer = f.stop(fmt.Errorf("log index %d: panic: %v", l.Index, r), debug.Stack())
		}
	}()
	entry, err := f.decoder.Decode(l.Index, l.Term, l.Data)
	if err != nil {
		return f.stop(fmt.Errorf("log index %d: %w", l.Index, err), nil)
	}
	if err := f.step(failure.BeforeApply); err != nil {
		return err
	}
	outcomes, err := f.apply(entry, l)
	if err != nil {
		return err
	}
	f.committed()
	if err := f.step(failure.AfterApply); err != nil {
		return err
	}
	f.hooks.Answer(l.Index, l.Term, outcomes)
	return nil
}

// step passes a point where a trap may wait. After an error nothing of this life has any effect.
func (f *fsm) step(at failure.Point) error {
	if f.hooks.Step == nil {
		return nil
	}
	err := f.hooks.Step(at)
	if err != nil {
		f.closed.Store(true)
	}
	return err
}

// apply runs the commands of an entry that is meant for the term it was logged in.
func (f *fsm) apply(entry *Entry, l *raft.Log) ([]Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted != nil {
		return nil, f.halted
	}
	if planted.Is(planted.SnapshotMisses) {
		planted.Keep(f, f.kv.Snapshot())
	}
	var outcomes []Outcome
	f.met.begin(l.Term)
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
	o := Outcome{ID: c.ID, Command: c}
	met := f.met.meet(c.ID)
	if planted.Is(planted.ApplyCommandTwice) {
		met = fresh
	}
	switch met {
	case repeated:
		o.Repeated = true
		return o
	case late:
		o.Err = ErrLate
		return o
	}
	switch c.Kind {
	case Txn:
		o.Tag = c.Txn.Tag
		o.Result, o.Events = f.kv.Apply(c.Txn)
		return o
	case Compact:
		o.Err = f.kv.Compact(c.Compact)
	case Grant:
		o.Err = f.kv.Grant(c.Lease, c.TTL)
	case Revoke, Expire:
		o.Events, o.Err = f.kv.Revoke(c.Lease)
		o.Result.Changed = len(o.Events) > 0
	case Raise:
		if f.kv.Raise(c.Alarm) {
			o.Alarms = []mvcc.Alarm{c.Alarm}
		}
	case Disarm:
		o.Alarms = f.kv.Disarm()
	}
	o.Result.Revision = f.kv.Revision()
	return o
}

// stop halts the state machine. Where it happened is for those who mend it, and no part of the answer.
func (f *fsm) stop(err error, stack []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted == nil {
		f.halted = err
		if stack != nil {
			err = fmt.Errorf("%w\n%s", err, stack)
		}
		f.halt(err)
	}
	return f.halted
}

// StoreConfiguration only takes notice of the index, so that waiting for an index works whatever kind of entry it is.
func (f *fsm) StoreConfiguration(index uint64, c raft.Configuration) {
	if f.closed.Load() {
		return
	}
	f.configured(index, c)
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
