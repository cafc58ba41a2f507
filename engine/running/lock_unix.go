//go:build unix

package running

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private refuses a directory that is not the user's own alone.
func private(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("it is no directory")
	case ok && int(st.Uid) != os.Getuid():
		return errors.New("it belongs to somebody else")
	case info.Mode().Perm()&0o077 != 0:
		return errors.New("others may enter it (its mode must be 0700)")
	}
	return nil
}

// take makes a file and locks it.
func take(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return flock(f)
}

// reach locks a file that is there; an error if it is held.
func reach(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return flock(f)
}

func flock(f *os.File) (*os.File, error) {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// release gives the lock up by name: a child that is just being started may hold the same open file for a moment.
func release(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
