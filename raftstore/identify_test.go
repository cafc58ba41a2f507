package raftstore

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// keptFolder is a folder of a store of three, closed, that holds the key of a name, and has been in use before: master-2 is there for the second time.
func keptFolder(t *testing.T, key string) string {
	t.Helper()
	dir := t.TempDir()
	c := openLed(t, Options{Members: names(3), Dir: dir, Rate: 5})
	if lead := c.leaderLife().m.name; lead == "master-2" {
		c.KillMember(lead)
		awaitWall(t, "another leader", func() bool { l := c.leaderLife(); return l != nil && l.m.name != lead })
		c.StartMember(lead)
		awaitWall(t, "a settled cluster", c.Settled)
	}
	mustChange(t, c.RemoveMember, "master-2")
	mustChange(t, c.AddMember, "master-2")
	c.StartMember("master-2")
	promoteWhenReady(t, c, "master-2")
	mustPut(t, c, key)
	awaitWall(t, "a settled cluster", c.Settled)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A member that acknowledged something comes back with its own disk or not at all. What lies in its place instead is named and left as it is; the others carry on; and to put the disk back is
// enough.
func TestOnlyItsOwnDiskBringsAMemberBack(t *testing.T) {
	t.Parallel()
	own, foreign := keptFolder(t, "kept"), keptFolder(t, "foreign")
	type change func(t *testing.T, dir string)
	remove := func(paths ...string) change {
		return func(t *testing.T, dir string) {
			for _, p := range paths {
				if err := os.RemoveAll(filepath.Join(dir, p)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	swap := func(a, b string) change {
		return func(t *testing.T, dir string) {
			a, b := filepath.Join(dir, a), filepath.Join(dir, b)
			if err := errors.Join(os.Rename(a, dir+".t"), os.Rename(b, a), os.Rename(dir+".t", b)); err != nil {
				t.Fatal(err)
			}
		}
	}
	copied := func(from, path, to string) change {
		return func(t *testing.T, dir string) {
			remove(to)(t, dir)
			copyAll(t, filepath.Join(from, path), filepath.Join(dir, to))
		}
	}
	own2 := func(path, to string) change { return copied(own, path, to) }
	foreign2 := func(path, to string) change { return copied(foreign, path, to) }
	fifo := func(path string) change {
		return func(t *testing.T, dir string) {
			remove(path)(t, dir)
			if err := syscall.Mkfifo(filepath.Join(dir, path), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	written := func(path, text string) change {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	each := func(changes ...change) change {
		return func(t *testing.T, dir string) {
			for _, c := range changes {
				c(t, dir)
			}
		}
	}
	aside := "master-2.aside-1"
	for _, tt := range []struct {
		name   string
		change change
		// refused are the members that do not come back and what they say; with "" the whole is refused.
		refused map[string]string
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"two folders swapped", swap("master-1", "master-2"), map[string]string{"master-1": "is that of master-2", "master-2": "is that of master-1"}},
		{"a folder copied to another place", own2("master-1", "master-3"), map[string]string{"master-3": "is that of master-1"}},
		{"what was set aside put back in place of what came after it", own2(aside, "master-2"), map[string]string{"master-2": "is one that it had before"}},
		{"a folder of another cluster", foreign2("master-1", "master-1"), map[string]string{"master-1": "is that of master-1 in another cluster"}},
		{"a folder gone", remove("master-1"), map[string]string{"master-1": "is gone, folder and all"}},
		{"a folder and its mark gone", remove("master-1", "master-1.used"), map[string]string{"master-1": "is gone, folder and all"}},
		{"a folder empty and its mark gone", each(remove("master-1", "master-1.used"), func(t *testing.T, dir string) { os.Mkdir(filepath.Join(dir, "master-1"), 0o700) }),
			map[string]string{"master-1": "does not say whose it is"}},
		{"a mark gone", remove("master-1.used", "master-1/initialised"), nil},
		{"an identity gone", remove("master-1/identity.json"), map[string]string{"master-1": "does not say whose it is"}},
		{"all that says that it was used gone, and the log", remove("master-1/initialised", "master-1/raft.db", "master-1/snapshots", "master-1.used"), map[string]string{"master-1": "its log is gone (raft.db)"}},
		{"an identity of another place", own2("master-2/identity.json", "master-1/identity.json"), map[string]string{"master-1": "is that of master-2"}},
		{"an identity of another cluster", foreign2("master-1/identity.json", "master-1/identity.json"), map[string]string{"master-1": "another cluster"}},
		{"an identity that does not read", written("master-1/identity.json", "rubbish"), map[string]string{"master-1": "does not say who votes here"}},
		{"an identity without one", written("master-1/identity.json", "{}"), map[string]string{"master-1": "it has no id"}},
		{"an identity that never ends", fifo("master-1/identity.json"), map[string]string{"master-1": "identity.json is a named pipe"}},
		{"a version gone", remove("master-1/VERSION"), map[string]string{"master-1": "VERSION"}},
		{"a version that never ends", fifo("master-1/VERSION"), map[string]string{"master-1": "VERSION is a named pipe"}},
		{"a log that never ends", fifo("master-1/raft.db"), map[string]string{"master-1": "raft.db is a named pipe"}},
		{"all folders gone", remove("master-1", "master-2", "master-3"), map[string]string{"": "delete"}},
		{"all folders and marks gone", remove("master-1", "master-2", "master-3", "master-1.used", "master-2.used", "master-3.used"), map[string]string{"": "whole of it is deleted"}},
		{"all folders of another cluster", each(foreign2("master-1", "master-1"), foreign2("master-2", "master-2"), foreign2("master-3", "master-3")), map[string]string{"": "another cluster"}},
		{"the roster gone", remove("members.json"), map[string]string{"": "members.json"}},
		{"the roster and the version gone", remove("members.json", "VERSION"), map[string]string{"": "members.json"}},
		{"the roster of another cluster", foreign2("members.json", "members.json"), map[string]string{"": "another cluster"}},
		{"a roster that does not read", written("members.json", "[]"), map[string]string{"": "members.json is damaged"}},
		{"a roster that never ends", fifo("members.json"), map[string]string{"": "members.json is a named pipe"}},
		{"the version gone", remove("VERSION"), map[string]string{"": "without a VERSION"}},
		{"a version of the whole that never ends", fifo("VERSION"), map[string]string{"": "VERSION is a named pipe"}},
		{"a restore that never ends", fifo("restore.json"), map[string]string{"": "restore.json is a named pipe"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			copyAll(t, own, dir)
			tt.change(t, dir)
			o := Options{Members: names(3), Dir: dir, Rate: WallRate}
			for range 2 { // what is refused once is refused again
				found, _ := filepath.Glob(filepath.Join(dir, "*.aside-*"))
				c, err := Open(o)
				if want, whole := tt.refused[""]; whole {
					if err == nil {
						c.Close()
					}
					if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
						t.Fatalf("got %v, want …%s…", err, want)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names(3) {
					why, refused := tt.refused[name]
					s := c.Store(name).Status()
					if s.Up == refused || refused && (!strings.Contains(s.Err, why) || !strings.Contains(s.Err, name)) {
						t.Errorf("%s: %+v, want …%s…", name, s, why)
					}
				}
				if len(tt.refused) < 2 {
					awaitWall(t, "what was acknowledged", func() bool {
						l := c.leaderLife()
						return l != nil && l.ready.Load() && c.has("kept")
					})
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if now, _ := filepath.Glob(filepath.Join(dir, "*.aside-*")); !slices.Equal(now, found) {
					t.Errorf("set aside: %v, were %v", now, found)
				}
			}
		})
	}
}

// copyAll copies a file or a folder.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		var b []byte
		if b, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a member has lost it gets again as another, or as the same that knows that it has lost it.
func TestAMemberWhoseDiskIsGoneOrAnothersIsReplacedOrWiped(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		for _, wipe := range []bool{false, true} {
			t.Run(fmt.Sprintf("gone %v, wipe %v", gone, wipe), func(t *testing.T) {
				t.Parallel()
				dir := keptFolder(t, "kept")
				place := filepath.Join(dir, "master-3")
				if err := errors.Join(os.RemoveAll(place), os.RemoveAll(place+".used")); err != nil {
					t.Fatal(err)
				}
				if !gone {
					copyAll(t, filepath.Join(dir, "master-1"), place)
				}
				c := openLed(t, Options{Members: names(3), Dir: dir, Rate: 5})
				if s := c.Store("master-3").Status(); s.Up || s.Err == "" {
					t.Fatalf("%+v", s)
				}
				if wipe {
					if err := c.WipeMember("master-3"); err != nil {
						t.Fatal(err)
					}
				} else {
					mustChange(t, c.RemoveMember, "master-3")
					mustChange(t, c.AddMember, "master-3")
				}
				if err := c.StartMember("master-3"); err != nil {
					t.Fatal(err)
				}
				if !wipe {
					promoteWhenReady(t, c, "master-3")
				}
				awaitWall(t, "a settled cluster", c.Settled)
				want := "master-3"
				if !wipe {
					want = "master-3#2"
				}
				if s := c.Store("master-3").Status(); s.ID != want || s.Err != "" {
					t.Errorf("%+v", s)
				}
				if found, _ := keys(t, c.Store("master-3")); !slices.Equal(found, []string{"kept"}) {
					t.Errorf("it has %v", found)
				}
			})
		}
	}
}

// A wiped member that has not caught up has no vote, even when all that lay in its place is gone too.
func TestAWipedMemberStaysWithoutAVoteWhenItsFolderGoes(t *testing.T) {
	t.Parallel()
	dir := keptFolder(t, "kept")
	c, err := Open(Options{Members: names(3), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	killAll(c)
	for _, name := range names(2) {
		if err := c.WipeMember(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Close(), os.RemoveAll(filepath.Join(dir, "master-1")), os.RemoveAll(filepath.Join(dir, "master-2"))); err != nil {
		t.Fatal(err)
	}
	c, err = Open(Options{Members: names(3), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pause(3*time.Second, nil) // in which two that had a vote would have elected one of them
	for _, name := range names(2) {
		if s := c.Store(name).Status(); !s.Up || s.Err != MutedReason || s.Leader != "" {
			t.Errorf("%+v", s)
		}
	}
}

// Whatever was made of a folder when its first start was cut off, the next one goes on with.
func TestAFirstStartThatWasCutOffIsGoneOnWith(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	c := openLed(t, Options{Members: names(1), Dir: whole, Rate: 5})
	c.Close()
	begun := *c.roster.Load()
	begun.Disks = nil
	// In the order in which it is made.
	steps := []string{"lock", "VERSION", "members.json", "master-1", "master-1/identity.json", "master-1/VERSION", "master-1/raft.db", "master-1/snapshots", "master-1/initialised", "master-1.used"}
	for n := range len(steps) + 1 {
		t.Run(fmt.Sprintf("after %v", steps[:n]), func(t *testing.T) {
			dir := t.TempDir()
			for _, path := range steps[:n] {
				to := filepath.Join(dir, path)
				switch path {
				case "master-1", "master-1/snapshots":
					if err := os.Mkdir(to, 0o700); err != nil {
						t.Fatal(err)
					}
				case "members.json":
					if err := begun.write(dir, false); err != nil {
						t.Fatal(err)
					}
				default:
					copyAll(t, filepath.Join(whole, path), to)
				}
			}
			c := openLed(t, Options{Members: names(1), Dir: dir, Rate: 5})
			mustPut(t, c, "a")
			if disks := slices.Collect(maps.Keys(c.roster.Load().Disks)); !slices.Equal(disks, names(1)) {
				t.Errorf("the roster knows of the disks of %v", disks)
			}
		})
	}
}
