package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// saveEvery is about how long what was stored stays in memory alone. The longer, the more entries share one transaction of bolt, which costs
	// as much as a hundred small entries.
	saveEvery = 100 * time.Millisecond
	// unsavedMax is how many bytes may wait; then storing waits as well. hurryAt is when saveEvery is not waited for.
	unsavedMax = 32 << 20
	hurryAt    = 4 << 20
	// saveAtOnce is about how many bytes go into one transaction. Whoever waits for room, heartbeats included, waits for at least one.
	saveAtOnce = 2 << 20
	// entryOverhead is what an entry is counted for beside its data.
	entryOverhead = 128
)

// unsaved is what a member has been told is stored and its file does not hold yet: the steps in the order in which they were taken. It belongs to the
// Disk and not to the life, as a page cache belongs to the machine and not to the process: a member that stops, for whatever reason, finds
// at its next start everything it ever acknowledged.
type unsaved struct {
	mu    sync.Mutex
	steps []step
	bytes int
}

// step is one change of the log or of the stable store.
type step struct {
	// logs are stored; without, key is set; without either, the entries from to to are deleted.
	logs       []*raft.Log
	key, value []byte
	number     bool // value is one, big endian
	from, to   uint64
	bytes      int
}

func (s step) do(file backing) error {
	switch {
	case s.logs != nil:
		return file.StoreLogs(s.logs)
	case s.number:
		return file.SetUint64(s.key, binary.BigEndian.Uint64(s.value))
	case s.key != nil:
		return file.Set(s.key, s.value)
	}
	return file.DeleteRange(s.from, s.to)
}

// next is what to save in one transaction and how many steps that is. Entries stored one after the other go together.
func (u *unsaved) next() (s step, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, more := range u.steps {
		if n > 0 && (s.logs == nil || more.logs == nil || s.bytes+more.bytes > saveAtOnce) {
			break
		}
		if n == 0 {
			s = more
			s.logs = s.logs[:len(s.logs):len(s.logs)]
		} else {
			s.logs = append(s.logs, more.logs...)
			s.bytes += more.bytes
		}
		n++
	}
	return s, n
}

// save writes everything, a step at a time, so that the file always holds a beginning of what was done. saved is called, with u locked, for
// what has been written.
func (u *unsaved) save(write func(step) error, saved func(step)) error {
	for {
		s, n := u.next()
		if n == 0 {
			return nil
		}
		if err := write(s); err != nil {
			return err
		}
		u.mu.Lock()
		u.steps = u.steps[n:]
		if len(u.steps) == 0 {
			u.steps = nil
		}
		u.bytes -= s.bytes
		saved(s)
		u.mu.Unlock()
	}
}

// forget is for a disk whose content is deleted or set aside.
func (u *unsaved) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.steps, u.bytes = nil, 0
}

// behind is a backing that answers from memory and brings what it was told to a file a moment later. It is for disks that are not synced anyway.
//
// What is lost when the program is killed is the last saveEvery of all members; the file then holds a beginning of what was done, in order, term and vote
// and log alike. What is lost when only the member is killed is nothing. An error of the file fails the member, and what was not saved is tried again
// when its disk is opened the next time.
//
// Goroutines: one writes to the file; the methods may be called from any. Time: wall.
type behind struct {
	file    backing
	unsaved *unsaved
	// try runs an access to the file and turns a panic of it into an error.
	try  func(func() error) error
	fail func(error) error

	// Guarded by unsaved.mu; in memory are the entries that are stored and not saved:
	run
	values map[string]value
	broken error
	room   *sync.Cond

	wake, hurry, closing, closed chan struct{}
	once                         sync.Once
	saving                       sync.Mutex // one at a time, so that steps keep their order
}

// value is the newest of a key that so many unsaved steps set.
type value struct {
	b     []byte
	steps int
}

// writeBehind makes the log of a disk that is not synced be written a moment later, from now on.
func (d *Disk) writeBehind(o *opened) error {
	if d.dir == "" || d.sync {
		return nil
	}
	b, err := newBehind(o.guard.backing, &d.unsaved, o.guard)
	if err != nil {
		return err
	}
	o.guard.backing = b
	o.snapshots = orderedSnapshots{o.snapshots, b.flush}
	closeFile := o.close
	o.close = func() error { return errors.Join(b.close(), closeFile()) }
	return nil
}

// newBehind takes over a file that holds everything: u is empty.
func newBehind(file backing, u *unsaved, g *guard) (*behind, error) {
	first, err := file.FirstIndex()
	if err != nil {
		return nil, err
	}
	last, err := file.LastIndex()
	if err != nil {
		return nil, err
	}
	b := &behind{
		file: file, unsaved: u, try: g.try, fail: g.fail, run: run{first, last, make(map[uint64]*raft.Log)}, values: make(map[string]value),
		room: sync.NewCond(&u.mu), wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), closing: make(chan struct{}), closed: make(chan struct{}),
	}
	go b.keepSaving()
	return b, nil
}

func (b *behind) keepSaving() {
	defer close(b.closed)
	defer func() {
		if r := recover(); r != nil {
			_ = b.fail(fmt.Errorf("save the log: panic: %v\n%s", r, debug.Stack()))
		}
	}()
	for {
		select {
		case <-b.wake:
		case <-b.closing:
			return
		}
		timer := time.NewTimer(saveEvery)
		select {
		case <-timer.C:
		case <-b.hurry:
		case <-b.closing:
		}
		timer.Stop()
		if b.flush() != nil {
			return
		}
	}
}

