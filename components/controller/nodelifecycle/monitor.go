package nodelifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/node/topology"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Tries of a judgement whose write meets a conflict (k/k scheduler.NodeHealthUpdateRetry and its sleep).
const (
	healthTries = 5
	healthWait  = 20 * time.Millisecond
)

// monitor looks at all nodes, again and again. The period runs from the end of one pass to the beginning of the next.
func (c *Controller) monitor(p *sim.Proc) {
	for {
		p.Cause = c.proc.Cause
		c.pass(p)
		p.Sleep(MonitorPeriod)
	}
}

// look is what a pass finds out about one node.
type look struct {
	t      *tracked
	silent bool
	// lease is the version of the lease that was looked at; empty: there was none.
	lease string
	// before and ready are the node's Ready condition as found and as this pass leaves it.
	before, ready corev1.ConditionStatus
	zone          string
}

// pass judges every node. Looking is pure and takes no simulated time; only nodes that need a write are handed to workers.
func (c *Controller) pass(p *sim.Proc) {
	nodes := c.in.Nodes.All()
	c.meet(p, nodes)
	looks := make([]look, len(nodes))
	var busy []int
	forecast := map[string]zoneCount{}
	for i, node := range nodes {
		l := c.look(node, p.Now())
		looks[i] = l
		if l.silent || l.needsWork(node) {
			busy = append(busy, i)
		}
		if !excluded(node) {
			ready := l.before
			if l.silent {
				ready = corev1.ConditionUnknown
			}
			count := forecast[l.zone]
			count.add(ready)
			forecast[l.zone] = count
		}
	}

	parallel(p, len(busy), func(wp *sim.Proc, n int) {
		i := busy[n]
		wp.Cause = c.proc.Cause
		c.work(wp, nodes[i], &looks[i], forecast)
	})
	counts := map[string]zoneCount{}
	for i, node := range nodes {
		if !excluded(node) {
			count := counts[looks[i].zone]
			count.add(looks[i].ready)
			counts[looks[i].zone] = count
		}
	}
	c.enter(p, nodes, disruption(c.zones, counts))
}

// look takes in a node's signs of life.
func (c *Controller) look(node *corev1.Node, now time.Time) look {
	t := c.known[node.Name]
	l := look{t: t, before: readiness(node), zone: topology.GetZoneKey(node)}
	lease := c.lease(node.Name)
	if lease != nil {
		l.lease = lease.ResourceVersion
	}
	l.silent = t.observe(node, lease, now, t.node == nil)
	t.node, t.ready, l.ready = node, l.before, l.before
	return l
}

// needsWork reports that a pass must do more for the node than note that all is well.
func (l *look) needsWork(node *corev1.Node) bool {
	if l.before != corev1.ConditionTrue {
		return l.before != ""
	}
	return l.t.judged != corev1.ConditionTrue || l.t.retryPods || hasTaint(node.Spec.Taints, unreachable) || hasTaint(node.Spec.Taints, notReady)
}

// work does what a look asks for: condemn, taint, tell the pods.
func (c *Controller) work(p *sim.Proc, node *corev1.Node, l *look, zones map[string]zoneCount) {
	t := l.t
	if l.silent && l.before != corev1.ConditionUnknown {
		var err error
		if node, err = c.condemn(p, node, l, zones); err != nil {
			c.failed(p, l.t.node.Name, err)
			return // the next pass looks again; nobody is evicted on doubt
		}
	}
	if l.ready == "" {
		return
	}
	c.judge(p, node.Name, l, zones)
	p.Cause = t.judgement
	c.retaint(p, node, l)
	fell := l.before == corev1.ConditionTrue && l.ready != corev1.ConditionTrue
	if fell {
		c.events.Event(p, node, corev1.EventTypeNormal, "NodeNotReady", fmt.Sprintf("Node %s status is now: NodeNotReady", node.Name))
	}
	if fell || (t.retryPods && l.before != corev1.ConditionTrue) {
		t.retryPods = c.markPods(p, c.podsOn(node.Name), node.Name) != nil
		return
	}
	t.retryPods = false
}

// condemn writes Unknown into the conditions of a silent node, unless a live look shows a sign of life. It returns the node as it is afterwards.
func (c *Controller) condemn(p *sim.Proc, node *corev1.Node, l *look, zones map[string]zoneCount) (*corev1.Node, error) {
	name := node.Name
	for try := 0; ; try++ {
		if !l.silent || l.before == corev1.ConditionUnknown {
			return node, nil
		}
		if err := c.confirmSilence(p, name, l.lease); err != nil {
			return node, err
		}
		l.ready = corev1.ConditionUnknown
		c.judge(p, name, l, zones)
		p.Cause = l.t.judgement
		stored, err := kubeapi.ReplaceStatus(p, c.proc.Client, condemned(node, p.Now()))
		if err == nil {
			l.t.ready = corev1.ConditionUnknown
			return stored, nil
		}
		l.ready = l.before
		if try+1 == healthTries {
			return node, fmt.Errorf("mark node %s unknown: %w", name, err)
		}
		p.Sleep(healthWait)
		if node, err = kubeapi.Fetch[*corev1.Node](p, c.proc.Client, kinds.Nodes, "", name); err != nil {
			return node, fmt.Errorf("read node %s again: %w", name, err)
		}
		*l = c.look(node, p.Now())
	}
}

