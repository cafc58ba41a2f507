package peer

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
)

// Create, List and Open make a session a raft.SnapshotStore that keeps the newest snapshots in memory. Raft's own store of this kind lists a snapshot before it is complete.

func (s *session) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != s.n {
		return nil, errPowerLost
	}
	s.made++
	return &memorySink{owner: s, meta: raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%d-%d-%d", term, index, s.made), Index: index, Term: term, Configuration: c, ConfigurationIndex: cIndex,
	}}, nil
}

// List leaves out what is damaged.
func (m *memoryLog) List() ([]*raft.SnapshotMeta, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*raft.SnapshotMeta
	for _, s := range m.snapshots {
		if mvcc.Checksum(s.data.Bytes()) == s.sum {
			meta := s.meta
			list = append(list, &meta)
		}
	}
	return list, nil
}

func (m *memoryLog) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.snapshots {
		if s.meta.ID != id {
			continue
		}
		if mvcc.Checksum(s.data.Bytes()) != s.sum {
			return nil, nil, fmt.Errorf("snapshot %s: %w", id, mvcc.ErrDamaged)
		}
		meta := s.meta
		return &meta, io.NopCloser(bytes.NewReader(s.data.Bytes())), nil
	}
	return nil, nil, fmt.Errorf("no snapshot %s", id)
}

// memorySink is a snapshot being written, and once closed, kept.
type memorySink struct {
	owner *session
	meta  raft.SnapshotMeta
	data  bytes.Buffer
	sum   uint32
	done  bool
}

func (s *memorySink) Write(p []byte) (int, error) { return s.data.Write(p) }

func (s *memorySink) ID() string { return s.meta.ID }

func (s *memorySink) Cancel() error {
	s.done = true
	return nil
}

func (s *memorySink) Close() error {
	if s.done {
		return nil
	}
	s.done = true
	s.meta.Size = int64(s.data.Len())
	s.sum = mvcc.Checksum(s.data.Bytes())
	return s.owner.transact(func() func() {
		old := s.owner.snapshots
		snaps := append([]*memorySink{s}, old...)
		// By what they stand for, as on files: one that was begun before another may be finished after it.
		slices.SortStableFunc(snaps, func(a, b *memorySink) int {
			return cmp.Or(cmp.Compare(b.meta.Term, a.meta.Term), cmp.Compare(b.meta.Index, a.meta.Index))
		})
		s.owner.snapshots = snaps[:min(len(snaps), snapshotsKept)]
		return func() { s.owner.snapshots = old }
	})
}
