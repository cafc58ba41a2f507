package raftstore

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/failure"
)

// trapped tells which member has stepped on a trap.
func (n *news) trapped() (failure.Trap, bool) {
	if c := n.of(TrapSprung); len(c) > 0 {
		return c[0].Trap, true
	}
	return failure.Trap{}, false
}

// revive starts every member that should run and does not, and waits until all are ready.
func revive(t *testing.T, c *RaftCluster) {
	t.Helper()
	c.Traps().Clear("")
	awaitWall(t, "all members ready", func() bool {
		ready := true
		for _, in := range c.Membership().Members {
			m := c.find(in.Name)
			s := m.Status()
			if !s.Up {
				c.StartMember(m.name) // one that is ending says so, and is asked again
			}
			ready = ready && s.Up && s.Ready && s.Err == ""
		}
		return ready
	})
}

// commotion makes a cluster at work come by every point, until one of its members steps on a trap.
func commotion(t *testing.T, c *RaftCluster, told *news) {
	sprung := func() bool { _, yes := told.trapped(); return yes }
	rest := func() { pause(700*time.Millisecond, nil) }
	others := func() *member {
		for _, m := range c.places() {
			if l := c.leaderLife(); l == nil || l.m != m {
				return m
			}
		}
		return nil
	}
	rest()
	for round := 0; round < 4 && !sprung(); round++ {
		away := others() // comes back to a log that has gone on without it
		c.KillMember(away.name)
		pause(1500*time.Millisecond, nil)
		c.StartMember(away.name)
		rest()
		if sprung() {
			return
		}
		if l := c.leaderLife(); l != nil {
			c.KillMember(l.m.name)
			rest()
			c.StartMember(l.m.name)
		}
		rest()
		if sprung() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		written := make(chan Written, 2)
		c.AddMember(ctx, "master-4", func(w Written) { written <- w })
		<-written
		c.RemoveMember(ctx, "master-4", func(w Written) { written <- w })
		<-written
		cancel()
		if sprung() {
			return
		}
		away = others()
		c.KillMember(away.name)
		if c.WipeMember(away.name) == nil {
			c.StartMember(away.name)
		}
		rest()
	}
}

// Every point, with everything that a trap can do, while the cluster works: it is stepped on, the rest goes on, the member comes back, and nothing that was acknowledged is lost.
func TestATrapAtAnyPointLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	for _, at := range failure.Points() {
		for _, action := range failure.Actions() {
			t.Run(fmt.Sprint(at, " ", action), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					told := new(news)
					o := snapshotting()
					o.Sync, o.Observer, o.Seed = true, told, 1
					trap(t, openLed(t, o), told, at, action)
				})
			})
		}
	}
}

// panicking panics in the member that steps on the first trap, and remembers what is told of it.
type panicking struct {
	*news
	once sync.Once
	mu   sync.Mutex
	why  map[string]string
}

func (p *panicking) Changed(c Change) {
	p.news.Changed(c)
	if c.Kind == TrapSprung {
		p.once.Do(func() { panic("out of mind") })
	}
}

func (p *panicking) RoleChanged(s MemberStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !s.Up && s.Err != "" && p.why[s.Name] == "" {
		p.why[s.Name] = s.Err
	}
}

// Whatever a member was about when it panics, on whose goroutine: it is stopped and named, and the program with all the others goes on.
func TestAPanicAtAnyPointStopsThatMemberAlone(t *testing.T) {
	t.Parallel()
	for _, at := range failure.Points() {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				told := &panicking{news: new(news), why: make(map[string]string)}
				o := snapshotting()
				o.Sync, o.Observer, o.Seed = true, told, 1
				trap(t, openLed(t, o), told.news, at, failure.Stall)
				sprung, _ := told.trapped()
				told.mu.Lock()
				defer told.mu.Unlock()
				if why := told.why[sprung.Member]; !strings.Contains(why, "out of mind") || len(told.why) != 1 {
					t.Errorf("%s panicked; told of %q", sprung.Member, told.why)
				}
			})
		})
	}
}

func TestATrapOnFilesLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	for at, action := range map[failure.Point]failure.Action{
		failure.AfterTermBootstrap: failure.Kill, failure.BeforeStoreVote: failure.Fail, failure.BeforeStoreLog: failure.Fail, failure.AfterStoreLog: failure.Kill, failure.InSnapshot: failure.Kill,
	} {
		t.Run(fmt.Sprint(at, " ", action), func(t *testing.T) {
			t.Parallel()
			told := new(news)
			o := snapshotting()
			o.InMemory, o.Dir, o.Sync, o.Observer, o.Seed = false, t.TempDir(), true, told, 1
			trap(t, openLed(t, o), told, at, action)
		})
	}
}

// trap lays a trap on each member of a cluster at work, waits until one has stepped on it, and looks whether all is as it should be when that one is back.
func trap(t *testing.T, c *RaftCluster, told *news, at failure.Point, action failure.Action) {
	lay := func() {
		for _, name := range names(3) {
			c.Traps().Set(failure.Trap{Member: name, Point: at, Action: action, Delay: 300 * time.Millisecond})
		}
	}
	if strings.HasSuffix(string(at), "bootstrap") { // those of a cluster that begins
		killAll(c)
		for _, name := range names(3) {
			if err := c.WipeMember(name); err != nil {
				t.Fatal(err)
			}
		}
		lay()
		for _, name := range names(3) {
			if err := c.StartMember(name); err != nil {
				t.Fatal(err)
			}
		}
		pause(time.Second, nil)
		revive(t, c)
	}
	stop := startTraffic(t, c)
	if len(c.Traps().Waiting()) == 0 && len(told.of(TrapSprung)) == 0 {
		pause(500*time.Millisecond, nil)
		lay()
		commotion(t, c, told)
	}
	trap, sprung := told.trapped()
	if !sprung {
		t.Fatalf("nobody came by %s", at)
	}
	if s := c.Store(trap.Member).Status(); action == failure.Fail && at.CanFail() && !s.Up && !strings.Contains(s.Err, failure.ErrIO.Error()) {
		t.Errorf("%s stopped without naming the failure: %q", trap.Member, s.Err)
	}
	revive(t, c)
	pause(500*time.Millisecond, nil)
	stop(t)
}

// checkInChild in the environment makes the test program the one that checks a file.
const checkInChild = "KUBEVIZ_TEST_CHECK"

func TestMain(m *testing.M) {
	if os.Getenv(checkInChild) != "" && len(os.Args) == 2 {
		os.Exit(CheckMain(os.Args[1], os.Stdout))
	}
	os.Setenv(checkInChild, "1") // for children
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		flag.Set(f.Name, strconv.Itoa(4*runtime.GOMAXPROCS(0))) // most that run side by side wait for elections on the wall's clock
	}
	os.Exit(m.Run())
}

// onBoth runs a test on disks in memory, inside a bubble, and on files that are synced and checked in a child.
func onBoth(t *testing.T, do func(t *testing.T, o Options, told *news)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o, told := snapshotting(), new(news)
			o.Sync, o.Observer, o.Seed = true, told, 1
			do(t, o, told)
		})
	})
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		o, told := snapshotting(), new(news)
		o.InMemory, o.Dir, o.Sync, o.Observer, o.Seed, o.Check = false, t.TempDir(), true, told, 1, CheckCommand(os.Args[0])
		do(t, o, told)
	})
}

