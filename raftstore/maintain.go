package raftstore

import (
	"context"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

func (m *member) GrantLease(_ context.Context, _ time.Duration, done func(Lease)) {
	done(Lease{Written: Written{Outcome: Refused, Err: errNotYet}})
}

func (m *member) RevokeLease(_ context.Context, _ mvcc.LeaseID, done func(Written)) {
	done(Written{Outcome: Refused, Err: errNotYet})
}

func (m *member) KeepAlive(_ context.Context, _ mvcc.LeaseID, done func(Lease)) {
	done(Lease{Written: Written{Outcome: Refused, Err: errNotYet}})
}

func (m *member) Disarm(_ context.Context, done func(Written)) {
	done(Written{Outcome: Refused, Err: errNotYet})
}

func (m *member) Defragment(done func(before, after int64, err error)) { done(0, 0, errNotYet) }

func (m *member) HashKV(int64) (mvcc.HashKV, error) { return mvcc.HashKV{}, errNotYet }
