package memstore

import (
	"fmt"
	"io"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Backup writes the state of a member that is up.
func (c *Cluster) Backup(name string, w io.Writer) (raftstore.BackupInfo, error) {
	c.mu.Lock()
	m := c.place(name)
	var view *mvcc.View
	switch {
	case m == nil || !m.up:
	case m.frozen != nil:
		view = m.frozen
	default:
		view = c.kv.Snapshot()
	}
	at := c.lessor.now
	c.mu.Unlock()
	switch {
	case m == nil:
		return raftstore.BackupInfo{}, fmt.Errorf("backup: no member %q", name)
	case view == nil:
		return raftstore.BackupInfo{}, fmt.Errorf("backup %s: %w", name, raftstore.ErrStopped)
	}
	return raftstore.WriteBackup(w, view, at)
}

// Restore makes all members begin anew with the state in a backup.
func (c *Cluster) Restore(r io.Reader) (raftstore.BackupInfo, error) {
	kv, info, err := raftstore.ReadBackup(r)
	if err != nil {
		return raftstore.BackupInfo{}, fmt.Errorf("restore: %w", err)
	}
	c.locked(func() {
		for _, m := range c.places {
			if m.up {
				err = fmt.Errorf("restore: %s is running; stop all members first", m.name)
				return
			}
		}
		kv.Bump(max(c.highest, c.kv.Revision(), info.Revision) + raftstore.RevisionBump)
		c.kv, c.highest, info.Restored = kv, kv.Revision(), kv.Revision()
		for _, m := range c.places {
			if !m.in {
				continue
			}
			c.tell(raftstore.Change{Kind: raftstore.SetAside, Member: m.name})
			term := m.term
			m.empty()
			m.term, m.wiped, m.frozen = term, false, kv.Snapshot()
			m.lives++
		}
		c.reconfigured()
	})
	if err != nil {
		return raftstore.BackupInfo{}, err
	}
	return info, nil
}
