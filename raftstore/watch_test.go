package raftstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// listener takes what a watch delivers and checks what holds for every watch.
type listener struct {
	t       *testing.T
	request WatchRequest
	cancel  func()
	gate    chan struct{} // when set, each delivery takes one from it first

	mu       sync.Mutex
	events   []mvcc.Event
	batches  []WatchBatch
	complete int64 // every event up to here was delivered
	err      error
}

func listen(t *testing.T, s Store, r WatchRequest) *listener { return listenSlowly(t, s, r, nil) }

func listenSlowly(t *testing.T, s Store, r WatchRequest, gate chan struct{}) *listener {
	l := &listener{t: t, request: r, gate: gate}
	l.cancel = s.Watch(r, l.take)
	return l
}

func (l *listener) take(b WatchBatch) {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		l.t.Errorf("watch of %q: a batch after its end", l.request.Prefix)
	case b.Err != nil:
		l.err = b.Err
		return
	case len(b.Events) == 0 && !l.request.Progress:
		l.t.Errorf("watch of %q: progress that it did not ask for", l.request.Prefix)
	case b.Revision < l.request.From && !b.Partial:
		l.t.Errorf("watch of %q from %d: complete up to %d, where it has not begun", l.request.Prefix, l.request.From, b.Revision)
	case b.Revision < l.complete:
		l.t.Errorf("watch of %q: complete up to %d after %d", l.request.Prefix, b.Revision, l.complete)
	}
	for _, e := range b.Events {
		if e.KV.ModRevision <= l.complete || e.KV.ModRevision > b.Revision {
			l.t.Errorf("watch of %q: an event of revision %d in a batch up to %d, after it was complete up to %d", l.request.Prefix, e.KV.ModRevision, b.Revision, l.complete)
		}
	}
	l.events = append(l.events, b.Events...)
	l.batches = append(l.batches, b)
	if l.complete = b.Revision; b.Partial {
		l.complete--
	}
}

func (l *listener) heard() (events []mvcc.Event, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events), l.err
}

// came is the batches that came.
func (l *listener) came() []WatchBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.batches)
}

func told1(events []mvcc.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %v %s=%s", e.KV.ModRevision, e.Deleted, e.KV.Key, e.KV.Value)
		if e.Prev != nil {
			fmt.Fprintf(&b, " was %s@%d", e.Prev.Value, e.Prev.ModRevision)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestEachWatchHearsExactlyWhatItAskedForOnceAndInOrder(t *testing.T) {
	keys := []string{"a", "a/1", "a/2", "a/22", "b", "b/1", "ab", ""}
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			c := openLed(t, Options{Members: names(1), InMemory: true, Rate: 5})
			s := c.Store(names(1)[0])
			var all []mvcc.Event
			oracle := listen(t, s, WatchRequest{})
			var watches []*listener
			begin := map[*listener]int64{}
			for range 150 {
				switch r.IntN(6) {
				case 0:
					q := WatchRequest{Prefix: keys[r.IntN(len(keys))], Exact: r.IntN(2) == 0, NoPut: r.IntN(5) == 0, NoDelete: r.IntN(5) == 0, NoPrev: r.IntN(3) == 0,
						Progress: r.IntN(2) == 0, Fragment: r.IntN(2) == 0}
					now := s.Status().Revision
					from := now + 1
					if r.IntN(2) == 0 {
						q.From = max(1, now-int64(r.IntN(20))+int64(r.IntN(20)))
						from = q.From
					}
					l := listen(t, s, q)
					watches = append(watches, l)
					begin[l] = from
				case 1:
					if len(watches) > 0 && r.IntN(3) == 0 {
						i := r.IntN(len(watches))
						watches[i].cancel()
						watches = slices.Delete(watches, i, i+1)
					}
				default:
					var ops []mvcc.Op
					for _, k := range r.Perm(len(keys) - 1)[:1+r.IntN(3)] {
						ops = append(ops, mvcc.Op{Key: keys[k], Delete: r.IntN(3) == 0, Value: []byte(fmt.Sprint(r.IntN(100)))})
					}
					ch := make(chan TxnResult, 1)
					s.Txn(context.Background(), mvcc.Txn{Then: ops}, func(r TxnResult) { ch <- r })
					<-ch
				}
			}
			pause(time.Second, nil)
			all, _ = oracle.heard()
			for _, l := range watches {
				var want []mvcc.Event
				for _, e := range all {
					in := strings.HasPrefix(e.KV.Key, l.request.Prefix)
					if l.request.Exact {
						in = e.KV.Key == l.request.Prefix
					}
					if !in || e.KV.ModRevision < begin[l] || e.Deleted && l.request.NoDelete || !e.Deleted && l.request.NoPut {
						continue
					}
					if l.request.NoPrev {
						e.Prev = nil
					}
					want = append(want, e)
				}
				if got, err := l.heard(); told1(got) != told1(want) || err != nil {
					t.Errorf("seed %d: watch %+v from %d heard\n%s%v, want\n%s", seed, l.request, begin[l], told1(got), err, told1(want))
				}
				if now := s.Status().Revision; l.request.Progress && l.complete < now && now >= begin[l] {
					t.Errorf("seed %d: watch %+v knows that it is complete up to %d, not %d", seed, l.request, l.complete, now)
				}
			}
		})
	}
}

