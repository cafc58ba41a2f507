package raftstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFolderThatCannotBeUsedIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	held, err := Open(Options{Members: names(3), Dir: filepath.Join(dir, "held")})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuse := func(name string, o Options, want string) {
		t.Helper()
		c, err := Open(o)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", name, err, want)
		}
	}
	refuse("one that another has", Options{Members: names(3), Dir: filepath.Join(dir, "held")}, "in use by another kubeviz")
	refuse("a file", Options{Members: names(3), Dir: filepath.Join(dir, "file")}, "not a directory")
	refuse("a place below a file", Options{Members: names(3), Dir: filepath.Join(dir, "file", "x")}, "not a directory")
	if Abandoned(filepath.Join(dir, "held")) {
		t.Error("a folder in use passes for abandoned")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if !Abandoned(filepath.Join(dir, "held")) {
		t.Error("a folder that was left does not pass for abandoned")
	}
	if Abandoned(dir) {
		t.Error("a folder that never held a store passes for abandoned")
	}
	refuse("the store of fewer", Options{Members: names(5), Dir: filepath.Join(dir, "held")}, "holds the store of 3 masters")
	refuse("the store of more", Options{Members: names(1), Dir: filepath.Join(dir, "held")}, "holds the store of 3 masters")
	again, err := Open(Options{Members: names(3), Dir: filepath.Join(dir, "held")})
	if err != nil {
		t.Fatalf("what was refused spoiled the folder: %v", err)
	}
	again.Close()
}
