package describe

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
)

// State of an object as a sign: its shape, its role of colour, and whether it is as it should be.
type State struct {
	Symbol rune
	Style  grid.Style
	Well   bool
}

var (
	fine     = State{grid.Running, theme.OK, true}
	still    = State{grid.Done, theme.Dim, true}
	starting = State{grid.Starting, theme.Busy, false}
	waiting  = State{grid.Waiting, theme.Waiting, false}
	ending   = State{grid.Terminating, theme.Busy, false}
	failing  = State{grid.Failing, theme.Failing, false}
	lost     = State{grid.Unknown, theme.Unknown, false}
)

// StateOf an object that the World holds. It looks at the object, and for a pod at its node; it costs some hundred nanoseconds.
func StateOf(w *world.World, o *world.Object) State {
	switch obj := o.Object.(type) {
	case *corev1.Pod:
		p, ok := w.Pods.Get(kinds.ObjectRef{Namespace: obj.Namespace, Name: obj.Name}.String())
		if !ok {
			p = &world.Pod{Object: obj, Status: kinds.PodStatus(obj), Deleting: obj.DeletionTimestamp != nil}
			p.Ready, p.Total = kinds.PodReady(obj)
		}
		return podState(w, p)
	case *corev1.Node:
		return nodeState(obj)
	case *appsv1.Deployment:
		return deploymentState(obj)
	case *appsv1.ReplicaSet:
		want := kinds.Desired(obj.Spec.Replicas)
		switch {
		case obj.DeletionTimestamp != nil:
			return ending
		case want == 0 && obj.Status.Replicas == 0:
			return still
		case int(obj.Status.ReadyReplicas) != want || int(obj.Status.Replicas) != want:
			return starting
		}
		return fine
	case *coordinationv1.Lease:
		if l, ok := w.Leases.Get(kinds.ObjectRef{Namespace: obj.Namespace, Name: obj.Name}.String()); ok {
			if _, expired := l.Age(w.At); expired {
				return failing
			}
		}
		return fine
	case *corev1.Namespace:
		if obj.Status.Phase == corev1.NamespaceTerminating || obj.DeletionTimestamp != nil {
			return ending
		}
		return fine
	case *corev1.Event:
		if obj.Type == corev1.EventTypeWarning {
			return State{grid.Moment, theme.Waiting, false}
		}
		return still
	}
	if o.Object.GetDeletionTimestamp() != nil {
		return ending
	}
	return still
}

func podState(w *world.World, p *world.Pod) State {
	switch scene.ShapeOf(p) {
	case scene.ShapeFailing:
		return failing
	case scene.ShapeWaiting:
		return waiting
	case scene.ShapeEnding:
		if p.Deleting {
			return ending
		}
		return still
	case scene.ShapeStarting:
		return starting
	}
	if n, ok := w.Nodes.Get(p.Object.Spec.NodeName); ok && n.Ready != string(corev1.ConditionTrue) {
		return lost // the store holds it for running, but nobody hears its node
	}
	return fine
}

func nodeState(n *corev1.Node) State {
	s := failing
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			switch c.Status {
			case corev1.ConditionTrue:
				s = fine
			case corev1.ConditionUnknown:
				s = lost
			}
		}
	}
	if s == fine && n.Spec.Unschedulable {
		return State{grid.Standby, theme.Waiting, false}
	}
	return s
}

func deploymentState(d *appsv1.Deployment) State {
	r := world.RolloutOf(d)
	switch {
	case d.DeletionTimestamp != nil:
		return ending
	case r.Stuck:
		return failing
	case r.Desired == 0 && r.Current == 0:
		return still
	case !r.Complete || r.Ready < r.Desired:
		return starting
	}
	return fine
}

// Changing reports kinds whose state moves with time alone, without a record.
func Changing(k *kinds.Kind) bool { return k == kinds.Leases }

// age is how long ago t was, not negative.
func age(now, t time.Time) time.Duration { return max(now.Sub(t), 0) }
