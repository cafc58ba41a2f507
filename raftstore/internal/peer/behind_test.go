package peer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// failingFile is a file whose writes can be made to fail, panic, or wait.
type failingFile struct {
	*raft.InmemStore
	mu    sync.Mutex
	err   error
	panic bool
	gate  chan struct{} // not nil: a write waits for it
	wrote int           // transactions
}

func (f *failingFile) write(do func() error) error {
	f.mu.Lock()
	err, gate, panics := f.err, f.gate, f.panic
	f.wrote++
	f.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if panics {
		panic("page 7 is not what it was")
	}
	if err != nil {
		return err
	}
	return do()
}

func (f *failingFile) StoreLogs(logs []*raft.Log) error {
	return f.write(func() error { return f.InmemStore.StoreLogs(logs) })
}

func (f *failingFile) DeleteRange(from, to uint64) error {
	return f.write(func() error { return f.InmemStore.DeleteRange(from, to) })
}

func (f *failingFile) Set(k, v []byte) error {
	return f.write(func() error { return f.InmemStore.Set(k, v) })
}

func (f *failingFile) set(err error, gate chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.gate = err, gate
}

func entries(term, from, to uint64) (logs []*raft.Log) {
	for i := from; i <= to; i++ {
		logs = append(logs, &raft.Log{Index: i, Term: term, Data: fmt.Appendf(nil, "%d in %d", i, term)})
	}
	return logs
}

func behindFile(t *testing.T, file backing, u *unsaved, g *guard) *behind {
	t.Helper()
	b, err := newBehind(file, u, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.close() })
	return b
}

// state is everything a backing shows.
func state(t *testing.T, b backing) (s struct {
	First, Last uint64
	Entries     []raft.Log
	Term        uint64
	Vote        string
}) {
	t.Helper()
	s.First, _ = b.FirstIndex()
	s.Last, _ = b.LastIndex()
	for i := s.First; s.Last > 0 && i <= s.Last; i++ {
		var l raft.Log
		if err := b.GetLog(i, &l); err != nil {
			t.Fatalf("entry %d of %d to %d: %v", i, s.First, s.Last, err)
		}
		s.Entries = append(s.Entries, l)
	}
	s.Term, _ = b.GetUint64([]byte("CurrentTerm"))
	vote, _ := b.Get([]byte("LastVoteCand"))
	s.Vote = string(vote)
	return s
}

// history makes one random change after the other that raft could make, on all of bs alike.
func history(t *testing.T, r *rand.Rand, steps int, after func(), bs ...backing) {
	t.Helper()
	term := uint64(1)
	for range steps {
		first, _ := bs[0].FirstIndex()
		last, _ := bs[0].LastIndex()
		var do func(b backing) error
		switch n := r.IntN(12); {
		case n < 6:
			to := last + 1 + r.Uint64N(4)
			do = func(b backing) error { return b.StoreLogs(entries(term, last+1, to)) }
		case n < 7:
			do = func(b backing) error { return b.StoreLog(entries(term, last+1, last+1)[0]) }
		case n < 8 && last > first: // a conflict
			from := first + 1 + r.Uint64N(last-first)
			do = func(b backing) error { return b.DeleteRange(from, last) }
		case n < 9 && last > 0: // a snapshot
			to := first + r.Uint64N(last-first+1)
			if r.IntN(4) == 0 {
				to = last
			}
			do = func(b backing) error { return b.DeleteRange(first, to) }
		case n < 11:
			term++
			do = func(b backing) error { return b.SetUint64([]byte("CurrentTerm"), term) }
		default:
			do = func(b backing) error { return b.Set([]byte("LastVoteCand"), fmt.Append(nil, term)) }
		}
		for _, b := range bs {
			if err := do(b); err != nil {
				t.Fatal(err)
			}
		}
		after()
	}
}

func TestWhatIsWrittenBehindReadsAsIfItWereInTheFileAtOnce(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		at, file := raft.NewInmemStore(), raft.NewInmemStore()
		g := &guard{backing: file}
		b := behindFile(t, file, &unsaved{}, g)
		history(t, r, 60, func() {
			if r.IntN(5) == 0 {
				b.flush()
			}
			if want, got := state(t, at), state(t, b); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: got %+v, want %+v", seed, got, want)
			}
		}, at, b)
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
		if want, got := state(t, at), state(t, file); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: after closing the file holds %+v, want %+v", seed, got, want)
		}
	}
}

// A program that is killed leaves the file as it is between two transactions.
func TestTheFileAlwaysHoldsABeginningOfWhatWasDone(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		at, file := raft.NewInmemStore(), raft.NewInmemStore()
		u := &unsaved{}
		b := &behind{file: file, unsaved: u, run: run{entries: make(map[uint64]*raft.Log)}, values: make(map[string]value), wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
		b.room = sync.NewCond(&u.mu)
		beginnings := []any{state(t, at)}
		history(t, r, 60, func() { beginnings = append(beginnings, state(t, at)) }, at, b)
		reached := 0
		err := u.save(func(s step) error { return s.do(file) }, func(s step) {
			got := any(state(t, file))
			for reached < len(beginnings) && !reflect.DeepEqual(got, beginnings[reached]) {
				reached++
			}
			if reached == len(beginnings) {
				t.Fatalf("seed %d: the file holds %+v, which the log never was after what it was before", seed, got)
			}
		})
		if err != nil || reached != len(beginnings)-1 && !reflect.DeepEqual(beginnings[reached], beginnings[len(beginnings)-1]) {
			t.Fatalf("seed %d: %v; the file ends %d steps behind", seed, err, len(beginnings)-1-reached)
		}
	}
}

