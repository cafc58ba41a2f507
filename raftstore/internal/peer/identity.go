package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
)

const identityFile = "identity.json"

// Identity is who votes on a disk. The name of a member is its place, which stays; the identity is new each time the place joins the cluster, so that nothing that was said to, or
// promised by, the one that was there before counts for this one.
type Identity struct {
	ID string `json:"id"`
	// Joined is the index of a configuration that has this identity in it; 0: it is one of those the cluster began with.
	Joined uint64 `json:"joined,omitempty"`
	// Era counts how often the cluster was begun anew (from a backup, or from nothing). What is said in an earlier one is void.
	Era uint64 `json:"era,omitempty"`
	// Cluster tells one cluster from all others; empty in memory, and in what was begun before there was such a thing.
	Cluster string `json:"cluster,omitempty"`
}

// Identity is what SetIdentity wrote; the zero value where nothing was.
func (d *Disk) Identity() (Identity, error) {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.memory.identity, nil
	}
	path := filepath.Join(d.dir, identityFile)
	text, err := ReadRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return Identity{}, nil
	}
	var id Identity
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err == nil && id.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %s does not say who votes here: %w", errDamagedDisk, path, err)
	}
	return id, nil
}

// SetIdentity says who votes on this disk from now on.
func (d *Disk) SetIdentity(id Identity) error {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.memory.identity = id
		return nil
	}
	text, err := json.Marshal(id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, directoryMode); err != nil {
		return err
	}
	return WriteWhole(filepath.Join(d.dir, identityFile), text, d.sync)
}

// WriteWhole replaces a file by one with text: a crash leaves the old or the new.
func WriteWhole(path string, text []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil && sync {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if sync {
		return SyncDir(filepath.Dir(path))
	}
	return nil
}

// SetAside moves what is on the disk away and leaves it empty, as new. It tells the folder it is in now; empty for a disk in memory, which keeps it as long as it lives itself, and
// where there was nothing.
func (d *Disk) SetAside() (where string, err error) {
	if d.dir == "" {
		d.mu.Lock()
		d.aside = append(d.aside, d.memory)
		d.memory = newMemoryDisk()
		d.condition.mended()
		d.mu.Unlock()
		return "", d.setRegistered(Marks{})
	}
	if _, err := os.Stat(d.dir); errors.Is(err, os.ErrNotExist) {
		d.condition.mended()
		return "", d.unmark(Marks{})
	}
	if o, err := d.open(hclog.NewNullLogger()); err == nil { // saves what its files do not hold yet; where they are damaged, what they hold is all there is
		if err := o.close(); err != nil {
			return "", err
		}
	}
	d.unsaved.forget()
	for n := 1; ; n++ {
		where := fmt.Sprintf("%s.aside-%d", d.dir, n)
		if _, err := os.Stat(where); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := d.unmark(Marks{}); err != nil { // first: the mark inside stays until the whole is moved
			return "", err
		}
		d.condition.mended()
		return where, os.Rename(d.dir, where)
	}
}
