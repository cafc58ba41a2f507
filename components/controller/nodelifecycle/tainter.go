package nodelifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/topology"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// taintPeriod is how often the queues of NoExecute taints are tried (k/k scheduler.NodeEvictionPeriod).
const taintPeriod = 100 * time.Millisecond

// taintRetry is the wait after a taint that could not be written or a node without Ready condition.
const taintRetry = 50 * time.Millisecond

// retaint brings a node's NoExecute taints in line with its Ready condition: at once where one taint only takes the place of the other or none is due, else by the
// zone's queue.
func (c *Controller) retaint(p *sim.Proc, node *corev1.Node, l *look) {
	add, opposite, ok := execution(l.ready)
	if !ok {
		c.reachable(p, node)
		return
	}
	if hasTaint(node.Spec.Taints, opposite) {
		adds, removes := []corev1.Taint{add}, []corev1.Taint{opposite}
		c.decide(p, node.Name, 0, describe(adds, removes)+" at once: the node is tainted already")
		c.failed(p, node.Name, c.swapTaints(p, node.Name, adds, removes))
		return
	}
	if c.taints[l.zone].add(node.Name, !hasTaint(node.Spec.Taints, add), p.Now(), l.t.judgement) {
		c.tick.Broadcast()
		c.report.Changed()
	}
}

// reachable takes NoExecute taints off a node and forgets plans to taint it.
func (c *Controller) reachable(p *sim.Proc, node *corev1.Node) {
	for _, t := range []corev1.Taint{unreachable, notReady} {
		if !hasTaint(node.Spec.Taints, t) {
			continue
		}
		one, cause := []corev1.Taint{t}, p.Cause
		c.decide(p, node.Name, 0, describe(nil, one))
		err := c.swapTaints(p, node.Name, nil, one)
		c.failed(p, node.Name, err)
		p.Cause = cause
		if err != nil {
			return // the next pass tries again
		}
	}
	if q := c.taints[topology.GetZoneKey(node)]; q != nil {
		q.remove(node.Name)
		c.report.Changed()
	}
}

// decide journals a decision on a node; what p does next follows from it.
func (c *Controller) decide(p *sim.Proc, node string, waited time.Duration, decision string) {
	p.Cause = c.proc.Emit(p, event.Reconciled{Controller: queueName, Key: node, Waited: waited, Decision: decision})
}

// failed journals an error, if there is one.
func (c *Controller) failed(p *sim.Proc, node string, err error) {
	if err != nil {
		c.proc.Emit(p, event.Reconciled{Controller: queueName, Key: node, Error: err.Error()})
	}
}

// tainter serves the zones' queues. It wakes on the same 100 ms grid that Kubernetes polls on, but only when there may be something to do.
func (c *Controller) tainter(p *sim.Proc) {
	began := p.Now()
	for {
		due, ever := c.nextTaint(p.Now())
		if !ever {
			c.tick.Wait(p)
			continue
		}
		steps := (due.Sub(began) + taintPeriod - 1) / taintPeriod
		if wait := began.Add(steps * taintPeriod).Sub(p.Now()); wait > 0 {
			if c.tick.WaitFor(p, wait) {
				continue // a queue changed: look again when the next step is due
			}
		}
		for _, zone := range c.zoneNames() {
			c.serve(p, zone, c.taints[zone])
		}
	}
}

func (c *Controller) zoneNames() []string {
	names := make([]string, 0, len(c.taints))
	for zone := range c.taints {
		names = append(names, zone)
	}
	slices.Sort(names)
	return names
}

// nextTaint is the first instant after now at which a waiting node may get its taint; false when none waits or none may.
func (c *Controller) nextTaint(now time.Time) (next time.Time, ever bool) {
	for _, q := range c.taints { // the earliest, whatever the order
		r := q.head()
		at, ok := q.nextToken()
		if r == nil || !ok {
			continue
		}
		if at.Before(r.due()) {
			at = r.due()
		}
		if !ever || at.Before(next) {
			next, ever = at, true
		}
	}
	if ever && !next.After(now) {
		next = now.Add(1)
	}
	return next, ever
}

// serve gives a zone's waiting nodes their taints as far as its tokens go.
func (c *Controller) serve(p *sim.Proc, zone string, q *taintQueue) {
	for r := q.head(); r != nil && !p.Now().Before(r.due()); r = q.head() {
		if !q.accept(p.Now()) {
			return
		}
		p.Cause = r.cause
		q.pop()
		c.tainted++
		c.report.Changed()
		node, ok := c.in.Nodes.Get(kubeapi.Key(r.node))
		if !ok {
			continue
		}
		add, remove, due := execution(readiness(node))
		if !due {
			if readiness(node) == "" {
				c.taintAgain(q, r, p.Now())
			}
			continue // ready again
		}
		adds, removes := []corev1.Taint{add}, []corev1.Taint{remove}
		c.decide(p, r.node, p.Now().Sub(r.since), fmt.Sprintf("%s; its zone is %s: at most %g nodes a second", describe(adds, nil), c.zones[zone], q.rate))
		if err := c.swapTaints(p, r.node, adds, removes); err != nil {
			c.failed(p, r.node, err)
			c.taintAgain(q, r, p.Now())
		}
	}
}

// taintAgain puts a node back whose taint could not be written or is not to be decided yet.
func (c *Controller) taintAgain(q *taintQueue, r *taintRequest, now time.Time) {
	q.again(r, now.Add(taintRetry))
	c.retained++
	c.report.Changed()
}

// taintQueueName is what the zones' queues are called together; in k/k each is a RateLimitedTimedQueue of zoneNoExecuteTainter.
const taintQueueName = "zone_noexec_tainter"

// taintState is the zones' queues as one: each node is delayed until its zone has a token for it.
func (c *Controller) taintState() (event.QueueChanged, bool) {
	s := event.QueueChanged{Queue: taintQueueName, Done: c.tainted, Retried: c.retained}
	var items []event.QueueItem
	for _, zone := range c.zoneNames() {
		q := c.taints[zone]
		s.Added += q.added
		n := 0
		for _, r := range q.waiting {
			if r == nil || r.gone || r.done {
				continue
			}
			if n++; n > event.QueueItemsMax {
				continue
			}
			item := event.QueueItem{Key: r.node, State: event.ItemDelayed, Since: r.since, Cause: r.cause, Why: fmt.Sprintf("its zone is %s: %g nodes a second", c.zones[zone], q.rate),
				Moves: "the node is Ready again"}
			if at, ok := q.nextToken(); ok {
				if at.Before(r.due()) {
					at = r.due()
				}
				item.Due = at.Add(time.Duration(float64(n-1) * float64(time.Second) / q.rate))
			}
			items = append(items, item)
		}
		s.Delayed += n
	}
	slices.SortStableFunc(items, func(a, b event.QueueItem) int {
		if a.Due.IsZero() != b.Due.IsZero() {
			if a.Due.IsZero() {
				return 1
			}
			return -1
		}
		return a.Due.Compare(b.Due)
	})
	if len(items) > 0 {
		s.NextDue = items[0].Due
		s.Items = items[:min(len(items), event.QueueItemsMax)]
	}
	return s, true
}
