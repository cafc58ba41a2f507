package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// valueBytes is how large the values are.
const valueBytes = 256

// key of a writer or watcher, as long as those of Kubernetes.
func key(n int) string { return fmt.Sprintf("/registry/pods/default/pod-%07d", n) }

// write lets so many writers put as fast as they are answered, each its own key, and then compacts, so that every round begins alike.
func write(ctx context.Context, s contender, writers int, length time.Duration) (reply, error) {
	leader, err := s.lead(ctx)
	if err != nil {
		return reply{}, err
	}
	runtime.GC()
	value := make([]byte, valueBytes)
	r, err := load(writers, length, func(w int) error { return s.put(ctx, leader, key(w), value) })
	return r, errors.Join(err, s.compact(ctx))
}

// read is the same with linearizable reads of one member that does not lead, if followers serve them, else of the leader.
func read(ctx context.Context, s contender, readers int, length time.Duration) (reply, error) {
	leader, err := s.lead(ctx)
	if err != nil {
		return reply{}, err
	}
	follower := (leader + 1) % members
	return load(readers, length, func(w int) error { return s.get(ctx, follower, key(w)) })
}

// load measures what workers get done in a time.
func load(workers int, length time.Duration, do func(worker int) error) (reply, error) {
	latencies := make([][]time.Duration, workers)
	errs := make([]error, workers)
	worked := processor()
	begin := time.Now()
	end := begin.Add(length)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for at := time.Now(); at.Before(end); {
				if errs[w] = do(w); errs[w] != nil {
					return
				}
				now := time.Now()
				latencies[w] = append(latencies[w], now.Sub(at))
				at = now
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begin)
	worked = processor() - worked
	all := slices.Concat(latencies...)
	slices.Sort(all)
	return reply{Writes: len(all), Elapsed: elapsed, Processor: worked, P50: quantile(all, 0.5), P99: quantile(all, 0.99)}, firstOf(errs)
}

// firstOf stands for many errors that are mostly the same.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// processor is how long this process has kept a processor busy.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quantile of sorted durations: the smallest that at least that part of them does not exceed; 0 of none.
func quantile(sorted []time.Duration, part float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	n := int(part*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(n, 0), len(sorted)-1)]
}

// askEvery is how often a client tries to write during an outage.
const askEvery = 5 * time.Millisecond

// failOver kills the leader and measures how long no write is acknowledged. Every survivor is sent a new write every few milliseconds whether or
// not the last was answered, so that what counts is the store and not the patience of a client.
func failOver(ctx context.Context, s contender) (reply, error) {
	leader, err := s.lead(ctx)
	if err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.put(ctx, leader, key(0), nil); err != nil {
		return reply{}, err
	}
	acknowledged := make(chan time.Time, 1)
	begin := time.Now()
	if err := s.kill(leader); err != nil {
		return reply{}, err
	}
	var asking sync.WaitGroup
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	var at time.Time
	for at.IsZero() {
		for m := range members {
			if m == leader {
				continue
			}
			asking.Go(func() {
				if s.put(ctx, m, key(m), nil) == nil {
					select {
					case acknowledged <- time.Now():
					default:
					}
				}
			})
		}
		select {
		case at = <-acknowledged:
		case <-ticker.C:
		}
		if time.Since(begin) > time.Minute {
			return reply{}, errors.New("no write was acknowledged within a minute")
		}
	}
	cancel()
	asking.Wait()
	return reply{Outage: at.Sub(begin)}, s.start(leader)
}

// hold writes so many keys and tells what memory they take.
func hold(ctx context.Context, s contender, keys int) (reply, error) {
	leader, err := s.lead(ctx)
	if err != nil {
		return reply{}, err
	}
	const writers = 500
	errs := make([]error, writers)
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for w := range writers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(keys) && errs[w] == nil; n = next.Add(1) {
				value := make([]byte, valueBytes)
				copy(value, strconv.FormatInt(n, 10))
				errs[w] = putAnyway(ctx, s, leader, key(int(n)), value)
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begin)
	if err := errors.Join(firstOf(errs), s.compact(ctx)); err != nil {
		return reply{}, err
	}
	time.Sleep(time.Second) // followers
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	resident, err := residentBytes()
	return reply{Writes: keys, Elapsed: elapsed, Heap: m.HeapAlloc, Resident: resident}, err
}

// putAnyway writes through a member and, where that fails because leadership moves, again through whoever leads then.
func putAnyway(ctx context.Context, s contender, member int, key string, value []byte) error {
	err := s.put(ctx, member, key, value)
	for tries := 0; err != nil && tries < 10; tries++ {
		time.Sleep(100 * time.Millisecond)
		if member, err = s.lead(ctx); err == nil {
			err = s.put(ctx, member, key, value)
		}
	}
	return err
}

// residentBytes is what the system says this process has in memory of its own: pages of mapped files, which it can take back at any time, do not count.
func residentBytes() (uint64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for _, line := range bytes.Split(b, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			kb, err := strconv.ParseUint(string(bytes.Fields(rest)[0]), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/self/status says nothing of RssAnon")
}

// fanOut puts so many watches on distinct keys on the leader and writes each key once, in rounds, for a time.
func fanOut(ctx context.Context, s contender, watches int, length time.Duration) (reply, error) {
	leader, err := s.lead(ctx)
	if err != nil {
		return reply{}, err
	}
	var heard atomic.Int64
	for n := range watches {
		if err := s.watch(ctx, leader, key(n), func(events int) { heard.Add(int64(events)) }); err != nil {
			return reply{}, err
		}
	}
	const writers = 64
	value := make([]byte, valueBytes)
	var next atomic.Int64
	r, err := load(writers, length, func(int) error { return s.put(ctx, leader, key(int(next.Add(1))%watches), value) })
	if err != nil {
		return r, err
	}
	if err := await("delivery of all events", func() bool { return heard.Load() >= int64(r.Writes) }); err != nil {
		return r, fmt.Errorf("%w: %d of %d", err, heard.Load(), r.Writes)
	}
	r.Delivered = int(heard.Load())
	return r, s.compact(ctx)
}
