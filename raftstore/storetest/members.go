package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// reconfigure asks for a change of members for at most ten seconds.
func (e *env) reconfigure(change func(context.Context, string, func(raftstore.Written)), name string) raftstore.Written {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return e.written(func(done func(raftstore.Written)) { change(ctx, name, done) })
}

func (e *env) mustReconfigure(change func(context.Context, string, func(raftstore.Written)), name string) {
	e.Helper()
	w := e.reconfigure(change, name)
	e.want(w.Outcome == raftstore.Done && w.Err == nil, "%s: %+v", name, w)
}

func (e *env) refusedAs(err error, change func(context.Context, string, func(raftstore.Written)), name string) {
	e.Helper()
	before := fmt.Sprint(e.c.Membership())
	w := e.reconfigure(change, name)
	e.want(w.Outcome == raftstore.Refused && errors.Is(w.Err, err), "%s: %+v, want %v", name, w, err)
	e.want(fmt.Sprint(e.c.Membership()) == before, "a refused change was made: %v", e.c.Membership())
}

// promote makes a learner a voter as soon as it may be one.
func (e *env) promote(name string) {
	e.Helper()
	e.await("promotion of "+name, func() bool {
		w := e.reconfigure(e.c.PromoteMember, name)
		e.want(w.Err == nil || errors.Is(w.Err, raftstore.ErrLearnerNotReady), "promote %s: %+v", name, w)
		return w.Outcome == raftstore.Done
	})
}

func names(m raftstore.Membership) (voters, learners string) {
	var v, l []string
	for _, x := range m.Members {
		if x.Learner {
			l = append(l, x.Name)
		} else {
			v = append(v, x.Name)
		}
	}
	slices.Sort(v)
	return strings.Join(v, " "), strings.Join(l, " ")
}

// awaitMembers waits until a learner or a new voter holds what the leader does.
func (e *env) awaitMembers(voters, learners string) {
	e.Helper()
	e.await("members "+voters+" and learners "+learners, func() bool { v, l := names(e.c.Membership()); return v == voters && l == learners })
}

func memberJoins(e *env) {
	e.put("m1", "a", "1")
	e.mustReconfigure(e.c.AddMember, "m4")
	e.awaitMembers("m1 m2 m3", "m4")
	e.want(e.c.Membership().Quorum() == 2, "a learner counts")
	e.want(slices.Equal(e.c.Members(), []string{"m1", "m2", "m3", "m4"}) && !e.status("m4").Up, "nobody started it: %v", e.c.Status())
	e.refusedAs(raftstore.ErrLearnerNotReady, e.c.PromoteMember, "m4")
	e.start("m4")
	e.awaitReady("m4")
	e.want(e.status("m4").Role == raftstore.Learner, "role %s", e.status("m4").Role)
	e.promote("m4")
	e.awaitMembers("m1 m2 m3 m4", "")
	e.want(e.c.Membership().Quorum() == 3, "four voters need three")
	e.await("a voter", func() bool { return e.status("m4").Role == raftstore.Follower })
	e.put("m4", "a", "2")
	e.awaitSame("m4")
	told := e.changed(raftstore.MembersChanged)
	v, l := names(told[0].Membership)
	e.want(len(told) == 3 && v == "m1 m2 m3" && l == "", "told of %d configurations, the first %v", len(told), told[0].Membership)
}

func learnerServes(e *env) {
	e.put("m1", "a", "1")
	e.mustReconfigure(e.c.AddMember, "m4")
	e.start("m4")
	e.awaitReady("m4")
	e.await("its data", func() bool { return e.value("m4", "a", true) == "1" })
	r := e.ask(context.Background(), "m4", raftstore.RangeRequest{Range: mvcc.Range{Key: "a"}}).get()
	e.want(errors.Is(r.Err, raftstore.ErrLearner), "a linearizable read: %+v", r)
	w := e.txn(context.Background(), "m4", putOp("a", "2")).get()
	e.want(w.Outcome == raftstore.Refused && errors.Is(w.Err, raftstore.ErrLearner), "a write: %+v", w)
	e.kill("m1")
	e.kill("m2")
	e.await("loss of the leader", func() bool { return !e.c.Led() })
}

