package world

import (
	"strings"

	"github.com/tidwall/btree"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Rollout is how far a Deployment has come, from its status.
type Rollout struct {
	Desired, Current, Updated, Ready, Available, Unavailable int
	Paused                                                   bool
	// Observed: the controller has seen the present spec.
	Observed bool
	// Complete: all that is desired is updated and available, and nothing old is left.
	Complete bool
	// Stuck: the deadline for progress has passed. Reason and Message are those of the Progressing condition.
	Stuck           bool
	Reason, Message string
}

// RolloutOf reads the progress of a Deployment.
func RolloutOf(d *appsv1.Deployment) Rollout {
	s := &d.Status
	r := Rollout{
		Desired: 1, Current: int(s.Replicas), Updated: int(s.UpdatedReplicas), Ready: int(s.ReadyReplicas), Available: int(s.AvailableReplicas),
		Unavailable: int(s.UnavailableReplicas), Paused: d.Spec.Paused, Observed: s.ObservedGeneration >= d.Generation,
	}
	if d.Spec.Replicas != nil {
		r.Desired = int(*d.Spec.Replicas)
	}
	r.Complete = r.Observed && r.Updated == r.Desired && r.Current == r.Desired && r.Available == r.Desired
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == appsv1.DeploymentProgressing {
			r.Reason, r.Message = c.Reason, c.Message
			r.Stuck = c.Status == corev1.ConditionFalse
		}
	}
	return r
}

// Failing reports a Status that is a failure rather than a stage: a back-off, a failed pull, an error, a rejection or an eviction.
func (p *Pod) Failing() bool {
	if p == nil || p.Deleting {
		return false
	}
	switch s := strings.TrimPrefix(p.Status, "Init:"); s {
	case "Running", "Pending", "Succeeded", "Completed", "ContainerCreating", "PodInitializing", "Terminating", "NotReady", "SchedulingGated", "":
		return false
	default: // Init:0/2 is a stage
		return s == p.Status || s[0] < '0' || s[0] > '9'
	}
}

// RunsAs is the UID that the pod's containers run under: its own, or for the mirror of a static pod that of the manifest on its node.
func (p *Pod) RunsAs() string {
	if uid := p.Object.Annotations[corev1.MirrorPodAnnotationKey]; uid != "" {
		return uid
	}
	return string(p.Object.UID)
}

func (w *World) visitPods(keys *btree.Set[string], visit func(*Pod) bool) {
	keys.Scan(func(key string) bool {
		p, ok := w.Pods.Get(key)
		return !ok || visit(p)
	})
}
