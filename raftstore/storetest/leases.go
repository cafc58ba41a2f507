package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// began is the virtual time at which clocks are told to begin.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (e *env) at(after time.Duration) { e.c.Advance(began.Add(after)) }

func (e *env) grantAs(member string, ttl time.Duration) raftstore.Lease {
	p := pending[raftstore.Lease]{e, make(chan raftstore.Lease, 1)}
	e.c.Store(member).GrantLease(context.Background(), ttl, func(l raftstore.Lease) { p.c <- l })
	return p.get()
}

func (e *env) grant(member string, ttl time.Duration) mvcc.LeaseID {
	e.Helper()
	l := e.grantAs(member, ttl)
	e.want(l.Outcome == raftstore.Done && l.Err == nil && l.ID != 0 && l.TTL >= ttl, "grant %v: %+v", ttl, l)
	return l.ID
}

func (e *env) keepAlive(member string, id mvcc.LeaseID) raftstore.Lease {
	p := pending[raftstore.Lease]{e, make(chan raftstore.Lease, 1)}
	e.c.Store(member).KeepAlive(context.Background(), id, func(l raftstore.Lease) { p.c <- l })
	return p.get()
}

// written waits for the end of a write of another kind.
func (e *env) written(call func(done func(raftstore.Written))) raftstore.Written {
	p := pending[raftstore.Written]{e, make(chan raftstore.Written, 1)}
	call(func(w raftstore.Written) { p.c <- w })
	return p.get()
}

func (e *env) revoke(member string, id mvcc.LeaseID) raftstore.Written {
	return e.written(func(done func(raftstore.Written)) { e.c.Store(member).RevokeLease(context.Background(), id, done) })
}

func (e *env) putLeased(member, key string, id mvcc.LeaseID) {
	e.Helper()
	e.do(member, mvcc.Txn{Then: []mvcc.Op{{Key: key, Value: []byte("v"), Lease: id}}})
}

func (e *env) gone(key string) bool {
	return e.value(e.leader(), key, false) == ""
}

// until tells the time and waits for something that ends with a lease of ttl. A leader that took over on the way counts the lease anew, so each new term gets that long again.
func (e *env) until(after, ttl time.Duration, what string, ok func() bool) {
	e.Helper()
	term := func() (highest uint64) {
		for _, s := range e.c.Status() {
			highest = max(highest, s.Term)
		}
		return highest
	}
	e.at(after)
	known := term()
	e.await(what, func() bool {
		if now := term(); now != known {
			known, after = now, after+ttl
			e.at(after)
		}
		return ok()
	})
}

func leaseExpires(e *env) {
	e.at(0)
	lead := e.leader()
	m := e.others(lead)[0]
	id := e.grant(m, 10*time.Second)
	e.putLeased(m, "b", id)
	e.putLeased(lead, "a", id)
	e.put(lead, "c", "stays")
	w := e.watch(m, "", 5)
	e.at(9 * time.Second)
	e.put(lead, "d", "1") // 5: nothing has run out before
	want := []string{"5 d=1", "6 a deleted was v@3", "6 b deleted was v@2"}
	e.until(10*time.Second, 10*time.Second, "the end of the lease", func() bool { ev, _, _ := w.state(); return len(ev) >= len(want) })
	got, _, _ := w.state()
	e.want(slices.Equal(describe(got), want), "%q", describe(got))
	e.want(e.value(lead, "c", false) == "stays", "a key without a lease went along")
	e.await("the news of it", func() bool { return len(e.changed(raftstore.LeaseExpired)) > 0 })
	granted, expired := e.changed(raftstore.LeaseGranted), e.changed(raftstore.LeaseExpired)
	e.want(len(granted) == 1 && granted[0].Lease == id && granted[0].TTL == 10*time.Second, "granted: %+v", granted)
	e.want(len(expired) == 1 && expired[0].Lease == id && expired[0].Keys == 2, "expired: %+v", expired)
	e.want(errors.Is(e.keepAlive(m, id).Err, raftstore.ErrLeaseNotFound), "a lease that is over was kept alive")
}

