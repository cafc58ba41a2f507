package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

const (
	snapshotsKept = 3
	// cachedEntries of the log are kept in memory: followers and the apply loop read nearly all entries from there.
	cachedEntries = 128

	logFile         = "raft.db"
	initialisedFile = "initialised"
	rejoiningFile   = "rejoining"
	openTimeout     = 5 * time.Second
	boltLockTimeout = time.Second
	boltMmapAtLeast = 1 << 20
	directoryMode   = 0o700
	markerMode      = 0o600
)

var (
	keyCurrentTerm = []byte("CurrentTerm")

	errDamagedDisk = errors.New("disk damaged")
)

// Disk is where a member keeps its log, votes and snapshots between lives: a folder, or memory that dies with the program.
type Disk struct {
	dir  string // empty: memory
	sync bool
	// unsaved is what a member on a folder that is not synced acknowledged and its file does not hold yet.
	unsaved unsaved

	mu       sync.Mutex // guards memory and what it points to, but not the stores in it, which guard themselves
	memory   *memoryDisk
	aside    []*memoryDisk // what was set aside; see SetAside
	prepared *memoryDisk   // see Prepare
}

// memoryDisk is a disk for tests and for clusters that need not outlive the program.
type memoryDisk struct {
	store                  *raft.InmemStore
	snapshots              *memorySnapshots
	initialised, rejoining bool
	identity               Identity
}

// NewDisk returns the disk in folder dir, or one in memory when dir is empty. With sync every write is forced to the medium.
func NewDisk(dir string, sync bool) *Disk {
	d := &Disk{dir: dir, sync: sync}
	if dir == "" {
		d.memory = newMemoryDisk()
	}
	return d
}

func newMemoryDisk() *memoryDisk {
	return &memoryDisk{store: raft.NewInmemStore(), snapshots: &memorySnapshots{}}
}

// Wipe deletes everything. With rejoin the member will, when started again, neither vote nor stand for election until it has caught up with a
// leader: a voter that forgot what it acknowledged could otherwise help to elect a leader that never saw it.
func (d *Disk) Wipe(rejoin bool) error {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		id := d.memory.identity
		d.memory = newMemoryDisk()
		d.memory.rejoining, d.memory.identity = rejoin, id
		return nil
	}
	d.unsaved.forget()
	id, err := d.Identity()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	if id.ID != "" {
		if err := d.SetIdentity(id); err != nil {
			return err
		}
	}
	return d.Rejoining(rejoin)
}

// Used tells whether a member ever lived on this disk.
func (d *Disk) Used() bool { return d.marked(initialisedFile) }

// MarkUsed notes that a member has acknowledged something on this disk. From then on an empty one is damage.
func (d *Disk) MarkUsed() error { return d.mark(initialisedFile) }

func (d *Disk) rejoining() bool { return d.marked(rejoiningFile) }

// Rejoining changes the mark that Wipe sets.
func (d *Disk) Rejoining(on bool) error {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.memory.rejoining = on
		return nil
	}
	if !on {
		err := os.Remove(filepath.Join(d.dir, rejoiningFile))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	return d.mark(rejoiningFile)
}

func (d *Disk) marked(name string) bool {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		return name == initialisedFile && d.memory.initialised || name == rejoiningFile && d.memory.rejoining
	}
	_, err := os.Stat(filepath.Join(d.dir, name))
	return err == nil
}

func (d *Disk) mark(name string) error {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.memory.initialised = d.memory.initialised || name == initialisedFile
		return nil
	}
	if err := os.MkdirAll(d.dir, directoryMode); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, name), nil, markerMode)
}

