package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/kubeviz/raftstore"
)

const (
	storeFolder = "store"
	clockFile   = "clock"
	temporary   = "kubeviz-store-"
)

// openStore opens the store in the data directory, or in a temporary one.
func (e *Engine) openStore(masters []string) error {
	if e.opts.Store == StoreRaft {
		e.dir = filepath.Join(e.opts.DataDir, storeFolder)
		if e.opts.DataDir == "" {
			sweep(os.TempDir())
			dir, err := os.MkdirTemp("", temporary)
			if err != nil {
				return fmt.Errorf("make a directory for the store: %w", err)
			}
			e.dir = dir
		}
	}
	door, err := openStoreDoor(e, masters)
	if err != nil {
		if e.opts.DataDir == "" && e.dir != "" {
			os.RemoveAll(e.dir)
		}
		return err
	}
	e.store = door
	return nil
}

// sweep removes what a process that was killed (kill -9, a crash of the machine) left in the directory for temporary files. What cannot be removed stays.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, temporary+"*")) // fails only for a bad pattern
	for _, d := range left {
		if raftstore.Abandoned(d) {
			_ = os.RemoveAll(d)
		}
	}
}

// clockIn reads how far simulated time had come when the data directory was last used; zero: nobody knows.
func clockIn(dataDir string) time.Time {
	if dataDir == "" {
		return time.Time{}
	}
	text, err := os.ReadFile(filepath.Join(dataDir, clockFile))
	if err != nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}
	}
	return t
}

// keepClock writes how far simulated time has come.
func (e *Engine) keepClock(now time.Time) error {
	if e.opts.DataDir == "" || e.opts.Store != StoreRaft {
		return nil
	}
	err := os.WriteFile(filepath.Join(e.opts.DataDir, clockFile), []byte(now.Format(time.RFC3339Nano)+"\n"), 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil // somebody removed the directory; the store says so where it matters
	}
	return err
}

// StoreCheck checks a file of the store and returns the code to exit with; see Options.StoreCheck.
func StoreCheck(path string, out io.Writer) int { return raftstore.CheckMain(path, out) }