func leaseKeptAlive(e *env) {
	e.at(0)
	m := e.others(e.leader())[0]
	id := e.grant(m, 10*time.Second)
	e.putLeased(m, "a", id)
	for i := 1; i <= 5; i++ {
		e.at(time.Duration(i) * 8 * time.Second)
		l := e.keepAlive(e.all[i%3], id)
		e.want(l.Err == nil && l.TTL == 10*time.Second && l.ID == id, "%+v", l)
	}
	e.want(!e.gone("a"), "a lease that is kept alive ran out")
	e.until(51*time.Second, 10*time.Second, "the end", func() bool { return e.gone("a") })
}

func leaseRevoked(e *env) {
	lead := e.leader()
	id := e.grant(lead, time.Minute)
	e.putLeased(lead, "a", id)
	w := e.revoke(e.others(lead)[0], id)
	e.want(w.Outcome == raftstore.Done && w.Err == nil && e.gone("a"), "%+v", w)
	w = e.revoke(lead, id)
	e.want(w.Outcome == raftstore.Refused && errors.Is(w.Err, raftstore.ErrLeaseNotFound), "twice: %+v", w)
	e.await("the news of it", func() bool { return len(e.changed(raftstore.LeaseRevoked)) > 0 })
	told := e.changed(raftstore.LeaseRevoked)
	e.want(len(told) == 1 && told[0].Lease == id && told[0].Keys == 1, "%+v", told)
}

func leaseLeft(e *env) {
	lead := e.leader()
	id := e.grant(lead, time.Minute)
	e.putLeased(lead, "a", id)
	e.put(lead, "a", "free")
	e.want(e.revoke(lead, id).Err == nil && e.value(lead, "a", false) == "free", "the key went with a lease it had left")
}

func leaseRefusals(e *env) {
	lead := e.leader()
	r := e.txn(context.Background(), lead, mvcc.Txn{Then: []mvcc.Op{{Key: "a", Lease: 4711}, {Key: "b"}}}).get()
	e.want(r.Outcome == raftstore.Refused && errors.Is(r.Err, raftstore.ErrLeaseNotFound), "%+v", r)
	e.want(e.gone("b"), "half of a refused transaction was done")
	r = e.txn(context.Background(), lead, mvcc.Txn{If: []mvcc.Compare{{Key: "a", Value: 9}}, Then: []mvcc.Op{{Key: "a", Lease: 4711}}}).get()
	e.want(r.Outcome == raftstore.Done && !r.Result.Succeeded, "the branch that names it is not taken: %+v", r)
	l := e.grantAs(lead, 9_200_000_000*time.Second)
	e.want(l.Outcome == raftstore.Refused && errors.Is(l.Err, raftstore.ErrLeaseTTLTooLarge), "%+v", l)
	short := e.grantAs(lead, time.Millisecond)
	e.want(short.Err == nil && short.TTL == time.Second, "whole seconds, at least one: %+v", short)
	e.want(errors.Is(e.keepAlive(lead, 4711).Err, raftstore.ErrLeaseNotFound), "a lease that never was is kept alive")
}

func leaseNewLeader(e *env) {
	e.at(0)
	lead := e.leader()
	id := e.grant(lead, 10*time.Second)
	e.putLeased(lead, "a", id)
	e.at(9 * time.Second)
	e.kill(lead)
	e.want(e.value(e.leader(), "a", false) == "v", "the lease went with the leader") // the new one leads by now
	e.at(15 * time.Second)
	for until := time.Now().Add(aWhile); time.Now().Before(until); e.moment() {
	}
	e.want(!e.gone("a"), "the new leader went on counting where the old one had been")
	e.until(20*time.Second, 10*time.Second, "the end", func() bool { return e.gone("a") })
}

func (e *env) disarm(member string) {
	e.Helper()
	w := e.written(func(done func(raftstore.Written)) { e.c.Store(member).Disarm(context.Background(), done) })
	e.want(w.Outcome == raftstore.Done && w.Err == nil, "disarm: %+v", w)
}

