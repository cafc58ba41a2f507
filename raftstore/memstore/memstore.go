// Package memstore is the store without raft: the contract of raftstore.Cluster on one state machine, for runs that must repeat from a seed and for
// fast tests.
//
// Owns: who can reach whom, and so which member answers. A write is applied the moment it is brought to a member that reaches the leader. The leader
// is a member that is up and reaches a majority: the present one as long as that holds, else the first in order. Each change of leader is a
// new term. What reaches no leader waits until the network, or the set of members that are up, changes. A member that is cut off keeps the
// state it had, for serializable reads, and its watches stall until it reaches a leader again.
//
// What it leaves out: delays (a link that is slow works), the time an election takes, messages (the observer hears of none) and doubt: no outcome is
// ever Unknown.
//
// Imports of ours: raftstore, raftstore/mvcc.
//
// Goroutines: none. Callbacks run on the goroutine that calls, before its call returns, and in order; what a callback causes by calling back in runs
// after it. Nothing watches contexts: a request that waits and whose context has ended is answered with ErrTimeout when the network or the
// members change next, or when the next request has to wait.
//
// Time: none.
package memstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// attempts is how many messages in a row a link must lose to count as cut: one that loses some still works.
const attempts = 8

// Cluster is a raftstore.Cluster on one state machine.
type Cluster struct {
	net raftstore.Network
	obs raftstore.Observer

	mu      sync.Mutex
	kv      *mvcc.Store
	members []*member
	leader  *member // nil: none
	term    uint64
	waiting []request
	// due are callbacks not yet run; running is set while somebody runs them.
	due     []func()
	running bool
}

var _ raftstore.Cluster = (*Cluster)(nil)

// request waits for a leader.
type request struct {
	m      *member
	ctx    context.Context
	serve  func()
	refuse func(error)
}

// New returns a cluster of members that are all up. net may be nil (everything passes), and so may obs.
func New(members []string, net raftstore.Network, obs raftstore.Observer) *Cluster {
	if net == nil {
		net = raftstore.OpenNetwork{}
	}
	c := &Cluster{net: net, obs: obs, kv: mvcc.New()}
	for _, name := range members {
		c.members = append(c.members, &member{c: c, name: name, up: true, frozen: c.kv.Snapshot()})
	}
	c.locked(c.examine)
	return c
}

// locked runs do with the state locked and then the callbacks it caused.
func (c *Cluster) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	if c.running {
		return
	}
	c.running = true
	defer func() { c.running = false }()
	for len(c.due) > 0 {
		run := c.due[0]
		c.due = c.due[1:]
		c.unlocked(run)
	}
	c.due = nil
}

func (c *Cluster) unlocked(run func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	run()
}

func (c *Cluster) call(f func()) { c.due = append(c.due, f) }

func (c *Cluster) reach(a, b *member) bool {
	if a == b {
		return a.up
	}
	return a.up && b.up && c.passes(a, b) && c.passes(b, a)
}

func (c *Cluster) passes(from, to *member) bool {
	for range attempts {
		if v := c.net.Verdict(raftstore.Packet{From: from.name, To: to.name, Kind: "append"}); v.Refuse {
			return false
		} else if !v.Drop {
			return true
		}
	}
	return false
}

func (c *Cluster) reachesMajority(m *member) bool {
	n := 0
	for _, other := range c.members {
		if c.reach(m, other) {
			n++
		}
	}
	return n > len(c.members)/2
}

// examine works out anew who leads and who is connected, and lets go what waited for that.
func (c *Cluster) examine() {
	if c.leader == nil || !c.reachesMajority(c.leader) {
		c.leader = nil
		for _, m := range c.members {
			if c.reachesMajority(m) {
				c.leader = m
				c.term++
				break
			}
		}
	}
	for _, m := range c.members {
		connected := c.leader != nil && c.reach(m, c.leader)
		if m.connected && !connected {
			m.frozen = c.kv.Snapshot()
		}
		m.connected = connected
		if connected {
			m.ready, m.frozen = true, nil
			m.catchUp()
		}
	}
	c.report()
	waiting := c.waiting
	c.waiting = nil
	for _, r := range waiting {
		c.ask(r)
	}
}

func (c *Cluster) report() {
	for _, m := range c.members {
		s := m.status()
		if s.Role != m.reported.Role || s.Term != m.reported.Term || s.Leader != m.reported.Leader {
			m.reported = s
			if c.obs != nil {
				c.call(func() { c.obs.RoleChanged(s) })
			}
		}
	}
}

