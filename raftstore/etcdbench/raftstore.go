package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

const raftstoreName = "raftstore"

type raftstoreContender struct {
	cluster *raftstore.RaftCluster
	names   []string
	newest  atomic.Int64 // revision
}

func openRaftstore(dir string, sync bool) (contender, error) {
	s := &raftstoreContender{}
	for i := range members {
		s.names = append(s.names, fmt.Sprint("master-", i+1))
	}
	var err error
	if s.cluster, err = raftstore.Open(raftstore.Options{Members: s.names, Dir: dir, Sync: sync}); err != nil {
		return nil, err
	}
	return s, await("settled cluster", s.cluster.Settled)
}

func (s *raftstoreContender) lead(ctx context.Context) (int, error) {
	for ctx.Err() == nil {
		for i, st := range s.cluster.Status() {
			if st.Role == raftstore.Leader && st.Ready {
				return i, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return 0, ctx.Err()
}

func (s *raftstoreContender) put(ctx context.Context, member int, key string, value []byte) error {
	done := make(chan raftstore.TxnResult, 1)
	s.cluster.Store(s.names[member]).Txn(ctx, mvcc.Txn{Then: []mvcc.Op{{Key: key, Value: value}}}, func(r raftstore.TxnResult) { done <- r })
	r := <-done
	for {
		newest := s.newest.Load()
		if r.Result.Revision <= newest || s.newest.CompareAndSwap(newest, r.Result.Revision) {
			return r.Err
		}
	}
}

func (s *raftstoreContender) get(ctx context.Context, member int, key string) error {
	done := make(chan raftstore.RangeResult, 1)
	s.cluster.Store(s.names[member]).Range(ctx, raftstore.RangeRequest{Range: mvcc.Range{Key: key}}, func(r raftstore.RangeResult) { done <- r })
	return (<-done).Err
}

func (s *raftstoreContender) compact(ctx context.Context) error {
	leader, err := s.lead(ctx)
	if err != nil {
		return err
	}
	done := make(chan raftstore.Written, 1)
	s.cluster.Store(s.names[leader]).Compact(ctx, s.newest.Load(), func(w raftstore.Written) { done <- w })
	return (<-done).Err
}

func (s *raftstoreContender) watch(_ context.Context, member int, key string, deliver func(int)) error {
	s.cluster.Store(s.names[member]).Watch(raftstore.WatchRequest{Prefix: key, Exact: true}, func(b raftstore.WatchBatch) { deliver(len(b.Events)) })
	return nil
}

func (s *raftstoreContender) kill(member int) error { return s.cluster.KillMember(s.names[member]) }

func (s *raftstoreContender) start(member int) error {
	if err := s.cluster.StartMember(s.names[member]); err != nil {
		return err
	}
	return await("settled cluster", func() bool { return s.cluster.Status()[member].Ready && s.cluster.Settled() })
}

func (s *raftstoreContender) close() error { return s.cluster.Close() }