// flush brings everything stored so far to the file. The first error is the last word of this life.
func (b *behind) flush() error {
	b.saving.Lock()
	defer b.saving.Unlock()
	b.unsaved.mu.Lock()
	broken := b.broken
	b.unsaved.mu.Unlock()
	if broken != nil {
		return broken
	}
	err := b.unsaved.save(func(s step) error { return b.try(func() error { return s.do(b.file) }) }, b.saved)
	if err != nil {
		err = b.fail(fmt.Errorf("save the log: %w", err))
		b.unsaved.mu.Lock()
		b.broken = err
		b.room.Broadcast()
		b.unsaved.mu.Unlock()
	}
	return err
}

// saved forgets what the file holds now, unless it has been changed again.
func (b *behind) saved(s step) {
	for _, l := range s.logs {
		if b.entries[l.Index] == l {
			delete(b.entries, l.Index)
		}
	}
	if v, ok := b.values[string(s.key)]; s.key != nil && ok {
		if v.steps--; v.steps == 0 {
			delete(b.values, string(s.key))
		} else {
			b.values[string(s.key)] = v
		}
	}
	b.room.Broadcast()
}

// add takes a step, when there is room for it; change is what it does to what readers see.
func (b *behind) add(s step, change func()) error {
	u := b.unsaved
	u.mu.Lock()
	for u.bytes > unsavedMax && b.broken == nil {
		b.room.Wait()
	}
	if b.broken != nil {
		defer u.mu.Unlock()
		return b.broken
	}
	u.steps = append(u.steps, s)
	u.bytes += s.bytes
	hurry := u.bytes > hurryAt
	change()
	u.mu.Unlock()
	signal(b.wake)
	if hurry {
		signal(b.hurry)
	}
	return nil
}

// signal leaves a signal, unless one waits already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// close saves what is left and stops. What cannot be saved stays with the disk.
func (b *behind) close() error {
	var err error
	b.once.Do(func() {
		close(b.closing)
		<-b.closed
		err = b.flush()
	})
	return err
}

func (b *behind) StoreLog(l *raft.Log) error { return b.StoreLogs([]*raft.Log{l}) }

// StoreLogs keeps the entries, which must not be changed any more.
func (b *behind) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	s := step{logs: logs}
	for _, l := range logs {
		s.bytes += len(l.Data) + entryOverhead
	}
	return b.add(s, func() { b.put(logs) })
}

func (b *behind) DeleteRange(from, to uint64) error {
	b.unsaved.mu.Lock()
	err := b.mayCut(from, to)
	b.unsaved.mu.Unlock()
	if err != nil {
		return err
	}
	return b.add(step{from: from, to: to, bytes: entryOverhead}, func() { b.cut(from, to) })
}

// GetLog reads an entry from memory while it is not saved.
func (b *behind) GetLog(index uint64, l *raft.Log) error {
	b.unsaved.mu.Lock()
	e, unsaved := b.entries[index]
	outside := b.last == 0 || index < b.first || index > b.last
	b.unsaved.mu.Unlock()
	switch {
	case unsaved:
		*l = *e
		return nil
	case outside: // the file may still hold what was deleted
		return raft.ErrLogNotFound
	}
	return b.file.GetLog(index, l)
}

func (b *behind) FirstIndex() (uint64, error) {
	b.unsaved.mu.Lock()
	defer b.unsaved.mu.Unlock()
	return b.first, nil
}

func (b *behind) LastIndex() (uint64, error) {
	b.unsaved.mu.Lock()
	defer b.unsaved.mu.Unlock()
	return b.last, nil
}

func (b *behind) Set(key, val []byte) error {
	return b.set(step{key: bytes.Clone(key), value: bytes.Clone(val)})
}

func (b *behind) set(s step) error {
	s.bytes = len(s.key) + len(s.value) + entryOverhead
	return b.add(s, func() { b.values[string(s.key)] = value{s.value, b.values[string(s.key)].steps + 1} })
}

func (b *behind) Get(key []byte) ([]byte, error) {
	b.unsaved.mu.Lock()
	v, unsaved := b.values[string(key)]
	b.unsaved.mu.Unlock()
	if unsaved {
		return bytes.Clone(v.b), nil
	}
	return b.file.Get(key)
}

func (b *behind) SetUint64(key []byte, v uint64) error {
	return b.set(step{key: bytes.Clone(key), value: binary.BigEndian.AppendUint64(nil, v), number: true})
}

func (b *behind) GetUint64(key []byte) (uint64, error) {
	b.unsaved.mu.Lock()
	v, unsaved := b.values[string(key)]
	b.unsaved.mu.Unlock()
	if unsaved && len(v.b) == 8 {
		return binary.BigEndian.Uint64(v.b), nil
	}
	return b.file.GetUint64(key)
}

// orderedSnapshots names a snapshot only after the log up to it is in the file, so that a program killed in between leaves no gap between the two.
type orderedSnapshots struct {
	raft.SnapshotStore
	flush func() error
}

func (s orderedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, t raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, c, cIndex, t)
	return orderedSink{sink, s.flush}, err
}

type orderedSink struct {
	raft.SnapshotSink
	flush func() error
}

func (s orderedSink) Close() error {
	if err := s.flush(); err != nil {
		s.Cancel()
		return err
	}
	return s.SnapshotSink.Close()
}
