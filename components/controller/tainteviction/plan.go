package tainteviction

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/controller/podcondition"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Tries of an eviction (k/k tainteviction: retries) and the gap between them.
const (
	evictTries = 5
	evictGap   = 10 * time.Millisecond
)

// plan is an eviction that is due, or was carried out on a pod that is still there.
type plan struct {
	pod   *corev1.Pod
	timer *clock.Timer // nil once fired
	since time.Time
	due   time.Time
	why   string
	// cause is the EvictionPlanned record, which itself follows from the change that brought the taint.
	cause event.Seq
}

func sooner(a, b *plan) bool {
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return kubeapi.KeyOf(a.pod) < kubeapi.KeyOf(b.pod)
}

// arm plans the eviction of pod after d, for a reason that is told to people. Nothing happens for a pod that has a plan.
func (c *Controller) arm(p *sim.Proc, pod *corev1.Pod, d time.Duration, why string) {
	key := kubeapi.KeyOf(pod)
	if c.plans[key] != nil {
		return
	}
	due := p.Now().Add(d)
	pl := &plan{pod: pod, since: p.Now(), due: due, why: why}
	pl.cause = c.proc.Emit(p, event.EvictionPlanned{Pod: kinds.RefOf(pod), Node: pod.Spec.NodeName, Due: due})
	c.plans[key] = pl
	c.planned++
	if d == 0 {
		c.fire(key, pl)
		return
	}
	c.waiting.Set(pl)
	c.report.Changed()
	pl.timer = c.proc.Loop.At(due, func() {
		if !c.proc.Group.Dead() {
			c.fire(key, pl)
		}
	})
}

// cancel takes a plan back, with an event if it was still to come. A plan carried out is only forgotten.
func (c *Controller) cancel(p *sim.Proc, key kubeapi.Key) {
	pl := c.plans[key]
	if pl == nil {
		return
	}
	delete(c.plans, key)
	c.waiting.Delete(pl)
	c.report.Changed()
	if !pl.timer.Stop() {
		return
	}
	cause := p.Cause
	p.Cause = c.proc.Emit(p, event.EvictionCancelled{Pod: kinds.RefOf(pl.pod), Node: pl.pod.Spec.NodeName})
	c.tell(p, pl.pod, "Cancelling deletion of Pod %s", key)
	p.Cause = cause
}

// tell records the controller's one event, in its two wordings.
func (c *Controller) tell(p *sim.Proc, pod *corev1.Pod, format string, key kubeapi.Key) {
	c.events.Event(p, pod, corev1.EventTypeNormal, "TaintManagerEviction", fmt.Sprintf(format, key))
}

// fire carries a plan out in a process of its own, which follows from the plan.
func (c *Controller) fire(key kubeapi.Key, pl *plan) {
	pl.timer = nil
	c.waiting.Delete(pl)
	c.firing.Set(key, event.QueueItem{Key: string(key), State: event.ItemInWork, Since: c.proc.Loop.Now(), Why: pl.why, Cause: pl.cause})
	c.report.Changed()
	c.proc.Go("evict "+string(key), func(p *sim.Proc) {
		p.Cause = pl.cause
		defer func() {
			if p.Killed() {
				return
			}
			c.firing.Delete(key)
			c.evicted++
			c.report.Changed()
		}()
		c.tell(p, pl.pod, "Marking for deletion Pod %s", key)
		var err error
		for try := range evictTries {
			if try > 0 {
				p.Sleep(evictGap)
			}
			if err = c.evict(p, key); err == nil {
				return
			}
		}
		c.Failed++
		c.proc.Emit(p, event.Reconciled{Controller: "taint-eviction-controller", Key: string(key), Error: err.Error()})
		if c.plans[key] == pl {
			delete(c.plans, key)
		}
	})
}

// queueName is what the plans are called as a queue; in k/k it is the TimedWorkerQueue of the controller.
const queueName = "taint_eviction_timed"

// state is the plans as a queue: delayed until they are due, in work while the pod is being deleted.
func (c *Controller) state() (event.QueueChanged, bool) {
	s := event.QueueChanged{Queue: queueName, InWork: c.firing.Len(), Delayed: c.waiting.Len(), Added: c.planned, Done: c.evicted}
	c.firing.Scan(func(_ kubeapi.Key, item event.QueueItem) bool {
		s.Items = append(s.Items, item)
		return len(s.Items) < event.QueueItemsMax
	})
	n := 0
	c.waiting.Scan(func(pl *plan) bool {
		if n++; n == 1 {
			s.NextDue = pl.due
		}
		s.Items = append(s.Items, event.QueueItem{Key: string(kubeapi.KeyOf(pl.pod)), State: event.ItemDelayed, Since: pl.since, Due: pl.due, Why: kubeapi.QueueWhy(pl.why),
			Moves: "the taint goes, or the pod does", Cause: pl.cause})
		return n < event.QueueItemsMax
	})
	return s, true
}

// evict says why in the pod's status and deletes it with its own grace period.
func (c *Controller) evict(p *sim.Proc, key kubeapi.Key) error {
	namespace, name := key.Split()
	pod, err := kubeapi.Fetch[*corev1.Pod](p, c.proc.Client, kinds.Pods, namespace, name)
	if err != nil {
		return fmt.Errorf("read pod %s: %w", key, err)
	}
	changed := pod.DeepCopy()
	if podcondition.Set(changed, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager",
		Message: "Taint manager: deleting due to NoExecute taint"}, p.Now()) {
		old := *pod
		old.UID = "" // the patch then names the pod it is meant for
		if _, err := kubeapi.PatchFrom(p, c.proc.Client, "status", &old, changed); err != nil {
			return fmt.Errorf("say in the status of pod %s that it is evicted: %w", key, err)
		}
	}
	if err := kubeapi.Remove(p, c.proc.Client, kinds.Pods, namespace, name, nil); err != nil {
		return fmt.Errorf("delete pod %s: %w", key, err)
	}
	return nil
}
