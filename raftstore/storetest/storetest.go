// Package storetest is what every raftstore.Cluster must do, as one suite of tests.
//
// Owns: the suite, a network whose links can be cut, a recording observer. Imports of ours: raftstore, raftstore/mvcc.
//
// Goroutines and time: the suite polls on conditions with a deadline, on the clock of the bubble when Harness.Bubble is set and on the wall
// otherwise.
package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Harness is one kind of cluster to test.
type Harness struct {
	// Open returns a cluster of members on net that tells obs. The suite closes it.
	Open func(t *testing.T, members []string, net raftstore.Network, obs raftstore.Observer) raftstore.Cluster
	// Bubble runs each test in testing/synctest.
	Bubble bool
	// Replicated: members have state of their own, so that log entries, doubt and catching up exist.
	Replicated bool
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.replicated && !h.Replicated {
				t.Skip("only where members have state of their own")
			}
			if h.Bubble {
				synctest.Test(t, func(t *testing.T) { c.run(newEnv(t, h, c.members)) })
			} else {
				t.Parallel() // nearly all of the time is waiting for elections
				c.run(newEnv(t, h, c.members))
			}
		})
	}
}

type testCase struct {
	name       string
	members    int
	replicated bool
	run        func(e *env)
}

// Net is a network whose links can be cut, each direction on its own.
type Net struct {
	mu  sync.Mutex
	cut map[[2]string]bool
}

// Verdict drops what goes over a cut link.
func (n *Net) Verdict(p raftstore.Packet) raftstore.Verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	return raftstore.Verdict{Drop: n.cut[[2]string{p.From, p.To}]}
}

// Cut cuts (or heals) the direction from one member to another.
func (n *Net) Cut(from, to string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut == nil {
		n.cut = make(map[[2]string]bool)
	}
	n.cut[[2]string{from, to}] = cut
}

// Recorder is an observer that remembers.
type Recorder struct {
	mu      sync.Mutex
	applied []raftstore.Applied
	roles   []raftstore.MemberStatus
	kinds   map[string]int
	changes []raftstore.Change
	// jumps are the revisions at which a restore made the cluster begin anew.
	jumps []int64
}

func (r *Recorder) RoleChanged(s raftstore.MemberStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roles = append(r.roles, s)
}

func (r *Recorder) Message(m raftstore.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		r.kinds = make(map[string]int)
	}
	r.kinds[m.Kind]++
}

func (r *Recorder) Applied(a raftstore.Applied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applied = append(r.applied, a)
}

func (r *Recorder) Changed(c raftstore.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
}

// changed lists what was told of a kind.
func (e *env) changed(kind raftstore.ChangeKind) (all []raftstore.Change) {
	e.obs.mu.Lock()
	defer e.obs.mu.Unlock()
	for _, c := range e.obs.changes {
		if c.Kind == kind {
			all = append(all, c)
		}
	}
	return all
}

// env is one test's cluster.
type env struct {
	*testing.T
	h   Harness
	c   raftstore.Cluster
	net *Net
	obs *Recorder
	all []string
}

func newEnv(t *testing.T, h Harness, members int) *env {
	e := &env{T: t, h: h, net: &Net{}, obs: &Recorder{}}
	for i := range members {
		e.all = append(e.all, fmt.Sprint("m", i+1))
	}
	e.c = h.Open(t, e.all, e.net, e.obs)
	t.Cleanup(func() {
		if err := e.c.Close(); err != nil {
			t.Error(err)
		}
		e.checkObserved()
	})
	e.await("a settled cluster", e.c.Settled)
	return e
}

// checkObserved holds for every test: each revision is announced once and in order, but for those that a restore leaps over.
func (e *env) checkObserved() {
	e.obs.mu.Lock()
	defer e.obs.mu.Unlock()
	last := int64(1)
	for _, a := range e.obs.applied {
		if len(e.obs.jumps) > 0 && a.Revision == e.obs.jumps[0]+1 {
			last, e.obs.jumps = e.obs.jumps[0], e.obs.jumps[1:]
		}
		if a.Revision != last+1 {
			e.Errorf("observer heard of revision %d after %d", a.Revision, last)
			return
		}
		last = a.Revision
	}
}

const patience = 20 * time.Second

// await polls until ok.
func (e *env) await(what string, ok func() bool) {
	e.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			e.Fatalf("%s: not within %v; %+v", what, patience, e.c.Status())
		}
		e.moment()
	}
}

// moment lets a little time pass; on a cluster without time, what waits is looked at again.
func (e *env) moment() {
	e.c.NetworkChanged()
	<-time.After(2 * time.Millisecond)
}

func (e *env) want(ok bool, format string, args ...any) {
	e.Helper()
	if !ok {
		e.Fatalf(format, args...)
	}
}

// pending is an answer that may not be there yet.
type pending[T any] struct {
	e *env
	c chan T
}

func (p pending[T]) get() T {
	p.e.Helper()
	var got T
	p.e.await("an answer", func() bool {
		select {
		case got = <-p.c:
			return true
		default:
			return false
		}
	})
	return got
}

// none checks that there is no answer during d.
func (p pending[T]) none(d time.Duration) {
	p.e.Helper()
	for until := time.Now().Add(d); time.Now().Before(until); p.e.moment() {
		select {
		case v := <-p.c:
			p.e.Fatalf("an answer: %+v", v)
		default:
		}
	}
}