// Size is what the member occupies, in bytes: the log file, which never shrinks, and its snapshots. Zero in memory.
func (d *Disk) Size() int64 {
	if d.dir == "" {
		return 0
	}
	var size int64
	filepath.WalkDir(d.dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // a file that has just gone counts for nothing
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// opened is a disk in use by one life of a member.
type opened struct {
	guard     *guard
	logs      raft.LogStore
	snapshots raft.SnapshotStore
	close     func() error
}

func (d *Disk) open(logger hclog.Logger) (*opened, error) {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		g := &guard{backing: d.memory.store}
		return &opened{guard: g, logs: &gapless{LogStore: g}, snapshots: d.memory.snapshots, close: func() error { return nil }}, nil
	}
	if err := os.MkdirAll(d.dir, directoryMode); err != nil {
		return nil, err
	}
	path := filepath.Join(d.dir, logFile)
	if info, err := os.Stat(path); err == nil && info.Size() == 0 && d.Used() {
		// Bolt would take an empty file for a new store, and the member would have forgotten its vote.
		return nil, fmt.Errorf("%w: %s is empty", errDamagedDisk, path)
	}
	if err := checkBoltFile(path); err != nil {
		return nil, err
	}
	bolt, err := openBolt(path, d.sync)
	if err != nil {
		return nil, err
	}
	if err := d.unsaved.save(func(s step) error { return s.do(bolt) }, func(step) {}); err != nil {
		return nil, errors.Join(fmt.Errorf("write to %s what the member acknowledged before it stopped: %w", path, err), bolt.Close())
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(d.dir, snapshotsKept, logger)
	if err != nil {
		return nil, errors.Join(err, bolt.Close())
	}
	g := &guard{backing: bolt}
	cache, err := raft.NewLogCache(cachedEntries, g)
	if err != nil {
		return nil, errors.Join(err, bolt.Close())
	}
	return &opened{guard: g, logs: &gapless{LogStore: cache}, snapshots: snapshots, close: bolt.Close}, nil
}

// openBolt opens the file on its own goroutine, because what checkBoltFile overlooks may still make bolt panic or hang; a hanging
// goroutine is left behind.
func openBolt(path string, sync bool) (*raftboltdb.BoltStore, error) {
	type result struct {
		store *raftboltdb.BoltStore
		err   error
	}
	results := make(chan result, 1)
	go func() {
		debug.SetPanicOnFault(true)
		defer func() {
			if r := recover(); r != nil {
				results <- result{err: fmt.Errorf("%w: open %s: %v", errDamagedDisk, path, r)}
			}
		}()
		store, err := raftboltdb.New(raftboltdb.Options{Path: path, NoSync: !sync, BoltOptions: &bbolt.Options{
			Timeout: boltLockTimeout, NoGrowSync: !sync, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: boltMmapAtLeast,
		}})
		results <- result{store, err}
	}()
	timer := time.NewTimer(openTimeout)
	defer timer.Stop()
	select {
	case r := <-results:
		if r.err != nil {
			return nil, fmt.Errorf("open %s: %w", path, r.err)
		}
		return r.store, nil
	case <-timer.C:
		return nil, fmt.Errorf("%w: opening %s takes too long", errDamagedDisk, path)
	}
}

// check refuses a disk that raft would panic on or that has silently lost something: the log must run without a gap from the newest snapshot, all
// entries must be what was written, and the term must not lie behind the log.
func (o *opened) check(used bool) error {
	last, err := o.guard.LastIndex()
	if err != nil {
		return err
	}
	first, err := o.guard.FirstIndex()
	if err != nil {
		return err
	}
	snaps, err := o.snapshots.List()
	if err != nil {
		return err
	}
	var snapshot uint64
	if len(snaps) > 0 {
		snapshot = snaps[0].Index
	}
	if last > 0 && first > snapshot+1 {
		return fmt.Errorf("%w: log begins at %d, newest snapshot ends at %d", errDamagedDisk, first, snapshot)
	}
	var term uint64
	for i := first; last > 0 && i <= last; i++ {
		var l raft.Log
		if err := o.guard.GetLog(i, &l); err != nil {
			return err
		}
		if l.Type == raft.LogCommand {
			if _, err := DecodeEntry(l.Data); err != nil {
				return fmt.Errorf("%w: entry %d: %w", errDamagedDisk, i, err)
			}
		}
		term = l.Term
	}
	current, err := o.guard.GetUint64(keyCurrentTerm)
	if err != nil && err.Error() != raftboltdb.ErrKeyNotFound.Error() {
		return err
	}
	if current < term {
		return fmt.Errorf("%w: the log reaches term %d, but the current term reads %d", errDamagedDisk, term, current)
	}
	if used && (current == 0 || last == 0 && len(snaps) == 0) {
		return fmt.Errorf("%w: a member lived here, but its term or log is gone", errDamagedDisk)
	}
	return nil
}

// dropLog deletes all entries; the newest snapshot stands for them.
func (o *opened) dropLog() error {
	first, err := o.guard.FirstIndex()
	if err != nil {
		return err
	}
	last, err := o.guard.LastIndex()
	if err != nil || last == 0 {
		return err
	}
	return o.guard.DeleteRange(first, last)
}

// bootstrap writes the first configuration, the same on every member that the cluster begins with, unless that was done before. A member that joins later, or again after a wipe, has
// the configuration from a leader, and counts as used from the first thing on that it acknowledges (MarkUsed). A crash between writing the term and
// writing the log leaves a member that has state but no peers for ever; it never took part in anything, so it begins again.
func (d *Disk) bootstrap(conf *raft.Config, o *opened, t raft.Transport, founders raft.Configuration) error {
	if d.Used() || d.rejoining() || len(founders.Servers) == 0 {
		return nil
	}
	last, err := o.guard.LastIndex()
	if err != nil {
		return err
	}
	if snaps, err := o.snapshots.List(); err != nil {
		return err
	} else if last == 0 && len(snaps) == 0 {
		if err := o.guard.SetUint64(keyCurrentTerm, 0); err != nil {
			return err
		}
	}
	err = raft.BootstrapCluster(conf, o.logs, o.guard, o.snapshots, t, founders)
	if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return err
	}
	return d.mark(initialisedFile)
}
