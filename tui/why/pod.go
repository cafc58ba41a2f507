package why

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
)

func (q *inquiry) pod(namespace, name string) {
	p, ok := q.World.Pods.Get(key(namespace, name))
	if !ok {
		q.podGone(name)
		return
	}
	node := p.Object.Spec.NodeName
	switch {
	case p.Deleting:
		q.terminating(p)
	case node == "" && !p.Ended:
		q.pending(p)
	}
	q.evicting(p)
	if !p.Deleting && node != "" {
		if !q.notReady(p) {
			q.podWell(p)
		}
		q.stale(p)
	}
	q.replacement(p)
	if p.Restarts > 0 {
		q.restarted(p)
	}
	if node != "" {
		q.here(p)
	}
	q.made(p.Object, p.Object.Name)
}

func (q *inquiry) podWell(p *world.Pod) {
	d := q.ask("well", "why.q-well", Fine, "what", p.Object.Name)
	d.on(p.Seq)
	if p.Ended {
		d.line("why.pod-ended", "pod", p.Object.Name, "status", p.Status, "since", q.since(p.Since))
	} else {
		d.line("why.pod-well", "pod", p.Object.Name, "status", p.Status, "ready", p.Ready, "total", p.Total, "since", q.since(p.Since))
	}
	if n, ok := q.World.Nodes.Get(p.Object.Spec.NodeName); ok && n.Ready == "True" && !p.Ended {
		d.line("why.pod-well-node", "node", p.Object.Spec.NodeName)
	}
	q.add(d)
}

// terminating answers why a pod that shall go is still there.
func (q *inquiry) terminating(p *world.Pod) {
	o := p.Object
	d := q.ask("terminating", "why.q-terminating", Waits, "pod", o.Name)
	asked, ok := q.last(func(r event.Record) bool {
		c, is := r.Event.(event.ObjectChanged)
		if !is {
			return false
		}
		pod, is := c.Object.(*corev1.Pod)
		return is && pod.DeletionTimestamp != nil && !q.deletingBefore(r)
	})
	grace := 30 * time.Second
	if s := o.DeletionGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	end := o.DeletionTimestamp.Time
	since := end.Add(-grace)
	if ok {
		since = asked.At
		d.on(asked.Seq)
		by := q.deleter(d, q.causes(asked.Seq))
		d.Lines = append([]string{q.say("why.term-asked", "by", by, "since", q.since(asked.At))}, d.Lines...)
	} else {
		d.line("why.term-asked-unknown", "since", q.since(since))
	}
	if len(o.Finalizers) > 0 {
		d.line("why.term-finalizers", "list", strings.Join(o.Finalizers, ", "))
	}
	silent := q.silence(o.Spec.NodeName)
	over := !end.After(q.Now)
	switch {
	case silent != "":
		d.Mood = Broken
		d.line("why.term-node", "node", o.Spec.NodeName, "why", silent)
		if n := q.truth(p); n > 0 {
			d.line("why.term-truth", "n", n, "node", o.Spec.NodeName)
		}
		q.revive(d, o.Spec.NodeName)
		d.change("kubectl delete pod "+o.Name+" -n "+o.Namespace+" --grace-period=0 --force", "why.change-force")
		d.Next = q.say("why.next-confirm", "node", o.Spec.NodeName)
	case !over:
		d.line("why.term-grace", "grace", grace, "n", q.truth(p))
		d.next(since, end, "why.next-kill")
	default:
		d.line("why.term-over", "node", o.Spec.NodeName)
		d.Next = q.say("why.next-confirm", "node", o.Spec.NodeName)
	}
	if o.Spec.NodeName != "" {
		d.linkTo(q.machine(o.Spec.NodeName))
	}
	q.add(d)
}

// deletingBefore reports whether the revision before a record of a pod was to be deleted already.
func (q *inquiry) deletingBefore(r event.Record) bool {
	all := q.About(q.t)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] >= r.Seq {
			continue
		}
		if b, ok := q.Record(all[i]); ok {
			if c, is := b.Event.(event.ObjectChanged); is {
				pod, is := c.Object.(*corev1.Pod)
				return is && pod.DeletionTimestamp != nil
			}
		}
	}
	return false
}

