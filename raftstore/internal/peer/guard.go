package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// errDisk is in the chain of the error of a member whose disk failed.
var errDisk = errors.New("disk failed")

// backing is what a log and stable store has to offer.
type backing interface {
	raft.LogStore
	raft.StableStore
}

// guard stands between raft and its log and stable store.
//
// Raft panics on many store errors, and the panic of one member would end the program with all the others. So the first error marks the
// member failed for good: every later write fails, which keeps votes and entries from being acknowledged, only the current term
// "succeeds", because raft panics otherwise, and a reader that raft does not allow to fail is ended in place. An instance that has seen an
// error is never used again (raft may keep a wrong last index after one); the member is reopened from disk.
//
// Every entry carries a checksum in its extensions, and every value one behind it, because bolt does not notice most damage.
type guard struct {
	backing
	// gate is what every write passes.
	gate *gate
	// onFail is called once, on its own goroutine, with the first error.
	onFail func(error)
	// storing is called before the disk is given entries, however slow it is, stored after; storing may be nil.
	storing func(logs []*raft.Log)
	stored  func()
	// appended and deleted are called after the log was changed, with what raft asked for; nil: nobody wants to know.
	appended func(logs []*raft.Log)
	deleted  func(from, to uint64)
	// running is set when raft's goroutines are up, whose reads must not fail.
	running atomic.Bool

	// term is the newest that is on the disk.
	term atomic.Uint64
	// founding is set while the first configuration is written, whose points are others.
	founding bool

	mu     sync.Mutex
	failed error
	// inject, when set, is what the next write fails with.
	inject error
}

func (g *guard) fail(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil && errors.Is(err, errPowerLost) { // nobody is left to be told
		g.failed = err
	}
	if g.failed == nil {
		g.failed = fmt.Errorf("%w: %w", errDisk, err)
		if g.onFail != nil {
			go g.onFail(g.failed)
		}
	}
	return g.failed
}

func (g *guard) state() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// try runs one access to the store. A panic of bolt, or a fault where its file was cut under it, counts as an error.
func (g *guard) try(access func() error) (err error) {
	if err := g.state(); err != nil {
		return err
	}
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			err = g.fail(fmt.Errorf("panic: %v", r))
		}
	}()
	return access()
}

// write does a durable step between two points.
func (g *guard) write(before, after failure.Point, access func() error) error {
	return g.try(func() error {
		if err := g.pass(before); err != nil {
			return err
		}
		g.mu.Lock()
		injected := g.inject
		g.mu.Unlock()
		if injected != nil {
			return g.fail(injected)
		}
		if err := g.gate.write(access); err != nil {
			return g.fail(err)
		}
		return g.pass(after)
	})
}

// pass passes a point where a trap may wait. The error of a trap is an error of the disk.
func (g *guard) pass(at failure.Point) error {
	if at == "" {
		return nil
	}
	if err := g.gate.at(at); err != nil {
		return g.fail(err)
	}
	return nil
}

// mustRead is for reads that raft answers with a panic: it ends raft's goroutine instead. The member is being shut down by then.
func (g *guard) mustRead(err error) error {
	if err != nil && g.running.Load() && g.state() != nil {
		runtime.Goexit()
	}
	return err
}

func (g *guard) StoreLog(l *raft.Log) error { return g.StoreLogs([]*raft.Log{l}) }

func (g *guard) StoreLogs(logs []*raft.Log) error {
	sealed := make([]*raft.Log, len(logs))
	for i, l := range logs {
		cp := *l
		cp.Extensions = binary.LittleEndian.AppendUint32(nil, entrySum(l))
		sealed[i] = &cp
	}
	if planted.Is(planted.KeepTruncated) {
		sealed = g.beyond(sealed)
	}
	before, after := failure.BeforeStoreLog, failure.AfterStoreLog
	if g.founding {
		before, after = "", ""
	}
	if g.storing != nil && g.state() == nil {
		g.storing(logs)
	}
	err := g.write(before, after, func() error { return g.backing.StoreLogs(sealed) })
	if err == nil && g.appended != nil {
		g.appended(logs)
	}
	if g.stored != nil {
		g.stored()
	}
	return err
}

// entrySum covers what makes up an entry: where it stands and what it says.
func entrySum(l *raft.Log) uint32 {
	var room [21]byte
	b := room[:0]
	b = binary.LittleEndian.AppendUint64(b, l.Index)
	b = binary.LittleEndian.AppendUint64(b, l.Term)
	b = append(b, byte(l.Type))
	b = binary.LittleEndian.AppendUint32(b, mvcc.Checksum(l.Data))
	return mvcc.Checksum(b)
}

