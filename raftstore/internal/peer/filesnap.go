package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
)

// A snapshot is one file: magic with the version, length of the header (4 bytes), the header (raft.SnapshotMeta as JSON), the state, the length of the state (8 bytes), and the CRC-32C of
// everything before. Raft's own store of snapshots has a checksum over the state alone, and passes over a snapshot whose description does not read as if it had never been.
const (
	snapshotMagic   = "kvsnap\x01"
	snapshotSuffix  = ".snap"
	snapshotTrailer = 12
	unfinished      = ".tmp"
	damagedSuffix   = ".damaged"
	headerMax       = 1 << 20
)

// fileSnapshots keeps snapshots in a folder. A file gets its name when it is complete.
type fileSnapshots struct {
	dir  string
	sync bool

	mu   sync.Mutex
	made int
	list []*raft.SnapshotMeta // newest first
}

// openSnapshots finds what snapshots there are. It reads them from the newest on until one is sound; a damaged one is renamed, not deleted. What was never finished is deleted.
func openSnapshots(dir string, sync bool, logger hclog.Logger) (*fileSnapshots, error) {
	if err := os.MkdirAll(dir, directoryMode); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &fileSnapshots{dir: dir, sync: sync}
	for _, f := range files {
		id, isSnapshot := strings.CutSuffix(f.Name(), snapshotSuffix)
		if strings.HasSuffix(f.Name(), unfinished) {
			os.Remove(filepath.Join(dir, f.Name()))
		}
		m := &raft.SnapshotMeta{ID: id}
		if !isSnapshot {
			continue
		}
		if _, err := fmt.Sscanf(id, "%d-%d-", &m.Term, &m.Index); err != nil {
			logger.Warn("not the name of a snapshot", "file", f.Name(), "folder", dir)
			continue
		}
		s.list = append(s.list, m)
	}
	slices.SortFunc(s.list, newerFirst)
	sound := false
	s.list = slices.DeleteFunc(s.list, func(m *raft.SnapshotMeta) bool {
		r, meta, err := s.read(m.ID, !sound)
		if err != nil {
			logger.Error("a snapshot is damaged and not used", "file", s.path(m.ID), "error", err)
			os.Rename(s.path(m.ID), s.path(m.ID)+damagedSuffix)
			return true
		}
		r.Close()
		*m, sound = *meta, true
		return false
	})
	return s, nil
}

func newerFirst(a, b *raft.SnapshotMeta) int {
	switch {
	case a.Term != b.Term:
		return less(b.Term < a.Term)
	case a.Index != b.Index:
		return less(b.Index < a.Index)
	}
	return strings.Compare(b.ID, a.ID)
}

func less(yes bool) int {
	if yes {
		return -1
	}
	return 1
}

func (s *fileSnapshots) path(id string) string { return filepath.Join(s.dir, id+snapshotSuffix) }

func (s *fileSnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	s.made++
	meta := raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%d-%d-%d%03d", term, index, time.Now().UnixMilli(), s.made%1000), Index: index, Term: term, Configuration: c, ConfigurationIndex: cIndex,
	}
	s.mu.Unlock()
	head, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.path(meta.ID)+unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, markerMode)
	if err != nil {
		return nil, err
	}
	sink := &fileSink{store: s, meta: meta, file: f, sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	sink.w = bufio.NewWriterSize(io.MultiWriter(f, sink.sum), 64<<10)
	head = append(binary.LittleEndian.AppendUint32([]byte(snapshotMagic), uint32(len(head))), head...)
	if _, err := sink.w.Write(head); err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	return sink, nil
}

func (s *fileSnapshots) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*raft.SnapshotMeta, 0, len(s.list))
	for _, m := range s.list {
		meta := *m
		list = append(list, &meta)
	}
	return list, nil
}

// Open fails with mvcc.ErrDamaged where the file is not what was written.
func (s *fileSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	r, meta, err := s.read(id, true)
	return meta, r, err
}

type stateFile struct {
	io.Reader
	io.Closer
}