// confirmSilence asks the API for the node's lease before the local picture is believed (k/k pull request 138698): an informer that has fallen behind would make
// every node look dead. observed is the version that was judged by, not what the picture holds by the time the answer comes. While the informer is behind, no node is
// condemned.
func (c *Controller) confirmSilence(p *sim.Proc, node, observed string) error {
	if c.staleUntil != "" {
		if cached, ok := c.in.Leases.Get(c.staleLease); !ok || older(cached.ResourceVersion, c.staleUntil) {
			return fmt.Errorf("lease %s is at version %s, not seen here yet", c.staleLease, c.staleUntil)
		}
		c.staleUntil = ""
	}
	live, err := kubeapi.Fetch[*coordinationv1.Lease](p, c.proc.Client, kinds.Leases, corev1.NamespaceNodeLease, node)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read lease of node %s: %w", node, err)
	}
	if live.ResourceVersion != observed {
		c.staleLease, c.staleUntil = leaseKey(node), live.ResourceVersion
		return fmt.Errorf("lease of node %s is at version %s, its silence was judged by version %q", node, live.ResourceVersion, observed)
	}
	return nil
}

// older compares resource versions of one store.
func older(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x < y
}

// judge journals a change of the controller's view of a node. Its cause is what silenced the node where the model knows that, else the last thing heard of it.
func (c *Controller) judge(p *sim.Proc, name string, l *look, zones map[string]zoneCount) {
	t := l.t
	if t.judged == l.ready {
		return
	}
	fresh := t.judged == ""
	t.judged = l.ready
	if fresh && l.ready == corev1.ConditionTrue {
		t.judgement = c.heard(name)
		return // what everybody expects
	}
	e := event.NodeJudged{Node: name, Ready: string(l.ready), Zone: string(zones[l.zone].state())}
	cause := c.heard(name)
	if l.ready == corev1.ConditionUnknown {
		e.SilentFor = p.Now().Sub(t.health.heard)
		if c.proc.Silenced != nil {
			if s := c.proc.Silenced(name); s != 0 {
				cause = s
			}
		}
	}
	t.judgement = c.proc.Sink.Emit(c.proc.Actor(), cause, e)
}

// heard is the record of the last change of a node that the informer saw; the program's start when there is none.
func (c *Controller) heard(node string) event.Seq {
	if seq := c.changes[node]; seq != 0 {
		return seq
	}
	return c.proc.Cause
}

// meet greets new nodes and says good-bye to those that are gone.
func (c *Controller) meet(p *sim.Proc, nodes []*corev1.Node) {
	for _, node := range nodes {
		zone := topology.GetZoneKey(node)
		if _, ok := c.zones[zone]; !ok {
			c.zones[zone] = initial
		}
		if c.taints[zone] == nil {
			c.taints[zone] = newTaintQueue()
		}
		if c.known[node.Name] != nil {
			continue
		}
		p.Cause = c.heard(node.Name)
		c.known[node.Name] = &tracked{}
		c.events.Event(p, node, corev1.EventTypeNormal, "RegisteredNode", fmt.Sprintf("Node %s event: Registered Node %s in Controller", node.Name, node.Name))
		c.reachable(p, node)
	}
	if len(c.known) == len(nodes) {
		return
	}
	var gone []string
	for name := range c.known {
		if _, ok := c.in.Nodes.Get(kubeapi.Key(name)); !ok {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	for _, name := range gone {
		p.Cause = c.heard(name)
		if node := c.known[name].node; node != nil {
			c.events.Event(p, node, corev1.EventTypeNormal, "RemovingNode", fmt.Sprintf("Node %s event: Removing Node %s from Controller", name, name))
		}
		delete(c.known, name)
		delete(c.changes, name)
	}
}

// enter carries out a transition of zones.
func (c *Controller) enter(p *sim.Proc, nodes []*corev1.Node, t transition) {
	now := p.Now()
	if t.untaintAll {
		for _, node := range nodes {
			p.Cause = c.known[node.Name].judgement
			c.reachable(p, node)
		}
	}
	if t.restartClocks {
		for _, node := range nodes {
			c.known[node.Name].health.heard = now
		}
	}
	for zone, rate := range t.rates { // zones do not touch each other
		c.taints[zone].setRate(rate, now)
	}
	if len(t.rates) > 0 {
		c.tick.Broadcast()
		c.report.Changed()
	}
	c.zones = t.after
}

func excluded(node *corev1.Node) bool { _, ok := node.Labels[excludeLabel]; return ok }

// parallel runs fn for 0 … n-1 with a few workers and returns when all are done. A single job runs in p itself.
func parallel(p *sim.Proc, n int, fn func(wp *sim.Proc, i int)) {
	if n == 1 {
		fn(p, 0)
		return
	}
	next, left := 0, min(workers, n)
	var done sim.Cond
	for range left {
		p.Go("node health worker", func(wp *sim.Proc) {
			for next < n {
				i := next
				next++
				fn(wp, i)
			}
			if left--; left == 0 {
				done.Broadcast()
			}
		})
	}
	for left > 0 {
		done.Wait(p)
	}
}