// fill writes n revisions of 100 events each.
func fill(t *testing.T, s Store, n int) {
	t.Helper()
	for i := range n {
		var ops []mvcc.Op
		for k := range 100 {
			ops = append(ops, mvcc.Op{Key: fmt.Sprint("k", k), Value: []byte(fmt.Sprint(i))})
		}
		ch := make(chan TxnResult, 1)
		s.Txn(context.Background(), mvcc.Txn{Then: ops}, func(r TxnResult) { ch <- r })
		if r := <-ch; r.Outcome != Done {
			t.Fatalf("%+v", r)
		}
	}
}

func TestAClientThatIsFarBehindGoesOnFromHistoryAndMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(1), InMemory: true, Rate: 5})
		s := c.Store(names(1)[0])
		gate := make(chan struct{})
		slow, fast := listenSlowly(t, s, WatchRequest{Prefix: "k"}, gate), listen(t, s, WatchRequest{Prefix: "k"})
		fill(t, s, 300)
		pause(time.Second, nil)
		hub := &c.leaderLife().hub
		hub.mu.Lock()
		for _, w := range hub.prefix["k"].watches {
			if w.mu.Lock(); w.waiting > queueEvents+100 {
				t.Errorf("%d events wait for one client", w.waiting)
			}
			w.mu.Unlock()
		}
		hub.mu.Unlock()
		close(gate)
		pause(time.Second, nil)
		fill(t, s, 2)
		pause(time.Second, nil)
		got, err := slow.heard()
		want, _ := fast.heard()
		if len(want) != 302*100 || told1(got) != told1(want) || err != nil {
			t.Errorf("%d events, want %d, %v", len(got), len(want), err)
		}
	})
}

func TestAClientThatIsFurtherBehindThanHistoryIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(1), InMemory: true, Rate: 5})
		s := c.Store(names(1)[0])
		gate := make(chan struct{})
		slow := listenSlowly(t, s, WatchRequest{Prefix: "k"}, gate)
		fill(t, s, 300)
		wantOutcome(t, "compact", written(func(done func(Written)) { s.Compact(context.Background(), 250, done) }), Done, nil)
		close(gate)
		pause(time.Second, nil)
		got, err := slow.heard()
		if !errors.Is(err, ErrCompacted) || len(got) == 0 || len(got)%100 != 0 || got[0].KV.ModRevision != 2 || got[len(got)-1].KV.ModRevision != int64(len(got)/100)+1 {
			t.Errorf("%d events, %v", len(got), err)
		}
	})
}

func TestALargeRevisionComesInFragmentsWhereTheClientAllowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(1), InMemory: true, Rate: 5})
		s := c.Store(names(1)[0])
		parts, whole := listen(t, s, WatchRequest{Fragment: true}), listen(t, s, WatchRequest{})
		var ops []mvcc.Op
		for i := range 5 {
			ops = append(ops, mvcc.Op{Key: fmt.Sprint(i), Value: make([]byte, 240<<10)})
		}
		s.Txn(context.Background(), mvcc.Txn{Then: ops}, func(TxnResult) {})
		pause(time.Second, nil)
		put(s, "small", nil)
		pause(time.Second, nil)
		late := listen(t, s, WatchRequest{Fragment: true, From: 1}) // from history as well
		pause(time.Second, nil)
		for _, l := range []*listener{parts, late} {
			if events, _ := l.heard(); len(events) != 6 {
				t.Fatalf("%d events", len(events))
			}
			partial := 0
			for _, b := range l.came() {
				size := 0
				for i := range b.Events {
					size += weight(&b.Events[i])
				}
				if size > MaxFragment {
					t.Errorf("a fragment of %d bytes", size)
				}
				if b.Partial {
					partial++
				}
			}
			if partial != 2 {
				t.Errorf("%d partial batches", partial)
			}
		}
		if batches := whole.came(); len(batches) != 2 || batches[0].Partial {
			t.Errorf("without leave to divide: %d batches", len(batches))
		}
	})
}

