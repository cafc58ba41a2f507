package world

import (
	"slices"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine/event"
)

// Clone returns an independent copy in constant time: the tables share their nodes until either side changes one. It writes to w too (both sides
// must copy from now on), so only w's owner may call it; the clone may then go to another goroutine.
func (w *World) Clone() World {
	c := *w
	c.Hosts = *w.Hosts.Copy()
	c.Members = *w.Members.Copy()
	c.Log = *w.Log.Copy()
	c.Nodes = *w.Nodes.Copy()
	c.Pods = *w.Pods.Copy()
	c.Objects = *w.Objects.Copy()
	c.Defined = *w.Defined.Copy()
	c.Running = *w.Running.Copy()
	c.Queues = *w.Queues.Copy()
	c.Watches = *w.Watches.Copy()
	c.Clients = *w.Clients.Copy()
	c.Programs = *w.Programs.Copy()
	c.Leases = *w.Leases.Copy()
	c.Faults = *w.Faults.Copy()
	c.Backends = *w.Backends.Copy()
	c.Evictions = *w.Evictions.Copy()
	c.Attempts = *w.Attempts.Copy()
	c.Leaders = *w.Leaders.Copy()
	c.indexes = w.indexes.clone()
	w.Elections = slices.Clip(w.Elections) // an append on either side moves to an array of its own
	w.Commands = slices.Clip(w.Commands)
	w.shared = true
	c.Elections, c.Commands, c.shared = w.Elections, w.Commands, true
	return c
}

// indexes answer questions about the tables without walking them. Each is kept up to date by the arm that changes the table.
type indexes struct {
	onNode    btree.Set[string]            // "node pod": pods bound to a node, by belief
	unbound   btree.Set[string]            // pods without a node that have not ended
	failing   btree.Set[string]            // pods whose Status is a failure
	notReady  btree.Set[string]            // nodes that are not Ready=True
	stuck     btree.Set[string]            // deployments whose progress deadline has passed
	troubled  btree.Set[string]            // hosts that went down or have a process down
	due       btree.Set[string]            // "node due pod": evictions in order of time
	watching  btree.Set[string]            // "client server number": open watches
	clients   btree.Map[string, event.Seq] // clients from outside by name
	asking    btree.Map[event.Seq, ask]    // requests in flight by the number of their RequestReceived: whose they are
	backedOff btree.Set[string]            // keys of Running that wait to be started again
	evictions btree.Map[string, int]       // how many of due, by node
	statuses  btree.Map[string, int]       // how many pods, by Status
}

func (x *indexes) clone() indexes {
	return indexes{
		clients: *x.clients.Copy(), asking: *x.asking.Copy(),
		onNode: *x.onNode.Copy(), unbound: *x.unbound.Copy(), failing: *x.failing.Copy(), notReady: *x.notReady.Copy(),
		stuck: *x.stuck.Copy(), troubled: *x.troubled.Copy(), due: *x.due.Copy(), watching: *x.watching.Copy(), backedOff: *x.backedOff.Copy(), evictions: *x.evictions.Copy(), statuses: *x.statuses.Copy(),
	}
}

// put makes set hold key if in, and not hold it otherwise.
func put(set *btree.Set[string], key string, in bool) {
	if in {
		set.Insert(key)
	} else {
		set.Delete(key)
	}
}

// count adds n to the counter of key and forgets counters at zero.
func count(m *btree.Map[string, int], key string, n int) {
	have, _ := m.Get(key)
	if have += n; have == 0 {
		m.Delete(key)
	} else {
		m.Set(key, have)
	}
}
