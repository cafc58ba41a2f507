package raftstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// openLed opens a cluster and waits for its leader.
func openLed(b testing.TB, o Options) *RaftCluster {
	b.Helper()
	if o.Dir != "" {
		o.Rate = min(o.Rate, WallRate)
	}
	c, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	awaitWall(b, "a settled cluster", c.Settled)
	return c
}

func awaitWall(b testing.TB, what string, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			b.Fatalf("no %s in time", what)
		}
		pause(time.Millisecond, nil)
	}
}

func names(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("master-", i+1))
	}
	return out
}

func put(s Store, key string, value []byte) TxnResult {
	ch := make(chan TxnResult, 1)
	s.Txn(context.Background(), mvcc.Txn{Then: []mvcc.Op{{Key: key, Value: value}}}, func(r TxnResult) { ch <- r })
	return <-ch
}

func disks(b *testing.B, run func(b *testing.B, o func() Options)) {
	b.Run("memory", func(b *testing.B) { run(b, func() Options { return Options{Members: names(3), InMemory: true} }) })
	b.Run("synced", func(b *testing.B) {
		run(b, func() Options { return Options{Members: names(3), Dir: b.TempDir(), Sync: true} })
	})
	b.Run("bolt", func(b *testing.B) { run(b, func() Options { return Options{Members: names(3), Dir: b.TempDir()} }) })
}

func BenchmarkWrites(b *testing.B) {
	disks(b, func(b *testing.B, o func() Options) {
		for _, writers := range []int{1, 64, 1000} {
			b.Run(fmt.Sprint(writers), func(b *testing.B) {
				c := openLed(b, o())
				leader := c.Store(c.leaderLife().m.name)
				value := make([]byte, 256)
				var next atomic.Int64
				var wg sync.WaitGroup
				before := processor()
				b.ResetTimer()
				for w := range writers {
					wg.Go(func() {
						key := fmt.Sprint("/registry/pods/default/", w)
						for next.Add(1) <= int64(b.N) {
							if r := put(leader, key, value); r.Outcome != Done {
								b.Error(r.Err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
				b.ReportMetric(float64(b.N)/float64(leader.Status().Applied), "writes/entry")
				b.ReportMetric(float64((processor()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	})
}

func BenchmarkLinearizableRead(b *testing.B) {
	for _, who := range []string{"leader", "follower"} {
		b.Run(who, func(b *testing.B) {
			c := openLed(b, Options{Members: names(3), InMemory: true})
			name := c.leaderLife().m.name
			for _, m := range c.Members() {
				if who == "follower" && m != name {
					name = m
					break
				}
			}
			s := c.Store(name)
			put(s, "a", nil)
			ch := make(chan RangeResult, 1)
			b.ResetTimer()
			for range b.N {
				s.Range(context.Background(), RangeRequest{Range: mvcc.Range{Key: "a"}}, func(r RangeResult) { ch <- r })
				if r := <-ch; r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

func BenchmarkForwardedWrite(b *testing.B) {
	c := openLed(b, Options{Members: names(3), InMemory: true})
	for _, m := range c.Members() {
		if m != c.leaderLife().m.name {
			s := c.Store(m)
			for b.Loop() {
				if r := put(s, "a", nil); r.Outcome != Done {
					b.Fatal(r.Err)
				}
			}
			return
		}
	}
}

// BenchmarkWatchFanOut writes 64 at a time while 1,000 watches listen on one member, ten to each key.
func BenchmarkWatchFanOut(b *testing.B) {
	c := openLed(b, Options{Members: names(3), InMemory: true})
	leader := c.Store(c.leaderLife().m.name)
	var heard atomic.Int64
	for i := range 1000 {
		cancel := leader.Watch(WatchRequest{Prefix: fmt.Sprintf("/k/%02d", i%100)}, func(batch WatchBatch) { heard.Add(int64(len(batch.Events))) })
		defer cancel()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range 64 {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				put(leader, fmt.Sprintf("/k/%02d", w), nil)
			}
		})
	}
	wg.Wait()
	awaitWall(b, "all deliveries", func() bool { return heard.Load() == int64(b.N)*10 })
	b.ReportMetric(float64(heard.Load())/b.Elapsed().Seconds(), "deliveries/s")
}

func BenchmarkSettled(b *testing.B) {
	c := openLed(b, Options{Members: names(5), InMemory: true})
	for b.Loop() {
		c.Settled()
	}
}

// BenchmarkIdle reports what a cluster costs while nothing happens, in percent of one core.
func BenchmarkIdle(b *testing.B) {
	for _, n := range []int{3, 5} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			openLed(b, Options{Members: names(n), Dir: b.TempDir(), Rate: 10})
			before, at := processor(), time.Now()
			pause(2*time.Second, nil)
			b.ReportMetric(100*float64(processor()-before)/float64(time.Since(at)), "%cpu")
		})
	}
}

// processor is how long this process has kept a processor busy; unlike the wall it does not count what others do meanwhile.
func processor() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFailOver kills the leader and reports how long it takes until a survivor acknowledges a write.
func BenchmarkFailOver(b *testing.B) {
	for _, rate := range []float64{1, 10} {
		b.Run(fmt.Sprintf("%gx", rate), func(b *testing.B) {
			c := openLed(b, Options{Members: names(3), Dir: b.TempDir(), Rate: rate})
			var out time.Duration
			for b.Loop() {
				leader := c.leaderLife().m.name
				var survivor Store
				for _, m := range c.Members() {
					if m != leader {
						survivor = c.Store(m)
					}
				}
				at := time.Now()
				if err := c.KillMember(leader); err != nil {
					b.Fatal(err)
				}
				if r := put(survivor, "a", nil); r.Outcome != Done {
					b.Fatal(r.Err)
				}
				out += time.Since(at)
				if err := c.StartMember(leader); err != nil {
					b.Fatal(err)
				}
				awaitWall(b, "a settled cluster", func() bool { return c.Store(leader).Status().Ready && c.Settled() })
			}
			b.ReportMetric(float64(out.Milliseconds())/float64(b.N), "ms-out")
		})
	}
}
