package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
)

// preparedSuffix marks the folder, beside that of the member, in which a disk is prepared.
const preparedSuffix = ".restoring"

// Fresh is what a member begins with in a cluster that is begun anew from a state: a snapshot that stands for the first entry of the first term.
type Fresh struct {
	Identity Identity
	Members  raft.Configuration
	State    *mvcc.View
}

// Prepare writes a disk beside the present one, whose content stays as it is. TakePrepared puts it in place, DropPrepared deletes it.
func (d *Disk) Prepare(f Fresh) error {
	if err := d.DropPrepared(); err != nil {
		return err
	}
	made := &Disk{sync: d.sync}
	if d.dir == "" {
		made.memory = newMemoryDisk()
	} else {
		made.dir = d.dir + preparedSuffix
	}
	if err := made.fill(f); err != nil {
		return errors.Join(err, d.DropPrepared())
	}
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.prepared = made.memory
	}
	return nil
}

func (d *Disk) fill(f Fresh) (err error) {
	if err := d.SetIdentity(f.Identity); err != nil {
		return err
	}
	o, err := d.open(hclog.NewNullLogger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	sink, err := o.snapshots.Create(raft.SnapshotVersionMax, 1, 1, f.Members, 1, newTransport(nil, f.Identity, "", nil))
	if err != nil {
		return err
	}
	if err := WriteState(sink, 1, 1, f.State); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if _, err := o.stable(false); err != nil {
		return err
	}
	if err := o.guard.SetUint64(keyCurrentTerm, 1); err != nil {
		return err
	}
	return d.MarkUsed()
}

// DropPrepared deletes what Prepare made.
func (d *Disk) DropPrepared() error {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.prepared = nil
		return nil
	}
	return os.RemoveAll(d.dir + preparedSuffix)
}

// TakePrepared sets the present content aside and puts what Prepare made in its place. It may be called again after it has failed, or a crash, and then does what is left to do. It tells
// where the old content is; empty in memory, and where there was none.
func (d *Disk) TakePrepared() (where string, err error) {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.prepared != nil {
			d.aside, d.memory, d.prepared = append(d.aside, d.memory), d.prepared, nil
		}
		return "", nil
	}
	prepared := d.dir + preparedSuffix
	if _, err := os.Stat(prepared); errors.Is(err, os.ErrNotExist) {
		return "", nil // done before
	}
	if where, err = d.SetAside(); err != nil {
		return "", fmt.Errorf("set aside %s: %w", d.dir, err)
	}
	if err := os.Rename(prepared, d.dir); err != nil {
		return where, err
	}
	if d.sync {
		return where, SyncDir(filepath.Dir(d.dir))
	}
	return where, nil
}

// SyncDir makes what was created and renamed in a folder last through a power loss.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
