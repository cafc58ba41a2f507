package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Limits of a call to the store.
const (
	// writeTimeout is etcd's own limit for a proposal: 5 s + 2 x election timeout (etcd server/config ReqTimeout).
	writeTimeout = 7 * time.Second
	// requestTimeout is the deadline of a whole request (as pkg/server/config.go).
	requestTimeout = 60 * time.Second
	// The store client's retry of reads (etcd client/v3/options.go).
	readRetry    = 25 * time.Millisecond
	readRetryMax = 100
)

// door is one server's way to its member of the store: it turns answers from outside the loop into values for parked processes.
type door struct {
	loop  *sim.Loop
	store raftstore.Store
	// id makes request ids, so that the store changes the state once per transaction whatever happens on the way.
	id    string
	count uint64
}

// txn runs one write, until deadline at most. The error is an answer for the client; after a time-out the outcome is unknown.
func (d *door) txn(p *sim.Proc, t mvcc.Txn, deadline time.Time) (mvcc.TxnResult, error) {
	d.count++
	t.ID = fmt.Sprintf("%s-%d", d.id, d.count)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var f sim.Future[raftstore.TxnResult]
	d.store.Txn(ctx, t, sim.Resolver(d.loop, &f))
	r, err := answer(p, &f, deadline)
	if err == nil && r.Err != nil {
		err = storeError(r.Err)
	}
	if err != nil {
		return mvcc.TxnResult{}, err
	}
	return r.Result, nil
}

// answer waits for what the store says to a write, until deadline at most. The error is one for the client, that there was no answer.
func answer[T any](p *sim.Proc, f *sim.Future[T], deadline time.Time) (T, error) {
	left := deadline.Sub(p.Now())
	r, ok := f.AwaitFor(p, max(min(left, writeTimeout), 0))
	switch {
	case ok:
		return r, nil
	case left < writeTimeout:
		return r, deadlineError()
	}
	return r, storeError(raftstore.ErrTimeout)
}

// read runs one linearizable read, again and again until it works or deadline passes.
func (d *door) read(p *sim.Proc, r mvcc.Range, deadline time.Time) (mvcc.RangeResult, error) {
	for try := 1; ; try++ {
		res, answered := d.once(p, raftstore.RangeRequest{Range: r}, deadline.Sub(p.Now()))
		switch {
		case !answered:
			return mvcc.RangeResult{}, deadlineError()
		case res.Err == nil:
			return res.RangeResult, nil
		case errors.Is(res.Err, raftstore.ErrCompacted), errors.Is(res.Err, raftstore.ErrFutureRev), try >= readRetryMax:
			return mvcc.RangeResult{}, storeError(res.Err)
		}
		if p.Now().Add(readRetry).After(deadline) {
			return mvcc.RangeResult{}, deadlineError()
		}
		p.Sleep(readRetry + time.Duration(p.Rand().Int64N(int64(readRetry/10))))
	}
}

// once asks one time; answered is false when the limit passed first.
func (d *door) once(p *sim.Proc, r raftstore.RangeRequest, limit time.Duration) (res raftstore.RangeResult, answered bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var f sim.Future[raftstore.RangeResult]
	d.store.Range(ctx, r, sim.Resolver(d.loop, &f))
	return f.AwaitFor(p, max(limit, 0))
}