// deleter names who asked for a deletion, from its causes: a controller with its reason, the eviction, or a user; the command that began it is added as a line.
func (q *inquiry) deleter(d *draft, chain []event.Record) string {
	for _, r := range chain {
		d.on(r.Seq)
		switch e := r.Event.(type) {
		case event.EvictionPlanned:
			if rj, judged, ok := find[event.NodeJudged](chain); ok {
				d.on(rj.Seq)
				d.line("why.gone-evicted", "node", judged.Node, "ready", judged.Ready, "silent", judged.SilentFor, "limit", e.Due.Sub(r.At))
			} else {
				d.line("why.gone-tainted", "node", e.Node, "limit", e.Due.Sub(r.At))
			}
			return q.say("why.by-eviction")
		case event.Reconciled:
			if e.Decision != "" {
				d.line("why.gone-decided", "controller", e.Controller, "decision", e.Decision)
			}
			return e.Controller
		case event.CommandGiven:
			return q.by(event.You)
		}
	}
	if r, e, ok := find[event.RequestReceived](chain); ok {
		d.on(r.Seq)
		return e.User
	}
	return q.by("")
}

// silence says why nothing is heard of a node's kubelet; empty: it can be heard.
func (q *inquiry) silence(node string) string {
	m := q.Scene.Machine(node)
	switch {
	case m == nil:
		return ""
	case !m.Up:
		return q.say("why.silent-down", "by", q.by(m.By), "since", q.since(m.Since))
	case m.IsCut():
		f, _ := m.Worst()
		return q.say("why.silent-cut", "by", q.by(f.By), "since", q.since(f.At))
	}
	if k, ok := m.Host.Processes["kubelet"]; ok && !k.Up {
		return q.say("why.silent-kubelet", "by", q.by(k.By), "since", q.since(k.Since))
	}
	if m.Node != nil && m.Node.Ready == "Unknown" {
		return q.say("why.silent-unknown", "since", q.since(m.Node.Since))
	}
	return ""
}

// revive adds what would make a node be heard again.
func (q *inquiry) revive(d *draft, node string) {
	m := q.Scene.Machine(node)
	if m == nil {
		return
	}
	d.on(m.Seq)
	switch {
	case !m.Up:
		d.change("start "+node, "why.change-start", "what", node)
	case m.IsCut():
		f, _ := m.Worst()
		d.on(f.Seq)
		d.change("heal "+node, "why.change-heal", "node", node)
	default:
		if k, ok := m.Host.Processes["kubelet"]; ok && !k.Up {
			d.on(k.Seq)
			d.change("start "+node+"/kubelet", "why.change-start", "what", node+"/kubelet")
		}
	}
}

// truth counts the pod's containers that really run.
func (q *inquiry) truth(p *world.Pod) int {
	n := 0
	q.World.ContainersOf(p, func(c *world.Container) bool {
		if c.State == event.ContainerRunning || c.State == event.ContainerStopping {
			n++
		}
		return true
	})
	return n
}

// evicting answers why a pod will be evicted.
func (q *inquiry) evicting(p *world.Pod) {
	o := p.Object
	e, ok := q.World.Evictions.Get(key(o.Namespace, o.Name))
	if !ok {
		return
	}
	d := q.ask("evicting", "why.q-evicting", Broken, "pod", o.Name)
	r, _ := q.Record(e.Seq)
	d.on(e.Seq)
	chain := q.causes(e.Seq)
	if rj, judged, ok := find[event.NodeJudged](chain); ok {
		d.on(rj.Seq)
		d.line("why.evict-judged", "node", e.Node, "ready", judged.Ready, "silent", judged.SilentFor, "since", q.since(rj.At))
	}
	if !r.At.IsZero() {
		d.line("why.evict-tolerates", "limit", e.Due.Sub(r.At), "taint", q.noExecute(e.Node))
	}
	d.root(chain)
	if q.Scene.ActiveControllers == "" {
		d.line("why.nobody-evicts")
	}
	d.next(r.At, e.Due, "why.next-evicted")
	q.revive(d, e.Node)
	if len(d.Changes) == 0 {
		d.change("", "why.edit-ready", "node", e.Node)
	}
	d.linkTo(q.machine(e.Node))
	q.add(d)
}

func (q *inquiry) noExecute(node string) string {
	if n, ok := q.World.Nodes.Get(node); ok {
		for i := range n.Object.Spec.Taints {
			if t := &n.Object.Spec.Taints[i]; t.Effect == corev1.TaintEffectNoExecute {
				return t.ToString()
			}
		}
	}
	return "NoExecute"
}

