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

// aheadMax is how far simulated time may have run ahead of the start that was asked for: a hundred of the longest runs fit in, and what is beyond was never reached.
const aheadMax = 10 * 365 * 24 * time.Hour

// clockIn reads how far simulated time had come when the data directory was last used; zero: nobody knows, and then notice says so where a store is there that has lived. Time must not go
// back in what was stored, and so a file that says something else than an instant is for a person to look at.
func clockIn(dataDir string, start, wall time.Time) (at time.Time, notice string, err error) {
	path := filepath.Join(dataDir, clockFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Join(dataDir, storeFolder)); err == nil {
			notice = fmt.Sprintf("%s is gone, which says how far simulated time had come; it starts again at %s", path, start.UTC().Format(time.RFC3339))
		}
		return time.Time{}, notice, nil
	case err != nil:
		return time.Time{}, "", err
	case !info.Mode().IsRegular():
		return time.Time{}, "", fmt.Errorf("%s is no regular file; %s", path, mendClock)
	}
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return time.Time{}, "", err
	}
	at, err = time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return time.Time{}, "", fmt.Errorf("%s should say how far simulated time had come, and says %q; %s", path, strings.TrimSpace(string(text)), mendClock)
	case at.Sub(start) >= aheadMax && at.Sub(wall) >= aheadMax:
		return time.Time{}, "", fmt.Errorf("%s says that simulated time had come to %s, more than ten years after this start at %s and after today; %s, or start then (--start)", path, at.Format(time.RFC3339),
			start.UTC().Format(time.RFC3339), mendClock)
	}
	return at, "", nil
}

const mendClock = "write the right instant into it, such as 2026-01-31T12:00:00Z, or delete it to let time start again"

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
