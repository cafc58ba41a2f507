package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"example.com/kubeviz/raftstore/failure"
)

const (
	snapshotsKept = 3
	// cachedEntries of the log are kept in memory: followers and the apply loop read nearly all entries from there.
	cachedEntries = 128

	logFile         = "raft.db"
	snapshotFolder  = "snapshots"
	probeFile       = "probe"
	initialisedFile = "initialised"
	rejoiningFile   = "rejoining"
	openTimeout     = 5 * time.Second
	boltLockTimeout = time.Second
	boltMmapAtLeast = 1 << 20
	directoryMode   = 0o700
	markerMode      = 0o600
)

// What raft keeps in its stable store.
var (
	keyCurrentTerm   = []byte("CurrentTerm")
	keyVoteTerm      = []byte("LastVoteTerm")
	keyVoteCandidate = []byte("LastVoteCand")
)

// ErrDamaged is in the chain of the error of a member whose disk does not hold what was written to it. It does not start from it.
var ErrDamaged = errors.New("disk damaged")

// ErrNotChecked is in the chain of the error of a check that could not be made.
var ErrNotChecked = errors.New("not checked")

var errDamagedDisk = ErrDamaged

// Disk is where a member keeps its log, votes and snapshots between lives: a folder, or memory that dies with the program.
//
// What damage is, and what a crash leaves. Bolt writes the pages of a transaction to places that no valid page refers to, forces them to the medium, and then writes one of its two meta
// pages, the older one, which makes them valid. A meta page fits into a sector, and a sector is written whole or not at all. So whatever instant power fails at, both
// meta pages read, their transactions are consecutive, and what the newer one refers to is complete; what was being written refers to nothing and was acknowledged
// to nobody. Such a file is opened, with nothing to mend. A meta page that does not read is never that: behind it may be the last transaction that was acknowledged, to which bolt falls
// back silently. So it is damage, as is every page in use that is not what it should be, every entry or value whose checksum does not fit, a log that does not reach from
// the newest sound snapshot to the end that was noted with its last entry, and a term that lies behind the log. A snapshot that is damaged is passed over where the log and
// an older one make up for it. A disk that loses a write whole and says it was done is not found out.
type Disk struct {
	dir       string // empty: memory
	sync      bool
	condition condition
	// check looks at a log file before it is opened; nil: it is looked at in this process.
	check func(ctx context.Context, path string) error
	// register keeps the marks away from the disk; nil: nobody does.
	register Register
	// random draws where damage goes and, when volatile is set, what a power loss leaves of what was not forced to a medium in memory.
	random   *rand.Rand
	volatile bool
	sized    struct {
		sync.Mutex
		at   time.Time
		size int64
	}
	// unsaved is what a member on a folder that is not synced acknowledged and its file does not hold yet.
	unsaved unsaved

	mu       sync.Mutex // guards memory and what it points to, but not the stores in it, which guard themselves
	memory   *memoryDisk
	aside    []*memoryDisk // what was set aside; see SetAside
	prepared *memoryDisk   // see Prepare
}

// memoryDisk is a disk for tests and for clusters that need not outlive the program.
type memoryDisk struct {
	store                  *memoryLog
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
	return &memoryDisk{store: newMemoryLog()}
}

// Seed sets what random draws from: where damage goes, and, with volatile, what a power loss leaves of what a disk in memory was not made to force to its medium. Without volatile it keeps
// everything, as a disk does while only the program ends.
func (d *Disk) Seed(seed uint64, volatile bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.random, d.volatile = rand.New(rand.NewPCG(seed, 0xd15c)), volatile
}

// CheckBy sets who looks at a log file before it is opened.
func (d *Disk) CheckBy(check func(ctx context.Context, path string) error) { d.check = check }

