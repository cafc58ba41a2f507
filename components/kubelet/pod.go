package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// pod is what the kubelet knows of one pod on its machine: its worker.
type pod struct {
	uid    types.UID
	spec   *corev1.Pod // newest; shared, immutable
	static bool
	// unconfirmed: found on the machine, not yet seen in the API. It is left alone.
	unconfirmed bool
	counted     bool // in Kubelet.sum, with
	milliCPU    int64
	memory      int64
	// allocated is the version of the pod whose resources it may have, has the one whose resources its containers have; mostly both are spec.
	allocated, has *corev1.Pod
	deferred       *verdict // why it may not have what spec asks for; nil: it may

	// the worker
	busy    bool // a process works on it
	pending bool // and shall look again
	cause   event.Seq
	timer   *clock.Timer

	relisting   bool
	relistCause event.Seq

	// the end
	stopping   stopReason
	stopCause  event.Seq
	verdict    *verdict // why it is Failed by the kubelet's decision
	terminated bool     // nothing of it runs, and nothing will
	cleaned    bool     // its sandboxes are removed

	reasons map[string]waiting // by container: why its start failed or waits
	probes  []*prober

	// what the API shall read
	status      corev1.PodStatus
	statusSet   bool
	statusCause event.Seq
	unsent      bool
	later       bool

	// static pods
	mirrorBusy, mirrorPending bool
	mirrorMade                bool // and its status was not sent yet
	mirrorTimer               *clock.Timer
}

type stopReason int

const (
	running     stopReason = iota
	stopDone               // all containers ended for good
	stopVerdict            // rejected or evicted: becomes Failed
	stopDeleted            // the API wants it gone
	stopRemoved            // gone from the API, or its manifest from the machine
)

// verdict of the kubelet that makes a pod Failed.
type verdict struct{ reason, message string }

// waiting is the state of a container that should run and does not.
type waiting struct{ reason, message string }

func (w *pod) String() string {
	return w.spec.Name + "_" + w.spec.Namespace + "(" + string(w.uid) + ")"
}

// add makes the worker of a pod.
func (k *Kubelet) add(spec *corev1.Pod) *pod {
	w := &pod{uid: spec.UID, spec: spec, allocated: spec, has: spec, reasons: map[string]waiting{}}
	k.pods.Set(w.uid, w)
	return w
}

// forget ends the worker of a pod of which nothing is left.
func (k *Kubelet) forget(w *pod) {
	if now, ok := k.pods.Get(w.uid); !ok || now != w {
		return // it was forgotten before, and may have a successor: a manifest that comes back unchanged makes a pod of the same UID
	}
	w.timer.Stop()
	w.mirrorTimer.Stop()
	k.stopProbes(w)
	k.sum.remove(w)
	k.pods.Delete(w.uid)
	k.crashes.forget(w.uid)
	k.pulls.forget(w.uid)
	if w.static {
		k.staticGone(w)
	}
}

// podChanged hears of pods of this node in the API. It never parks.
func (k *Kubelet) podChanged(c kubeapi.Change[*corev1.Pod]) {
	if c.Type == event.Modified && c.Old != nil && c.Old.UID != c.New.UID { // a relist skipped the end of one and the start of the next
		k.podChanged(kubeapi.Change[*corev1.Pod]{Old: c.Old, Type: event.Deleted, Cause: c.Cause})
		k.podChanged(kubeapi.Change[*corev1.Pod]{New: c.New, Type: event.Added, Cause: c.Cause})
		return
	}
	if c.Type == event.Deleted {
		k.podDeleted(c.Old, c.Cause)
		return
	}
	obj := c.New
	if isMirror(obj) {
		k.mirrorChanged(obj, c.Cause)
		return
	}
	w, known := k.pods.Get(obj.UID)
	switch {
	case !known:
		w = k.add(obj)
		k.admit(w, c.Cause)
	case w.unconfirmed:
		w.unconfirmed = false
		w.spec = obj
		k.recall(w)
		k.resized(w)
	default:
		k.shorten(w, obj, c.Cause)
		specChanged := w.spec.Generation != obj.Generation || w.spec.DeletionTimestamp == nil && obj.DeletionTimestamp != nil
		if !specChanged {
			w.take(obj) // only a status, mostly our own
			k.reconcileStatus(w, c.Cause)
			if len(obj.Spec.ReadinessGates) == 0 {
				return
			}
		} else {
			w.spec = obj
			k.resize(w, c.Cause)
		}
	}
	if obj.DeletionTimestamp != nil {
		k.stop(w, stopDeleted, c.Cause)
	}
	k.wake(w, c.Cause)
}

// recall takes what the API remembers of a pod that was here before this kubelet started.
func (k *Kubelet) recall(w *pod) {
	w.status = *w.spec.Status.DeepCopy()
	w.statusSet = w.status.Phase != ""
	if w.statusSet && w.status.StartTime == nil {
		w.statusSet = false
	}
}

func (k *Kubelet) podDeleted(obj *corev1.Pod, cause event.Seq) {
	if isMirror(obj) {
		k.mirrorChanged(obj, cause)
		return
	}
	if w, ok := k.pods.Get(obj.UID); ok {
		if w.terminated && w.cleaned {
			k.forget(w)
			return
		}
		k.stop(w, stopRemoved, cause)
		k.wake(w, cause)
	}
}

// shorten applies a shorter grace period to a pod that is being stopped already.
func (k *Kubelet) shorten(w *pod, obj *corev1.Pod, cause event.Seq) {
	was, is := w.spec.DeletionGracePeriodSeconds, obj.DeletionGracePeriodSeconds
	if w.stopping == running || is == nil || (was != nil && *is >= *was) {
		return
	}
	for _, c := range k.rt.ListContainers(w.uid) {
		if c.Stopping {
			k.rt.StopContainer(cause, c.ID, graceOf(obj))
		}
	}
}

// stop decides that a pod ends. A later reason of more weight replaces an earlier one.
func (k *Kubelet) stop(w *pod, why stopReason, cause event.Seq) {
	if why <= w.stopping {
		return
	}
	w.stopping, w.stopCause = why, cause
	k.wake(w, cause)
}

// wake makes the worker look at its pod now, or again when it is at work.
func (k *Kubelet) wake(w *pod, cause event.Seq) {
	if k.pr.Group.Dead() || w.unconfirmed {
		return
	}
	w.cause = max(w.cause, cause)
	w.pending = true
	if w.busy {
		return
	}
	w.busy = true
	w.timer.Stop()
	k.pr.Go("pod "+w.spec.Name, func(p *sim.Proc) { k.work(p, w) })
}

// work syncs a pod until nothing is pending; then a timer brings it back if it asked for that.
func (k *Kubelet) work(p *sim.Proc, w *pod) {
	var next time.Duration
	for w.pending {
		w.pending = false
		p.Cause = w.cause
		next = k.sync(p, w)
	}
	w.busy = false
	if next > 0 {
		cause := w.cause
		w.timer = k.pr.Loop.After(next, func() { k.wake(w, cause) })
	}
}

// graceOf is how long a pod has to end after TERM.
func graceOf(pod *corev1.Pod) time.Duration {
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if g := pod.Spec.TerminationGracePeriodSeconds; g != nil {
		seconds = *g
	}
	if g := pod.DeletionGracePeriodSeconds; g != nil && pod.DeletionTimestamp != nil {
		seconds = *g
	}
	return time.Duration(max(1, seconds)) * time.Second
}

func isInit(pod *corev1.Pod, container string) bool {
	for i := range pod.Spec.InitContainers {
		if pod.Spec.InitContainers[i].Name == container {
			return true
		}
	}
	return false
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
