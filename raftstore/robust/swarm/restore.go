package swarm

import (
	"bytes"
	"context"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// backup keeps an image of some member.
func (r *run) backup() {
	var b bytes.Buffer
	info, err := r.cluster.Backup(r.pick(), &b)
	if err != nil {
		return // one that is down, or has not caught up
	}
	r.image, r.backed = b.Bytes(), info
	r.rec.Note("backup", "", "revision %d, %d keys, %d bytes", info.Revision, info.Keys, info.Bytes)
}

// restore starts the cluster anew from the backup, and writes down what clients see then.
func (r *run) restore(h *history.History) {
	out := &history.Restored{Revision: r.backed.Revision}
	h.Restored = out
	for _, a := range h.Applied {
		out.Known = max(out.Known, a.Revision)
	}
	for _, name := range r.cluster.Members() {
		r.cluster.KillMember(name)
	}
	info, err := r.cluster.Restore(bytes.NewReader(r.image))
	if err != nil {
		out.Err = err.Error()
		return
	}
	out.Claimed = info.Restored
	for _, name := range r.members() {
		r.cluster.StartMember(name)
	}
	if !await(EqualWithin, func() bool { return r.equal() }) {
		out.Err = "members are not equal within " + EqualWithin.String()
		return
	}
	for _, name := range r.voters() {
		ctx, cancel := context.WithTimeout(context.Background(), WriteWithin)
		answers := make(chan raftstore.RangeResult, 1)
		all := mvcc.Range{Key: "\x00", End: "\xff\xff"}
		r.cluster.Store(name).Range(ctx, raftstore.RangeRequest{Range: all}, func(x raftstore.RangeResult) { answers <- x })
		x := <-answers
		cancel()
		f := history.Final{Member: name, Revision: x.Revision, KVs: x.KVs}
		if x.Err != nil {
			f.Err = x.Err.Error()
		}
		out.Reads = append(out.Reads, f)
	}
	first := r.voters()[0]
	ended := make(chan string, 1)
	cancel := r.cluster.Store(first).Watch(raftstore.WatchRequest{From: out.Known}, func(b raftstore.WatchBatch) {
		if b.Err != nil {
			ended <- b.Err.Error()
		}
	})
	ctx, stop := context.WithTimeout(context.Background(), WriteWithin)
	defer stop()
	written := make(chan raftstore.TxnResult, 1)
	r.cluster.Store(first).Txn(ctx, mvcc.Txn{Then: []mvcc.Op{{Key: "g0/0"}}}, func(x raftstore.TxnResult) { written <- x })
	x := <-written
	if x.Err != nil {
		out.Err = "the first write: " + x.Err.Error()
	}
	out.Wrote = x.Result.Revision
	select {
	case out.Watch = <-ended:
	case <-time.After(time.Second):
		out.Watch = "goes on"
	}
	cancel()
}