// Wipe deletes everything. With rejoin the member will, when started again, neither vote nor stand for election until it has caught up with a
// leader: a voter that forgot what it acknowledged could otherwise help to elect a leader that never saw it. who votes on it from now on; the zero value: who did before.
func (d *Disk) Wipe(rejoin bool, who Identity) error {
	if d.dir == "" {
		d.mu.Lock()
		if who.ID == "" {
			who = d.memory.identity
		}
		d.memory = newMemoryDisk()
		d.memory.rejoining, d.memory.identity = rejoin, who
		d.condition.mended()
		d.mu.Unlock()
		return d.setRegistered(Marks{Wiped: rejoin})
	}
	d.unsaved.forget()
	if who.ID == "" {
		var err error
		if who, err = d.Identity(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	if who.ID != "" {
		if err := d.SetIdentity(who); err != nil {
			return err
		}
	}
	if err := d.Rejoining(rejoin); err != nil {
		return err
	}
	// Last, so that one that was interrupted leaves a disk that is known to have lost something, and not one that seems new.
	if err := d.unmark(Marks{Wiped: rejoin}); err != nil {
		return err
	}
	d.condition.mended()
	return nil
}

// Used tells whether a member ever lived on this disk.
func (d *Disk) Used() bool { return d.marked(initialisedFile) }

// MarkUsed notes that a member has acknowledged something on this disk. From then on an empty one is damage.
func (d *Disk) MarkUsed() error { return d.mark(initialisedFile) }

// Wiped tells whether the disk was wiped with rejoin, and its member has not caught up since.
func (d *Disk) Wiped() bool { return d.rejoining() }

func (d *Disk) rejoining() bool { return d.marked(rejoiningFile) }

// Rejoining changes the mark that Wipe sets.
func (d *Disk) Rejoining(on bool) error {
	if on {
		return d.mark(rejoiningFile)
	}
	if d.dir == "" {
		d.mu.Lock()
		d.memory.rejoining = false
		d.mu.Unlock()
	} else if err := os.Remove(filepath.Join(d.dir, rejoiningFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	m := d.registered()
	m.Wiped = false
	return d.setRegistered(m)
}

// UsedSuffix is of the mark beside the folder of a disk that was used, so that the loss of the whole folder is noticed too.
const UsedSuffix = ".used"

// markPaths are where a mark is.
func (d *Disk) markPaths(name string) []string {
	paths := []string{filepath.Join(d.dir, name)}
	if name == initialisedFile && !strings.HasSuffix(d.dir, preparedSuffix) {
		paths = append(paths, d.dir+UsedSuffix)
	}
	return paths
}

func (d *Disk) marked(name string) bool {
	if m := d.registered(); name == initialisedFile && m.Used || name == rejoiningFile && m.Wiped {
		return true
	}
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		return name == initialisedFile && d.memory.initialised || name == rejoiningFile && d.memory.rejoining
	}
	for _, path := range d.markPaths(name) {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

func (d *Disk) mark(name string) error {
	m := d.registered()
	m.Used, m.Wiped = m.Used || name == initialisedFile, m.Wiped || name == rejoiningFile
	if d.dir == "" {
		d.mu.Lock()
		d.memory.initialised = d.memory.initialised || name == initialisedFile
		d.memory.rejoining = d.memory.rejoining || name == rejoiningFile
		d.mu.Unlock()
		return d.setRegistered(m)
	}
	if err := os.MkdirAll(d.dir, directoryMode); err != nil {
		return err
	}
	for _, path := range d.markPaths(name) {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.WriteFile(path, nil, markerMode); err != nil {
			return err
		}
		if d.sync {
			if err := SyncDir(filepath.Dir(path)); err != nil {
				return err
			}
		}
	}
	return d.setRegistered(m)
}

// unmark forgets what is kept beside the folder, and leaves marks in the register.
func (d *Disk) unmark(left Marks) error {
	if err := os.Remove(d.dir + UsedSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return d.setRegistered(left)
}

// sizedFor is how long a size counts as the present one.
const sizedFor = 500 * time.Millisecond

// Size is what the member occupies, in bytes, at most half a second ago: the log file, which never shrinks, and its snapshots. Zero in memory. It is asked for with every status, hundreds of times a
// second, and each time to look at the files would cost more than all that the store does.
func (d *Disk) Size() int64 {
	if d.dir == "" {
		return 0
	}
	d.sized.Lock()
	defer d.sized.Unlock()
	if now := time.Now(); d.sized.at.IsZero() || now.Sub(d.sized.at) >= sizedFor {
		d.sized.at, d.sized.size = now, d.weigh()
	}
	return d.sized.size
}

func (d *Disk) weigh() int64 {
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
	ledger    ledger
	// checked: every entry was read, and is what was written.
	checked bool
	close   func() error
	// powerLoss makes the medium forget what it may.
	powerLoss func()
}

// kill ends the access of this life to the disk, as a power loss does: nothing that raft still does reaches it.
func (o *opened) kill() {
	o.guard.gate.kill()
	o.powerLoss()
}

func (d *Disk) open(logger hclog.Logger) (o *opened, err error) {
	defer func() {
		if errors.Is(err, ErrDamaged) {
			d.Found(err)
		}
	}()
	if d.dir == "" {
		return d.openMemory()
	}
	return d.openFiles(logger)
}

// Found notes that a check found damage.
func (d *Disk) Found(err error) {
	if !d.Condition().Damages() {
		d.condition.become(failure.Damaged, err.Error())
	}
}

func (d *Disk) openMemory() (*opened, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.memory.store.use(d.sync || !d.volatile)
	g := &guard{backing: s, gate: newGate(d, nil)}
	if err := d.probe(g.gate); err != nil {
		return nil, err
	}
	lose := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		s.powerLoss(d.random)
	}
	return &opened{
		guard: g, logs: &gapless{LogStore: g}, snapshots: &gatedSnapshots{SnapshotStore: s, guard: g, ledger: s}, ledger: s, close: func() error { return nil }, powerLoss: lose,
	}, nil
}

func (d *Disk) openFiles(logger hclog.Logger) (*opened, error) {
	if err := d.layOut(); err != nil {
		return nil, err
	}
	if d.Used() { // whichever of its marks is missing
		if err := d.mark(initialisedFile); err != nil {
			return nil, fmt.Errorf("%w: it cannot be written: %w", errDisk, err)
		}
	}
	path := filepath.Join(d.dir, logFile)
	checked, err := d.inspect(path)
	if err != nil {
		return nil, err
	}
	g := &guard{gate: newGate(d, nil)}
	if err := d.probe(g.gate); err != nil {
		return nil, err
	}
	bolt, err := openBolt(path, d.sync)
	if err != nil {
		return nil, err
	}
	var tailed *tailed
	err = g.try(func() (err error) {
		if tailed, err = newTailed(bolt); err != nil {
			return err
		}
		if err := d.unsaved.save(func(s step) error { return s.do(tailed) }, func(step) {}); err != nil {
			return fmt.Errorf("write to %s what the member acknowledged before it stopped: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, bolt.Close())
	}
	snapshots, err := openSnapshots(filepath.Join(d.dir, snapshotFolder), d.sync, logger)
	if err == nil && d.sync {
		err = SyncDir(d.dir)
	}
	if err != nil {
		return nil, errors.Join(err, bolt.Close())
	}
	g.backing = tailed
	cache, err := raft.NewLogCache(cachedEntries, g)
	if err != nil {
		return nil, errors.Join(err, bolt.Close())
	}
	return &opened{
		guard: g, logs: &gapless{LogStore: cache}, snapshots: &gatedSnapshots{SnapshotStore: snapshots, guard: g, ledger: tailed}, ledger: tailed, checked: checked,
		close: bolt.Close, powerLoss: func() {},
	}, nil
}

// inspect looks at the log file, if there is one. checked tells that every entry was read.
func (d *Disk) inspect(path string) (checked bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return false, fmt.Errorf("%w: %w", ErrDamaged, CheckRegular(path))
	case errors.Is(err, os.ErrNotExist):
		if d.Used() {
			return false, fmt.Errorf("%w: a member lived here, but its log is gone (%s)", ErrDamaged, filepath.Base(path))
		}
		return true, nil
	case err != nil:
		return false, err
	case info.Size() == 0 && d.Used():
		// Bolt would take an empty file for a new store, and the member would have forgotten its vote.
		return false, fmt.Errorf("%w: a member lived here, but its log is empty (%s)", ErrDamaged, filepath.Base(path))
	}
	checked, err = d.checkFile(path)
	if errors.Is(err, ErrDamaged) && !d.Used() {
		// It was being made when the program ended. Nothing was acknowledged in it.
		return true, os.Rename(path, path+unfinished)
	}
	return checked, err
}

func (d *Disk) checkFile(path string) (checked bool, err error) {
	if d.check != nil {
		err := d.check(context.Background(), path)
		if !errors.Is(err, ErrNotChecked) {
			return err == nil, err
		}
	}
	return false, checkBoltFile(path)
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
				results <- result{err: notAsWritten(path, fmt.Errorf("%w: open: %v", errDamagedDisk, r))}
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
		return fmt.Errorf("%w: log begins at %d, newest sound snapshot ends at %d", errDamagedDisk, first, snapshot)
	}
	noted, kept, err := o.ledger.Noted()
	if err != nil {
		return err
	}
	if used && !kept {
		return fmt.Errorf("%w: a member lived here, but its log is gone", errDamagedDisk)
	}
	if max(snapshot, last) < noted {
		return fmt.Errorf("%w: a snapshot up to entry %d was made, but what is there ends at %d", errDamagedDisk, noted, max(snapshot, last))
	}
	var term uint64
	from := first
	if o.checked {
		from = last // its neighbours were looked at with it
	}
	for i := from; last > 0 && i <= last; i++ {
		var l raft.Log
		if err := o.guard.GetLog(i, &l); err != nil {
			return fmt.Errorf("%w: %w", errDamagedDisk, err)
		}
		if err := checkEntry(&l, i); err != nil {
			return err
		}
		term = l.Term
	}
	current, err := o.stable(used)
	if err != nil {
		return err
	}
	o.guard.term.Store(current)
	if current < term {
		return fmt.Errorf("%w: the log reaches term %d, but the current term reads %d", errDamagedDisk, term, current)
	}
	if used && (current == 0 || last == 0 && len(snaps) == 0) {
		return fmt.Errorf("%w: a member lived here, but its term or log is gone", errDamagedDisk)
	}
	return nil
}

// stable reads what raft keeps beside the log, and makes sure that all of it is there: a value that is lost on a disk that was used would read as a vote never given.
func (o *opened) stable(used bool) (term uint64, err error) {
	for _, key := range [][]byte{keyCurrentTerm, keyVoteTerm, keyVoteCandidate} {
		_, err := o.guard.Get(key)
		switch {
		case err == nil && bytes.Equal(key, keyCurrentTerm):
			if term, err = o.guard.GetUint64(key); err != nil {
				return 0, fmt.Errorf("%w: %w", errDamagedDisk, err)
			}
		case err == nil:
		case err.Error() != raftboltdb.ErrKeyNotFound.Error():
			return 0, fmt.Errorf("%w: %w", errDamagedDisk, err)
		case used:
			return 0, fmt.Errorf("%w: %s is gone", errDamagedDisk, key)
		case bytes.Equal(key, keyVoteCandidate):
			err = o.begin(key, nil)
		default:
			err = o.begin(key, make([]byte, 8))
		}
		if err != nil {
			return 0, err
		}
	}
	return term, nil
}

// begin writes a value to a disk that nobody has lived on.
func (o *opened) begin(key, value []byte) error {
	return o.guard.gate.write(func() error { return o.guard.backing.Set(key, sealValue(key, value)) })
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
	if err := o.guard.pass(failure.BeforeBootstrap); err != nil {
		return err
	}
	last, err := o.guard.LastIndex()
	if err != nil {
		return err
	}
	if snaps, err := o.snapshots.List(); err != nil {
		return err
	} else if last == 0 && len(snaps) == 0 {
		if err := o.begin(keyCurrentTerm, make([]byte, 8)); err != nil {
			return err
		}
	}
	o.guard.founding = true
	err = raft.BootstrapCluster(conf, o.logs, o.guard, o.snapshots, t, founders)
	o.guard.founding = false
	if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return err
	}
	if err := o.guard.pass(failure.AfterBootstrap); err != nil {
		return err
	}
	return o.guard.write("", "", func() error { return d.mark(initialisedFile) })
}
