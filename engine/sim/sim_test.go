package sim

import (
	"context"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestProcessesInterleaveByDueTimeThenOrder(t *testing.T) {
	l := New(Options{Start: start, Rate: Unpaced})
	g := l.NewGroup("g")
	var got []string
	for _, d := range []time.Duration{3, 1, 2, 1} {
		name := d.String()
		l.Spawn(g, name, func(p *Proc) {
			p.Sleep(d * time.Second)
			got = append(got, p.Now().Sub(start).String()+" "+name)
		})
	}
	if err := l.RunUntil(context.Background(), start.Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	want := []string{"1s 1ns", "1s 1ns", "2s 2ns", "3s 3ns"}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if !l.Now().Equal(start.Add(10 * time.Second)) {
		t.Fatalf("now is %v", l.Now())
	}
}

func TestKillingAGroupUnwindsParkedProcesses(t *testing.T) {
	l := New(Options{Start: start, Rate: Unpaced})
	g, h := l.NewGroup("g"), l.NewGroup("h")
	var unwound, after int
	var q Queue[int]
	for range 3 {
		l.Spawn(g, "p", func(p *Proc) {
			defer func() { unwound++ }()
			func() { q.Get(p) }()
			after++
		})
	}
	l.Spawn(g, "self", func(p *Proc) {
		defer func() { unwound++ }()
		p.Sleep(2 * time.Second)
		g.Kill()
		p.Sleep(1)
		after++
	})
	l.Spawn(h, "other", func(p *Proc) { p.Sleep(3 * time.Second); after += 10 })
	l.RunUntil(context.Background(), start.Add(5*time.Second))
	if unwound != 4 || after != 10 || l.Procs() != 0 {
		t.Fatalf("unwound %d, after %d, procs %d", unwound, after, l.Procs())
	}
}

func TestFutureAwaitTimesOutInSimulatedTime(t *testing.T) {
	l := New(Options{Start: start, Rate: Unpaced})
	g := l.NewGroup("g")
	var f Future[int]
	var ok bool
	var at time.Duration
	l.Spawn(g, "p", func(p *Proc) {
		_, ok = f.AwaitFor(p, 7*time.Second)
		at = p.Now().Sub(start)
	})
	l.RunUntil(context.Background(), start.Add(time.Minute))
	if ok || at != 7*time.Second {
		t.Fatalf("ok %v at %v", ok, at)
	}
}

func BenchmarkSleepAndSwitch(b *testing.B) {
	l := New(Options{Start: start, Rate: Unpaced})
	g := l.NewGroup("g")
	n := 0
	for range 100 {
		l.Spawn(g, "p", func(p *Proc) {
			for {
				p.Sleep(time.Second)
				if n++; n >= b.N {
					l.Halt()
				}
			}
		})
	}
	b.ReportAllocs()
	l.Run(context.Background())
}

func BenchmarkSpawn(b *testing.B) {
	l := New(Options{Start: start, Rate: Unpaced})
	g := l.NewGroup("g")
	b.ReportAllocs()
	l.Spawn(g, "main", func(p *Proc) {
		for range b.N {
			p.Go("x", func(p *Proc) {})
			p.Yield()
		}
		l.Halt()
	})
	l.Run(context.Background())
}
