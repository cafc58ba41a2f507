package apitest

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Log is what the store committed since the cluster began, one line a change, renewals of leases left out:
//
//	added pods a generation=1 phase=Pending
//	modified pods a generation=1 node=worker-2 phase=Running conditions=PodScheduled=True,Ready=True
//	deleted pods a generation=2 deleting grace=0 phase=Running
//	added events Pod/a Normal Scheduled "Successfully assigned default/a to worker-2" from=default-scheduler count=1
//
// Only the kinds named are shown; none named: all.
func (c *Cluster) Log(only ...*kinds.Kind) []string { return c.LogSince(0, only...) }

// LogSince is Log of the records after seq; Journal.Last tells the present one.
func (c *Cluster) LogSince(seq event.Seq, only ...*kinds.Kind) []string {
	var out []string
	for _, r := range c.Records() {
		ch, ok := r.Event.(event.ObjectChanged)
		if !ok || r.Seq <= seq || !shown(ch.Object, only) {
			continue
		}
		out = append(out, strings.ToLower(string(ch.Type))+" "+Line(ch.Object))
	}
	return out
}

func shown(obj kinds.Object, only []*kinds.Kind) bool {
	k := kinds.MustOf(obj)
	for _, o := range only {
		if o == k {
			return true
		}
	}
	return len(only) == 0
}

// Line describes an object as Log does.
func Line(obj kinds.Object) string {
	l := line{}
	name := obj.GetName()
	if e, ok := obj.(*corev1.Event); ok {
		name = e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name
	}
	l.add("%s %s", kinds.MustOf(obj).Resource, name)
	if g := obj.GetGeneration(); g > 0 {
		l.add("generation=%d", g)
	}
	if obj.GetDeletionTimestamp() != nil {
		l.add("deleting")
		if g := obj.GetDeletionGracePeriodSeconds(); g != nil {
			l.add("grace=%d", *g)
		}
	}
	if f := obj.GetFinalizers(); len(f) > 0 {
		l.add("finalizers=%s", strings.Join(f, ","))
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		l.pod(o)
	case *corev1.Node:
		l.node(o)
	case *corev1.Event:
		l.add("%s %s %q from=%s count=%d", o.Type, o.Reason, o.Message, o.Source.Component, o.Count)
	case *corev1.Namespace:
		l.add("phase=%s", o.Status.Phase)
	case *coordinationv1.Lease:
		if h := o.Spec.HolderIdentity; h != nil {
			l.add("holder=%s", *h)
		}
	case *appsv1.Deployment:
		l.add("replicas=%d", *o.Spec.Replicas)
		s := o.Status
		l.counts("observed", int32(s.ObservedGeneration), "current", s.Replicas, "updated", s.UpdatedReplicas, "ready", s.ReadyReplicas, "available", s.AvailableReplicas, "unavailable", s.UnavailableReplicas)
		var cs []string
		for _, cd := range s.Conditions {
			cs = append(cs, fmt.Sprintf("%s=%s %s", cd.Type, cd.Status, cd.Reason))
		}
		l.list("conditions", cs)
	case *appsv1.ReplicaSet:
		l.add("replicas=%d", *o.Spec.Replicas)
		s := o.Status
		l.counts("observed", int32(s.ObservedGeneration), "current", s.Replicas, "labeled", s.FullyLabeledReplicas, "ready", s.ReadyReplicas, "available", s.AvailableReplicas)
	}
	return strings.Join(l, " ")
}

type line []string

func (l *line) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func (l *line) list(name string, values []string) {
	if len(values) > 0 {
		l.add("%s=[%s]", name, strings.Join(values, ", "))
	}
}

// counts adds the numbers that are not zero.
func (l *line) counts(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		if n := pairs[i+1].(int32); n != 0 {
			l.add("%s=%d", pairs[i], n)
		}
	}
}

func (l *line) pod(p *corev1.Pod) {
	if p.Spec.NodeName != "" {
		l.add("node=%s", p.Spec.NodeName)
	}
	l.add("phase=%s", p.Status.Phase)
	var cs []string
	for _, c := range p.Status.Conditions {
		text := fmt.Sprintf("%s=%s", c.Type, c.Status)
		if c.Reason != "" {
			text += " " + c.Reason
		}
		cs = append(cs, text)
	}
	l.list("conditions", cs)
}

func (l *line) node(n *corev1.Node) {
	if n.Spec.Unschedulable {
		l.add("unschedulable")
	}
	var ts []string
	for _, t := range n.Spec.Taints {
		ts = append(ts, t.Key+":"+string(t.Effect))
	}
	l.list("taints", ts)
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			l.add("ready=%s %s", c.Status, c.Reason)
		}
	}
}