func TestADiskThatCannotBeWrittenStopsItsMemberAloneAndRefusesItUntilItIsMended(t *testing.T) {
	t.Parallel()
	for state, names := range map[failure.Disk]error{failure.Full: failure.ErrNoSpace, failure.ReadOnly: failure.ErrReadOnly} {
		t.Run(string(state), func(t *testing.T) {
			onBoth(t, func(t *testing.T, o Options, told *news) {
				c := openLed(t, o)
				mustPut(t, c, "before")
				victim := c.leaderLife().m
				if err := c.SetDisk(victim.name, state, 0); err != nil {
					t.Fatal(err)
				}
				put(c.follower(), "meanwhile", nil) // makes the leader write
				awaitWall(t, "a member that names its disk", func() bool {
					s := victim.Status()
					return !s.Up && strings.Contains(s.Err, names.Error()) && s.Disk == state
				})
				awaitWall(t, "the others at work", c.Settled)
				mustPut(t, c, "without it")
				if err := c.StartMember(victim.name); err != nil {
					t.Fatal(err)
				}
				awaitWall(t, "a refused start", func() bool { s := victim.Status(); return !s.Up && strings.Contains(s.Err, names.Error()) })
				if err := c.SetDisk(victim.name, failure.Sound, 0); err != nil {
					t.Fatal(err)
				}
				revive(t, c)
				if r := readKey(victim, "without it", false, 5*time.Second); r.Count != 1 || r.Err != nil {
					t.Errorf("it came back without what was written meanwhile: %+v", r)
				}
				if got := len(told.of(DiskChanged)); got != 2 {
					t.Errorf("told of %d changes of the disk, want 2", got)
				}
			})
		})
	}
}

func TestAWriteThatFailsOnceEndsTheMemberWhichMayStartAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, o Options, told *news) {
		c := openLed(t, o)
		victim := c.follower()
		if err := c.SetDisk(victim.name, failure.Flaky, 0); err != nil {
			t.Fatal(err)
		}
		mustPut(t, c, "a")
		awaitWall(t, "a member that names its disk", func() bool {
			s := victim.Status()
			return !s.Up && strings.Contains(s.Err, failure.ErrIO.Error()) && s.Disk == failure.Sound
		})
		mustPut(t, c, "b")
		revive(t, c)
		if r := readKey(victim, "b", false, 5*time.Second); r.Count != 1 {
			t.Errorf("it came back without what was written meanwhile: %+v", r)
		}
	})
}

func TestASlowDiskSlowsItsLeaderAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := snapshotting()
		o.Sync = true
		c := openLed(t, o)
		took := func() time.Duration {
			began := time.Now()
			mustPut(t, c, fmt.Sprint("k", began.UnixNano()))
			return time.Since(began)
		}
		if d := took(); d > 50*time.Millisecond {
			t.Fatalf("a write takes %v on sound disks", d)
		}
		for _, m := range c.Members() {
			if err := c.SetDisk(m, failure.Slow, 100*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if d := took(); d < 100*time.Millisecond {
			t.Errorf("a write takes %v on disks that are slower by 100 ms", d)
		}
		for _, m := range c.Members() {
			c.SetDisk(m, failure.Sound, 0)
		}
		awaitWall(t, "a settled cluster", c.Settled)
		if d := took(); d > 50*time.Millisecond {
			t.Errorf("a write takes %v on disks that are sound again", d)
		}
	})
}

