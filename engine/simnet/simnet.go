// Package simnet is the network of the model: hosts, the processes that listen on them, and what happens to packets between them.
//
// Every packet asks it: API calls (Call), watches (Stream), raft messages and probes (Verdict). A host that is off is silent: packets to it vanish. A
// process that is down on a living host refuses. Faults from the active set cut, delay or lose packets on chosen links.
//
// Owns: which hosts and processes are up, the fault set, latencies. Imports of ours: engine/fault, engine/sim, engine/event.
//
// Goroutines: the loop, except Table, a frozen picture any goroutine may ask. Time: simulated.
package simnet

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/sim"
)

// Errors of a connection, in the words Go programs print.
var (
	// ErrRefused: the host lives, nobody listens.
	ErrRefused = errors.New("connect: connection refused")
	// ErrTimeout: no answer came within the time allowed.
	ErrTimeout = errors.New("i/o timeout")
	// ErrClosed: the client itself hung up.
	ErrClosed = errors.New("use of closed network connection")
	// ErrReset: the peer process ended while the call or stream was open.
	ErrReset = errors.New("connection reset by peer")
)

// Addr is a process on a host.
type Addr struct{ Host, Process string }

func (a Addr) String() string { return a.Host + "/" + a.Process }

// Local latency bounds between two hosts of one site, one way.
const (
	latencyMin = 200 * time.Microsecond
	latencyMax = 600 * time.Microsecond
)

// Net is the network of one cluster.
type Net struct {
	loop      *sim.Loop
	faults    fault.Set
	hosts     map[string]bool     // up?
	listeners map[Addr]*sim.Group // processes that accept connections
	rng       *rand.Rand
	changed   []func()
	table     atomic.Pointer[Table]
	next      Table                    // the table to publish, whose trees are shared with the published ones
	effects   map[[2]Addr]fault.Effect // memo for the present fault set
	open      roster                   // every open call and stream
	openOn    map[string]*roster       // those with an end on a host
}

// New makes a network without hosts.
func New(l *sim.Loop) *Net {
	n := &Net{
		loop: l, hosts: map[string]bool{}, listeners: map[Addr]*sim.Group{}, rng: l.Rand("simnet"),
		effects: map[[2]Addr]fault.Effect{}, openOn: map[string]*roster{},
	}
	n.publish()
	return n
}

// Loop is the loop the network lives on.
func (n *Net) Loop() *sim.Loop { return n.loop }

// OnChange runs fn after each change of hosts, processes or faults.
func (n *Net) OnChange(fn func()) { n.changed = append(n.changed, fn) }

// SetHost says whether a machine is on. A machine that goes off takes no process down by itself; the assembly does that.
func (n *Net) SetHost(host string, up bool) {
	n.hosts[host] = up
	n.next.hosts.Set(host, up)
	n.change(host)
}

// HostUp reports whether the machine is on.
func (n *Net) HostUp(host string) bool { return n.hosts[host] }

// Listen says that the process at a accepts connections as long as g lives.
func (n *Net) Listen(a Addr, g *sim.Group) {
	n.listeners[a] = g
	n.next.listeners.Insert(a.String())
	g.OnKill(func() {
		if n.listeners[a] == g {
			n.Close(a)
		}
	})
	n.change(a.Host)
}

// Close says that nothing listens at a any more; open streams and calls to it are reset.
func (n *Net) Close(a Addr) {
	if _, ok := n.listeners[a]; !ok {
		return
	}
	delete(n.listeners, a)
	n.next.listeners.Delete(a.String())
	n.change(a.Host)
}

// Listening reports whether a accepts connections.
func (n *Net) Listening(a Addr) bool { _, ok := n.listeners[a]; return ok }

// AddFault puts a fault in force under the number of the record that announced it.
func (n *Net) AddFault(id event.Seq, f fault.Fault) {
	n.faults.Add(uint64(id), f)
	n.changeLinks()
}

// RemoveFaults lifts the faults that drop says yes to and returns them.
func (n *Net) RemoveFaults(drop func(fault.Active) bool) []fault.Active {
	gone := n.faults.Remove(drop)
	if len(gone) > 0 {
		n.changeLinks()
	}
	return gone
}

// Faults lists what is in force.
func (n *Net) Faults() []fault.Active { return n.faults.Active() }