// read opens a snapshot and reads its description; with whole it checks all of it first.
func (s *fileSnapshots) read(id string, whole bool) (state io.ReadCloser, meta *raft.SnapshotMeta, err error) {
	damaged := func(what string, err error) error {
		return fmt.Errorf("snapshot %s: %w: %s: %w", s.path(id), mvcc.ErrDamaged, what, err)
	}
	if err := CheckRegular(s.path(id)); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(s.path(id))
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	if size < int64(len(snapshotMagic)+4+snapshotTrailer) {
		return nil, nil, damaged("too short", io.ErrUnexpectedEOF)
	}
	var trailer [snapshotTrailer]byte
	if _, err := f.ReadAt(trailer[:], size-snapshotTrailer); err != nil {
		return nil, nil, damaged("its end", err)
	}
	if whole {
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		if _, err := io.Copy(sum, io.LimitReader(f, size-4)); err != nil {
			return nil, nil, err
		}
		if sum.Sum32() != binary.LittleEndian.Uint32(trailer[8:]) {
			return nil, nil, damaged("checksum", errors.New("does not fit"))
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, nil, err
		}
	}
	head := make([]byte, len(snapshotMagic)+4)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, nil, damaged("its beginning", err)
	}
	length := int64(binary.LittleEndian.Uint32(head[len(snapshotMagic):]))
	if string(head[:len(snapshotMagic)]) != snapshotMagic || length > headerMax || length > size {
		return nil, nil, damaged("its beginning", errors.New("not that of a snapshot of this version"))
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, nil, damaged("header", err)
	}
	meta = new(raft.SnapshotMeta)
	if err := json.Unmarshal(text, meta); err != nil {
		return nil, nil, damaged("header", err)
	}
	meta.Size = size - int64(len(head)) - length - snapshotTrailer
	if meta.ID != id || meta.Size < 0 || uint64(meta.Size) != binary.LittleEndian.Uint64(trailer[:]) {
		return nil, nil, damaged("header", errors.New("it speaks of another file"))
	}
	return stateFile{bufio.NewReaderSize(io.LimitReader(f, meta.Size), 64<<10), f}, meta, nil
}

// fileSink is a snapshot being written.
type fileSink struct {
	store *fileSnapshots
	meta  raft.SnapshotMeta
	file  *os.File
	sum   hash.Hash32
	w     *bufio.Writer
	done  bool
}

func (s *fileSink) ID() string { return s.meta.ID }

func (s *fileSink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.meta.Size += int64(n)
	return n, err
}

// Close makes it complete: state and checksum first, then its name. Then what is too old goes.
func (s *fileSink) Close() error {
	if s.done {
		return nil
	}
	if err := s.finish(); err != nil {
		return errors.Join(err, s.Cancel())
	}
	s.done = true
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.list = append(s.store.list, &s.meta)
	slices.SortFunc(s.store.list, newerFirst)
	for len(s.store.list) > snapshotsKept {
		oldest := s.store.list[len(s.store.list)-1]
		if err := os.Remove(s.store.path(oldest.ID)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		s.store.list = s.store.list[:len(s.store.list)-1]
	}
	return nil
}

func (s *fileSink) finish() error {
	if _, err := s.w.Write(binary.LittleEndian.AppendUint64(nil, uint64(s.meta.Size))); err != nil {
		return err
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	if _, err := s.file.Write(binary.LittleEndian.AppendUint32(nil, s.sum.Sum32())); err != nil {
		return err
	}
	if s.store.sync {
		if err := s.file.Sync(); err != nil {
			return err
		}
	}
	if err := s.file.Close(); err != nil {
		return err
	}
	path := s.store.path(s.meta.ID)
	if err := os.Rename(path+unfinished, path); err != nil {
		return err
	}
	if s.store.sync {
		return SyncDir(s.store.dir)
	}
	return nil
}

func (s *fileSink) Cancel() error {
	if s.done {
		return nil
	}
	s.done = true
	s.file.Close() // whatever it says, the file goes
	err := os.Remove(s.store.path(s.meta.ID) + unfinished)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
