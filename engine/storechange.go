package engine

import (
	"context"
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// causes remembers which order asked for a change of the store that will be heard of later, by what the change is about. Loop only.
type causes map[subject]event.Seq

type subject struct {
	kind   raftstore.ChangeKind
	member string
	point  failure.Point
}

// take gives the order that asked for it and forgets that; 0: nobody did.
func (c causes) take(s subject) event.Seq {
	seq := c[s]
	delete(c, s)
	return seq
}

// storeChanged brings a change of the store that is neither a revision nor a role to the journal. Loop.
func (d *storeDoor) storeChanged(c raftstore.Change) {
	by := event.Engine
	if c.Member != "" {
		by = event.On("etcd", c.Member)
	}
	emit := func(cause event.Seq, e event.Event) event.Seq { return d.e.journal.Emit(by, cause, e) }
	tag := d.run.record(c.Tag)
	asked := subject{kind: c.Kind, member: c.Member}
	switch c.Kind {
	case raftstore.MembersChanged:
		d.tellMembers(c.Membership, d.why(d.asked.take(subject{kind: c.Kind})))
	case raftstore.Compacted: // the API servers ask for one every five minutes
		emit(first(d.asked.take(subject{kind: c.Kind}), tag, d.e.root), event.StoreCompacted{Revision: c.Revision})
	case raftstore.Defragmented:
		emit(first(d.asked.take(asked), d.e.root), event.StoreDefragmented{Member: c.Member, Before: c.Before, After: c.After})
	case raftstore.AlarmRaised:
		by = event.On("etcd", c.Alarm.Member)
		cause := d.why(0)
		if c.Alarm.Kind == mvcc.NoSpace { // a small quota is the cause of a store that is full
			cause = first(d.asked[subject{kind: c.Kind}], tag, d.e.root)
		}
		emit(cause, event.StoreAlarm{Kind: string(c.Alarm.Kind), Member: c.Alarm.Member, Raised: true})
	case raftstore.AlarmLifted:
		by = event.On("etcd", c.Alarm.Member)
		emit(first(d.asked[subject{kind: c.Kind}], tag, d.why(0)), event.StoreAlarm{Kind: string(c.Alarm.Kind), Member: c.Alarm.Member})
	case raftstore.LeaseGranted:
		emit(first(tag, d.e.root), event.StoreLease{ID: int64(c.Lease), Change: "granted", TTL: c.TTL})
	case raftstore.LeaseExpired:
		emit(first(tag, d.e.root), event.StoreLease{ID: int64(c.Lease), Change: "expired", Keys: c.Keys})
	case raftstore.LeaseRevoked:
		emit(first(tag, d.e.root), event.StoreLease{ID: int64(c.Lease), Change: "revoked", Keys: c.Keys})
	case raftstore.DiskChanged:
		f := event.DiskChanged{Member: c.Member, State: string(c.Disk), Text: c.Text}
		if c.Disk == failure.Slow {
			f.Delay = d.slow[c.Member]
		}
		d.shaken(emit(d.why(d.asked.take(asked)), f))
	case raftstore.TrapSprung:
		cause := d.asked.take(subject{kind: c.Kind, member: c.Member, point: c.Trap.Point})
		d.shaken(emit(d.why(cause), event.TrapSprung{Member: c.Member, Point: string(c.Trap.Point), Action: string(c.Trap.Action)}))
	case raftstore.SetAside:
		emit(d.why(first(d.asked.take(asked), d.asked[subject{kind: c.Kind}])), event.DiskSetAside{Member: c.Member, Text: c.Text})
	case raftstore.BegunAnew:
		d.begun(d.why(d.asked.take(asked)))
	case raftstore.Diverged:
		d.shaken(emit(d.why(0), event.StoreDiverged{Member: c.Member, Index: c.Index}))
	}
}

// first is the first cause that is known.
func first(causes ...event.Seq) event.Seq {
	for _, c := range causes {
		if c != 0 {
			return c
		}
	}
	return 0
}

// tellMembers journals who belongs to the store, where that is another configuration than the one told before, and works out anew who has a quorum.
func (d *storeDoor) tellMembers(m raftstore.Membership, cause event.Seq) {
	if d.told && (slices.Equal(m.Members, d.members.Members) || m.Index != 0 && m.Index < d.members.Index) {
		d.members.Index, d.members.Term = max(d.members.Index, m.Index), max(d.members.Term, m.Term)
		return
	}
	d.told, d.members = true, m
	f := event.MembersChanged{Index: m.Index, Term: m.Term}
	for _, x := range m.Members {
		f.Members = append(f.Members, event.StoreMember{Name: x.Name, ID: x.ID, Learner: x.Learner})
	}
	d.shaken(d.e.journal.Emit(event.Engine, cause, f))
}

// begun says that the store's members began with something that no write told of: the journal catches up when there is a leader to ask.
func (d *storeDoor) begun(cause event.Seq) {
	d.untold = cause
	d.members.Index = 0 // the log begins anew
	d.tellMembers(d.cluster.Membership(), cause)
	d.tellUntold()
}

// tellLimit is how long the question for everything may take, simulated; it is asked again.
const tellLimit = 10 * time.Second

// tellUntold reads everything and tells the journal what it does not know.
func (d *storeDoor) tellUntold() {
	leader := d.e.storeLeader()
	if d.untold == 0 || d.telling || leader == nil {
		return
	}
	cause := d.untold
	d.untold, d.telling = 0, true
	ctx, cancel := context.WithCancel(context.Background())
	limit := d.e.loop.After(tellLimit, cancel)
	d.e.announ.BeginRecount()
	d.door(leader.host).Range(ctx, raftstore.RangeRequest{Range: mvcc.Range{Key: "/", End: mvcc.PrefixEnd("/")}}, func(r raftstore.RangeResult) {
		d.e.loop.Post(func() {
			limit.Stop()
			cancel()
			d.telling = false
			if r.Err != nil {
				d.untold = max(d.untold, cause)
				return
			}
			d.e.announ.Recount(cause, r.KVs, r.Revision)
		})
	})
}