// ask serves r, or lets it wait.
func (c *Cluster) ask(r request) {
	switch {
	case !r.m.up:
		r.refuse(raftstore.ErrStopped)
	case r.ctx.Err() != nil:
		r.refuse(raftstore.ErrTimeout)
	case r.m.connected:
		r.serve()
	default:
		kept := c.waiting[:0]
		for _, w := range c.waiting {
			if w.ctx.Err() != nil {
				w.refuse(raftstore.ErrTimeout)
			} else {
				kept = append(kept, w)
			}
		}
		c.waiting = append(kept, r)
	}
}

// publish tells the observer and all watches of connected members about a revision.
func (c *Cluster) publish(a raftstore.Applied) {
	if c.obs != nil {
		c.call(func() { c.obs.Applied(a) })
	}
	for _, m := range c.members {
		if !m.connected {
			continue
		}
		for _, w := range m.watches {
			if a.Revision < w.next {
				continue
			}
			var events []mvcc.Event
			for _, e := range a.Events {
				if hasPrefix(e.KV.Key, w.prefix) {
					events = append(events, e)
				}
			}
			if len(events) > 0 {
				c.send(w, raftstore.WatchBatch{Events: events, Revision: a.Revision})
			}
		}
	}
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

func (c *Cluster) send(w *watch, b raftstore.WatchBatch) {
	if b.Revision > 0 {
		w.next = max(w.next, b.Revision+1)
	}
	c.call(func() {
		c.mu.Lock()
		over := w.over
		w.over = over || b.Err != nil
		c.mu.Unlock()
		if !over {
			w.deliver(b)
		}
	})
}

// Members lists the names in the order given.
func (c *Cluster) Members() []string {
	var names []string
	for _, m := range c.members {
		names = append(names, m.name)
	}
	return names
}

// Store returns a member's client door; nil when there is no such member.
func (c *Cluster) Store(name string) raftstore.Store {
	if m := c.member(name); m != nil {
		return m
	}
	return nil
}

func (c *Cluster) member(name string) *member {
	for _, m := range c.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// change changes a member and examines the cluster.
func (c *Cluster) change(what, name string, do func(m *member) error) (err error) {
	m := c.member(name)
	if m == nil {
		return fmt.Errorf("%s: no member %q", what, name)
	}
	c.locked(func() {
		if err = do(m); err != nil {
			err = fmt.Errorf("%s %s: %w", what, name, err)
			return
		}
		c.examine()
	})
	return err
}

// StartMember starts a member with the state it had.
func (c *Cluster) StartMember(name string) error {
	return c.change("start member", name, func(m *member) error {
		if m.up {
			return errors.New("it is running")
		}
		m.up, m.ready = true, false
		return nil
	})
}

// KillMember stops a member. One that is down stays down.
func (c *Cluster) KillMember(name string) error {
	return c.change("kill member", name, func(m *member) error {
		if m.frozen == nil {
			m.frozen = c.kv.Snapshot()
		}
		m.up, m.connected = false, false
		for _, w := range m.watches {
			c.send(w, raftstore.WatchBatch{Err: raftstore.ErrStopped})
		}
		m.watches = nil
		return nil
	})
}

// WipeMember makes a member that is down forget its state. When all have, what starts next is a new cluster.
func (c *Cluster) WipeMember(name string) error {
	return c.change("wipe member", name, func(m *member) error {
		if m.up {
			return errors.New("it is running")
		}
		m.frozen = mvcc.New().Snapshot()
		for _, other := range c.members {
			if other.up || other.frozen.Revision() > m.frozen.Revision() {
				return nil
			}
		}
		c.kv = mvcc.New()
		return nil
	})
}

// SetPace does nothing: there is no time here.
func (c *Cluster) SetPace(float64) {}

// NetworkChanged asks the network anew about all links.
func (c *Cluster) NetworkChanged() { c.locked(c.examine) }

// Led reports that there is a leader.
func (c *Cluster) Led() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader != nil
}

// Settled is Led: nothing is ever in flight that could be served.
func (c *Cluster) Settled() bool { return c.Led() }

// Status of all members, in order.
func (c *Cluster) Status() []raftstore.MemberStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []raftstore.MemberStatus
	for _, m := range c.members {
		all = append(all, m.status())
	}
	return all
}

// Close stops all members.
func (c *Cluster) Close() error {
	for _, m := range c.members {
		if err := c.KillMember(m.name); err != nil {
			return err
		}
	}
	return nil
}