// change follows a change on one host, which only what has an end there can notice.
func (n *Net) change(host string) {
	n.publish()
	if r := n.openOn[host]; r != nil {
		r.netChanged()
	}
	for _, fn := range n.changed {
		fn()
	}
}

// changeLinks follows a change of the faults.
func (n *Net) changeLinks() {
	clear(n.effects)
	n.publish()
	n.open.netChanged()
	for _, fn := range n.changed {
		fn()
	}
}

// Verdict is the fate of one packet.
type Verdict struct {
	// Drop: it vanishes. Refuse: the host answers that nobody listens.
	Drop, Refuse bool
	// Delay until it arrives, simulated.
	Delay time.Duration
	// Cause is the record of the fault or of the stop that decides; 0 for a healthy link.
	Cause event.Seq
}

// Verdict decides the fate of one packet now. Loss draws from the network's random stream.
func (n *Net) Verdict(from, to Addr) Verdict {
	if !n.hosts[from.Host] || !n.hosts[to.Host] {
		return Verdict{Drop: true}
	}
	e := n.effect(from, to)
	v := Verdict{Delay: n.latency(from, to) + e.Delay, Cause: event.Seq(e.ID)}
	if e.Cut || (e.Percent > 0 && n.rng.Float64()*100 < e.Percent) {
		v.Drop = true
		return v
	}
	if _, ok := n.listeners[to]; !ok {
		v.Refuse = true
	}
	return v
}

// Reachable reports whether packets from one to the other get through in principle: hosts up, link not cut. Listening is not asked.
func (n *Net) Reachable(from, to Addr) bool {
	return n.hosts[from.Host] && n.hosts[to.Host] && !n.effect(from, to).Cut
}

// Silenced finds the fault that keeps packets of from away from to: the record to name as cause. 0: none (who stopped a machine is known to the assembly).
func (n *Net) Silenced(from, to Addr) event.Seq {
	if e := n.effect(from, to); e.Cut {
		return event.Seq(e.ID)
	}
	return 0
}

func (n *Net) effect(from, to Addr) fault.Effect {
	if len(n.faults.Active()) == 0 {
		return fault.Effect{}
	}
	key := [2]Addr{from, to}
	e, ok := n.effects[key]
	if !ok {
		e = fault.Between(n.faults.Active(), from.String(), to.String())
		n.effects[key] = e
	}
	return e
}

func (n *Net) latency(from, to Addr) time.Duration {
	if from.Host == to.Host {
		return 20 * time.Microsecond
	}
	return latencyMin + time.Duration(n.rng.Int64N(int64(latencyMax-latencyMin)))
}

// Table is a frozen picture of the network for goroutines outside the loop. Immutable.
type Table struct {
	hosts     btree.Map[string, bool]
	listeners btree.Set[string] // as Addr.String gives them
	faults    []fault.Active
}

// publish costs the same for any number of hosts: the trees are copied on write.
func (n *Net) publish() {
	n.table.Store(&Table{hosts: *n.next.hosts.Copy(), listeners: *n.next.listeners.Copy(), faults: n.faults.Active()})
}

// Table returns the picture of this moment. Any goroutine.
func (n *Net) Table() *Table { return n.table.Load() }

// Verdict is Net.Verdict for outside goroutines; chance is a number in [0,1) that decides loss.
func (t *Table) Verdict(from, to Addr, chance float64) Verdict {
	v, _ := t.Message(from, to, chance)
	return v
}

// Message is Verdict for a message of the store: it tells as well what is done to single messages between the two.
func (t *Table) Message(from, to Addr, chance float64) (Verdict, fault.Messages) {
	if !t.up(from.Host) || !t.up(to.Host) {
		return Verdict{Drop: true}, fault.Messages{}
	}
	var e fault.Effect
	if len(t.faults) > 0 {
		e = fault.Between(t.faults, from.String(), to.String())
	}
	v := Verdict{Delay: e.Delay, Cause: event.Seq(e.ID)}
	switch {
	case e.Cut || chance*100 < e.Percent:
		v.Drop = true
	case !t.listeners.Contains(to.String()):
		v.Refuse = true
	}
	return v, e.Messages
}

func (t *Table) up(host string) bool {
	up, _ := t.hosts.Get(host)
	return up
}
