package peer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
)

const damagePage = 4096

// Damage damages what is on a disk at rest, at a place that is drawn. It says what was done.
func (d *Disk) Damage(how failure.Disk) (what string, err error) {
	if !how.Damages() {
		return "", fmt.Errorf("%q is no damage", how)
	}
	d.mu.Lock()
	if d.random == nil {
		d.random = rand.New(rand.NewPCG(0, 0xd15c))
	}
	random := rand.New(rand.NewPCG(d.random.Uint64(), 0))
	d.mu.Unlock()
	if d.dir == "" {
		what = d.memoryNow().damage(how, random)
	} else if what, err = damageFile(filepath.Join(d.dir, logFile), how, random); err != nil {
		return "", err
	}
	d.condition.mu.Lock()
	defer d.condition.mu.Unlock()
	if !(d.condition.state.Damages() || d.condition.state == failure.Damaged) || how != failure.Torn { // what is worse stays
		d.condition.state, d.condition.delay = how, 0
	}
	return what, nil
}

func (d *Disk) memoryNow() *memoryLog {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.memory.store
}

// damageFile damages a log file.
func damageFile(path string, how failure.Disk, random *rand.Rand) (what string, err error) {
	switch how {
	case failure.Deleted:
		return "the log file is gone", os.Remove(path)
	case failure.Torn:
		return tear(path, random)
	}
	pages, err := pagesInUse(path)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := pages[random.IntN(len(pages))]
	at := int64(page * damagePage)
	switch how {
	case failure.Zeroed:
		_, err = f.WriteAt(make([]byte, damagePage), at)
		return fmt.Sprintf("page %d of the log file is zeros", page), err
	case failure.Cut:
		at += 1 + random.Int64N(damagePage-1)
		return fmt.Sprintf("the log file ends at %d", at), f.Truncate(at)
	}
	at += random.Int64N(damagePage)
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return "", err
	}
	bit := random.IntN(8)
	b[0] ^= 1 << bit
	_, err = f.WriteAt(b[:], at)
	return fmt.Sprintf("bit %d of byte %d of the log file is flipped", bit, at), err
}

// pagesInUse are the pages of a bolt file that hold something, both meta pages included.
func pagesInUse(path string) ([]uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c := boltCheck{file: f, size: info.Size(), seen: make(map[uint64]bool)}
	root, err := c.meta()
	if err == nil {
		err = c.tree(root, nil, nil, 0)
	}
	pages := []uint64{0, 1}
	for p := range c.seen {
		pages = append(pages, p)
	}
	if err != nil { // it is damaged already
		pages = pages[:0]
		for p := range max(1, uint64(info.Size())/damagePage) {
			pages = append(pages, p)
		}
	}
	slices.Sort(pages)
	return pages, nil
}

// tear leaves what a power loss leaves of a transaction that it cut short: some of its pages are written, one of them in part, and no meta page refers to them.
func tear(path string, random *rand.Rand) (what string, err error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	aside := path + unfinished
	if err := os.WriteFile(aside, before, markerMode); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(aside)) }()
	bolt, err := openBolt(aside, false)
	if err != nil {
		return "", err
	}
	var logs []*raft.Log
	for i := range uint64(3) {
		logs = append(logs, &raft.Log{Index: 1<<40 + i, Data: make([]byte, 3000)})
	}
	if err := errors.Join(bolt.StoreLogs(logs), bolt.Close()); err != nil {
		return "", err
	}
	after, err := os.ReadFile(aside)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	written := 0
	for at := 2 * damagePage; at < len(after); at += damagePage {
		page := after[at:min(at+damagePage, len(after))]
		if at < len(before) && slices.Equal(page, before[at:min(at+damagePage, len(before))]) || random.IntN(3) == 0 {
			continue
		}
		if random.IntN(3) == 0 {
			page = page[:512*(1+random.IntN(7))]
		}
		if _, err := f.WriteAt(page, int64(at)); err != nil {
			return "", err
		}
		written++
	}
	return fmt.Sprintf("a write reached the log file with %d of its pages only", written), nil
}

// damage damages the model of a disk.
func (m *memoryLog) damage(how failure.Disk, random *rand.Rand) (what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch how {
	case failure.Torn: // a transaction that was cut short left nothing
		return "a write reached the disk in part only"
	case failure.Deleted:
		m.entries, m.values = make(map[uint64]*raft.Log), make(map[string][]byte)
		m.first, m.last, m.noted = 0, 0, 0
		return "the log is gone"
	}
	if how == failure.Cut {
		if m.last == 0 {
			return "there is no log to cut"
		}
		from := m.first + random.Uint64N(m.last-m.first+1)
		for i := from; i <= m.last; i++ {
			delete(m.entries, i)
		}
		return fmt.Sprintf("the log ends in the middle of entry %d", from)
	}
	spoil := func(b []byte) []byte {
		b = slices.Clone(b)
		if how == failure.Zeroed {
			clear(b)
		} else if len(b) > 0 {
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		}
		return b
	}
	// One in four goes to a value, one in four to the newest snapshot, the rest to an entry.
	kind := random.IntN(4)
	switch {
	case kind == 0 && len(m.values) > 0:
		var keys []string
		for k := range m.values {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		key := keys[random.IntN(len(keys))]
		m.values[key] = spoil(m.values[key])
		return fmt.Sprintf("%s is %s", key, how)
	case kind == 1 && len(m.snapshots) > 0:
		s := m.snapshots[0]
		spoiled := &memorySink{owner: s.owner, meta: s.meta, sum: s.sum, done: true}
		spoiled.data.Write(spoil(s.data.Bytes()))
		m.snapshots = append([]*memorySink{spoiled}, m.snapshots[1:]...)
		return fmt.Sprintf("snapshot %s is %s", s.meta.ID, how)
	case m.last == 0:
		return "there is nothing to damage"
	}
	index := m.first + random.Uint64N(m.last-m.first+1)
	if l := m.entries[index]; l != nil {
		cp := *l
		if how == failure.Zeroed {
			cp = raft.Log{Index: index}
		} else {
			cp.Data = spoil(l.Data)
			if len(cp.Data) == 0 {
				cp.Term ^= 1 << random.IntN(8)
			}
		}
		m.entries[index] = &cp
	}
	return fmt.Sprintf("entry %d is %s", index, how)
}
