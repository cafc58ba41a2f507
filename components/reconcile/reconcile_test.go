package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// bench is a program without an API server: queues need none.
type bench struct {
	loop *sim.Loop
	jour *journal.Journal
	pr   *kubeapi.Process
}

func newBench() *bench {
	l := sim.New(sim.Options{Start: start, Seed: 1, Rate: sim.Unpaced})
	j := journal.New(journal.Options{Now: l.Now})
	return &bench{loop: l, jour: j, pr: &kubeapi.Process{Loop: l, Sink: j, Group: l.NewGroup("test"), Addr: simnet.Addr{Host: "master-1", Process: "test"}}}
}

func (b *bench) run(d time.Duration) { b.loop.RunUntil(context.Background(), b.loop.Now().Add(d)) }

// log notes what a reconciler saw: "0s a", with the time since the start.
func (b *bench) reconciler(log *[]string, fn func(ps *Pass, key kubeapi.Key) (Result, error)) Func {
	return func(ps *Pass, key kubeapi.Key) (Result, error) {
		*log = append(*log, fmt.Sprintf("%v %s", ps.Now().Sub(start), key))
		return fn(ps, key)
	}
}

func TestAKeyWaitsOnceHoweverOftenItIsAdded(t *testing.T) {
	b := newBench()
	var log []string
	c := New(b.pr, "c", b.reconciler(&log, func(*Pass, kubeapi.Key) (Result, error) { return Done, nil }))
	for _, k := range []kubeapi.Key{"a", "b", "a", "a"} {
		c.Add(k, 0)
	}
	c.Start(1)
	b.run(time.Second)
	if want := []string{"0s a", "0s b"}; !slices.Equal(log, want) {
		t.Fatalf("got %v, want %v", log, want)
	}
}

func TestAKeyIsNeverInWorkTwiceAndComesBackWhenAddedMeanwhile(t *testing.T) {
	b := newBench()
	var log []string
	busy, most := 0, 0
	c := New(b.pr, "c", b.reconciler(&log, func(ps *Pass, _ kubeapi.Key) (Result, error) {
		busy++
		most = max(most, busy)
		ps.Proc.Sleep(time.Second)
		busy--
		return Done, nil
	}))
	c.Start(3)
	c.Add("a", 0)
	b.loop.After(500*time.Millisecond, func() { c.Add("a", 0); c.Add("a", 0) })
	b.run(10 * time.Second)
	if want := []string{"0s a", "1s a"}; !slices.Equal(log, want) || most != 1 {
		t.Fatalf("got %v with %d at once, want %v with 1", log, most, want)
	}
}

func TestFailuresComeBackWithDoublingDelay(t *testing.T) {
	b := newBench()
	var log []string
	fails := 5
	c := New(b.pr, "c", b.reconciler(&log, func(*Pass, kubeapi.Key) (Result, error) {
		if fails--; fails >= 0 {
			return Done, errors.New("no")
		}
		return Done, nil
	}))
	c.Start(1)
	c.Add("a", 0)
	b.run(time.Minute)
	if want := []string{"0s a", "5ms a", "15ms a", "35ms a", "75ms a", "155ms a"}; !slices.Equal(log, want) {
		t.Fatalf("got %v, want %v", log, want)
	}
	if n := c.Queue().Retries("a"); n != 0 {
		t.Errorf("after success %d failures are still counted", n)
	}
}

func TestDelayNeverExceedsItsLimit(t *testing.T) {
	b := newBench()
	q := NewQueue(b.pr, "q")
	for range 30 {
		q.AddRateLimited("a", 0, "failed")
	}
	if d := q.delayed["a"].due.Sub(start); d != 5*time.Millisecond {
		t.Errorf("a later retry pushed an earlier one back to %v", d)
	}
	q.retries["b"] = 1000
	q.AddRateLimited("b", 0, "failed")
	if d := q.delayed["b"].due.Sub(start); d != retryMax {
		t.Errorf("delay %v, want %v", d, retryMax)
	}
}

func TestManyFailuresAtOnceComeBackTenASecond(t *testing.T) {
	b := newBench()
	q := NewQueue(b.pr, "q")
	for i := range 150 {
		q.AddRateLimited(kubeapi.Key(fmt.Sprint(i)), 0, "failed")
	}
	for key, want := range map[kubeapi.Key]time.Duration{"0": 5 * time.Millisecond, "99": 5 * time.Millisecond, "109": time.Second, "149": 5 * time.Second} {
		if d := q.delayed[key].due.Sub(start); d != want {
			t.Errorf("number %s comes back after %v, want %v", key, d, want)
		}
	}
}

func TestAfterAsksForAnotherPass(t *testing.T) {
	b := newBench()
	var log []string
	c := New(b.pr, "c", b.reconciler(&log, func(ps *Pass, _ kubeapi.Key) (Result, error) {
		if ps.Now().Equal(start) {
			return Result{After: 10 * time.Second}, nil
		}
		return Done, nil
	}))
	c.Start(1)
	c.Add("a", 0)
	b.loop.After(time.Second, func() { c.AddAfter("a", time.Hour, 0, "later") }) // later than what is planned: changes nothing
	b.run(time.Minute)
	if want := []string{"0s a", "10s a"}; !slices.Equal(log, want) {
		t.Fatalf("got %v, want %v", log, want)
	}
}