func (e *env) txn(ctx context.Context, member string, t mvcc.Txn) pending[raftstore.TxnResult] {
	p := pending[raftstore.TxnResult]{e, make(chan raftstore.TxnResult, 1)}
	e.c.Store(member).Txn(ctx, t, func(r raftstore.TxnResult) { p.c <- r })
	return p
}

func (e *env) ask(ctx context.Context, member string, r raftstore.RangeRequest) pending[raftstore.RangeResult] {
	p := pending[raftstore.RangeResult]{e, make(chan raftstore.RangeResult, 1)}
	e.c.Store(member).Range(ctx, r, func(r raftstore.RangeResult) { p.c <- r })
	return p
}

func putOp(key, value string) mvcc.Txn {
	return mvcc.Txn{Then: []mvcc.Op{{Key: key, Value: []byte(value)}}}
}

// put writes through a member and expects success.
func (e *env) put(member, key, value string) raftstore.TxnResult {
	e.Helper()
	r := e.txn(context.Background(), member, putOp(key, value)).get()
	e.want(r.Outcome == raftstore.Done && r.Err == nil, "put %s through %s: %v %v", key, member, r.Outcome, r.Err)
	return r
}

// value reads a key; absent reads as "".
func (e *env) value(member, key string, serializable bool) string {
	e.Helper()
	r := e.ask(context.Background(), member, raftstore.RangeRequest{Range: mvcc.Range{Key: key}, Serializable: serializable}).get()
	e.want(r.Err == nil, "read %s through %s: %v", key, member, r.Err)
	if len(r.KVs) == 0 {
		return ""
	}
	return string(r.KVs[0].Value)
}

func (e *env) compact(rev int64) error {
	e.Helper()
	p := pending[error]{e, make(chan error, 1)}
	e.c.Store(e.all[0]).Compact(context.Background(), rev, func(w raftstore.Written) { p.c <- w.Err })
	return p.get()
}

// leader waits for one and names it.
func (e *env) leader() string {
	e.Helper()
	name := ""
	e.await("a leader", func() bool {
		for _, s := range e.c.Status() {
			if s.Role == raftstore.Leader && e.follows(s) {
				name = s.Name
				return true
			}
		}
		return false
	})
	return name
}

// follows tells whether a majority follows s.
func (e *env) follows(s raftstore.MemberStatus) bool {
	n := 0
	for _, other := range e.c.Status() {
		if other.Up && other.Leader == s.Name && other.Term == s.Term {
			n++
		}
	}
	return n >= e.c.Membership().Quorum()
}

func (e *env) others(not string) []string {
	var out []string
	for _, m := range e.all {
		if m != not {
			out = append(out, m)
		}
	}
	return out
}

// isolate cuts a member off from all others, or heals it.
func (e *env) isolate(member string, cut bool) {
	for _, other := range e.others(member) {
		e.net.Cut(member, other, cut)
		e.net.Cut(other, member, cut)
	}
	e.c.NetworkChanged()
}

func (e *env) status(member string) raftstore.MemberStatus { return e.c.Store(member).Status() }

func (e *env) kill(member string) {
	e.Helper()
	e.want(e.c.KillMember(member) == nil, "kill %s", member)
	e.want(!e.status(member).Up, "%s is up after it was killed", member)
}

func (e *env) start(member string) {
	e.Helper()
	err := e.c.StartMember(member)
	e.want(err == nil, "start %s: %v", member, err)
}

func (e *env) awaitReady(member string) {
	e.Helper()
	e.await(member+" ready", func() bool { return e.status(member).Ready })
}

// watcher collects what a watch delivers.
type watcher struct {
	mu      sync.Mutex
	events  []mvcc.Event
	batches []raftstore.WatchBatch
	rev     int64
	err     error
	ends    int
	cancel  func()
}

func (e *env) watch(member, prefix string, from int64) *watcher {
	return e.watchAs(member, raftstore.WatchRequest{Prefix: prefix, From: from, Progress: true})
}

func (e *env) watchAs(member string, r raftstore.WatchRequest) *watcher {
	w := &watcher{}
	w.cancel = e.c.Store(member).Watch(r, func(b raftstore.WatchBatch) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, b.Events...)
		w.batches = append(w.batches, b)
		if b.Err != nil {
			w.err = b.Err
			w.ends++
		} else if b.Revision < w.rev {
			w.err = fmt.Errorf("revision fell from %d to %d", w.rev, b.Revision)
		} else {
			w.rev = b.Revision
		}
	})
	e.Cleanup(w.cancel)
	return w
}

func (w *watcher) state() (events []mvcc.Event, rev int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]mvcc.Event(nil), w.events...), w.rev, w.err
}

// describe writes events as "rev key=value(prev)".
func describe(events []mvcc.Event) []string {
	var out []string
	for _, ev := range events {
		s := fmt.Sprintf("%d %s", ev.KV.ModRevision, ev.KV.Key)
		if ev.Deleted {
			s += " deleted"
		} else {
			s += "=" + string(ev.KV.Value)
		}
		if ev.Prev != nil {
			s += fmt.Sprintf(" was %s@%d", ev.Prev.Value, ev.Prev.ModRevision)
		}
		out = append(out, s)
	}
	return out
}
