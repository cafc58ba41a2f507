//go:build unix

package raftstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lockDir locks a file for this process and writes its number into it. The lock ends with the process, however that ends.
func lockDir(path string) (release func() error, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is in use by another kubeviz (process %s)", filepath.Dir(path), strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	text := fmt.Sprintln(os.Getpid())
	if _, err = f.WriteAt([]byte(text), 0); err == nil {
		err = f.Truncate(int64(len(text)))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	// A child that is being started holds a copy of the file for a moment, and the lock with it, unless the lock is given up by name.
	return func() error { return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close()) }, nil
}

// openLock opens the lock, and makes it where it is missing. A new one is locked before it gets its name: Abandoned, in another process, must not find it free.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	f, err = os.CreateTemp(filepath.Dir(path), lockFile+".")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Link(f.Name(), path)
	}
	if err == nil {
		return f, nil
	}
	// Another process was faster, or the file system knows no links.
	f.Close()
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// Abandoned tells whether a folder once held a store and no process has it any more.
func Abandoned(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	return unix.Flock(int(f.Fd()), unix.LOCK_UN) == nil
}
