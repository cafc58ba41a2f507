package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func unpaced(seed uint64) *Loop { return New(Options{Start: start, Seed: seed, Rate: Unpaced}) }

func runFor(t *testing.T, l *Loop, d time.Duration) {
	t.Helper()
	if err := l.RunUntil(t.Context(), l.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}

// A made-up program: processes that draw numbers, sleep, pass values on, start and kill each other. Everything it does is in its log.
func chaos(seed uint64) string {
	l := New(Options{Start: start, Seed: seed, Rate: Unpaced, Panicked: func(string, any, []byte) {}})
	var log strings.Builder
	var q Queue[int]
	groups := make([]*Group, 4)
	var worker func(p *Proc)
	worker = func(p *Proc) {
		r := p.Rand()
		defer func() { fmt.Fprintln(&log, p.Now().Sub(start), p.group.name, p.name, "ends") }()
		for {
			n := r.IntN(12)
			fmt.Fprintln(&log, p.Now().Sub(start), p.group.name, p.name, n)
			switch n {
			case 0, 1:
				q.Put(n)
			case 2, 3:
				q.GetFor(p, time.Duration(r.IntN(1000))*time.Millisecond)
			case 4:
				if l.Procs() < 60 {
					p.Go(fmt.Sprint("child", r.IntN(3)), worker)
				}
			case 5:
				if r.IntN(6) == 0 {
					i := r.IntN(len(groups))
					groups[i].Kill()
					groups[i] = l.NewGroup(fmt.Sprint("g", i))
					l.Spawn(groups[i], "main", worker)
				}
			case 6:
				if r.IntN(20) == 0 {
					panic("chaos")
				}
			case 7:
				p.Yield()
			default:
				p.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
			}
		}
	}
	for i := range groups {
		groups[i] = l.NewGroup(fmt.Sprint("g", i))
		l.Spawn(groups[i], "main", worker)
	}
	l.RunUntil(context.Background(), start.Add(time.Minute))
	fmt.Fprintln(&log, l)
	for _, g := range groups {
		g.Kill()
	}
	return log.String()
}

func TestLawTheSameSeedGivesTheSameRun(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(40) {
		a := chaos(seed)
		if b := chaos(seed); a != b {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		if other, ok := seen[a]; ok {
			t.Fatalf("seeds %d and %d make the same run", seed, other)
		}
		seen[a] = seed
		if strings.Count(a, "\n") < 200 {
			t.Fatalf("seed %d: nothing happens:\n%s", seed, a)
		}
	}
}

func TestLawEveryProcessEndsWhenItsGroupIsKilled(t *testing.T) {
	for seed := range uint64(20) {
		l := unpaced(seed)
		rng := l.Rand("test")
		g := l.NewGroup("g")
		var q Queue[int]
		var f Future[int]
		var c Cond
		began, ended := 0, 0
		for range 50 {
			kind := rng.IntN(6)
			l.Spawn(g, "p", func(p *Proc) {
				began++
				defer func() { ended++ }()
				for {
					switch kind {
					case 0:
						p.Sleep(time.Duration(p.Rand().IntN(1e9)))
					case 1:
						q.Get(p)
					case 2:
						f.AwaitFor(p, time.Hour)
					case 3:
						c.WaitFor(p, time.Duration(p.Rand().IntN(1e9)))
					case 4:
						p.Yield()
						p.Sleep(time.Millisecond)
					default:
						func() {
							defer p.Sleep(time.Second) // parks while it unwinds
							c.Wait(p)
						}()
					}
				}
			})
		}
		runFor(t, l, time.Duration(rng.IntN(5000))*time.Millisecond)
		g.Kill()
		g.Kill()
		if l.Procs() != 0 || began != ended || len(c.waiting) != 0 || len(q.cond.waiting) != 0 {
			t.Fatalf("seed %d: %d live, %d began, %d ended, %d wait", seed, l.Procs(), began, ended, len(c.waiting))
		}
		if p := l.Spawn(g, "late", func(*Proc) { t.Error("a process started in a dead group") }); !p.finished {
			t.Fatal("it lives")
		}
		told := false
		if g.OnKill(func() { told = true }); !told {
			t.Error("who asks a dead group is not told")
		}
		runFor(t, l, time.Second)
	}
}

func TestASignalIsNotLostWithTheProcessItWoke(t *testing.T) {
	l := unpaced(1)
	a, b := l.NewGroup("a"), l.NewGroup("b")
	var q Queue[string]
	var got string
	l.Spawn(a, "first", func(p *Proc) { q.Get(p); t.Error("the dead one got it") })
	l.Spawn(b, "second", func(p *Proc) { got, _ = q.Get(p) })
	l.After(time.Second, func() {
		q.Put("x") // wakes a's process, which dies before it runs
		a.Kill()
	})
	runFor(t, l, time.Minute)
	if got != "x" {
		t.Error("the second one still waits although a value is there")
	}
}

func TestASignalGoesToNobodyWhoseTimeIsUp(t *testing.T) {
	l := unpaced(1)
	g := l.NewGroup("g")
	var c Cond
	woken := map[string]bool{}
	l.Spawn(g, "impatient", func(p *Proc) { woken["impatient"] = c.WaitFor(p, time.Second) })
	l.Spawn(g, "patient", func(p *Proc) { p.Yield(); c.Wait(p); woken["patient"] = true })
	l.After(time.Second, c.Signal) // after the timer of the impatient one, at the same instant
	runFor(t, l, 500*time.Millisecond)
	l.After(500*time.Millisecond, c.Signal)
	runFor(t, l, time.Minute)
	if !woken["patient"] {
		t.Errorf("woken: %v", woken)
	}
}

func TestAQueueHandsEveryValueToExactlyOne(t *testing.T) {
	for seed := range uint64(30) {
		l := unpaced(seed)
		g := l.NewGroup("g")
		var q Queue[int]
		got := map[int]int{}
		closed := 0
		for range 7 {
			l.Spawn(g, "taker", func(p *Proc) {
				for {
					v, ok := q.GetFor(p, time.Duration(p.Rand().IntN(300))*time.Millisecond)
					if !ok && q.closed {
						closed++
						return
					}
					if ok {
						got[v]++
						p.Sleep(time.Duration(p.Rand().IntN(50)) * time.Millisecond)
					}
				}
			})
		}
		l.Spawn(g, "giver", func(p *Proc) {
			for i := range 500 {
				q.Put(i)
				if p.Rand().IntN(3) == 0 {
					p.Sleep(time.Duration(p.Rand().IntN(40)) * time.Millisecond)
				}
			}
			q.Close()
		})
		runFor(t, l, time.Hour)
		if len(got) != 500 || closed != 7 || l.Procs() != 0 {
			t.Fatalf("seed %d: %d values, %d takers ended", seed, len(got), closed)
		}
		for v, n := range got {
			if n != 1 {
				t.Fatalf("seed %d: value %d was handed out %d times", seed, v, n)
			}
		}
	}
}

func TestProcessesOfOneNameDrawDifferentNumbers(t *testing.T) {
	l := unpaced(1)
	g := l.NewGroup("apiserver")
	seen := map[uint64]bool{}
	for range 20 {
		l.Spawn(g, "serve", func(p *Proc) { seen[p.Rand().Uint64()] = true })
	}
	runFor(t, l, time.Second)
	if len(seen) != 20 {
		t.Errorf("20 processes drew %d different numbers", len(seen))
	}
}

func TestAStreamDoesNotDependOnWhoElseDraws(t *testing.T) {
	draw := func(others int) uint64 {
		l := unpaced(9)
		for i := range others {
			l.Rand(fmt.Sprint(i)).Uint64()
		}
		var n uint64
		l.Spawn(l.NewGroup("g"), "p", func(p *Proc) { n = p.Rand().Uint64() })
		runFor(t, l, time.Second)
		return n
	}
	if draw(0) != draw(50) {
		t.Error("it does")
	}
}

func TestAPanicEndsItsGroupAndNoOther(t *testing.T) {
	var who string
	l := New(Options{Start: start, Rate: Unpaced, Panicked: func(w string, v any, stack []byte) {
		who = fmt.Sprint(w, " ", v, " ", len(stack) > 0)
	}})
	g, h := l.NewGroup("m1/scheduler"), l.NewGroup("other")
	sibling, other := "lives", "lives"
	l.Spawn(g, "sibling", func(p *Proc) { defer func() { sibling = "ended" }(); p.Sleep(time.Hour) })
	l.Spawn(h, "other", func(p *Proc) { p.Sleep(time.Minute); other = "went on" })
	l.Spawn(g, "worker", func(p *Proc) { p.Sleep(time.Second); panic("oops") })
	l.After(2*time.Second, func() { panic("callback") })
	runFor(t, l, 1500*time.Millisecond)
	if who != "m1/scheduler worker oops true" || sibling != "ended" || !g.Dead() {
		t.Errorf("told %q, sibling %s", who, sibling)
	}
	runFor(t, l, time.Hour)
	if who != "callback callback true" || other != "went on" {
		t.Errorf("told %q, other %s", who, other)
	}
}

func TestWithoutAListenerAPanicEndsTheRun(t *testing.T) {
	l := unpaced(1)
	l.Spawn(l.NewGroup("g"), "p", func(p *Proc) { p.Yield(); panic("oops") })
	defer func() {
		if v := recover(); v != "oops" {
			t.Errorf("recovered %v", v)
		}
	}()
	l.RunUntil(context.Background(), start.Add(time.Second))
}

func TestCausesAreInherited(t *testing.T) {
	l := unpaced(1)
	g := l.NewGroup("g")
	l.Spawn(g, "p", func(p *Proc) {
		p.Cause = 7
		p.Go("child", func(c *Proc) {
			if c.Cause != 7 {
				t.Errorf("cause %d", c.Cause)
			}
			c.Cause = 8
		})
		p.Yield()
		if p.Cause != 7 {
			t.Errorf("a child changed its parent's cause to %d", p.Cause)
		}
	})
	runFor(t, l, time.Second)
}

// Paused, stepped, resumed: in a bubble, so that the wall is virtual and the order of goroutines is under control.
func TestAPauseIsExactAndAStepIsOneThing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: start, Rate: 0})
		var log []string
		note := func(s string) { log = append(log, fmt.Sprint(l.Now().Sub(start), " ", s)) }
		l.Spawn(l.NewGroup("g"), "p", func(p *Proc) {
			for i := range 3 {
				note(fmt.Sprint(i))
				p.Sleep(time.Second)
			}
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		wait := func() { time.Sleep(time.Hour); synctest.Wait() }
		expect := func(when string, want ...string) {
			t.Helper()
			if wait(); !slices.Equal(log, want) {
				t.Errorf("%s: %q, want %q", when, log, want)
			}
		}
		expect("paused")
		l.Post(func() { note("posted") })
		expect("an answer from outside waits while paused")
		l.Control(func() { l.Step(1) })
		expect("first step: the process", "0s 0")
		l.Control(func() { l.Step(1) })
		expect("second step: the answer", "0s 0", "0s posted")
		l.Control(func() { l.Step(1) })
		expect("third: the timer", "0s 0", "0s posted")
		l.Control(func() { l.Step(1) })
		expect("fourth: the process again", "0s 0", "0s posted", "1s 1")
		l.Control(func() { l.SetRate(1) })
		time.Sleep(500 * time.Millisecond)
		l.Control(func() { l.SetRate(0); note("paused") })
		expect("half a second later", "0s 0", "0s posted", "1s 1", "1.5s paused")
		l.Control(func() { l.SetRate(Unpaced) })
		expect("free", "0s 0", "0s posted", "1s 1", "1.5s paused", "2s 2")
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestStopWhenPausesAtTheVeryThing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: start, Rate: Unpaced})
		n, told := 0, time.Duration(-1)
		g := l.NewGroup("g")
		l.Spawn(g, "p", func(p *Proc) {
			for {
				n++
				p.Sleep(time.Second)
			}
		})
		l.StopWhen(func() bool { return n == 42 }, func() { told = l.Now().Sub(start) })
		ctx, stop := context.WithCancel(t.Context())
		go l.Run(ctx)
		time.Sleep(time.Second)
		synctest.Wait()
		if n != 42 || told != 41*time.Second || l.Rate() != 0 {
			t.Errorf("stopped at %d, %v, rate %v", n, told, l.Rate())
		}
		stop()
		synctest.Wait()
		g.Kill()
	})
}

