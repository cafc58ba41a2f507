package engine_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/presets"
)

// ready counts demo pods that are ready and calls done at six.
type ready struct {
	pods map[string]bool
	done func()
}

func (r *ready) Write(rec event.Record) error {
	c, ok := rec.Event.(event.ObjectChanged)
	if !ok {
		return nil
	}
	if p, ok := c.Object.(*corev1.Pod); ok && p.Namespace == "default" {
		r.pods[p.Name] = kinds.PodIsReady(p) && c.Type != event.Deleted
		n := 0
		for _, ok := range r.pods {
			if ok {
				n++
			}
		}
		if n == 6 {
			r.done()
		}
	}
	return nil
}

func ha(b *testing.B) scenario.Scenario {
	s, err := presets.Load("ha")
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkDemoReady is the wall time from the making of an engine to six ready pods, on the raft store at the screen's default rate.
func BenchmarkDemoReady(b *testing.B) {
	for range b.N {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		e, err := engine.New(engine.Options{Scenario: ha(b), Store: engine.StoreRaft, Seed: 1, Rate: 10})
		if err != nil {
			b.Fatal(err)
		}
		e.Journal().AddWriter(&ready{pods: map[string]bool{}, done: cancel})
		e.Run(ctx)
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		cancel()
	}
}

// BenchmarkIdle is the share of one core that the ha preset costs at 1x and 10x when nothing happens, raft store included.
func BenchmarkIdle(b *testing.B) {
	for name, rate := range map[string]sim.Rate{"1x": 1, "10x": 10} {
		b.Run(name, func(b *testing.B) {
			e, err := engine.New(engine.Options{Scenario: ha(b), Store: engine.StoreRaft, Seed: 1, Rate: 60})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			if err := e.RunFor(context.Background(), time.Minute); err != nil {
				b.Fatal(err)
			}
			e.SetRate(rate)
			b.ResetTimer()
			for range b.N {
				cpu, wall := spent(), time.Now()
				if err := e.RunFor(context.Background(), e.Now().Sub(e.Start())+time.Duration(3*float64(rate)*float64(time.Second))); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(100*float64(spent()-cpu)/float64(time.Since(wall)), "%core")
			}
		})
	}
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMemoryRun is the wall time of ten simulated minutes of the ha preset on the memory store, a worker cut off and healed in between.
func BenchmarkMemoryRun(b *testing.B) {
	s := ha(b)
	s.Steps = []scenario.Step{{At: "1m", Do: "cut worker-1 all"}, {At: "8m", Do: "heal"}}
	for range b.N {
		e, err := engine.New(engine.Options{Scenario: s, Store: engine.StoreMemory, Seed: 1, Rate: sim.Unpaced, Start: engine.RepeatableStart, Repeatable: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.RunFor(context.Background(), 10*time.Minute); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
