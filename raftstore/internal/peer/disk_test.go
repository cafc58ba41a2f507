package peer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// filled returns a disk with a log of n entries, closed.
func filled(t testing.TB, n int) *Disk {
	d := NewDisk(t.TempDir(), false)
	o, err := d.open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := o.check(false); err != nil {
		t.Fatal(err)
	}
	o.guard.SetUint64(keyCurrentTerm, 3)
	for i := 1; i <= n; i++ {
		if err := o.logs.StoreLog(&raft.Log{Index: uint64(i), Term: 2, Data: EncodeEntry(2, []Encoded{EncodeCompact(uint64(i), int64(i))})}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.mark(initialisedFile); err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// inspect opens d and checks it the way a start does.
func inspect(d *Disk) (last uint64, err error) {
	o, err := d.open(hclog.NewNullLogger())
	if err != nil {
		return 0, err
	}
	defer o.close()
	if err := o.check(true); err != nil {
		return 0, err
	}
	return o.guard.LastIndex()
}

func TestSoundDiskPassesItsCheck(t *testing.T) {
	for _, n := range []int{1, 7, 500} {
		if last, err := inspect(filled(t, n)); err != nil || last != uint64(n) {
			t.Errorf("%d entries: last %d, %v", n, last, err)
		}
	}
}

// Whatever is cut off or overwritten, the program lives; and either the damage is noticed or the log is whole.
func TestDamagedDiskIsNoticedOrHarmless(t *testing.T) {
	const entries = 300
	d := filled(t, entries)
	path := filepath.Join(d.dir, logFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(good) / 4096
	r := rand.New(rand.NewPCG(1, 2))
	damage := make(map[string][]byte)
	for p := range pages {
		zeroed := append([]byte(nil), good...)
		clear(zeroed[p*4096 : (p+1)*4096])
		damage[fmt.Sprintf("page %d zeroed", p)] = zeroed
		sector := append([]byte(nil), good...)
		at := p*4096 + r.IntN(8)*512
		clear(sector[at : at+512])
		damage[fmt.Sprintf("sector at %d zeroed", at)] = sector
		damage[fmt.Sprintf("cut in page %d", p)] = good[:p*4096+r.IntN(4096)]
		noise := append([]byte(nil), good...)
		for range 8 {
			noise[p*4096+r.IntN(4096)] = byte(r.Uint32())
		}
		damage[fmt.Sprintf("noise in page %d", p)] = noise
	}
	noticed := 0
	for what, b := range damage {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		switch last, err := inspect(d); {
		case err != nil:
			noticed++
		case last < entries-1: // bolt falls back by one transaction when a meta page is lost
			t.Errorf("%s: passed with only %d entries", what, last)
		}
	}
	t.Logf("%d kinds of damage to %d pages, %d noticed", len(damage), pages, noticed)
}

func TestFirstErrorOfADiskIsFinal(t *testing.T) {
	d := NewDisk("", false)
	o, err := d.open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 2)
	g := o.guard
	g.onFail = func(err error) { failed <- err }
	g.running.Store(true)
	g.inject = os.ErrPermission
	if g.StoreLog(&raft.Log{Index: 1}) == nil {
		t.Fatal("the write succeeded")
	}
	g.inject = nil
	if g.StoreLog(&raft.Log{Index: 1}) == nil || g.Set([]byte("LastVoteCand"), []byte("x")) == nil {
		t.Error("a later write succeeded")
	}
	if err := g.SetUint64(keyCurrentTerm, 9); err != nil {
		t.Errorf("raft would panic: %v", err)
	}
	if _, err := d.memory.store.Get(keyCurrentTerm); err == nil {
		t.Error("the term was written after a failure")
	}
	<-failed
	select {
	case err := <-failed:
		t.Errorf("reported twice: %v", err)
	default:
	}
}

func TestCrashBetweenTermAndLogOfTheFirstStartIsRepaired(t *testing.T) {
	d := NewDisk("", false)
	d.memory.store.values[string(keyCurrentTerm)] = sealValue(keyCurrentTerm, []byte{7: 1})
	o, err := d.open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	conf := raft.DefaultConfig()
	conf.LocalID, conf.Logger = "a", hclog.NewNullLogger()
	if err := d.bootstrap(conf, o, newTransport(nil, Identity{ID: "a"}, "a", nil), Founders("a", "b")); err != nil {
		t.Fatal(err)
	}
	if last, _ := o.guard.LastIndex(); last != 1 || !d.Used() {
		t.Errorf("last index %d, used %v", last, d.Used())
	}
}

func TestAFileIsForcedToTheMediumOnlyWhereThatIsAskedFor(t *testing.T) {
	for _, sync := range []bool{true, false} {
		store, err := openBolt(filepath.Join(t.TempDir(), "raft.db"), sync)
		if err != nil {
			t.Fatal(err)
		}
		db := reflect.ValueOf(store).Elem().FieldByName("conn").Elem() // nothing public tells
		if skips := db.FieldByName("NoSync").Bool() || db.FieldByName("NoGrowSync").Bool(); skips == sync {
			t.Errorf("forced %v: bolt skips it: %v", sync, skips)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
