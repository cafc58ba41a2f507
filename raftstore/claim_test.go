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

// Whoever counts the masters, as the command line does, need not know which of them a folder has by now.
func TestAFolderOpensForAsManyMembersAsItHasOrBeganWith(t *testing.T) {
	r := newRoster(names(3))
	r.Places = append(r.Places, "master-4", "master-5")
	r.Members = []Member{{Name: "master-2"}, {Name: "master-3"}, {Name: "master-4"}, {Name: "master-5"}}
	for n, opens := range map[int]bool{1: false, 2: false, 3: true, 4: true, 5: false} {
		if r.opens(names(n)) != opens {
			t.Errorf("%d masters: opens %v", n, !opens)
		}
	}
	want := "DIR holds the store of 4 masters (master-2, master-3, master-4, master-5), not of 5; ask for 4, or for 3 as when it began, or use another folder; members come and go by member add and member remove"
	if got := r.refusal("DIR", names(5)).Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if other := []string{"a", "b", "c"}; r.opens(other) || !strings.Contains(r.refusal("DIR", other).Error(), "none of which is called a or b or c") {
		t.Errorf("other masters: %v", r.refusal("DIR", other))
	}
}
