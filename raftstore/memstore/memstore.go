// Package memstore is the store without raft: the contract of raftstore.Cluster on one state machine, for runs that must repeat from a seed and for
// fast tests.
//
// Owns: who can reach whom, and so which member answers. A write is applied the moment it is brought to a member that reaches the leader. The leader
// is a voter that is up and reaches a majority of the voters: the present one as long as that holds, else the first in order. Each change of leader is a
// new term. What reaches no leader waits until the network, or the set of members that are up, changes. A member that is cut off keeps the
// state it had, for serializable reads, and its watches stall until it reaches a leader again.
//
//	links.go    who reaches whom, who leads, what waits        life.go     starting, stopping, wiping, disks
//	member.go   the client door of a member                    members.go  the membership and etcd's rules for changing it
//	watch.go    watches                                        lease.go    leases and their time
//	space.go    sizes, quota, alarms                           backup.go   backup and restore
//
// What it leaves out: delays (a link or a disk that is slow works), the time an election takes, messages (the observer hears of none), duplicates, doubt (no outcome is
// ever Unknown) and traps: a member here takes none of the steps that have names, so one that is set waits for ever.
//
// Imports of ours: raftstore, raftstore/mvcc, raftstore/failure.
//
// Goroutines: none. Callbacks run on the goroutine that calls, before its call returns, and in order; what a callback causes by calling back in runs
// after it. Nothing watches contexts: a request that waits and whose context has ended is answered with ErrTimeout when the network or the
// members change next, or when the next request has to wait.
//
// Time: virtual, as Advance tells it, for leases alone.
package memstore

import (
	"sync"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// Cluster is a raftstore.Cluster on one state machine.
type Cluster struct {
	net   raftstore.Network
	obs   raftstore.Observer
	traps failure.Traps

	mu sync.Mutex
	kv *mvcc.Store
	// places are all there ever were, in order; those that are members say so.
	places []*member
	// configured is the revision at which the membership last changed, under term configuredIn.
	configured   int64
	configuredIn uint64
	leader       *member // nil: none
	term         uint64
	waiting      []request
	// highest revision that any member ever had.
	highest int64
	quota   int64
	lessor  lessor
	// due are callbacks not yet run; running is set while somebody runs them.
	due     []func()
	running bool
}

var _ raftstore.Cluster = (*Cluster)(nil)

// New returns a cluster of members that are all up. net may be nil (everything passes), and so may obs.
func New(members []string, net raftstore.Network, obs raftstore.Observer) *Cluster {
	if net == nil {
		net = raftstore.OpenNetwork{}
	}
	c := &Cluster{net: net, obs: obs, kv: mvcc.New(), quota: raftstore.DefaultQuota}
	for _, name := range members {
		c.places = append(c.places, &member{c: c, name: name, lives: 1, in: true, started: true, up: true, disk: failure.Sound, frozen: c.kv.Snapshot()})
	}
	c.locked(func() {
		c.reconfigured()
		c.examine()
	})
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

func (c *Cluster) tell(change raftstore.Change) {
	if c.obs != nil {
		c.call(func() { c.obs.Changed(change) })
	}
}

// Members lists the names of all places.
func (c *Cluster) Members() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, m := range c.places {
		names = append(names, m.name)
	}
	return names
}

// Store returns a member's client door; nil when there is no such place.
func (c *Cluster) Store(name string) raftstore.Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.place(name); m != nil {
		return m
	}
	return nil
}

func (c *Cluster) place(name string) *member {
	for _, m := range c.places {
		if m.name == name {
			return m
		}
	}
	return nil
}

// SetPace does nothing: nothing takes time here.
func (c *Cluster) SetPace(float64) {}

// Traps are kept, and never stepped on.
func (c *Cluster) Traps() *failure.Traps { return &c.traps }

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

// Status of all places, in order.
func (c *Cluster) Status() []raftstore.MemberStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []raftstore.MemberStatus
	for _, m := range c.places {
		all = append(all, m.status())
	}
	return all
}

// Close stops all members.
func (c *Cluster) Close() error {
	for _, name := range c.Members() {
		if err := c.KillMember(name); err != nil {
			return err
		}
	}
	return nil
}

// Advance tells the virtual time.
func (c *Cluster) Advance(now time.Time) {
	c.mu.Lock()
	idle := !c.lessor.now.IsZero() && now.Before(c.lessor.next)
	if idle && now.After(c.lessor.now) {
		c.lessor.now = now
	}
	c.mu.Unlock()
	if !idle {
		c.locked(func() { c.advance(now) })
	}
}
