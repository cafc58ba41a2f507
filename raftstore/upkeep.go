package raftstore

import (
	"sync/atomic"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// upkeep is the part of a cluster that looks after space, leases and agreement.
type upkeep struct {
	// now is the virtual time, in nanoseconds since 1970; 0: nobody has told it.
	now atomic.Int64
	// quota bounds each member's database; 0: DefaultQuota.
	quota atomic.Int64
	// told is the newest entry whose changes, other than revisions, were told to the observer; guarded by announcing.
	told  uint64
	agree agreement
	traps failure.Traps
}

// forgetTold is for a cluster that begins anew: its log starts at the beginning, with other entries.
func (c *RaftCluster) forgetTold() {
	c.insider.forgetDescribed()
	c.announcing.Lock()
	defer c.announcing.Unlock()
	c.upkeep.told = 0
	c.upkeep.agree.clear()
}

// keepUp follows the state machine; it runs with the state locked, after each entry.
func (l *life) keepUp(index, term uint64, outcomes []peer.Outcome, kv *mvcc.Store) {
	l.m.c.tell(index, outcomes)
	l.countLeases(term, outcomes, kv)
	l.weigh(kv)
	l.compareState(index, kv)
}

// tell tells the observer what else an entry changed, once however many members apply it. Members apply in order, so an entry below one that was told was told as well.
func (c *RaftCluster) tell(index uint64, outcomes []peer.Outcome) {
	locked := false
	for i := range outcomes {
		o := &outcomes[i]
		if o.Command.Kind == peer.Txn || o.Repeated || o.Err != nil {
			continue
		}
		if !locked {
			locked = true
			c.announcing.Lock()
			defer c.announcing.Unlock()
			if index <= c.upkeep.told {
				return
			}
			c.upkeep.told = index
		}
		changes(o, c.opt.Observer.Changed)
	}
}

// changes tells what a command other than a transaction has changed.
func changes(o *peer.Outcome, tell func(Change)) {
	switch c := o.Command; c.Kind {
	case peer.Compact:
		tell(Change{Kind: Compacted, Revision: c.Compact})
	case peer.Grant:
		tell(Change{Kind: LeaseGranted, Lease: c.Lease, TTL: time.Duration(c.TTL) * time.Second})
	case peer.Revoke:
		tell(Change{Kind: LeaseRevoked, Lease: c.Lease, Keys: len(o.Events)})
	case peer.Expire:
		tell(Change{Kind: LeaseExpired, Lease: c.Lease, Keys: len(o.Events)})
	case peer.Raise:
		for _, a := range o.Alarms {
			tell(Change{Kind: AlarmRaised, Alarm: a, Member: a.Member})
		}
	case peer.Disarm:
		for _, a := range o.Alarms {
			tell(Change{Kind: AlarmLifted, Alarm: a, Member: a.Member})
		}
	}
}

// keptUp runs with the state locked, when a leader's snapshot has replaced it.
func (l *life) keptUp(index uint64, kv *mvcc.Store) {
	l.lessor.mu.Lock()
	l.lessor.clear(0) // who takes over a snapshot does not lead
	l.lessor.mu.Unlock()
	l.weigh(kv)
	slot := &l.digests[index%digestsKept]
	slot.index, slot.digest = index, kv.Digest()
	l.goes("compare states", func() { l.compareAt(index) })
}

// saved runs when this member has made a snapshot.
func (l *life) saved(index, term uint64) {
	l.m.c.insider.savedAt(l, index, term)
	l.compareAt(index)
}
