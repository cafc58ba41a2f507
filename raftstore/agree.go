package raftstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// Agreement. The members' states must be the same at the same entry, bit for bit. Each notes a checksum of its own after every entry, which costs nothing because the state machine
// keeps it up to date. At every thousandth entry, and wherever a member makes or takes over a snapshot, they are compared. One that differs from the majority is stopped and
// named, and an alarm tells the operator; where there is no majority nobody can say who is right, and the alarm tells that.

const (
	compareEvery = 1000
	// digestsKept is how many entries back a member still knows its checksum.
	digestsKept = 1024
	// comparesKept is how many places are compared at a time; members that lag by more are compared at later ones.
	comparesKept = 8
)

// digests is what a life knows of its own state; guarded by the lock of the state.
type digests [digestsKept]struct{ index, digest uint64 }

// agreement is the places that are being compared.
type agreement struct {
	mu     sync.Mutex
	places []place
	// open is set while there is a place, so that whoever applies an entry knows whether to look.
	open atomic.Int32
}

// place is an entry at which states are compared.
type place struct {
	index uint64
	said  map[string]uint64 // by member
	over  bool              // somebody was found to differ
}

func (a *agreement) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = nil
	a.open.Store(0)
}

// compareState notes the checksum of the state at index and takes part in the comparisons there. It runs with the state locked.
func (l *life) compareState(index uint64, kv *mvcc.Store) {
	d := kv.Digest()
	slot := &l.digests[index%digestsKept]
	slot.index, slot.digest = index, d
	a := &l.m.c.upkeep.agree
	if index%compareEvery != 0 && (a.open.Load() == 0 || !a.at(index)) {
		return
	}
	l.m.c.compare(index, l, d, index%compareEvery == 0)
}

// compareAt opens a place at index, where this member made a snapshot or took one over. The state must not be locked.
func (l *life) compareAt(index uint64) {
	c := l.m.c
	for _, m := range c.places() {
		other := m.current()
		if other == nil {
			continue
		}
		p := other.peer.Load()
		if p == nil {
			continue
		}
		p.WithState(func(*mvcc.Store) {
			if slot := other.digests[index%digestsKept]; slot.index == index {
				c.compare(index, other, slot.digest, true)
			}
		})
	}
}

// at reports that states are compared at index.
func (a *agreement) at(index uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.find(index) != nil
}

func (a *agreement) find(index uint64) *place {
	for i := range a.places {
		if a.places[i].index == index {
			return &a.places[i]
		}
	}
	return nil
}

// compare takes down what a member says of the state at index, and stops who differs.
func (c *RaftCluster) compare(index uint64, l *life, digest uint64, open bool) {
	a := &c.upkeep.agree
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.find(index)
	if p == nil {
		if !open {
			return
		}
		if len(a.places) == comparesKept {
			a.places = append(a.places[:0:0], a.places[1:]...)
		}
		a.places = append(a.places, place{index: index, said: make(map[string]uint64)})
		p = &a.places[len(a.places)-1]
		a.open.Store(int32(len(a.places)))
	}
	p.said[l.m.name] = digest
	odd, split := p.judge(c.Membership())
	for _, name := range odd {
		delete(p.said, name)
		if m := c.find(name); m != nil {
			if l := m.current(); l != nil {
				l.goes("stop for its state", func() { l.diverged(index) })
			}
		}
	}
	if split && !p.over {
		p.over = true
		go c.alarm(mvcc.Alarm{Kind: mvcc.Corrupt}, nil)
	}
}

// judge names those that differ from a majority of the voters. split: all voters have spoken, and there is none.
func (p *place) judge(m Membership) (odd []string, split bool) {
	votes, spoken := make(map[uint64]int), 0
	for _, x := range m.Members {
		if d, spoke := p.said[x.Name]; spoke && !x.Learner {
			votes[d]++
			spoken++
		}
	}
	for d, n := range votes {
		if n < m.Quorum() {
			continue
		}
		for name, said := range p.said {
			if said != d {
				odd = append(odd, name)
			}
		}
		return odd, false
	}
	return nil, spoken == m.Voters()
}

// diverged stops a member whose state is not that of the others.
func (l *life) diverged(index uint64) {
	if !l.m.end(l, fmt.Sprintf("its state differs from that of the majority at log index %d: it was stopped; to give it a new disk: member replace %s", index, l.m.name)) {
		return
	}
	l.m.c.opt.Observer.Changed(Change{Kind: Diverged, Member: l.m.name, Index: index})
	l.m.c.alarm(mvcc.Alarm{Kind: mvcc.Corrupt, Member: l.m.name}, l.m)
}

// alarm raises an alarm through any member but one, as soon as there is one that can, and again until it is raised. Where it runs on a goroutine of its own that is the cluster's, and does nothing but
// look for a member and wait.
func (c *RaftCluster) alarm(a mvcc.Alarm, but *member) {
	for {
		for _, m := range c.places() {
			l := m.current()
			if m == but || l == nil || !l.ready.Load() {
				continue
			}
			l.goes("raise an alarm", func() {
				l.write(context.Background(), peer.EncodeRaise(l.newID(), a), func(r TxnResult) {
					if r.Outcome != Done {
						go c.alarmAgain(a, but)
					}
				})
			})
			return
		}
		if !c.pause(context.Background()) {
			return
		}
	}
}

func (c *RaftCluster) alarmAgain(a mvcc.Alarm, but *member) {
	if c.pause(context.Background()) {
		c.alarm(a, but)
	}
}
