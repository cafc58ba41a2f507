package scheduler

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/plugins"
	"example.com/kubeviz/components/scheduler/queue"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// assume puts the pod on its node in the picture and binds it in a process of its own: the binding cycle.
func (s *scheduler) assume(p *sim.Proc, it *queue.Item, node string) {
	s.cluster.Assume(it.Info, node)
	s.algorithm.nominated.remove(it.Info.Pod)
	s.binding.Set(it.Info.Key, event.QueueItem{Key: string(it.Info.Key), State: event.ItemInWork, Since: p.Now(), Why: "binding to " + node, Retries: it.Attempts, Cause: p.Cause})
	s.queueChanged()
	s.calls.add(p, it.Info.Key, "bind "+string(it.Info.Key), func(p *sim.Proc) {
		pod := it.Info.Pod
		err := kubeapi.Bind(p, s.proc.Client, pod, node)
		s.binding.Delete(it.Info.Key)
		s.queueChanged()
		if err == nil {
			s.events.Eventf(p, pod, nil, corev1.EventTypeNormal, "Scheduled", "Binding", "Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node)
			return
		}
		s.bindFailed(p, it, fmt.Errorf("running Bind plugin %q: %w", plugins.NameDefaultBinder, err))
	})
}

// bindFailed takes the pod off its node again and tries it later, unless it is gone or has a node by now.
func (s *scheduler) bindFailed(p *sim.Proc, it *queue.Item, err error) {
	if s.cluster.Forget(it.Info) {
		s.queue.Move(&framework.Change{Kind: framework.PodGone, OldPod: it.Info.Pod, Why: fmt.Sprintf("pod %s could not be bound", it.Info.Key)}, p.Cause)
	}
	pod, ok := s.waitingPod(it.Info.Pod)
	if !ok {
		return
	}
	if _, ok := s.queue.Get(it.Info.Key); ok { // the informer has put it back meanwhile
		return
	}
	it.Info = it.Info.With(pod)
	s.queue.Failed(it, p.Cause)
	s.fail(p, pod, corev1.PodReasonSchedulerError, err.Error(), "")
}

// waitingPod is the newest version of a pod that still wants a node.
func (s *scheduler) waitingPod(pod *corev1.Pod) (*corev1.Pod, bool) {
	now, ok := s.pods.Get(kubeapi.KeyOf(pod))
	if !ok || now.UID != pod.UID || now.Spec.NodeName != "" || framework.Finished(now) {
		return nil, false
	}
	return now, true
}

// fail tells the user why a pod has no node: an Event, and the pod's condition if it says something else yet.
func (s *scheduler) fail(p *sim.Proc, pod *corev1.Pod, reason, message, nominated string) {
	s.events.Eventf(p, pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", note(message))
	s.calls.add(p, kubeapi.KeyOf(pod), "status of "+pod.Namespace+"/"+pod.Name, func(p *sim.Proc) {
		old, ok := s.waitingPod(pod)
		if !ok {
			return
		}
		changed := old.DeepCopy()
		setCondition(changed, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}, p.Now())
		changed.Status.NominatedNodeName = nominated
		// An error leaves the condition as it was; the next attempt writes it.
		_, _ = kubeapi.PatchFrom(p, s.proc.Client, "status", old, changed)
	})
}

// setCondition brings a condition into the pod's status; its transition time moves with its status only.
func setCondition(pod *corev1.Pod, c corev1.PodCondition, now time.Time) {
	c.ObservedGeneration = pod.Generation
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	for i := range pod.Status.Conditions {
		if have := &pod.Status.Conditions[i]; have.Type == c.Type {
			if have.Status == c.Status {
				c.LastTransitionTime = have.LastTransitionTime
			}
			c.LastProbeTime = have.LastProbeTime
			*have = c
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}

// nominate remembers the node that is being cleared for a pod; an empty name forgets it.
func (a *algorithm) nominate(pod *framework.PodInfo, node string) {
	if node == "" {
		a.nominated.remove(pod.Pod)
		return
	}
	a.nominated.set(pod, node)
}

// preempt asks the victims on the candidate's node to go (SCH-13). The pod itself waits for their end like any refused pod.
func (s *scheduler) preempt(p *sim.Proc, pod *framework.PodInfo, c *candidate) {
	for _, lower := range s.algorithm.nominated.lower(c.node.Name, pod) {
		s.algorithm.nominated.remove(lower.Pod) // that pod may find room elsewhere
	}
	name := c.node.Name
	for _, v := range c.victims {
		victim := v.Pod
		s.calls.add(p, kubeapi.KeyOf(victim), "preempt "+string(kubeapi.KeyOf(victim)), func(p *sim.Proc) {
			if err := s.evict(p, victim); err != nil {
				s.algorithm.nominated.remove(pod.Pod)
				s.queue.Move(&framework.Change{Kind: framework.PodGone, OldPod: victim, Why: "preemption failed: " + err.Error()}, p.Cause)
				return
			}
			s.events.Eventf(p, victim, pod.Pod, corev1.EventTypeNormal, "Preempted", "Preempting", "Preempted by pod %s on node %s", pod.Pod.UID, name)
		})
	}
}

// evict marks a pod as preempted and deletes it gracefully. A pod that is gone already is no error.
func (s *scheduler) evict(p *sim.Proc, victim *corev1.Pod) error {
	old := victim
	if now, ok := s.pods.Get(kubeapi.KeyOf(victim)); ok && now.UID == victim.UID {
		old = now
	}
	changed := old.DeepCopy()
	setCondition(changed, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
		Message: s.name + ": preempting to accommodate a higher priority pod"}, p.Now())
	if _, err := kubeapi.PatchFrom(p, s.proc.Client, "status", old, changed); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("mark victim %s/%s: %w", victim.Namespace, victim.Name, err)
	}
	uid := victim.UID
	err := kubeapi.Remove(p, s.proc.Client, kinds.Pods, victim.Namespace, victim.Name, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if kubeapi.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete victim %s/%s: %w", victim.Namespace, victim.Name, err)
	}
	return nil
}