// Whatever is done to the disk of one member, the majority carries on; the member comes back as it was, or is set aside by name and joins as a new one.
func TestADamagedMemberIsNamedOrWholeAndJoinsAsNew(t *testing.T) {
	t.Parallel()
	for _, state := range failure.Disks() {
		if !state.Damages() {
			continue
		}
		t.Run(string(state), func(t *testing.T) {
			onBoth(t, func(t *testing.T, o Options, told *news) {
				c := openLed(t, o)
				for i := range 130 {
					mustPut(t, c, fmt.Sprint("k", i))
				}
				awaitWall(t, "all with all", c.Settled)
				victim := c.follower()
				if err := c.SetDisk(victim.name, state, 0); err != nil {
					t.Fatal(err)
				}
				if s := victim.Status(); s.Up || s.Disk != state {
					t.Fatalf("after the damage: %+v", s)
				}
				mustPut(t, c, "without it")
				if err := c.StartMember(victim.name); err != nil {
					t.Fatal(err)
				}
				awaitWall(t, "a word on the disk", func() bool { s := victim.Status(); return s.Up && s.Ready || !s.Up && s.Err != "" })
				if s := victim.Status(); !s.Up {
					if !strings.Contains(s.Err, "disk damaged") || !strings.Contains(s.Err, "member replace "+victim.name) || strings.Contains(s.Err, o.Dir+"/") || s.Disk != state {
						t.Fatalf("refused without a name and a way on: %+v", s)
					}
					if state == failure.Torn {
						t.Fatalf("a torn write needs a hand: %s", s.Err)
					}
					if err := c.SetDisk(victim.name, failure.Sound, 0); err == nil {
						t.Error("a word mended the damage")
					}
					mustChange(t, c.RemoveMember, victim.name)
					join(t, c, victim.name)
				} else if s.Disk != failure.Sound {
					t.Errorf("a disk that did no harm is said to be %s", s.Disk)
				}
				revive(t, c)
				awaitWall(t, "a settled cluster", c.Settled)
				if r := readKey(victim, "without it", false, 5*time.Second); r.Count != 1 || r.Err != nil {
					t.Errorf("%+v", r)
				}
				if n := c.versions("k77"); n != 1 {
					t.Errorf("k77 has version %d", n)
				}
			})
		})
	}
}

func TestAFolderOfAnotherLayoutIsRefusedByName(t *testing.T) {
	t.Parallel()
	o := Options{Members: names(1), Dir: t.TempDir(), Rate: 5, Sync: true}
	c := openLed(t, o)
	mustPut(t, c, "a")
	c.Close()
	version := func(dir, text string) {
		t.Helper()
		path := dir + "/VERSION"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			os.Remove(path)
		}
	}
	refused := func(want string) {
		t.Helper()
		c, err := Open(o)
		if err == nil {
			err = fmt.Errorf("%s", c.Store(names(1)[0]).Status().Err)
			c.Close()
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), o.Dir) {
			t.Errorf("got %q, want …%s…", err, want)
		}
	}
	for _, dir := range []string{o.Dir, o.Dir + "/master-1"} {
		version(dir, "kubeviz store layout 7\n")
		refused("layout 7 of another kubeviz")
		version(dir, "")
		refused("older kubeviz (layout 1)")
		version(dir, "gibberish")
		refused("does not say which layout")
		version(dir, "kubeviz store layout 2\n")
	}
	c = openLed(t, o)
	if !c.has("a") {
		t.Error("what was refused spoiled the folder")
	}
}

// A power loss takes what was not forced to the medium, and nothing else.
func TestAPowerLossTakesOnlyWhatWasNotForced(t *testing.T) {
	for _, c := range []struct {
		name           string
		sync, volatile bool
		loses          bool
	}{{"synced", true, true, false}, {"not synced, and power fails", false, true, true}, {"not synced, and only members stop", false, false, false}} {
		t.Run(c.name, func(t *testing.T) {
			lost := 0
			for seed := range uint64(8) {
				synctest.Test(t, func(t *testing.T) {
					cl := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, Sync: c.sync, Volatile: c.volatile, Seed: seed})
					for i := range 20 {
						mustPut(t, cl, fmt.Sprint("k", i))
					}
					awaitWall(t, "all with all", cl.Settled)
					killAll(cl)
					for _, m := range cl.Members() {
						cl.find(m).waitDown()
						cl.StartMember(m)
					}
					pause(3*time.Second, nil)
					if cl.leaderLife() == nil || !cl.has("k19") {
						lost++
					}
				})
			}
			if c.loses != (lost > 0) {
				t.Errorf("%d of 8 clusters lost what was acknowledged", lost)
			}
		})
	}
}
