//go:build !unix

package running

import (
	"io/fs"
	"os"
)

// private: the temporary directory of these systems is the user's own.
func private(fs.FileInfo) error { return nil }

// take makes a file; as long as it is open it cannot be removed.
func take(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

// reach removes the file of an owner that is gone; an error if it is held.
func reach(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return nil, nil
}

func release(f *os.File) {
	if f != nil {
		_ = f.Close()
	}
}
