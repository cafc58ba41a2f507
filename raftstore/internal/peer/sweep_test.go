package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// checkInChild in the environment makes the test program the one that checks a file.
const checkInChild = "KUBEVIZ_TEST_CHECK"

func TestMain(m *testing.M) {
	if os.Getenv(checkInChild) != "" && len(os.Args) == 2 {
		if err := CheckFile(os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Setenv(checkInChild, "1") // for children
	os.Exit(m.Run())
}

// inChild checks a file as the program does.
func inChild(ctx context.Context, path string) error {
	out, err := exec.CommandContext(ctx, os.Args[0], path).Output()
	if err != nil {
		return fmt.Errorf("%w: %s %w", ErrDamaged, out, err)
	}
	return nil
}

// What the small store of the sweep acknowledged: a term, a vote, entries, and snapshots that stand for some of them.
const (
	sweptFirst, sweptLast = 61, 240
	sweptTerm             = 3
	sweptVote             = "b"
)

var sweptSnapshots = []uint64{60, 120, 180}

func sweptEntry(i uint64) []byte { return EncodeEntry(2, []Encoded{EncodeCompact(i, int64(i))}) }

func sweptState(i uint64) []byte {
	kv := mvcc.New()
	for n := range i {
		kv.Apply(mvcc.Txn{Then: []mvcc.Op{{Key: fmt.Sprint("k", n%50), Value: make([]byte, 100)}}})
	}
	var b bytes.Buffer
	_ = WriteState(&b, i, 2, kv.Snapshot()) // a buffer takes everything
	return b.Bytes()
}

// smallStore makes the disk in a folder.
func smallStore(t *testing.T, dir string) {
	d := NewDisk(dir, true)
	o, err := d.open(hclog.NewNullLogger())
	if err == nil {
		err = o.check(false)
	}
	must := func(e error) {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	must(o.guard.SetUint64(keyCurrentTerm, sweptTerm))
	for i := uint64(1); i <= sweptLast; i += 4 {
		var logs []*raft.Log
		for n := i; n < i+4; n++ {
			logs = append(logs, &raft.Log{Index: n, Term: 2, Data: sweptEntry(n)})
		}
		must(o.logs.StoreLogs(logs))
	}
	for _, i := range sweptSnapshots {
		sink, e := o.snapshots.Create(raft.SnapshotVersionMax, i, 2, raft.Configuration{}, 1, nil)
		must(e)
		_, e = sink.Write(sweptState(i))
		must(e)
		must(sink.Close())
	}
	must(o.logs.DeleteRange(1, sweptFirst-1))
	must(o.guard.SetUint64(keyVoteTerm, sweptTerm))
	must(o.guard.Set(keyVoteCandidate, []byte(sweptVote)))
	must(d.SetIdentity(Identity{ID: "a"}))
	must(d.MarkUsed())
	must(o.close())
	if err != nil {
		t.Fatal(err)
	}
}

// serves opens a disk as a start does, and fails where it is refused. lost is what was acknowledged and is not there although it was not refused.
func serves(d *Disk) (lost string, refused error) {
	if id, err := d.Identity(); err != nil {
		return "", err
	} else if id.ID == "" {
		if err := d.SetIdentity(Identity{ID: "a"}); err != nil { // from what the cluster knows of its members
			return "", err
		}
	}
	o, err := d.open(hclog.NewNullLogger())
	if err != nil {
		return "", err
	}
	defer o.close()
	if err := o.check(d.Used()); err != nil {
		return "", err
	}
	term, _ := o.guard.GetUint64(keyCurrentTerm)
	voted, _ := o.guard.GetUint64(keyVoteTerm)
	who, _ := o.guard.Get(keyVoteCandidate)
	if term != sweptTerm || voted != sweptTerm || string(who) != sweptVote {
		return fmt.Sprintf("term %d, vote for %q in %d", term, who, voted), nil
	}
	var upTo uint64
	if snaps, err := o.snapshots.List(); err == nil && len(snaps) > 0 {
		_, r, err := o.snapshots.Open(snaps[0].ID)
		if err != nil {
			return fmt.Sprintf("snapshot: %v", err), nil
		}
		b, err := io.ReadAll(r)
		r.Close()
		if upTo = snaps[0].Index; err != nil || !bytes.Equal(b, sweptState(upTo)) {
			return fmt.Sprintf("the snapshot up to %d is another (%v)", upTo, err), nil
		}
	}
	for i := upTo + 1; i <= sweptLast; i++ {
		var l raft.Log
		if err := o.guard.GetLog(i, &l); err != nil || !bytes.Equal(l.Data, sweptEntry(i)) {
			return fmt.Sprintf("entry %d: %v", i, err), nil
		}
	}
	if last, _ := o.guard.LastIndex(); last != sweptLast {
		return fmt.Sprintf("the log ends at %d", last), nil
	}
	return "", nil
}

// TestDamageIsRefusedByNameOrDoesNoHarm damages every page of a small store in turn, and every file. Either everything that was acknowledged is there, or the disk is refused.
// KUBEVIZ_LONG=1 does all of it in a child as well, otherwise a sample; -short a sample of both.
func TestDamageIsRefusedByNameOrDoesNoHarm(t *testing.T) {
	t.Parallel()
	for _, by := range []struct {
		name  string
		check func(context.Context, string) error
		every int
	}{{"in a child", inChild, 8}, {"in this process", nil, 1}} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			switch {
			case os.Getenv("KUBEVIZ_LONG") != "":
				by.every = 1
			case testing.Short():
				by.every *= 6
			}
			root := t.TempDir()
			dir := filepath.Join(root, "a")
			smallStore(t, dir)
			random := rand.New(rand.NewPCG(4, uint64(by.every)))
			refusals, whole, n := 0, 0, 0
			try := func(what, path string, damage func(b []byte) []byte) {
				all := !testing.Short() && (damage == nil || !strings.HasSuffix(path, logFile)) // few, and each another
				if n++; n%by.every != 0 && !all {
					return
				}
				keep, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if damage == nil {
					err = os.Remove(path)
				} else {
					err = os.WriteFile(path, damage(slices.Clone(keep)), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				d := NewDisk(dir, false)
				d.CheckBy(by.check)
				lost, refused := serves(d)
				switch {
				case refused != nil:
					if refusals++; !errors.Is(refused, ErrDamaged) && !strings.Contains(refused.Error(), dir) {
						t.Errorf("%s: refused without a name: %v", what, refused)
					}
				case lost != "":
					t.Errorf("%s: lost without a word: %s", what, lost)
				default:
					whole++
				}
				if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+UsedSuffix), os.CopyFS(root, os.DirFS(root+".good"))); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.CopyFS(root+".good", os.DirFS(root)); err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(root + ".good")
			var files []string
			filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					files = append(files, path)
				}
				return err
			})
			for _, path := range files {
				name, _ := filepath.Rel(root, path)
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				try(name+" deleted", path, nil)
				if len(b) == 0 {
					continue
				}
				try(name+" emptied", path, func([]byte) []byte { return nil })
				pages := (len(b) + damagePage - 1) / damagePage
				if name == filepath.Join("a", logFile) {
					pages = min(pages, usedPages(t, path)+2) // the rest was never written
				}
				for p := range pages {
					at, end := p*damagePage, min((p+1)*damagePage, len(b))
					flip := at + random.IntN(end-at)
					sector := at + random.IntN((end-at+511)/512)*512
					cut := at + random.IntN(end-at)
					try(fmt.Sprintf("%s: page %d zeroed", name, p), path, func(b []byte) []byte { clear(b[at:end]); return b })
					try(fmt.Sprintf("%s: sector at %d zeroed", name, sector), path, func(b []byte) []byte { clear(b[sector:min(sector+512, len(b))]); return b })
					try(fmt.Sprintf("%s: byte %d flipped", name, flip), path, func(b []byte) []byte { b[flip] ^= 1 << random.IntN(8); return b })
					try(fmt.Sprintf("%s: number in the head of page %d", name, p), path, func(b []byte) []byte { b[at+random.IntN(min(16, end-at))]--; return b })
					if at+boltHeader <= end {
						try(fmt.Sprintf("%s: last element of page %d gone", name, p), path, func(b []byte) []byte { b[at+10]--; return b })
					}
					try(fmt.Sprintf("%s: cut at page %d", name, p), path, func(b []byte) []byte { return b[:at] })
					try(fmt.Sprintf("%s: cut at %d", name, cut), path, func(b []byte) []byte { return b[:cut] })
				}
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if _, refused := serves(NewDisk(dir, false)); !errors.Is(refused, ErrDamaged) {
				t.Errorf("the whole folder is gone: %v", refused)
			}
			t.Logf("%d kinds of damage to %d files: %d refused, %d did no harm", refusals+whole, len(files), refusals, whole)
			if refusals == 0 || whole == 0 {
				t.Error("the sweep shows nothing")
			}
		})
	}
}

func usedPages(t *testing.T, path string) int {
	pages, err := pagesInUse(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(pages[len(pages)-1]) + 1
}

// A write that power cut short was acknowledged to nobody; whatever part of it reached the disk, the member comes back with everything else.
func TestATornWriteNeedsNoHandAndLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	smallStore(t, dir)
	d := NewDisk(dir, true)
	d.CheckBy(inChild)
	d.Seed(7, false)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for i := range rounds {
		what, err := d.Damage(failure.Torn)
		if err != nil {
			t.Fatal(err)
		}
		if lost, refused := serves(d); lost != "" || refused != nil {
			t.Fatalf("%d: %s: lost %q, refused %v", i, what, lost, refused)
		}
	}
}
