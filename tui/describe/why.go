package describe

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/view"
)

// Why says in a line why an object is not as it should be and until when, from recorded facts; "" where there is nothing to say.
func Why(f view.Frame, o *world.Object) string {
	var parts []string
	switch obj := o.Object.(type) {
	case *corev1.Pod:
		if p, ok := f.World.Pods.Get(kinds.ObjectRef{Namespace: obj.Namespace, Name: obj.Name}.String()); ok {
			parts = whyPod(f, p)
		}
	case *corev1.Node:
		parts = whyNode(f, obj)
	case *appsv1.Deployment:
		for _, c := range obj.Status.Conditions {
			bad := c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse || c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionFalse ||
				c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
			if bad {
				parts = append(parts, sanitize.Text(c.Reason+": "+c.Message))
			}
		}
		if r := world.RolloutOf(obj); len(parts) == 0 && !r.Complete {
			parts = append(parts, f.Words.Say("detail.rollout-going", "ready", r.Ready, "want", r.Desired, "updated", r.Updated))
		}
	case *corev1.Event:
		parts = append(parts, sanitize.Text(obj.Message))
	default:
		if k := o.Kind; k == kinds.Leases {
			if l, ok := f.World.Leases.Get(kinds.ObjectRef{Namespace: o.Object.GetNamespace(), Name: o.Object.GetName()}.String()); ok {
				old, expired := l.Age(f.Now)
				if expired {
					parts = append(parts, f.Words.Say("detail.lease-out", "since", old-l.Duration))
				} else {
					parts = append(parts, f.Words.Say("detail.lease-held", "in", l.Duration-old))
				}
			}
		}
	}
	return strings.Join(parts, "; ")
}

func whyPod(f view.Frame, p *world.Pod) []string {
	say := f.Words.Say
	var parts []string
	key := kinds.ObjectRef{Namespace: p.Object.Namespace, Name: p.Object.Name}.String()
	node, known := f.World.Nodes.Get(p.Object.Spec.NodeName)
	silent := known && node.Ready != string(corev1.ConditionTrue)
	if p.Object.Spec.NodeName == "" && !p.Ended {
		if a, ok := f.World.Attempts.Get(key); ok {
			if a.Message != "" {
				parts = append(parts, sanitize.Text(a.Message))
			}
			if !a.Until.IsZero() && a.Until.After(f.Now) {
				parts = append(parts, say("detail.retry", "queue", a.Queue, "in", a.Until.Sub(f.Now), "n", a.Attempt))
			} else if a.Queue != "" {
				parts = append(parts, say("detail.queued", "queue", a.Queue, "n", a.Attempt))
			}
		}
	}
	if silent {
		parts = append(parts, say("detail.node-silent", "node", p.Object.Spec.NodeName, "ready", node.Ready, "since", age(f.Now, node.Since)))
	}
	if e, ok := f.World.Evictions.Get(key); ok {
		parts = append(parts, say("detail.evicted", "when", until(f, e.Due)))
	}
	if t := p.Object.DeletionTimestamp; p.Deleting && t != nil {
		if silent {
			parts = append(parts, say("detail.ends-when-heard", "node", p.Object.Spec.NodeName))
		} else {
			parts = append(parts, say("detail.killed", "when", until(f, t.Time)))
		}
	}
	if !silent && (p.Failing() || p.Ready < p.Total) {
		f.World.ContainersOf(p, func(c *world.Container) bool {
			if c.State == event.ContainerRunning || c.State == event.ContainerGone {
				return true
			}
			text, _ := containerTruth(f, c)
			parts = append(parts, sanitize.Text(c.Name)+": "+text.Text)
			return len(parts) < 3
		})
		for _, c := range p.Object.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Message != "" && len(parts) < 3 {
				parts = append(parts, sanitize.Text(w.Message))
			}
		}
		for _, c := range p.Object.Status.Conditions {
			if len(parts) == 0 && c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue && c.Message != "" {
				parts = append(parts, sanitize.Text(c.Message))
			}
		}
	}
	if p.Object.Status.Message != "" {
		parts = append(parts, sanitize.Text(p.Object.Status.Message))
	}
	return parts
}

func whyNode(f view.Frame, n *corev1.Node) []string {
	var parts []string
	for _, c := range n.Status.Conditions {
		if (c.Type == corev1.NodeReady) != (c.Status == corev1.ConditionTrue) || c.Status == corev1.ConditionUnknown {
			if c.Type != corev1.NodeReady && c.Status == corev1.ConditionUnknown {
				continue // Ready says it already
			}
			parts = append(parts, sanitize.Text(c.Reason+": "+c.Message))
		}
	}
	if k, first := f.World.EvictionsOnNode(n.Name); k > 0 {
		parts = append(parts, f.Words.Say("detail.evictions-due", "n", k, "when", until(f, first)))
	}
	return parts
}