func (e *env) defragment(member string) (before, after int64) {
	e.Helper()
	type sizes struct {
		before, after int64
		err           error
	}
	p := pending[sizes]{e, make(chan sizes, 1)}
	e.c.Store(member).Defragment(func(before, after int64, err error) { p.c <- sizes{before, after, err} })
	s := p.get()
	e.want(s.err == nil, "defragment %s: %v", member, s.err)
	return s.before, s.after
}

// fill writes to one key until the store is out of space.
func (e *env) fill(quota int64) {
	e.Helper()
	e.c.SetQuota(quota)
	value := make([]byte, 10_000)
	e.await("the end of the space", func() bool {
		r := e.txn(context.Background(), e.leader(), mvcc.Txn{Then: []mvcc.Op{{Key: "big", Value: value}}}).get()
		e.want(r.Outcome == raftstore.Done || r.Outcome == raftstore.Refused && errors.Is(r.Err, raftstore.ErrNoSpace), "%+v", r)
		return r.Err != nil
	})
}

func noSpace(e *env) {
	lead := e.leader()
	e.put(lead, "small", "1")
	e.fill(100_000)
	for _, m := range e.all {
		e.await("the alarm on "+m, func() bool {
			s := e.status(m)
			return slices.ContainsFunc(s.Alarms, func(a mvcc.Alarm) bool { return a.Kind == mvcc.NoSpace }) && s.Quota == 100_000 && s.DBSize > s.Quota
		})
	}
	r := e.txn(context.Background(), lead, mvcc.Txn{ID: "refused", Then: []mvcc.Op{{Key: "x"}}}).get()
	e.want(r.Outcome == raftstore.Refused && errors.Is(r.Err, raftstore.ErrNoSpace), "%+v", r)
	e.want(errors.Is(e.grantAs(lead, time.Minute).Err, raftstore.ErrNoSpace), "a lease was granted")
	e.want(e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Key: "small", Delete: true}}}).Changed, "a deletion")
	e.want(e.value(lead, "big", false) != "", "a read")
	e.want(e.compact(e.status(lead).Revision) == nil, "compaction")
	for _, m := range e.all {
		e.await("the compaction on "+m, func() bool { return e.status(m).DBInUse < 50_000 })
		e.want(e.status(m).DBSize > 100_000, "compaction alone made the database of %s smaller", m)
		before, after := e.defragment(m)
		e.want(before > 100_000 && after < 50_000 && e.status(m).DBSize == after, "%s from %d to %d", m, before, after)
	}
	r = e.txn(context.Background(), lead, putOp("x", "1")).get()
	e.want(errors.Is(r.Err, raftstore.ErrNoSpace), "the alarm went by itself: %+v", r)
	e.disarm(lead)
	e.put(lead, "x", "2")
	again := e.txn(context.Background(), lead, mvcc.Txn{ID: "refused", Then: []mvcc.Op{{Key: "x"}}}).get()
	e.want(errors.Is(again.Err, raftstore.ErrNoSpace), "what was refused for sure was done after all: %+v", again)
	raised, lifted := e.changed(raftstore.AlarmRaised), e.changed(raftstore.AlarmLifted)
	e.want(len(raised) == len(lifted) && len(raised) > 0 && len(e.changed(raftstore.Defragmented)) == 3, "raised %+v, lifted %+v", raised, lifted)
}

func alarmComesBack(e *env) {
	lead := e.leader()
	e.fill(100_000)
	e.disarm(lead)
	e.await("the alarm again", func() bool {
		r := e.txn(context.Background(), lead, putOp("x", "1")).get()
		return errors.Is(r.Err, raftstore.ErrNoSpace)
	})
	e.c.SetQuota(0)
	e.want(e.status(lead).Quota == raftstore.DefaultQuota, "quota %d", e.status(lead).Quota)
	e.await("space", func() bool { // an alarm of another member may still be on its way
		e.disarm(lead)
		return e.txn(context.Background(), lead, putOp("x", "1")).get().Err == nil
	})
}
