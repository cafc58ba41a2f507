package raftstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"
)

// BenchmarkStart is from the start of a cluster on its files to the first answer: three members, each with a log of so many megabytes and no snapshot, checked in children.
func BenchmarkStart(b *testing.B) {
	for _, megabytes := range []int{10, 100} {
		b.Run(fmt.Sprint(megabytes, "MB"), func(b *testing.B) {
			o := Options{Members: names(3), Dir: b.TempDir(), Rate: 5, Sync: true, SnapshotThreshold: 1 << 40, Check: CheckCommand(os.Args[0])}
			c := openLed(b, o)
			value := make([]byte, 8<<10)
			random := rand.NewChaCha8([32]byte{1})
			random.Read(value)
			lead := c.leaderLife().m
			var wg sync.WaitGroup
			for w := range 64 {
				wg.Go(func() {
					for i := range megabytes << 20 / len(value) / 64 {
						put(lead, fmt.Sprint("k", w, "-", i%10), value)
					}
				})
			}
			wg.Wait()
			awaitWall(b, "all with all", c.Settled)
			c.Close()
			var worst time.Duration
			for b.Loop() {
				began := time.Now()
				c, err := Open(o)
				if err != nil {
					b.Fatal(err)
				}
				if r := readKey(c.find(names(1)[0]), "k0-0", false, 30*time.Second); r.Err != nil || r.Count != 1 {
					b.Fatalf("%+v", r)
				}
				worst = max(worst, time.Since(began))
				b.ReportMetric(float64(c.find(names(1)[0]).disk.Size())/(1<<20), "MB-file")
				b.StopTimer()
				c.Close()
				b.StartTimer()
			}
			b.ReportMetric(worst.Seconds(), "s-worst")
		})
	}
}
