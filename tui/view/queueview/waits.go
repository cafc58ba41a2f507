package queueview

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// urgency of a wait.
type urgency int

const (
	blocked urgency = iota // it goes on only if something is mended
	timed                  // it goes on by itself, at a time
	content                // as it should be
)

// wait is one chain of who waits for whom, with the reason and the end.
type wait struct {
	id      string
	links   []string // from who waits to what is waited for
	why     string
	until   time.Time // zero: at no known time
	urgency urgency
	// grave: a whole component or the store waits.
	grave bool
	t     target.Target
	cause event.Seq
}

// fewOf bounds the chains of one sort; what is left out is counted.
const fewOf = 3

// waits lists who waits for whom, the most urgent first.
func waits(f view.Frame, all []group) []wait {
	say := f.Words.Say
	var out []wait
	out = append(out, storeWaits(f)...)
	for i := range all {
		g := &all[i]
		if g.lease != "" {
			out = append(out, leaseWaits(f, g)...)
		}
		for k := range g.rows {
			if g.component == kubelet && k == fewOf {
				out = append(out, wait{id: "kubelets more", links: []string{say("queues.more-waits", "n", f.World.BackedOffCount()-heldBack(g.rows[:k])), say("queues.restart-backoff")}, urgency: timed, t: g.rows[k].t})
				break
			}
			out = append(out, rowWaits(f, g, &g.rows[k])...)
		}
	}
	out = append(out, nodeWaits(f)...)
	slices.SortStableFunc(out, func(a, b wait) int {
		if a.grave != b.grave {
			if a.grave {
				return -1
			}
			return 1
		}
		return int(a.urgency - b.urgency)
	})
	return out
}

// heldBack counts the containers that rows of kubelets hold back.
func heldBack(rows []row) int {
	n := 0
	for i := range rows {
		n += rows[i].delayed
	}
	return n
}

// storeWaits are requests that hang, and what the store itself waits for.
func storeWaits(f view.Frame) []wait {
	say := f.Words.Say
	var out []wait
	q := f.Scene.Quorum
	headless := q.Raft && q.Leader == ""
	why := ""
	switch {
	case headless && q.Alive < q.Need:
		why = say("queues.no-quorum", "alive", q.Alive, "need", q.Need)
	case headless:
		why = say("queues.no-leader")
	}
	for _, host := range f.World.Header.Masters {
		x, ok := f.World.Queues.Get(string(event.On(apiserver, host)) + " requests")
		if !ok || !up(f, host, apiserver) {
			continue
		}
		if x.Waiting > 0 {
			out = append(out, seatWait(f, host, x))
		}
		if x.InWork == 0 {
			continue
		}
		w := wait{id: "requests " + host, links: []string{say("queues.requests", "n", x.InWork, "by", clients(x, event.ItemInWork)), "apiserver/" + host}, why: why, grave: true,
			t: target.Target{Kind: target.Queue, Host: host, Process: apiserver, Name: "requests"}}
		if headless {
			w.links = append(w.links, say("queues.a-leader"))
		} else {
			w.links = append(w.links, "etcd/"+host)
		}
		if it := oldest(x, event.ItemInWork); it != nil {
			w.cause = it.Cause
			if w.why == "" {
				w.why = say("queues.oldest-request", "age", f.Now.Sub(it.Since), "why", it.Why)
			}
		}
		out = append(out, w)
	}
	if headless && len(out) == 0 && !f.World.Start.IsZero() {
		out = append(out, wait{id: "store", links: []string{say("queues.all-writes"), say("queues.the-store"), say("queues.a-leader")}, why: why, grave: true})
	}
	return out
}

// seatWait are the requests that an API server does not work on yet.
func seatWait(f view.Frame, host string, q *world.Queue) wait {
	say := f.Words.Say
	levels := slices.Sorted(maps.Keys(q.Parts))
	slices.SortStableFunc(levels, func(a, b string) int { return q.Parts[b] - q.Parts[a] })
	for i, l := range levels {
		levels[i] = l + " " + strconv.Itoa(q.Parts[l])
	}
	w := wait{id: "seats " + host, links: []string{say("queues.requests", "n", q.Waiting, "by", clients(q, event.ItemWaiting)), "apiserver/" + host, say("queues.a-seat")},
		why: say("queues.seats-why", "levels", strings.Join(levels, ", ")), urgency: timed, t: target.Target{Kind: target.Queue, Host: host, Process: apiserver, Name: "requests"}}
	if it := oldest(q, event.ItemWaiting); it != nil {
		w.cause, w.until = it.Cause, it.Due
	}
	return w
}

// oldest is the first request of a state that the queue lists.
func oldest(q *world.Queue, state event.ItemState) *event.QueueItem {
	for i := range q.Items {
		if q.Items[i].State == state {
			return &q.Items[i]
		}
	}
	return nil
}

// clients names the components behind the requests of a state, without their machines, and programs outside without their numbers.
func clients(q *world.Queue, state event.ItemState) string {
	if oldest(q, state) == nil && len(q.Items) > 0 {
		state = q.Items[0].State // none of them is among those that are listed: they are of the same clients
	}
	var seen []string
	for i := range q.Items {
		it := &q.Items[i]
		c := it.By.Component()
		if it.By.Host() == event.Outside {
			c = event.ProgramName(it.By)
		}
		if it.State == state && c != "" && !slices.Contains(seen, c) {
			seen = append(seen, c)
		}
	}
	return join(seen)
}

