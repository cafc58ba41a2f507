package raftstore

import (
	"example.com/kubeviz/raftstore/mvcc"
)

// Defragment gives free space back; see Store. The state is locked meanwhile: reads, watches and entries wait, raft itself goes on.
func (m *member) Defragment(done func(before, after int64, err error)) {
	l := m.current()
	if l == nil || l.peer.Load() == nil {
		done(0, 0, ErrStopped)
		return
	}
	l.inflight.Add(1)
	l.goes("defragment", func() {
		defer l.inflight.Add(-1)
		var before, after int64
		l.peer.Load().WithState(func(kv *mvcc.Store) {
			before, after = kv.Defragment()
			l.weigh(kv)
		})
		select {
		case <-l.stop: // it was done to a state that nobody will ever see
			done(0, 0, ErrStopped)
			return
		default:
		}
		m.c.opt.Observer.Changed(Change{Kind: Defragmented, Member: m.name, Before: before, After: after})
		done(before, after, nil)
	})
}

// HashKV is a checksum of what this member holds; see Store.
func (m *member) HashKV(rev int64) (mvcc.HashKV, error) {
	l := m.current()
	if l == nil || l.peer.Load() == nil {
		return mvcc.HashKV{}, ErrStopped
	}
	h, err := l.peer.Load().View().HashKV(rev)
	return h, translate(err)
}