func TestDecisionsCarryTheCauseAndBecomeIt(t *testing.T) {
	b := newBench()
	cause := b.jour.Emit(event.You, 0, event.CommandGiven{Text: "scale"})
	var after event.Seq
	c := New(b.pr, "c", Func(func(ps *Pass, _ kubeapi.Key) (Result, error) {
		ps.Decide("make %d", 3)
		after = ps.Proc.Cause
		return Done, nil
	}))
	c.Start(1)
	c.Add("a", cause)
	b.run(time.Second)
	r, ok := b.jour.Get(after)
	rec, is := r.Event.(event.Reconciled)
	if !ok || !is || r.Cause != cause || rec.Decision != "make 3" || rec.Key != "a" {
		t.Fatalf("got %+v", r)
	}
}

func TestARetryRemembersWhatItFollowsFrom(t *testing.T) {
	b := newBench()
	cause := b.jour.Emit(event.You, 0, event.CommandGiven{Text: "scale"})
	var causes []event.Seq
	c := New(b.pr, "c", Func(func(ps *Pass, _ kubeapi.Key) (Result, error) {
		causes = append(causes, ps.Proc.Cause)
		if len(causes) == 1 {
			return Done, errors.New("no")
		}
		return Done, nil
	}))
	c.Start(1)
	c.Add("a", cause)
	b.run(time.Second)
	r, _ := b.jour.Get(causes[1])
	if rec, ok := r.Event.(event.Reconciled); !ok || rec.Error != "no" || r.Cause != cause {
		t.Fatalf("the retry follows from %+v", r)
	}
}

func TestIdlePassesAreNotJournalled(t *testing.T) {
	b := newBench()
	c := New(b.pr, "c", Func(func(*Pass, kubeapi.Key) (Result, error) { return Done, nil }))
	c.Start(1)
	c.Add("a", 0)
	b.run(time.Second)
	recs, _ := b.jour.Read(nil, 1, 100)
	for _, r := range recs {
		if r.Event.Name() == "Reconciled" {
			t.Fatalf("%+v", r)
		}
	}
}

func TestQueueStateIsReportedAtMostFiveTimesASecond(t *testing.T) {
	b := newBench()
	q := NewQueue(b.pr, "q")
	for i := range 100 {
		b.loop.After(time.Duration(i)*10*time.Millisecond, func() { q.Add(kubeapi.Key(fmt.Sprint(i)), 0) })
	}
	b.run(2 * time.Second)
	recs, _ := b.jour.Read(nil, 1, 100)
	if n := len(recs); n < 4 || n > 6 {
		t.Fatalf("%d reports of a second's changes", n)
	}
	if last := recs[len(recs)-1].Event.(event.QueueChanged); last.Waiting != 100 {
		t.Fatalf("the last says %d waiting, want 100", last.Waiting)
	}
}

func TestExpectations(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(e *Expectations)
		after time.Duration
		want  bool
	}{
		{"nothing expected", func(*Expectations) {}, 0, true},
		{"creations not seen", func(e *Expectations) { e.Expect("k", start, 2); e.Created("k") }, 0, false},
		{"creations seen", func(e *Expectations) { e.Expect("k", start, 2); e.Created("k"); e.Created("k") }, 0, true},
		{"one more than expected", func(e *Expectations) { e.Expect("k", start, 1); e.Created("k"); e.Created("k") }, 0, true},
		{"a deletion seen twice counts once", func(e *Expectations) { e.Expect("k", start, 0, "a", "b"); e.Deleted("k", "a"); e.Deleted("k", "a") }, 0, false},
		{"deletions seen", func(e *Expectations) { e.Expect("k", start, 0, "a", "b"); e.Deleted("k", "a"); e.Deleted("k", "b") }, 0, true},
		{"another object's deletion", func(e *Expectations) { e.Expect("k", start, 0, "a"); e.Deleted("k", "z") }, 0, false},
		{"waited five minutes", func(e *Expectations) { e.Expect("k", start, 2) }, ExpectationsTimeout, false},
		{"waited longer", func(e *Expectations) { e.Expect("k", start, 2) }, ExpectationsTimeout + time.Second, true},
		{"forgotten", func(e *Expectations) { e.Expect("k", start, 2); e.Forget("k") }, 0, true},
	} {
		e := NewExpectations()
		c.do(e)
		if got := e.Satisfied("k", start.Add(c.after)); got != c.want {
			t.Errorf("%s: satisfied %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAKilledProgramStopsItsTimers(t *testing.T) {
	b := newBench()
	var log []string
	c := New(b.pr, "c", b.reconciler(&log, func(*Pass, kubeapi.Key) (Result, error) { return Done, nil }))
	c.Start(1)
	c.AddAfter("a", time.Second, 0, "soon")
	b.run(500 * time.Millisecond)
	b.pr.Group.Kill()
	b.run(10 * time.Second)
	if len(log) > 0 {
		t.Fatal(strings.Join(log, ", "))
	}
}

func BenchmarkQueue(b *testing.B) {
	x := newBench()
	n := 0
	c := New(x.pr, "c", Func(func(*Pass, kubeapi.Key) (Result, error) {
		if n++; n >= b.N {
			x.loop.Halt()
		}
		return Done, nil
	}))
	c.Start(5)
	keys := make([]kubeapi.Key, 1000)
	for i := range keys {
		keys[i] = kubeapi.Key(fmt.Sprintf("default/pod-%d", i))
	}
	x.loop.Spawn(x.pr.Group, "feeder", func(p *sim.Proc) {
		for {
			for _, k := range keys {
				c.Add(k, 1)
			}
			p.Sleep(time.Millisecond)
		}
	})
	b.ReportAllocs()
	x.loop.Run(context.Background())
}
