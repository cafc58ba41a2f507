package why

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
)

// object answers about an object of the API that is no pod.
func (q *inquiry) object(t target.Target) {
	kind, k := kindOf(t.Type)
	if k == nil {
		return
	}
	o, ok := q.World.Objects.Get(world.ObjectKey(k, t.Namespace, t.Name))
	if !ok {
		q.objectGone(kind, t)
		return
	}
	switch x := o.Object.(type) {
	case *appsv1.Deployment:
		q.deployment(x, o)
	case *appsv1.ReplicaSet:
		q.replicaSet(x, o)
	case *corev1.Node:
		h, known := q.World.Hosts.Get(x.Name)
		if known {
			if h.Master {
				q.master(x.Name)
			} else {
				q.worker(x.Name)
			}
		}
	}
	q.made(o.Object, kind+" "+t.Name)
	q.changed(kind, o)
}

func (q *inquiry) objectGone(kind string, t target.Target) {
	d := q.ask("gone", "why.q-object-gone", Plain, "kind", kind, "name", t.Name)
	r, ok := q.last(func(r event.Record) bool {
		c, is := r.Event.(event.ObjectChanged)
		return is && c.Type == event.Deleted
	})
	if !ok {
		if q.neverThere() {
			return
		}
		d.line("why.gone-unknown", "pod", t.Name)
		q.add(d)
		return
	}
	d.on(r.Seq)
	chain := q.causes(r.Seq)
	by := q.deleter(d, chain)
	d.Lines = append([]string{q.say("why.gone-by", "pod", t.Name, "by", by, "since", q.since(r.At))}, d.Lines...)
	d.root(chain)
	q.add(d)
}

// changed answers what changed an object last.
func (q *inquiry) changed(kind string, o *world.Object) {
	d := q.ask("changed", "why.q-changed", Plain, "kind", kind, "name", o.Object.GetName())
	d.on(o.Seq)
	chain := q.causes(o.Seq)
	for _, r := range chain[min(1, len(chain)):] {
		if e, is := r.Event.(event.RequestReceived); is {
			d.on(r.Seq)
			d.line("why.changed-request", "user", e.User, "verb", e.Verb, "since", q.since(o.At))
			continue
		}
		if e, is := r.Event.(event.Reconciled); is && e.Decision != "" {
			d.on(r.Seq)
			d.line("why.gone-decided", "controller", e.Controller, "decision", e.Decision)
		}
		if len(d.Lines) >= 3 {
			break
		}
	}
	d.root(chain)
	if len(d.Lines) > 0 {
		q.add(d)
	}
}

// deployment answers why a rollout is not through.
func (q *inquiry) deployment(dep *appsv1.Deployment, o *world.Object) {
	r := world.RolloutOf(dep)
	if r.Complete && !r.Paused {
		d := q.ask("rollout", "why.q-well", Fine, "what", dep.Name)
		d.on(o.Seq)
		d.line("why.rollout-well", "n", r.Desired, "ready", r.Ready)
		q.add(d)
		return
	}
	d := q.ask("rollout", "why.q-rollout", Waits, "name", dep.Name)
	d.on(o.Seq)
	d.line("why.rollout-count", "desired", r.Desired, "updated", r.Updated, "available", r.Available, "current", r.Current)
	switch {
	case r.Stuck:
		d.Mood = Broken
		d.line("why.rollout-stuck", "reason", r.Reason, "message", r.Message)
	case r.Paused:
		d.line("why.rollout-paused")
	case !r.Observed:
		d.line("why.rollout-unseen")
	}
	unavailable, surge := rolling(dep, r.Desired)
	if r.Updated < r.Desired || r.Current > r.Desired {
		d.line("why.rollout-limits", "unavailable", unavailable, "surge", surge)
	}
	if q.Scene.ActiveControllers == "" {
		d.Mood = Broken
		d.line("why.no-controllers")
		q.vacant(d, "controller-manager")
	}
	if !q.blame(d, dep.Namespace, dep.Spec.Selector) && q.Scene.ActiveControllers != "" && r.Observed {
		d.line("why.rollout-starting")
	}
	for _, c := range dep.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			d.Mood = Broken
			d.line("why.rollout-failure", "message", c.Message)
		}
	}
	q.add(d)
}

