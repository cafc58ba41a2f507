package engine

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"example.com/kubeviz/raftstore"
)

func TestABackupIsThereWholeOrNotAtAllAndReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "store.backup")
	files := func() (names []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			names = append(names, f.Name())
		}
		return names
	}
	broken := errors.New("the member went down")
	_, err := writeNew(path, func(w io.Writer) (raftstore.BackupInfo, error) {
		io.WriteString(w, "half of")
		return raftstore.BackupInfo{}, broken
	})
	if !errors.Is(err, broken) || len(files()) != 0 {
		t.Errorf("a backup that failed: %v, and leaves %v", err, files())
	}
	info, err := writeNew(path, func(w io.Writer) (raftstore.BackupInfo, error) {
		if _, err := os.Stat(path); err == nil {
			t.Error("it is there before it is complete")
		}
		_, err := io.WriteString(w, "all of it")
		return raftstore.BackupInfo{Revision: 7}, err
	})
	text, _ := os.ReadFile(path)
	if err != nil || info.Revision != 7 || string(text) != "all of it" || len(files()) != 1 {
		t.Errorf("a backup: %v, %+v, %q, and leaves %v", err, info, text, files())
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("it holds Secrets and others can read it: %v %v", fi.Mode(), err)
	}
	_, err = writeNew(path, func(w io.Writer) (raftstore.BackupInfo, error) { return raftstore.BackupInfo{}, nil })
	text, _ = os.ReadFile(path)
	if !errors.Is(err, os.ErrExist) || string(text) != "all of it" || len(files()) != 1 {
		t.Errorf("one that came there meanwhile: %v, now %q, and leaves %v", err, text, files())
	}
	if _, err := writeNew(filepath.Join(dir, "nowhere", "x"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
