package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Client makes calls one after another and waits for each answer.
type Client struct {
	r *Recorder
	n int
	// Patience is how long it waits before it gives up (its context ends).
	Patience time.Duration
}

// Client returns the client of a number.
func (r *Recorder) Client(n int, patience time.Duration) *Client {
	return &Client{r: r, n: n, Patience: patience}
}

// answerGrace is how long after the end of its context a call may stay unanswered before it counts as never answered.
const answerGrace = 10 * time.Second

// call records o around do. do gets what to call with the answer.
func (c *Client) call(o *Op, do func(ctx context.Context, s raftstore.Store, answered func(fill func(*Op)))) *Op {
	r := c.r
	ctx, cancel := context.WithTimeout(context.Background(), c.Patience)
	defer cancel()
	s := r.store(o.Member)
	r.mu.Lock()
	o.ID, o.Client = r.nextID(), c.n
	if o.Txn != nil {
		o.mark()
	}
	o.Call, o.At = r.now()
	r.h.Ops = append(r.h.Ops, o)
	r.tell(Line{Op: o})
	r.mu.Unlock()
	over := make(chan struct{})
	do(ctx, s, func(fill func(*Op)) {
		r.mu.Lock()
		if o.Return != 0 {
			r.mu.Unlock()
			r.Note(NoteTwice, o.Member, "op %d", o.ID)
			return
		}
		fill(o)
		o.Return, o.Ended = r.now()
		r.tell(Line{Op: o})
		r.mu.Unlock()
		close(over)
	})
	late := time.NewTimer(c.Patience + answerGrace)
	defer late.Stop()
	select {
	case <-over:
	case <-late.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answered := *o
	return &answered
}

// ValueFormat is how every value begins that a client puts: with the number of the call, so that a change can be traced to it.
const ValueFormat = "op-%d "

// mark gives a transaction its tag, and the values that it puts their beginning.
func (o *Op) mark() {
	o.Txn.Tag = uint64(o.ID)
	for _, branch := range []*[]mvcc.Op{&o.Txn.Then, &o.Txn.Else} {
		ops := slices.Clone(*branch)
		for i := range ops {
			if !ops[i].Delete {
				ops[i].Value = append(fmt.Appendf(nil, ValueFormat, o.ID), ops[i].Value...)
			}
		}
		*branch = ops
	}
}

func (o *Op) written(w raftstore.Written) {
	o.Outcome, o.Index, o.Term = w.Outcome, w.Index, w.Term
	if w.Err != nil {
		o.Err = w.Err.Error()
	}
}

// Txn proposes t through a member, marked with the number of the call (ValueFormat).
func (c *Client) Txn(member string, t mvcc.Txn) *Op {
	return c.call(&Op{Kind: Txn, Member: member, Txn: &t}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.Txn(ctx, t, func(x raftstore.TxnResult) {
			answered(func(o *Op) {
				o.written(x.Written)
				if x.Outcome == raftstore.Done {
					o.Answer = &Answer{Succeeded: x.Result.Succeeded, Changed: x.Result.Changed, Revision: x.Result.Revision, Read: x.Result.Read}
				}
			})
		})
	})
}

// Range reads through a member.
func (c *Client) Range(member string, q mvcc.Range, serializable bool) *Op {
	return c.call(&Op{Kind: Range, Member: member, Range: &q, Serializable: serializable}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.Range(ctx, raftstore.RangeRequest{Range: q, Serializable: serializable}, func(x raftstore.RangeResult) {
			answered(func(o *Op) {
				if x.Err != nil {
					o.Outcome, o.Err = raftstore.Refused, x.Err.Error()
					return
				}
				o.Read = &x.RangeResult
			})
		})
	})
}

// Compact drops history.
func (c *Client) Compact(member string, rev int64) *Op {
	return c.call(&Op{Kind: Compact, Member: member, Revision: rev}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.Compact(ctx, rev, func(w raftstore.Written) { answered(func(o *Op) { o.written(w) }) })
	})
}

// Disarm lifts alarms.
func (c *Client) Disarm(member string) *Op {
	return c.call(&Op{Kind: Disarm, Member: member}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.Disarm(ctx, func(w raftstore.Written) { answered(func(o *Op) { o.written(w) }) })
	})
}