// rolling are the bounds of a rolling update in pods.
func rolling(dep *appsv1.Deployment, desired int) (unavailable, surge int) {
	ru := dep.Spec.Strategy.RollingUpdate
	if ru == nil {
		return 0, 0
	}
	if ru.MaxUnavailable != nil {
		unavailable, _ = intstr.GetScaledValueFromIntOrPercent(ru.MaxUnavailable, desired, false)
	}
	if ru.MaxSurge != nil {
		surge, _ = intstr.GetScaledValueFromIntOrPercent(ru.MaxSurge, desired, true)
	}
	return unavailable, surge
}

// blame names the pods that are not ready and why the first of them is not; false: none was found. It looks at pods that wait or fail, never at all.
func (q *inquiry) blame(d *draft, namespace string, selector *metav1.LabelSelector) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || selector == nil {
		return false
	}
	var bad []*world.Pod
	take := func(p *world.Pod) bool {
		if p.Object.Namespace == namespace && s.Matches(labels.Set(p.Object.Labels)) {
			bad = append(bad, p)
		}
		return len(bad) < 8
	}
	seen := 0
	bounded := func(p *world.Pod) bool { seen++; return take(p) && seen < 2000 }
	q.World.FailingPods(bounded)
	q.World.Pending(bounded)
	if len(bad) == 0 { // on the way: the newest of its namespace by name, a bounded look
		seen = 0
		q.World.Pods.Ascend(namespace+"/", func(k string, p *world.Pod) bool {
			if !strings.HasPrefix(k, namespace+"/") || seen > 500 {
				return false
			}
			seen++
			if !p.Deleting && !p.Ended && (p.Ready < p.Total || p.Status != "Running" || readyCondition(p.Object) == corev1.ConditionFalse) {
				take(p)
			}
			return len(bad) < 8
		})
	}
	for i, p := range bad {
		d.on(p.Seq)
		t := scene.PodTarget(p)
		if i < 3 {
			d.linkTo(t)
		}
		if i > 0 {
			continue
		}
		if p.Failing() {
			d.Mood = Broken
		}
		inner := &inquiry{Frame: q.Frame, t: t, asker: q.asker}
		inner.pod(t.Namespace, t.Name)
		if len(inner.answers) > 0 {
			a := inner.answers[0]
			d.line("why.rollout-pod", "pod", p.Object.Name, "status", p.Status, "n", len(bad)-1)
			d.Lines = append(d.Lines, a.Lines[:min(len(a.Lines), 2)]...)
			d.Changes = append(d.Changes, a.Changes...)
			if d.Next == "" {
				d.Next, d.From, d.Until = a.Next, a.From, a.Until
			}
		}
	}
	return len(bad) > 0
}

// replicaSet answers why there are not enough pods.
func (q *inquiry) replicaSet(rs *appsv1.ReplicaSet, o *world.Object) {
	want := kinds.Desired(rs.Spec.Replicas)
	if int(rs.Status.ReadyReplicas) == want && int(rs.Status.Replicas) == want {
		d := q.ask("replicas", "why.q-well", Fine, "what", rs.Name)
		d.on(o.Seq)
		if want == 0 {
			d.line("why.set-empty")
		} else {
			d.line("why.rollout-well", "n", want, "ready", want)
		}
		q.add(d)
		return
	}
	d := q.ask("replicas", "why.q-replicas", Waits, "name", rs.Name)
	d.on(o.Seq)
	d.line("why.set-count", "want", want, "have", int(rs.Status.Replicas), "ready", int(rs.Status.ReadyReplicas))
	for _, c := range rs.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			d.Mood = Broken
			d.line("why.rollout-failure", "message", c.Message)
		}
	}
	if q.Scene.ActiveControllers == "" {
		d.Mood = Broken
		d.line("why.no-controllers")
		q.vacant(d, "controller-manager")
	}
	q.blame(d, rs.Namespace, rs.Spec.Selector)
	q.add(d)
}