// shaky makes the wall a little later each time it is read, as a real one is.
func shaky(l *Loop) {
	n := 0
	l.wall = func() time.Time { n++; return time.Now().Add(time.Duration(n) * time.Microsecond) }
}

func TestAWaitLongerThanAStallEnds(t *testing.T) {
	got := pacedRun(t, 1, 20*time.Second, func(l *Loop, log func(string)) {
		shaky(l)
		l.After(10*time.Second, func() { log("timer") })
	})
	if d := got["timer"] - 10*time.Second; d < -50*time.Millisecond || d > 50*time.Millisecond {
		t.Errorf("a timer of 10 s at 1x fired after %v", got["timer"])
	}
}

func TestALoopThatCannotKeepUpRunsSlowerInsteadOfRushing(t *testing.T) {
	late := time.Duration(0)
	got := pacedRun(t, 1, 10*time.Second, func(l *Loop, log func(string)) {
		for i := range 10 {
			l.After(time.Duration(i+1)*time.Second, func() {
				if i == 2 {
					time.Sleep(30 * time.Second) // heavy work, or a stopped program
				}
				log(fmt.Sprint(i))
			})
		}
	})
	for i := 4; i < 10; i++ { // after the hole the old distances hold again
		if d := got[fmt.Sprint(i)] - got[fmt.Sprint(i-1)]; d < 900*time.Millisecond {
			late += time.Second - d
			t.Errorf("timer %d came %v after the one before", i, d)
		}
	}
}