func TestMuchThatIsWrittenInAMomentIsOneTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &failingFile{InmemStore: raft.NewInmemStore()}
		b := behindFile(t, file, &unsaved{}, &guard{backing: file})
		for i := range uint64(1000) {
			if err := b.StoreLogs(entries(1, i+1, i+1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(saveEvery)
		synctest.Wait()
		if last, _ := file.LastIndex(); last != 1000 || file.wrote != 1 {
			t.Fatalf("after %s the file ends at %d, in %d transactions; want 1000 in 1", saveEvery, last, file.wrote)
		}
	})
}

func TestAFileThatFailsWhileItIsWrittenBehindFailsTheMemberAndNothingAcknowledgedIsLost(t *testing.T) {
	for name, breaks := range map[string]func(*failingFile){
		"an error": func(f *failingFile) { f.err = errors.New("no space left on device") },
		"a panic":  func(f *failingFile) { f.panic = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := &failingFile{InmemStore: raft.NewInmemStore()}
				failed := make(chan error, 1)
				g := &guard{backing: file, onFail: func(err error) { failed <- err }}
				u := &unsaved{}
				b := behindFile(t, file, u, g)
				if err := b.StoreLogs(entries(1, 1, 10)); err != nil {
					t.Fatal(err)
				}
				b.flush()
				breaks(file)
				if err := b.StoreLogs(entries(1, 11, 20)); err != nil {
					t.Fatal("the file was asked before there was time:", err)
				}
				if err := <-failed; !errors.Is(err, errDisk) {
					t.Fatalf("the member failed with %v, want that its disk failed", err)
				}
				synctest.Wait()
				if err := b.StoreLogs(entries(1, 21, 30)); !errors.Is(err, errDisk) {
					t.Fatalf("a write after the failure: %v", err)
				}
				if err := b.close(); !errors.Is(err, errDisk) {
					t.Fatalf("closing says %v", err)
				}
				// The next life finds what was acknowledged, once the file can be written again.
				file.err, file.panic = nil, false
				if err := u.save(func(s step) error { return s.do(file) }, func(step) {}); err != nil {
					t.Fatal(err)
				}
				if s := state(t, file); s.Last != 20 || len(s.Entries) != 20 {
					t.Fatalf("the file holds %d entries up to %d, want the 20 that were acknowledged", len(s.Entries), s.Last)
				}
			})
		})
	}
}

func TestWritingBehindWaitsWhenTooMuchIsUnsaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		file := &failingFile{InmemStore: raft.NewInmemStore(), gate: gate}
		u := &unsaved{}
		b := behindFile(t, file, u, &guard{backing: file})
		var stored uint64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for stored < 2*unsavedMax>>20 {
				b.StoreLog(&raft.Log{Index: stored + 1, Data: make([]byte, 1<<20)})
				stored++
			}
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if u.bytes > unsavedMax+2<<20 || stored == 2*unsavedMax>>20 {
			t.Fatalf("%d bytes wait for a file that takes none, in %d entries", u.bytes, stored)
		}
		file.set(nil, nil)
		close(gate)
		<-done
		b.close()
		if last, _ := file.LastIndex(); last != stored {
			t.Fatalf("the file ends at %d, want %d", last, stored)
		}
	})
}

func TestAMemberThatIsKilledFindsEverythingItAcknowledgedAlthoughItsDiskIsNotSynced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m")
	d := NewDisk(dir, false)
	o, err := d.open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.writeBehind(o); err != nil {
		t.Fatal(err)
	}
	if err := o.guard.StoreLogs(entries(3, 1, 500)); err != nil {
		t.Fatal(err)
	}
	if err := o.guard.SetUint64(keyCurrentTerm, 3); err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	if o, err = NewDisk(dir, false).open(nil); err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if s := state(t, o.guard); s.Last != 500 || len(s.Entries) != 500 || s.Term != 3 {
		t.Fatalf("found term %d and %d entries up to %d", s.Term, len(s.Entries), s.Last)
	}
}

func TestASnapshotIsNamedOnlyWhenTheLogUpToItIsInTheFile(t *testing.T) {
	file := &failingFile{InmemStore: raft.NewInmemStore()}
	b := behindFile(t, file, &unsaved{}, &guard{backing: file})
	snapshots := orderedSnapshots{newMemoryLog().use(true), b.flush}
	if err := b.StoreLogs(entries(1, 1, 50)); err != nil {
		t.Fatal(err)
	}
	sink, err := snapshots.Create(1, 50, 1, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if last, _ := file.LastIndex(); last != 50 {
		t.Fatalf("a snapshot of 50 entries is there, and the file ends at %d", last)
	}
	if err := b.StoreLogs(entries(1, 51, 60)); err != nil {
		t.Fatal(err)
	}
	file.set(errors.New("no space left on device"), nil)
	if sink, err = snapshots.Create(1, 60, 1, raft.Configuration{}, 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err == nil {
		t.Fatal("a snapshot was closed although the log could not be written")
	}
	if list, _ := snapshots.List(); len(list) != 1 {
		t.Fatalf("%d snapshots are listed, want the one before", len(list))
	}
}
