package raftstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/internal/planted"
)

// A restore replaces the disks of all members at once, or of none. Everything is first written beside them (NAME.restoring), from a file that has been checked to its end. Then one file,
// restoreFile, is put in place: from that instant on the restore has happened. What is left, moving the old content to NAME.aside-N and the new one to NAME, can be done at any
// time, and as often as it takes: Open does it before any member starts, when it finds that file. Without it Open deletes what was prepared.

const restoreFile = "restore.json"

// Backup writes the state of a member that is up; see Cluster. It is what this member has applied, as of one instant, while writes go on. A member that is cut off from the leader gives what it
// has, as etcdctl snapshot save does: look at the revision. One that has not caught up since its start is refused, because it may not even have that.
func (c *RaftCluster) Backup(name string, w io.Writer) (BackupInfo, error) {
	m, err := c.member(name)
	if err != nil {
		return BackupInfo{}, err
	}
	l := m.current()
	switch {
	case l == nil:
		return BackupInfo{}, fmt.Errorf("back up %s: %w", name, ErrStopped)
	case !l.ready.Load():
		return BackupInfo{}, fmt.Errorf("back up %s: it has not caught up with a leader since its start", name)
	}
	h := backupHeader{Member: name, Members: c.Membership().Members}
	if now := c.upkeep.now.Load(); now != 0 {
		h.At = time.Unix(0, now).UTC()
	}
	return writeBackup(w, l.peer.Load().View(), h)
}

// Restore makes all members begin anew from a backup; see Cluster. Members get new IDs, so that nothing of the old cluster counts in the new one; one that was removed before is told
// so when it is started.
func (c *RaftCluster) Restore(r io.Reader) (BackupInfo, error) {
	kv, info, err := ReadBackup(r)
	if err != nil {
		return BackupInfo{}, err
	}
	for _, m := range c.places() {
		release, err := m.rest()
		if err != nil {
			return BackupInfo{}, fmt.Errorf("restore: member %s is up; stop all of them first", m.name)
		}
		defer release()
	}
	if left := c.halfRestored.Load(); left != nil {
		return BackupInfo{}, *left
	}
	next := c.restoredRoster(max(info.Revision, c.highest.Load()))
	info.Restored = next.Floor
	if !planted.Is(planted.RestoreFallsBehind) {
		kv.Bump(next.Floor)
	}
	view := kv.Snapshot()
	for _, x := range next.Members {
		fresh := peer.Fresh{Identity: next.identityOf(x), Members: next.founders(), State: view}
		if err := c.find(x.Name).disk.Prepare(fresh); err != nil {
			return BackupInfo{}, errors.Join(fmt.Errorf("restore %s: %w", x.Name, err), c.dropPrepared())
		}
	}
	if !c.opt.InMemory {
		text, err := json.MarshalIndent(next, "", "  ")
		if err == nil {
			err = peer.WriteWhole(filepath.Join(c.opt.Dir, restoreFile), text, c.opt.Sync)
		}
		if err != nil {
			return BackupInfo{}, errors.Join(fmt.Errorf("restore: %w", err), c.dropPrepared())
		}
	}
	if err := c.finishRestore(next); err != nil {
		err = fmt.Errorf("restore: it is decided, but not all disks are in place: %w; close the store and open it again, which goes on with it", err)
		c.halfRestored.Store(&err)
		return BackupInfo{}, err
	}
	for _, m := range c.places() {
		_, in := next.Find(m.name)
		if in {
			m.fail("")
		} else {
			m.fail(RemovedReason(m.name))
		}
	}
	c.forgetTold()
	c.announcing.Lock()
	defer c.announcing.Unlock()
	c.opt.Observer.Changed(Change{Kind: MembersChanged, Membership: next.Membership})
	return info, nil
}

// restoredRoster is that of the cluster that begins anew, above a revision.
func (c *RaftCluster) restoredRoster(highest int64) *roster {
	kept := c.roster.Load()
	next := kept.clone()
	next.Era++
	next.Floor = max(kept.Floor, highest) + RevisionBump
	next.Begin = 0
	next.Founders = nil
	for _, m := range kept.Members {
		next.Founders = append(next.Founders, Member{Name: m.Name, ID: next.nextID(m.Name), Learner: m.Learner})
	}
	next.Membership = Membership{Members: next.Founders, Index: 1, Term: 1}
	return next
}

func (c *RaftCluster) dropPrepared() error {
	var errs []error
	for _, m := range c.places() {
		errs = append(errs, m.disk.DropPrepared())
	}
	return errors.Join(errs...)
}

// finishRestore puts the prepared disks in place.
func (c *RaftCluster) finishRestore(next *roster) error {
	for _, x := range next.Members {
		m := c.place(x.Name)
		used := m.disk.Used()
		where, err := m.disk.TakePrepared()
		if err != nil {
			return err
		}
		if where != "" || c.opt.InMemory && used {
			c.opt.Observer.Changed(Change{Kind: SetAside, Member: x.Name, Text: where})
		}
	}
	err := c.editRoster(func(r *roster) {
		disks := r.Disks // which TakePrepared has changed
		*r = *next
		r.Disks = disks
		for _, x := range r.Members { // they begin with a snapshot
			r.noteDisk(x.Name, diskNote{r.identityOf(x), peer.Marks{Used: true}})
		}
	})
	if err != nil {
		return err
	}
	if c.opt.InMemory {
		return nil
	}
	return os.Remove(filepath.Join(c.opt.Dir, restoreFile))
}

// goOnRestoring finishes a restore that was decided before the program ended, or deletes what is left of one that was not.
func (c *RaftCluster) goOnRestoring() error {
	path := filepath.Join(c.opt.Dir, restoreFile)
	text, err := peer.ReadRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return c.dropPrepared()
	}
	next := new(roster)
	if err == nil {
		err = json.Unmarshal(text, next)
	}
	if err == nil && len(next.Members) == 0 {
		err = errors.New("it names no members")
	}
	if kept := c.roster.Load(); err == nil && (next.Cluster != kept.Cluster || next.Era < kept.Era) {
		err = errors.New("it is that of another store, or of an earlier restore")
	}
	if err != nil {
		return fmt.Errorf("a restore was interrupted, and %s does not say how to go on: %w", path, err)
	}
	return c.finishRestore(next)
}