// leaseWaits: a component that nobody leads holds up its work; standbys wait for the lease as they should.
func leaseWaits(f view.Frame, g *group) []wait {
	say := f.Words.Say
	l := leading(f, g)
	if l.leader != "" {
		if len(l.standby) == 0 {
			return nil
		}
		w := wait{id: "lease " + g.lease, urgency: content, t: target.Target{Kind: target.Process, Host: l.standby[0], Process: g.component}, why: say("queues.standby-why")}
		w.links = []string{say("queues.standbys", "component", g.component, "hosts", join(l.standby)), say("queues.the-lease", "host", l.leader)}
		return []wait{w}
	}
	if l.holder == "" && f.World.Start.IsZero() {
		return nil
	}
	w := wait{id: "lease " + g.lease, grave: true, t: target.Target{Kind: target.Process, Host: l.holder, Process: g.component}}
	who := say("queues.its-work", "component", g.component)
	if g.component == scheduler && f.Scene.PodsPending > 0 {
		who = say("queues.pods-pending", "n", f.Scene.PodsPending)
	}
	w.links = []string{who, g.component}
	switch {
	case len(l.standby) == 0:
		w.why = say("queues.nobody-runs", "component", g.component)
	case l.holder != "" && l.ends.After(f.Now):
		w.links = append(w.links, say("queues.the-lease", "host", l.holder))
		w.why, w.until, w.urgency = say("queues.lease-held", "host", l.holder), l.ends, timed
		if !up(f, l.holder, g.component) {
			w.why = say("queues.lease-held-down", "host", l.holder)
		}
	case f.Scene.Quorum.Raft && f.Scene.Quorum.Leader == "":
		w.links = append(w.links, say("queues.a-leader"))
		w.why = say("queues.lease-needs-store")
	default:
		w.links = append(w.links, say("queues.an-election"))
		w.why = say("queues.lease-over", "hosts", join(l.standby))
	}
	return []wait{w}
}

// join lists the first few names.
func join(names []string) string {
	if len(names) > fewOf {
		return strings.Join(names[:fewOf], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// rowWaits is what the items of a queue wait for.
func rowWaits(f view.Frame, g *group, r *row) []wait {
	say := f.Words.Say
	if g.component == apiserver {
		return nil // told with the store
	}
	actor := string(event.On(r.t.Process, r.t.Host))
	var out []wait
	if r.t.Name == "taint_eviction_timed" {
		list := r.list()
		if len(list) == 0 {
			return nil
		}
		first := list[0]
		who := say("queues.pods", "n", r.delayed+r.inWork)
		if r.delayed+r.inWork == 1 {
			who = "pod " + first.Key
		}
		return []wait{{id: "evictions", links: []string{who, say("queues.eviction"), say("queues.its-time")}, why: first.Why, until: first.Due, urgency: timed, t: r.t, cause: first.Cause}}
	}
	for _, it := range r.list() {
		w := wait{id: actor + " " + r.t.Name + " " + it.Key, t: itemTarget(r, it), cause: it.Cause, why: it.Why, until: it.Due}
		switch {
		case it.State == event.ItemUnschedulable:
			w.links = []string{"pod " + it.Key, actor, say("queues.change")}
			if it.Moves != "" {
				w.links[2] = it.Moves
			}
		case it.State == event.ItemBackoff:
			w.links, w.urgency = []string{"pod " + it.Key, actor, say("queues.backoff")}, timed
		case g.component == kubelet:
			w.links, w.urgency = []string{"pod " + it.Key, actor, say("queues.restart-backoff")}, timed
		case r.t.Name == "zone_noexec_tainter" && it.State == event.ItemDelayed:
			w.links, w.urgency = []string{"node " + it.Key, say("queues.taint"), say("queues.zone-rate")}, timed
			if it.Due.IsZero() {
				w.urgency = blocked
			}
		case it.State == event.ItemDelayed && it.Retries > 0:
			w.links, w.urgency = []string{r.t.Name + " " + it.Key, actor, say("queues.retry")}, timed
		case (it.State == event.ItemWaiting || it.State == event.ItemActive) && f.Now.Sub(it.Since) > longWait:
			w.links = []string{it.Key, actor, say("queues.a-worker", "queue", r.t.Name)}
			w.why = say("queues.waits-since", "age", f.Now.Sub(it.Since))
		case it.State == event.ItemInWork && f.Now.Sub(it.Since) > longWait:
			w.links = []string{r.t.Name + " " + it.Key, actor, say("queues.an-answer")}
			w.why = say("queues.works-since", "age", f.Now.Sub(it.Since))
		default:
			continue
		}
		if len(out) == fewOf {
			out = append(out, wait{id: actor + " more", links: []string{say("queues.more-waits", "n", len(r.list())-fewOf+r.hidden(len(r.list()))), r.t.Name}, urgency: w.urgency, t: r.t})
			break
		}
		out = append(out, w)
	}
	return out
}

// nodeWaits: a node that is not heard is waited for until it is judged.
func nodeWaits(f view.Frame) []wait {
	say := f.Words.Say
	var out []wait
	silent := 0
	for i := range f.Scene.Workers {
		m := &f.Scene.Workers[i]
		if !m.Silent {
			continue
		}
		if silent++; silent > fewOf {
			continue
		}
		w := wait{id: "node " + m.Name, links: []string{say("queues.judge"), "kubelet/" + m.Name, say("queues.heartbeat")}, urgency: timed, until: f.Now.Add(m.JudgedIn),
			why: say("queues.unheard", "age", m.LeaseAge), t: target.Target{Kind: target.Worker, Host: m.Name}}
		if f.Scene.ActiveControllers == "" {
			w.why, w.until, w.urgency = say("queues.nobody-judges", "age", m.LeaseAge), time.Time{}, blocked
		}
		out = append(out, w)
	}
	if silent > fewOf {
		out = append(out, wait{id: "nodes more", links: []string{say("queues.more-nodes", "n", silent-fewOf), say("queues.heartbeat")}, urgency: timed})
	}
	return out
}