func TestCommandsAreTakenInAtTheInstantTheyAreGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: start, Rate: 10})
		l.After(time.Hour, func() {})
		ctx, stop := context.WithCancel(t.Context())
		go l.Run(ctx)
		time.Sleep(3 * time.Second)
		var at time.Duration
		l.Control(func() { at = l.Now().Sub(start) })
		synctest.Wait()
		if d := at - 30*time.Second; d < -time.Second || d > time.Second {
			t.Errorf("a command after 3 s at 10x was taken in at %v", at)
		}
		if d := l.Clock().Sub(start) - 30*time.Second; d < -time.Second || d > time.Second {
			t.Errorf("the clock for other goroutines says %v", l.Clock().Sub(start))
		}
		stop()
		synctest.Wait()
	})
}

func TestTheGateHoldsAFreeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := Rate(2)
		l := New(Options{Start: start, Rate: Unpaced, Gate: func() Rate { return gate }})
		began := time.Now()
		l.After(10*time.Second, func() { gate = 0 })
		l.After(11*time.Second, func() {})
		go func() { time.Sleep(time.Minute); l.Control(func() { gate = Unpaced }) }()
		if err := l.RunUntil(t.Context(), start.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d < 59*time.Second || d > 61*time.Second { // 5 s at 2x, then held still until the minute is over, then free
			t.Errorf("took %v of wall", d)
		}
	})
}

func TestFarInstantsDoNotOverflowThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: start, Rate: RateMin})
		polls := 0
		l.wall = func() time.Time { polls++; return time.Now() }
		l.At(start.Add(math.MaxInt64), func() {})
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		l.Run(ctx)
		if polls > 5000 {
			t.Errorf("looked at the wall %d times in 10 s", polls)
		}
	})
}

func TestRunUntilFiresWhatIsDueAtItsEndAndNothingLater(t *testing.T) {
	l := unpaced(1)
	var log []string
	for _, d := range []time.Duration{5, 4, 6} {
		l.After(d*time.Second, func() { log = append(log, d.String()) })
	}
	runFor(t, l, 5*time.Second)
	if !slices.Equal(log, []string{"4ns", "5ns"}) || !l.Now().Equal(start.Add(5*time.Second)) {
		t.Errorf("%v at %v", log, l.Now())
	}
	if idle, next := l.Idle(); !idle || !next.Equal(start.Add(6*time.Second)) {
		t.Errorf("idle %v, next %v", idle, next)
	}
	runFor(t, l, 0)
	l.Soon(l.Halt)
	runFor(t, l, time.Hour)
	if l.Now().After(start.Add(5 * time.Second)) {
		t.Errorf("went on to %v after Halt", l.Now())
	}
}
