package peer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Marks say what a disk has been through, and outlive what is on it.
type Marks struct {
	// Used: a member has acknowledged something on it.
	Used bool `json:"used,omitempty"`
	// Wiped: it was wiped since, and its member has not caught up.
	Wiped bool `json:"wiped,omitempty"`
}

// Register is where the cluster keeps the marks of a disk away from it, so that the loss of a folder with all that lies beside it is noticed, and so is another in its place.
type Register interface {
	Marks() Marks
	// SetMarks notes them for who votes on the disk.
	SetMarks(Marks) error
}

// RegisterIn sets where the marks are kept besides; nil: nowhere.
func (d *Disk) RegisterIn(r Register) { d.register = r }

func (d *Disk) registered() Marks {
	if d.register == nil {
		return Marks{}
	}
	return d.register.Marks()
}

func (d *Disk) setRegistered(m Marks) error {
	if d.register == nil {
		return nil
	}
	return d.register.SetMarks(m)
}

// Gone tells whether there is nothing where the disk should be.
func (d *Disk) Gone() bool {
	if d.dir == "" {
		return false
	}
	_, err := os.Stat(d.dir)
	return errors.Is(err, os.ErrNotExist)
}

// Holds tells whether something of a member lies there, whatever the marks away from it say.
func (d *Disk) Holds() bool {
	if d.dir == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.memory.initialised
	}
	for _, name := range []string{logFile, initialisedFile, snapshotFolder} {
		if _, err := os.Lstat(filepath.Join(d.dir, name)); err == nil {
			return true
		}
	}
	return false
}

// ReadRegular reads a file that is one: of anything else, such as a named pipe, reading might never end.
func ReadRegular(path string) ([]byte, error) {
	if err := CheckRegular(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// CheckRegular refuses what is there and no regular file.
func CheckRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); !mode.IsRegular() {
		return fmt.Errorf("%s is %s, where a regular file belongs", path, fileKind(mode))
	}
	return nil
}

func fileKind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