func TestWatchesSurviveNeitherAStopNorASnapshotInSilence(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, net *ruled) {
		f := c.follower()
		silent, busy := listen(t, f, WatchRequest{Prefix: "none"}), listen(t, f, WatchRequest{})
		net.set(cut(f.name))
		for i := range 80 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		pause(time.Second, nil)
		net.set(nil)
		c.NetworkChanged()
		awaitWall(t, "a snapshot", func() bool { _, err := busy.heard(); return err != nil })
		for _, l := range []*listener{silent, busy} {
			if _, err := l.heard(); !errors.Is(err, mvcc.ErrRestored) {
				t.Errorf("watch of %q ended with %v", l.request.Prefix, err)
			}
		}
		awaitWall(t, "rest", c.Settled)
		again := listen(t, f, WatchRequest{Prefix: "again"})
		mustPut(t, c, "again")
		awaitWall(t, "the next watch", func() bool { e, _ := again.heard(); return len(e) == 1 })
		c.KillMember(f.name)
		awaitWall(t, "its end", func() bool { _, err := again.heard(); return errors.Is(err, ErrStopped) })
	})
}

func TestAWatchResumesOnAnotherMemberWhereItBrokeOff(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, _ *ruled) {
		m := c.follower()
		first := listen(t, m, WatchRequest{Progress: true, From: 1})
		for i := range 8 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		awaitWall(t, "some", func() bool { e, _ := first.heard(); return len(e) >= 4 })
		c.KillMember(m.name)
		awaitWall(t, "its end", func() bool { _, err := first.heard(); return err != nil })
		mustPut(t, c, "later")
		second := listen(t, c.leaderLife().m, WatchRequest{From: first.complete + 1})
		awaitWall(t, "the rest", func() bool { a, _ := first.heard(); b, _ := second.heard(); return len(a)+len(b) >= 9 })
		a, _ := first.heard()
		b, _ := second.heard()
		for i, e := range append(a, b...) {
			if e.KV.ModRevision != int64(i+2) {
				t.Fatalf("event %d is of revision %d", i, e.KV.ModRevision)
			}
		}
	})
}

func TestIdleWatchesAreOnlyMemoryAndACancelledOneLeavesNothing(t *testing.T) {
	c := openLed(t, Options{Members: names(1), InMemory: true, Rate: 5})
	s := c.Store(names(1)[0])
	before := runtime.NumGoroutine()
	var heard atomic.Int64
	var cancels []func()
	for i := range 5000 {
		cancels = append(cancels, s.Watch(WatchRequest{Prefix: fmt.Sprint("k", i), Exact: i%2 == 0}, func(b WatchBatch) { heard.Add(1) }))
	}
	if n := runtime.NumGoroutine(); n > before+50 {
		t.Errorf("%d goroutines for 5,000 watches", n-before)
	}
	put(s, "k4444", nil)
	awaitWall(t, "the delivery", func() bool { return heard.Load() >= 1 })
	put(s, "other", nil)
	for _, cancel := range cancels {
		cancel()
		cancel()
	}
	hub := &c.leaderLife().hub
	hub.mu.Lock()
	defer hub.mu.Unlock()
	if len(hub.exact)+len(hub.prefix)+len(hub.lengths)+len(hub.lengthN)+hub.asked.Len() != 0 || heard.Load() != 1 {
		t.Errorf("left: %d, %d, %v; %d deliveries", len(hub.exact), len(hub.prefix), hub.lengths, heard.Load())
	}
}

// BenchmarkWatchers changes each of n keys, each watched by one client, once per round.
func BenchmarkWatchers(b *testing.B) {
	for _, n := range []int{50, 500, 5000, 50000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := newLife(&member{c: &RaftCluster{}, name: "m"})
			var heard atomic.Int64
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range n {
				w := &watch{WatchRequest: WatchRequest{Prefix: fmt.Sprint("/registry/pods/default/", i), Exact: true}, hub: &l.hub, deliver: func(w WatchBatch) { heard.Add(int64(len(w.Events))) }}
				l.hub.join(w)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			outcomes := make([][]peer.Outcome, n)
			for i := range outcomes {
				outcomes[i] = []peer.Outcome{{Events: []mvcc.Event{{KV: mvcc.KV{Key: fmt.Sprint("/registry/pods/default/", i), ModRevision: 1 << 40}}}}}
			}
			revision := int64(1)
			b.ResetTimer()
			rounds := 0
			for b.Loop() {
				revision++
				l.hub.publish(outcomes[rounds%n], revision)
				rounds++
				for int64(rounds)-heard.Load() > 100 { // changes come no faster than a log takes them
					runtime.Gosched()
				}
			}
			for heard.Load() < int64(rounds) {
				runtime.Gosched()
			}
			if got := heard.Load(); got != int64(rounds) {
				b.Fatalf("%d changes, %d events delivered", rounds, got)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/watch")
		})
	}
}
