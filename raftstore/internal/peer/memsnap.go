package peer

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// memorySnapshots keeps the newest snapshots in memory. Raft's own store of this kind lists a snapshot before it is complete.
type memorySnapshots struct {
	mu    sync.Mutex
	made  int
	snaps []*memorySink // newest first
}

func (m *memorySnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made++
	return &memorySink{owner: m, meta: raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%d-%d-%d", term, index, m.made), Index: index, Term: term, Configuration: c, ConfigurationIndex: cIndex,
	}}, nil
}

func (m *memorySnapshots) List() ([]*raft.SnapshotMeta, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*raft.SnapshotMeta
	for _, s := range m.snaps {
		meta := s.meta
		list = append(list, &meta)
	}
	return list, nil
}

func (m *memorySnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.snaps {
		if s.meta.ID == id {
			meta := s.meta
			return &meta, io.NopCloser(bytes.NewReader(s.data.Bytes())), nil
		}
	}
	return nil, nil, fmt.Errorf("no snapshot %s", id)
}

// memorySink is a snapshot being written, and once closed, kept.
type memorySink struct {
	owner *memorySnapshots
	meta  raft.SnapshotMeta
	data  bytes.Buffer
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
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	snaps := append([]*memorySink{s}, s.owner.snaps...)
	s.owner.snaps = snaps[:min(len(snaps), snapshotsKept)]
	return nil
}
