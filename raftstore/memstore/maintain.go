package memstore

import (
	"context"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

func (m *member) GrantLease(_ context.Context, _ time.Duration, done func(raftstore.Lease)) {
	done(raftstore.Lease{Written: raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet}})
}

func (m *member) RevokeLease(_ context.Context, _ mvcc.LeaseID, done func(raftstore.Written)) {
	done(raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet})
}

func (m *member) KeepAlive(_ context.Context, _ mvcc.LeaseID, done func(raftstore.Lease)) {
	done(raftstore.Lease{Written: raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet}})
}

func (m *member) Disarm(_ context.Context, done func(raftstore.Written)) {
	done(raftstore.Written{Outcome: raftstore.Refused, Err: errNotYet})
}

func (m *member) Defragment(done func(before, after int64, err error)) { done(0, 0, errNotYet) }

func (m *member) HashKV(int64) (mvcc.HashKV, error) { return mvcc.HashKV{}, errNotYet }