// Grant makes a lease.
func (c *Client) Grant(member string, ttl time.Duration) *Op {
	return c.call(&Op{Kind: Grant, Member: member, TTL: ttl}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.GrantLease(ctx, ttl, func(l raftstore.Lease) {
			answered(func(o *Op) { o.written(l.Written); o.Lease = l.ID })
		})
	})
}

// Revoke ends a lease.
func (c *Client) Revoke(member string, id mvcc.LeaseID) *Op {
	return c.call(&Op{Kind: Revoke, Member: member, Lease: id}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.RevokeLease(ctx, id, func(w raftstore.Written) { answered(func(o *Op) { o.written(w) }) })
	})
}

// KeepAlive prolongs a lease.
func (c *Client) KeepAlive(member string, id mvcc.LeaseID) *Op {
	return c.call(&Op{Kind: KeepAlive, Member: member, Lease: id}, func(ctx context.Context, s raftstore.Store, answered func(func(*Op))) {
		s.KeepAlive(ctx, id, func(l raftstore.Lease) { answered(func(o *Op) { o.written(l.Written); o.TTL = l.TTL }) })
	})
}

// Change adds, promotes or removes (kind) a member of the cluster.
func (c *Client) Change(kind Kind, target string) *Op {
	return c.call(&Op{Kind: kind, Target: target, Member: target}, func(ctx context.Context, _ raftstore.Store, answered func(func(*Op))) {
		c.r.mu.Lock()
		cluster := c.r.cluster
		c.r.mu.Unlock()
		done := func(w raftstore.Written) { answered(func(o *Op) { o.written(w) }) }
		switch kind {
		case Add:
			cluster.AddMember(ctx, target, done)
		case Promote:
			cluster.PromoteMember(ctx, target, done)
		case Remove:
			cluster.RemoveMember(ctx, target, done)
		}
	})
}

// Watch opens a watch through a member. ended is closed when it has ended for whatever reason; cancel ends it.
func (c *Client) Watch(member string, q raftstore.WatchRequest) (w *Watch, ended <-chan struct{}, cancel func()) {
	r := c.r
	s := r.store(member)
	w = &Watch{Client: c.n, Member: member, Request: q, Ready: s.Status().Ready}
	over := make(chan struct{})
	var stop func()
	r.mu.Lock()
	w.ID = r.nextID()
	w.Call, w.At = r.now()
	r.h.Watches = append(r.h.Watches, w)
	r.live[w] = func() {}
	r.tell(Line{Watch: r.withoutBatches(w)})
	r.mu.Unlock()
	end := func(why string) {
		// With mu held.
		if _, goes := r.live[w]; !goes {
			return
		}
		delete(r.live, w)
		w.End = why
		w.Until, _ = r.now()
		r.tell(Line{Watch: r.withoutBatches(w)})
		close(over)
	}
	stop = s.Watch(q, func(b raftstore.WatchBatch) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, goes := r.live[w]; !goes {
			return // what a cancelled watch still delivers is nobody's business
		}
		if b.Err != nil {
			end(b.Err.Error())
			return
		}
		x := Batch{Events: b.Events, Revision: b.Revision, Partial: b.Partial}
		x.Seq, _ = r.now()
		w.Batches = append(w.Batches, x)
		r.tell(Line{Batch: &InWatch{Watch: w.ID, Batch: x}})
	})
	cancel = func() {
		stop()
		r.mu.Lock()
		defer r.mu.Unlock()
		end(Cancelled)
	}
	ready := s.Status().Ready
	r.mu.Lock()
	w.Opened, _ = r.now()
	w.Ready = w.Ready && ready
	if _, goes := r.live[w]; goes {
		r.live[w] = stop
	}
	r.tell(Line{Watch: r.withoutBatches(w)})
	r.mu.Unlock()
	return w, over, cancel
}

// Reached is the revision that w is complete up to, and whether it has ended, and how.
func (c *Client) Reached(w *Watch) (revision int64, end string) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	for i := len(w.Batches) - 1; i >= 0; i-- {
		if b := w.Batches[i]; b.Partial {
			revision = max(revision, b.Revision-1)
		} else {
			revision = max(revision, b.Revision)
			break
		}
	}
	if revision == 0 && w.Request.From > 0 {
		revision = w.Request.From - 1
	}
	return revision, w.End
}