func memberRefusals(e *env) {
	e.refusedAs(raftstore.ErrMemberExists, e.c.AddMember, "m2")
	e.refusedAs(raftstore.ErrMemberNotFound, e.c.PromoteMember, "nobody")
	e.refusedAs(raftstore.ErrMemberNotFound, e.c.RemoveMember, "nobody")
	e.refusedAs(raftstore.ErrMemberNotLearner, e.c.PromoteMember, "m2")
	e.mustReconfigure(e.c.AddMember, "m4")
	e.refusedAs(raftstore.ErrTooManyLearners, e.c.AddMember, "m5")
	e.mustReconfigure(e.c.RemoveMember, "m4")
	lead := e.leader()
	dead, other := e.others(lead)[0], e.others(lead)[1]
	e.kill(dead)
	for until := time.Now().Add(aWhile); time.Now().Before(until); e.moment() { // until then the leader may count it as connected
	}
	e.refusedAs(raftstore.ErrUnhealthy, e.c.AddMember, "m5")
	e.refusedAs(raftstore.ErrUnhealthy, e.c.RemoveMember, other)
}

func memberReplaced(e *env) {
	lead := e.leader()
	dead := e.others(lead)[0]
	e.put(lead, "a", "1")
	was, _ := e.c.Membership().Find(dead)
	e.kill(dead)
	e.mustReconfigure(e.c.RemoveMember, dead)
	e.mustReconfigure(e.c.AddMember, dead)
	e.start(dead)
	e.promote(dead)
	now, _ := e.c.Membership().Find(dead)
	e.want(now.ID != was.ID && now.ID == dead+"#2" && e.status(dead).ID == now.ID, "ID %q, before %q", now.ID, was.ID)
	e.await("news of the old disk", func() bool { return len(e.changed(raftstore.SetAside)) > 0 })
	e.awaitSame(dead)
	e.kill(e.others(dead)[0])
	e.leader()
	e.put(dead, "a", "2")
}

func leaderRemoved(e *env) {
	lead := e.leader()
	e.put(lead, "a", "1")
	w := e.watch(lead, "a", 0)
	e.mustReconfigure(e.c.RemoveMember, lead)
	e.await("its end", func() bool {
		s := e.status(lead)
		return !s.Up && strings.Contains(s.Err, raftstore.ErrRemoved.Error())
	})
	e.await("the end of its watches", func() bool { _, _, err := w.state(); return errors.Is(err, raftstore.ErrStopped) })
	next := e.leader()
	e.put(next, "a", "2")
	e.want(e.c.Membership().Quorum() == 2 && len(e.c.Members()) == 3, "%v", e.c.Membership())
}

func removedAway(e *env) {
	lead := e.leader()
	away := e.others(lead)[0]
	e.kill(away)
	e.mustReconfigure(e.c.RemoveMember, away)
	e.put(lead, "a", "1")
	term := e.status(lead).Term
	_ = e.c.StartMember(away) // it may already know
	e.await("its end", func() bool {
		s := e.status(away)
		return !s.Up && strings.Contains(s.Err, raftstore.ErrRemoved.Error())
	})
	e.want(e.status(lead).Term == term, "it disturbed the others: term %d became %d", term, e.status(lead).Term)
}

func (e *env) killAll() {
	for _, m := range e.all {
		e.kill(m)
	}
}

func (e *env) startAll() {
	for _, m := range e.all {
		e.start(m)
	}
	e.await("a settled cluster", e.c.Settled)
}

