package queueview

import (
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// What counts as what.
const (
	longWait  = 5 * time.Second // an item that waits longer for a worker is worth a word
	overdueBy = 2 * time.Second // a due time that passed longer ago is
	recent    = 30              // steps of history in which a queue that did something is not idle
	held      = 64              // containers in back-off that are looked at in a frame
)

// level of a queue: the stuck ones come first, the idle ones are folded.
type level int

const (
	stuck level = iota
	busy
	idle
)

// row is one queue, or one part of the scheduler's.
type row struct {
	t     target.Target
	label string
	level level
	// queue holds figures and items; nil where the row is made of other facts.
	queue   *world.Queue
	history *world.History
	waiting int
	inWork  int
	delayed int
	failing int
	next    time.Time
	oldest  time.Time
	// watches open on an API server; -1: it has none to speak of.
	watches int
	// states of the items that belong to the row; nil: all.
	states []event.ItemState
	// items of rows that are not a queue of a program.
	items []event.QueueItem
	more  int // items beyond those
}

// group is the queues of one component.
type group struct {
	component string
	rows      []row
	// lease the component is led by; empty: every one of them works.
	lease string
	// quiet counts programs without anything to show, more what was not looked at (containers that kubelets hold back).
	quiet, more int
}

// order in which controllers are listed: as work goes through them. Others follow by name.
var order = []string{"deployment", "replicaset", "node_lifecycle_controller", "node_lifecycle_controller_pods", "zone_noexec_tainter", "noexec_taint_node", "noexec_taint_pod",
	"taint_eviction_timed", "garbagecollector", "garbagecollector orphan"}

// The components with queues.
const (
	scheduler = "scheduler"
	manager   = "controller-manager"
	apiserver = "apiserver"
	kubelet   = "kubelet"
)

// groups of all queues, always in the same order.
func groups(f view.Frame) []group {
	all := []group{{component: scheduler, lease: "kube-scheduler"}, {component: manager, lease: "kube-controller-manager"}, {component: apiserver}, {component: kubelet}}
	f.World.Queues.Scan(func(_ string, q *world.Queue) bool {
		component := q.Actor.Component()
		i := slices.IndexFunc(all, func(g group) bool { return g.component == component })
		if i < 0 {
			i = len(all)
			all = append(all, group{component: component})
		}
		switch component {
		case scheduler:
			all[i].rows = append(all[i].rows, parts(f, q)...)
		case apiserver: // with its server, below
		default:
			all[i].rows = append(all[i].rows, plain(f, q))
		}
		return true
	})
	all[2].rows = servers(f)
	all[3].rows, all[3].quiet = restarts(f)
	all[3].more = max(0, f.World.BackedOffCount()-held)
	for i := range all {
		slices.SortStableFunc(all[i].rows, func(a, b row) int {
			if all[i].component == manager {
				if a.level != b.level {
					return int(a.level - b.level)
				}
				return place(a.t.Name) - place(b.t.Name)
			}
			return 0
		})
	}
	return all
}

func place(queue string) int {
	if i := slices.Index(order, queue); i >= 0 {
		return i
	}
	return len(order)
}

func named(q *world.Queue) target.Target {
	return target.Target{Kind: target.Queue, Host: q.Actor.Host(), Process: q.Actor.Component(), Name: q.Queue}
}

// plain is a queue of a controller.
func plain(f view.Frame, q *world.Queue) row {
	r := row{t: named(q), label: q.Queue, queue: q, history: &q.History, waiting: q.Waiting, inWork: q.InWork, delayed: q.Delayed, failing: q.Failing, next: q.NextDue,
		oldest: q.Oldest, watches: -1}
	r.level = r.judge(f)
	return r
}

func (r *row) judge(f view.Frame) level {
	switch {
	case r.failing > 0, !r.oldest.IsZero() && f.Now.Sub(r.oldest) > longWait, r.overdue(f):
		return stuck
	case r.waiting+r.inWork+r.delayed > 0, r.history != nil && r.history.PerSecond(f.Now, recent) > 0:
		return busy
	}
	return idle
}

func (r *row) overdue(f view.Frame) bool { return !r.next.IsZero() && f.Now.Sub(r.next) > overdueBy }

// parts are the three queues of a scheduler. The pods that are being bound belong to the first.
func parts(f view.Frame, q *world.Queue) []row {
	make := func(part event.ItemState, states ...event.ItemState) row {
		t := named(q)
		t.Type = string(part)
		return row{t: t, label: string(part), queue: q, watches: -1, states: append(states, part)}
	}
	active, backoff, parked := make(event.ItemActive, event.ItemInWork), make(event.ItemBackoff), make(event.ItemUnschedulable)
	active.history, active.waiting, active.inWork, active.oldest = &q.History, q.Waiting, q.InWork, q.Oldest
	backoff.delayed, backoff.next = q.Parts[string(event.ItemBackoff)], q.NextDue
	parked.delayed = q.Parts[string(event.ItemUnschedulable)]
	for i := range q.Items {
		switch it := &q.Items[i]; it.State {
		case event.ItemBackoff:
			if backoff.oldest.IsZero() || it.Since.Before(backoff.oldest) {
				backoff.oldest = it.Since
			}
		case event.ItemUnschedulable:
			if parked.oldest.IsZero() || it.Since.Before(parked.oldest) {
				parked.oldest = it.Since
			}
			if !it.Due.IsZero() && (parked.next.IsZero() || it.Due.Before(parked.next)) {
				parked.next = it.Due
			}
		}
	}
	active.level = active.judge(f)
	for _, r := range []*row{&backoff, &parked} {
		r.failing = r.delayed
		r.level = busy
		if r.delayed > 0 {
			r.level = stuck
		}
	}
	return []row{active, backoff, parked}
}

// servers are the API servers with what they have not answered.
func servers(f view.Frame) []row {
	var out []row
	for _, host := range f.World.Header.Masters {
		if !up(f, host, apiserver) {
			continue
		}
		r := row{t: target.Target{Kind: target.Queue, Host: host, Process: apiserver, Name: "requests"}, label: host, watches: 0}
		if b, ok := f.World.Backends.Get(host); ok {
			r.history, r.watches = &b.History, b.Watches
		}
		r.level = r.judge(f)
		if q, ok := f.World.Queues.Get(string(event.On(apiserver, host)) + " requests"); ok {
			r.queue, r.waiting, r.inWork = q, q.Waiting, q.InWork
			if len(q.Items) > 0 {
				r.oldest, r.level = q.Items[0].Since, stuck
			}
		}
		out = append(out, r)
	}
	return out
}

// restarts are the kubelets that hold back a container, and how many hold back none.
func restarts(f view.Frame) ([]row, int) {
	var out []row
	looked := 0
	f.World.BackedOff(func(k *world.Container) bool {
		if looked++; looked > held {
			return false
		}
		if len(out) == 0 || out[len(out)-1].t.Host != k.Node {
			out = append(out, row{t: target.Target{Kind: target.Queue, Host: k.Node, Process: kubelet, Name: "pod_workers"}, label: k.Node, level: stuck, watches: -1})
		}
		r := &out[len(out)-1]
		r.delayed++
		r.failing++
		if !k.Until.IsZero() && (r.next.IsZero() || k.Until.Before(r.next)) {
			r.next = k.Until
		}
		if r.oldest.IsZero() || k.Since.Before(r.oldest) {
			r.oldest = k.Since
		}
		if len(r.items) == 2*event.QueueItemsMax {
			r.more++
			return true
		}
		why := k.Reason
		if k.Name != "" {
			why = strings.TrimSpace(why + " " + k.Name)
		}
		r.items = append(r.items, event.QueueItem{Key: k.Pod.String(), State: event.ItemDelayed, Since: k.Since, Due: k.Until, Why: why, Retries: k.Restarts, Cause: k.Seq})
		return true
	})
	for i := range out {
		slices.SortStableFunc(out[i].items, func(a, b event.QueueItem) int { return a.Due.Compare(b.Due) })
	}
	if looked > held { // nobody counted the kubelets that hold back something
		return out, 0
	}
	n := 0
	for i := range f.Scene.Workers {
		if f.Scene.Workers[i].Up {
			n++
		}
	}
	for i := range f.Scene.Masters {
		if f.Scene.Masters[i].Up {
			n++
		}
	}
	return out, max(0, n-len(out))
}

// up reports whether a program runs on a machine that is on.
func up(f view.Frame, host, process string) bool {
	h, ok := f.World.Hosts.Get(host)
	return ok && h.Up && h.Processes[process].Up
}

// leadership of a component that runs active-standby.
type leadership struct {
	leader  string // its machine; empty: nobody leads
	standby []string
	down    []string
	// holder of the lease as the store has it, and when that runs out.
	holder string
	ends   time.Time
}

func leading(f view.Frame, g *group) leadership {
	var l leadership
	if x, ok := f.World.Leaders.Get(g.lease); ok && up(f, x.Host, g.component) {
		l.leader = x.Host
	}
	if x, ok := f.World.Leases.Get("kube-system/" + g.lease); ok {
		l.holder, _, _ = strings.Cut(x.Holder, "_")
		l.ends = x.Renewed.Add(x.Duration)
	}
	for _, host := range f.World.Header.Masters {
		switch {
		case host == l.leader:
		case up(f, host, g.component):
			l.standby = append(l.standby, host)
		default:
			l.down = append(l.down, host)
		}
	}
	return l
}

// kept reports whether a row passes the filters.
func (v View) kept(g *group, r *row) bool {
	if v.trouble && r.level != stuck && r.waiting == 0 {
		return false
	}
	if v.find == "" {
		return true
	}
	find := strings.ToLower(v.find)
	if strings.Contains(strings.ToLower(g.component+"/"+r.t.Host+" "+r.t.Name+" "+r.t.Type), find) {
		return true
	}
	for _, it := range r.list() {
		if strings.Contains(strings.ToLower(it.Key), find) {
			return true
		}
	}
	return false
}

// list is the items of a row: those in work, then those that wait, then those that are delayed.
func (r *row) list() []event.QueueItem {
	all := r.items
	if r.queue != nil {
		all = r.queue.Items
	}
	if r.states == nil && r.queue == nil {
		return all
	}
	out := make([]event.QueueItem, 0, len(all))
	for _, state := range []event.ItemState{event.ItemInWork, event.ItemWaiting, event.ItemActive, event.ItemBackoff, event.ItemDelayed, event.ItemUnschedulable} {
		if r.states != nil && !slices.Contains(r.states, state) {
			continue
		}
		for _, it := range all {
			if it.State == state {
				out = append(out, it)
			}
		}
	}
	return out
}

// hidden counts items that no fact listed.
func (r *row) hidden(shown int) int {
	if r.queue == nil {
		return r.more
	}
	return max(0, r.waiting+r.inWork+r.delayed-shown)
}

// hostless tells rows of components of which there is one at a time from rows of each machine.
func hostless(component string) bool { return component == scheduler || component == manager }

// natural sorts machines as people count.
func natural(a, b row) int {
	switch {
	case scene.NaturalLess(a.t.Host, b.t.Host):
		return -1
	case scene.NaturalLess(b.t.Host, a.t.Host):
		return 1
	}
	return 0
}