// GetLog reads an entry. One that is missing between the first and the last is damage, as is one whose checksum does not fit; one outside
// is raft.ErrLogNotFound.
func (g *guard) GetLog(index uint64, l *raft.Log) error {
	return g.mustRead(g.try(func() error {
		err := g.backing.GetLog(index, l)
		if errors.Is(err, raft.ErrLogNotFound) {
			first, errFirst := g.backing.FirstIndex()
			last, errLast := g.backing.LastIndex()
			if errFirst == nil && errLast == nil && (index < first || index > last) {
				return raft.ErrLogNotFound
			}
		}
		if err != nil {
			return g.fail(fmt.Errorf("read entry %d: %w", index, err))
		}
		if len(l.Extensions) != 4 || binary.LittleEndian.Uint32(l.Extensions) != entrySum(l) {
			return g.fail(fmt.Errorf("read entry %d: %w", index, mvcc.ErrDamaged))
		}
		l.Extensions = nil
		return nil
	}))
}

func (g *guard) FirstIndex() (v uint64, err error) {
	return v, g.mustRead(g.try(func() error { v, err = g.backing.FirstIndex(); return err }))
}

func (g *guard) LastIndex() (v uint64, err error) {
	return v, g.mustRead(g.try(func() error { v, err = g.backing.LastIndex(); return err }))
}

func (g *guard) DeleteRange(from, to uint64) error {
	if planted.Is(planted.KeepTruncated) && g.cutsEnd(from, to) {
		return nil
	}
	err := g.write(failure.BeforeDeleteLog, failure.AfterDeleteLog, func() error { return g.backing.DeleteRange(from, to) })
	if err == nil && g.deleted != nil {
		g.deleted(from, to)
	}
	return err
}

// cutsEnd tells what planted.KeepTruncated leaves out: deleting the end of the log and not all of it. What would have been written in place of that is then not, see beyond.
func (g *guard) cutsEnd(from, to uint64) bool {
	first, _ := g.backing.FirstIndex()
	last, _ := g.backing.LastIndex()
	return from > first && to >= last
}

// beyond returns those entries that lie behind the end of the log.
func (g *guard) beyond(logs []*raft.Log) []*raft.Log {
	last, _ := g.backing.LastIndex()
	return slices.DeleteFunc(logs, func(l *raft.Log) bool { return l.Index <= last })
}

// Set stores a value with a checksum. A vote is stored as two values, its term and then its candidate.
func (g *guard) Set(key, value []byte) error {
	if planted.Is(planted.ForgetVote) && string(key) != string(keyCurrentTerm) {
		return nil
	}
	var before, after failure.Point
	switch {
	case g.founding:
		if string(key) == string(keyCurrentTerm) {
			after = failure.AfterTermBootstrap
		}
	case string(key) == string(keyCurrentTerm):
		before, after = failure.BeforeStoreTerm, failure.AfterStoreTerm
	case string(key) == string(keyVoteTerm):
		before = failure.BeforeStoreVote
	case string(key) == string(keyVoteCandidate):
		after = failure.AfterStoreVote
	}
	return g.write(before, after, func() error { return g.backing.Set(key, sealValue(key, value)) })
}

func (g *guard) SetUint64(key []byte, value uint64) error {
	isTerm := string(key) == string(keyCurrentTerm)
	if planted.Is(planted.ForgetTerm) && g.running.Load() && isTerm {
		g.term.Store(value)
		return nil
	}
	err := g.Set(key, binary.BigEndian.AppendUint64(nil, value))
	switch {
	case err == nil && isTerm:
		g.term.Store(value)
	case isTerm && g.running.Load():
		return nil
	}
	return err
}

func (g *guard) Get(key []byte) (v []byte, err error) {
	err = g.try(func() error {
		sealed, err := g.backing.Get(key)
		if err != nil {
			return err // also of a key that is not there
		}
		if v, err = unsealValue(key, sealed); err != nil {
			return g.fail(err)
		}
		return nil
	})
	return v, err
}

func (g *guard) GetUint64(key []byte) (uint64, error) {
	v, err := g.Get(key)
	if err != nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, g.fail(fmt.Errorf("read %s: %w: it has %d bytes", key, mvcc.ErrDamaged, len(v)))
	}
	return binary.BigEndian.Uint64(v), nil
}

// sealValue adds a checksum over key and value.
func sealValue(key, value []byte) []byte {
	b := append(append([]byte(nil), key...), value...)
	return append(append([]byte(nil), value...), mvcc.Seal(b)[len(b):]...)
}

func unsealValue(key, sealed []byte) ([]byte, error) {
	if len(sealed) >= 4 {
		value := sealed[:len(sealed)-4]
		if bytes.Equal(sealValue(key, value), sealed) {
			return value, nil
		}
	}
	return nil, fmt.Errorf("read %s: %w", key, mvcc.ErrDamaged)
}