// stale answers why a pod on a node that is not heard is still shown as it was.
func (q *inquiry) stale(p *world.Pod) {
	node := p.Object.Spec.NodeName
	silent := q.silence(node)
	if silent == "" || p.Ended {
		return
	}
	d := q.ask("stale", "why.q-stale", Plain, "pod", p.Object.Name, "status", p.Status)
	d.on(p.Seq)
	d.line("why.stale-last", "status", p.Status, "node", node, "why", silent)
	d.line("why.stale-truth", "n", q.truth(p), "node", node)
	d.line("why.stale-who")
	q.revive(d, node)
	d.linkTo(q.machine(node))
	q.add(d)
}

// replacement answers why no other pod was made in place of one whose node is lost.
func (q *inquiry) replacement(p *world.Pod) {
	owner := metav1.GetControllerOf(p.Object)
	if owner == nil || owner.Kind != "ReplicaSet" || p.Deleting || p.Object.Spec.NodeName == "" || q.silence(p.Object.Spec.NodeName) == "" {
		return
	}
	d := q.ask("replacement", "why.q-replacement", Plain, "pod", p.Object.Name)
	d.line("why.replace-counted", "set", owner.Name)
	if e, ok := q.World.Evictions.Get(key(p.Object.Namespace, p.Object.Name)); ok {
		r, _ := q.Record(e.Seq)
		d.on(e.Seq)
		d.next(r.At, e.Due, "why.next-replaced")
	} else {
		_, worker := q.Scene.Find(target.Target{Host: p.Object.Spec.NodeName})
		if worker != nil && worker.Silent && q.Scene.ActiveControllers != "" {
			d.next(q.Now.Add(-worker.LeaseAge), q.Now.Add(worker.JudgedIn), "why.next-judged")
		}
	}
	d.change("kubectl delete pod "+p.Object.Name+" -n "+p.Object.Namespace+" --wait=false", "why.change-delete")
	q.add(d)
}

// here answers why the pod is on its node.
func (q *inquiry) here(p *world.Pod) {
	o := p.Object
	d := q.ask("here", "why.q-here", Plain, "pod", o.Name, "node", o.Spec.NodeName)
	defer func() { q.add(d) }()
	if o.Annotations[corev1.MirrorPodAnnotationKey] != "" {
		d.line("why.here-static", "node", o.Spec.NodeName)
		return
	}
	r, ok := q.last(func(r event.Record) bool {
		a, is := r.Event.(event.SchedulingAttempt)
		return is && a.Node != ""
	})
	if !ok {
		d.line("why.here-unrecorded", "node", o.Spec.NodeName)
		return
	}
	d.on(r.Seq)
	a := r.Event.(event.SchedulingAttempt)
	d.line("why.here-chosen", "node", a.Node, "feasible", a.Feasible, "nodes", a.Nodes, "since", q.since(r.At))
	var chosen, other *event.NodeVerdict
	for i := range a.Verdicts {
		v := &a.Verdicts[i]
		switch {
		case v.Plugin != "":
		case v.Node == a.Node:
			chosen = v
		case other == nil || v.Total > other.Total:
			other = v
		}
	}
	switch {
	case a.Feasible == 1:
		d.line("why.here-only")
	case chosen == nil || other == nil || chosen.Scores == nil:
	case chosen.Total == other.Total:
		d.line("why.here-tie", "total", chosen.Total, "node", other.Node)
	default:
		d.line("why.here-score", "total", chosen.Total, "node", other.Node, "other", other.Total)
	}
	d.link(intent.Open{Page: "decision", Target: q.t, Seq: r.Seq}, "why.link-decision")
}

// made answers why the object that is asked about exists.
func (q *inquiry) made(o kinds.Object, what string) {
	d := q.ask("made", "why.q-made", Plain, "what", what)
	if owner := metav1.GetControllerOf(o); owner != nil {
		if owner.Kind == "Node" {
			d.line("why.made-static", "node", owner.Name)
		} else {
			d.line("why.made-owner", "kind", owner.Kind, "name", owner.Name)
			if k, ok := kinds.Named(owner.Kind); ok {
				d.linkTo(target.ForObject(k, o.GetNamespace(), owner.Name))
			}
		}
	}
	r, ok := q.last(func(r event.Record) bool {
		c, is := r.Event.(event.ObjectChanged)
		return is && c.Type == event.Added
	})
	if ok {
		chain := q.causes(r.Seq)
		d.on(r.Seq)
		if rr, e, ok := find[event.Reconciled](chain); ok && e.Decision != "" {
			d.on(rr.Seq)
			d.line("why.made-decided", "controller", e.Controller, "decision", e.Decision, "since", q.since(rr.At))
		}
		d.root(chain)
	}
	if len(d.Lines) > 0 {
		q.add(d)
	}
}
