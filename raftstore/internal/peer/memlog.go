package peer

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"

	"example.com/kubeviz/raftstore/internal/planted"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// memoryLog is the model of a disk: log, stable store and snapshots, as a list of transactions of which a power loss keeps a beginning.
//
// A transaction takes effect as a whole, as one of bolt does. It is durable from the moment on that it was forced to the medium; where that is not asked for, a power loss undoes
// the newest ones, and how many of them is drawn from a seed. What a life that was killed still asks for is refused, so nothing that raft does after the kill reaches the disk.
type memoryLog struct {
	mu sync.Mutex
	run
	values    map[string][]byte
	snapshots []*memorySink // newest first
	made      int
	// noted is the newest snapshot's index; see ledger.
	noted uint64
	// unforced holds what undoes each transaction that is not durable yet, oldest first.
	unforced []func()
	// session counts the lives; only the newest may write.
	session int
}

// unforcedMax is how many transactions a power loss may undo.
const unforcedMax = 1024

func newMemoryLog() *memoryLog {
	return &memoryLog{run: run{entries: make(map[uint64]*raft.Log)}, values: make(map[string][]byte)}
}

// session is a model disk in use by one life. With forced each transaction is durable before its end.
type session struct {
	*memoryLog
	n      int
	forced bool
}

var (
	_ backing = (*session)(nil)
	_ ledger  = (*session)(nil)
)

func (m *memoryLog) use(forced bool) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session++
	return &session{m, m.session, forced}
}

// powerLoss ends the session and undoes some of what was not forced: all of it when random is nil.
func (s *session) powerLoss(random *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != s.n {
		return
	}
	s.session++
	kept := 0
	if n := len(s.unforced); n > 0 && random != nil {
		kept = random.IntN(n + 1)
	}
	for i := len(s.unforced) - 1; i >= kept; i-- {
		s.unforced[i]()
	}
	s.unforced = nil
}

// transact makes one change, which returns what undoes it.
func (s *session) transact(change func() (undo func())) error {
	return s.transactForced(s.forced, change)
}

func (s *session) transactForced(forced bool, change func() (undo func())) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != s.n {
		return errPowerLost
	}
	s.unforced = append(s.unforced, change())
	switch n := len(s.unforced); {
	case forced && !planted.Is(planted.SkipSync):
		s.unforced = s.unforced[:0]
	case n > unforcedMax: // the machine writes back by itself what is old
		s.unforced = append([]func(){}, s.unforced[n/2:]...)
	}
	return nil
}

func (s *session) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

func (s *session) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	return s.transactForced(s.forced && !planted.Is(planted.AckBeforeStore), func() func() {
		first, last := s.first, s.last
		old := make([]*raft.Log, len(logs))
		for i, l := range logs {
			old[i] = s.entries[l.Index]
		}
		s.put(logs)
		return func() {
			for i, l := range logs {
				if s.entries[l.Index] = old[i]; old[i] == nil {
					delete(s.entries, l.Index)
				}
			}
			s.first, s.last = first, last
		}
	})
}

func (s *session) DeleteRange(from, to uint64) error {
	s.mu.Lock()
	err := s.mayCut(from, to)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.transact(func() func() {
		first, last := s.first, s.last
		gone := s.cut(from, to)
		return func() {
			s.put(gone)
			s.first, s.last = first, last
		}
	})
}

func (m *memoryLog) GetLog(index uint64, l *raft.Log) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[index]
	if e == nil {
		return raft.ErrLogNotFound
	}
	*l = *e
	return nil
}

func (m *memoryLog) FirstIndex() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first, nil
}

func (m *memoryLog) LastIndex() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, nil
}

func (s *session) Set(key, value []byte) error {
	value = bytes.Clone(value)
	return s.transact(func() func() {
		old, had := s.values[string(key)]
		s.values[string(key)] = value
		return func() {
			if s.values[string(key)] = old; !had {
				delete(s.values, string(key))
			}
		}
	})
}

func (m *memoryLog) Get(key []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[string(key)]
	if !ok {
		return nil, raftboltdb.ErrKeyNotFound
	}
	return bytes.Clone(v), nil
}

var errPlain = errors.New("numbers are stored by the guard, as bytes with a checksum")

func (*session) SetUint64([]byte, uint64) error   { return errPlain }
func (*session) GetUint64([]byte) (uint64, error) { return 0, errPlain }

// Noted and Note are the ledger's.
func (m *memoryLog) Noted() (uint64, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.noted, m.noted > 0 || m.last > 0, nil
}

func (s *session) Note(snapshot uint64) error {
	return s.transact(func() func() {
		old := s.noted
		s.noted = snapshot
		return func() { s.noted = old }
	})
}