func restore(e *env) {
	lead := e.leader()
	id := e.grant(lead, time.Hour)
	e.putLeased(lead, "leased", id)
	e.put(lead, "a", "old")
	e.put(lead, "gone", "x")
	var file bytes.Buffer
	made, err := e.c.Backup(lead, &file)
	e.want(err == nil && made.Revision == 4 && made.Keys == 3 && made.Bytes == int64(file.Len()), "%+v %v", made, err)
	e.put(lead, "a", "new")
	e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Key: "gone", Delete: true}}})
	last := e.put(lead, "b", "1").Result.Revision
	e.killAll()
	info, err := e.c.Restore(bytes.NewReader(file.Bytes()))
	e.want(err == nil && info.Revision == 4 && info.Hash == made.Hash && info.Restored >= last+raftstore.RevisionBump, "%+v %v", info, err)
	e.obs.mu.Lock()
	e.obs.jumps = append(e.obs.jumps, info.Restored)
	e.obs.mu.Unlock()
	e.startAll()
	for _, m := range e.all {
		e.want(e.value(m, "a", false) == "old" && e.value(m, "gone", false) == "x" && e.value(m, "b", false) == "", "%s holds something else", m)
	}
	now := e.leader()
	resumed := e.watch(now, "", last+1)
	e.await("the end of a watch from before", func() bool { _, _, err := resumed.state(); return errors.Is(err, raftstore.ErrCompacted) })
	read := e.ask(context.Background(), now, raftstore.RangeRequest{Range: mvcc.Range{Key: "a", Revision: last}}).get()
	e.want(errors.Is(read.Err, raftstore.ErrCompacted), "a read of before: %+v", read)
	e.want(e.put(now, "a", "later").Result.Revision == info.Restored+1, "revisions go on elsewhere")
	e.want(e.revoke(now, id).Err == nil && e.gone("leased"), "the lease did not survive with its key")
	for _, m := range e.c.Membership().Members {
		e.want(m.ID != m.Name, "%s votes under its old ID", m.Name)
	}
	e.want(len(e.changed(raftstore.SetAside)) == 3, "%+v", e.changed(raftstore.SetAside))
}

func restoreRefused(e *env) {
	e.put("m1", "a", "1")
	var file bytes.Buffer
	_, err := e.c.Backup("m1", &file)
	e.want(err == nil, "%v", err)
	_, err = e.c.Restore(bytes.NewReader(file.Bytes()))
	e.want(err != nil, "restored beneath members that run")
	e.put("m1", "a", "2")
	e.killAll()
	_, err = e.c.Backup("m1", &bytes.Buffer{})
	e.want(err != nil, "a member that is down was backed up")
	bad := file.Bytes()
	bad[len(bad)/2] ^= 1
	_, err = e.c.Restore(bytes.NewReader(bad))
	e.want(err != nil, "a damaged file was restored")
	e.startAll()
	e.want(e.value(e.leader(), "a", false) == "2", "a refused restore changed the state")
}

func diskFull(e *env) {
	lead := e.leader()
	m := e.others(lead)[0]
	e.want(e.c.SetDisk(m, failure.Full, 0) == nil, "fill the disk")
	e.put(lead, "a", "1")
	e.await("the end of "+m, func() bool {
		e.put(lead, "a", "1")
		s := e.status(m)
		return !s.Up && strings.Contains(s.Err, "no space left on device")
	})
	err := e.c.StartMember(m)
	e.await("refusal of the start", func() bool { return err != nil || !e.status(m).Up && e.status(m).Err != "" })
	e.want(e.c.SetDisk(m, failure.Sound, 0) == nil, "make space")
	e.start(m)
	e.awaitSame(m)
	e.want(len(e.changed(raftstore.DiskChanged)) >= 2, "%+v", e.changed(raftstore.DiskChanged))
}

func diskTorn(e *env) {
	lead := e.leader()
	m := e.others(lead)[0]
	e.put(lead, "a", "1")
	e.awaitSame(m)
	e.want(e.c.SetDisk(m, failure.Torn, 0) == nil, "tear its last write")
	e.want(!e.status(m).Up, "it runs on")
	e.put(lead, "a", "2")
	e.start(m)
	e.awaitSame(m)
	e.want(e.status(m).Disk == failure.Sound, "its disk is %s", e.status(m).Disk)
}

func diskDamaged(e *env) {
	lead := e.leader()
	m := e.others(lead)[0]
	for i := range 30 {
		e.put(lead, "a", fmt.Sprint(i))
	}
	e.want(e.c.SetDisk(m, failure.Deleted, 0) == nil, "delete its file")
	e.want(!e.status(m).Up, "it runs on")
	e.want(e.c.SetDisk(m, failure.Sound, 0) != nil, "a word mended what is gone")
	_ = e.c.StartMember(m) // it may be refused at once, or give up
	e.await("refusal of the start", func() bool { s := e.status(m); return !s.Up && s.Err != "" })
	e.put(lead, "a", "meanwhile")
	e.mustReconfigure(e.c.RemoveMember, m)
	e.mustReconfigure(e.c.AddMember, m)
	e.start(m)
	e.promote(m)
	e.awaitSame(m)
}
