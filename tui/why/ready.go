package why

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"
)

// notReady answers why a pod on a node is not ready; false: it is.
func (q *inquiry) notReady(p *world.Pod) bool {
	o := p.Object
	ready := p.Ready == p.Total && p.Status == "Running" && readyCondition(o) != corev1.ConditionFalse
	if ready || o.Status.Phase == corev1.PodSucceeded {
		return false
	}
	d := q.ask("not-ready", "why.q-not-ready", Waits, "pod", o.Name, "status", p.Status)
	if p.Failing() {
		d.Mood = Broken
	}
	d.on(p.Seq)
	defer func() { q.add(d) }()
	if o.Status.Phase == corev1.PodFailed {
		d.Mood = Broken
		d.line("why.failed-phase", "reason", cmp.Or(o.Status.Reason, p.Status), "message", o.Status.Message)
	}
	if silent := q.silence(o.Spec.NodeName); silent != "" {
		d.Mood = Broken
		d.line("why.ready-node", "node", o.Spec.NodeName, "why", silent)
		q.revive(d, o.Spec.NodeName)
		d.linkTo(q.machine(o.Spec.NodeName))
	}
	told := q.containers(d, p, o.Status.InitContainerStatuses, true)
	if told == 0 {
		told = q.containers(d, p, o.Status.ContainerStatuses, false)
	}
	if told == 0 && len(d.Lines) == 0 {
		d.line("why.ready-not-begun", "node", o.Spec.NodeName, "since", q.since(p.Since))
	}
	return true
}

func readyCondition(o *corev1.Pod) corev1.ConditionStatus {
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status
		}
	}
	return ""
}

// containers tells of those that are not ready, at most two, and returns how many it told of.
func (q *inquiry) containers(d *draft, p *world.Pod, list []corev1.ContainerStatus, init bool) int {
	told := 0
	for i := range list {
		c := &list[i]
		done := init && c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
		if c.Ready || done {
			continue
		}
		if told == 2 {
			break
		}
		told++
		q.container(d, p, c)
		if init {
			break // the others wait for it
		}
	}
	return told
}

func (q *inquiry) container(d *draft, p *world.Pod, c *corev1.ContainerStatus) {
	run, exists := q.World.Running.Get(p.Object.Spec.NodeName + " " + p.RunsAs() + " " + c.Name)
	if exists {
		d.on(run.Seq)
	}
	image := c.Image
	for i := range p.Object.Spec.Containers {
		if s := &p.Object.Spec.Containers[i]; s.Name == c.Name {
			image = s.Image
		}
	}
	switch {
	case exists && run.State == event.ContainerBackoff && strings.Contains(run.Reason, "Pull"):
		message := ""
		if c.State.Waiting != nil {
			message = c.State.Waiting.Message
		}
		d.line("why.c-pull", "image", image, "message", message)
		d.next(run.Since, run.Until, "why.next-pull", "container", c.Name)
		d.change("", "why.change-image", "image", image)
	case exists && run.State == event.ContainerBackoff:
		q.exit(d, c, run)
		d.line("why.c-backoff", "n", max(int(c.RestartCount), run.Restarts))
		d.next(run.Since, run.Until, "why.next-restart", "container", c.Name)
	case c.State.Waiting != nil && strings.Contains(c.State.Waiting.Reason, "Pull"), c.State.Waiting != nil && c.State.Waiting.Reason == "InvalidImageName":
		d.line("why.c-pull", "image", image, "message", c.State.Waiting.Message)
		d.change("", "why.change-image", "image", image)
	case c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff":
		q.exit(d, c, nil)
		d.line("why.c-backoff", "n", int(c.RestartCount))
	case exists && run.State == event.ContainerPulling:
		d.line("why.c-pulling", "container", c.Name, "image", image, "since", q.since(run.Since))
	case c.State.Terminated != nil:
		q.exit(d, c, run)
	case exists && run.State == event.ContainerCreated:
		d.line("why.c-created", "container", c.Name)
	case exists && run.State == event.ContainerRunning, c.State.Running != nil:
		q.probe(d, p, c)
	case c.State.Waiting != nil && c.State.Waiting.Message != "":
		d.line("why.c-waiting", "container", c.Name, "reason", c.State.Waiting.Reason, "message", c.State.Waiting.Message)
	default:
		d.line("why.c-not-begun", "container", c.Name, "node", p.Object.Spec.NodeName)
	}
}

// exit tells how a container ended last.
func (q *inquiry) exit(d *draft, c *corev1.ContainerStatus, run *world.Container) {
	t := c.State.Terminated
	if t == nil {
		t = c.LastTerminationState.Terminated
	}
	switch {
	case t != nil:
		d.line("why.c-exited", "container", c.Name, "code", int(t.ExitCode), "reason", t.Reason, "message", t.Message, "since", q.since(t.FinishedAt.Time))
	case run != nil:
		d.line("why.c-exited-short", "container", c.Name, "code", run.ExitCode)
	}
}

// probe tells why a running container is not ready: its probe fails, by the newest Event that says so, or has not succeeded yet.
func (q *inquiry) probe(d *draft, p *world.Pod, c *corev1.ContainerStatus) {
	prefix := world.ObjectKey(kinds.Events, p.Object.Namespace, p.Object.Name+".")
	var newest *world.Object
	seen := 0
	q.World.Objects.Ascend(prefix, func(k string, o *world.Object) bool {
		if !strings.HasPrefix(k, prefix) || seen == lookMax {
			return false
		}
		seen++
		if e, ok := o.Object.(*corev1.Event); ok && e.Reason == "Unhealthy" && (newest == nil || o.Seq > newest.Seq) {
			newest = o
		}
		return true
	})
	if newest == nil {
		d.line("why.c-probing", "container", c.Name)
		return
	}
	e := newest.Object.(*corev1.Event)
	d.Mood = Broken
	d.on(newest.Seq)
	d.line("why.c-unhealthy", "container", c.Name, "message", e.Message, "n", max(int(e.Count), 1), "since", q.since(newest.At))
	chain := q.causes(newest.Seq)
	d.root(chain)
	if r, text, _ := order(chain); strings.HasPrefix(text, "break ") && p.Object.Spec.RestartPolicy != corev1.RestartPolicyNever {
		d.on(r.Seq)
		d.change("crash pod/"+p.Object.Namespace+"/"+p.Object.Name+" "+c.Name, "why.change-anew", "container", c.Name) // what is broken stays so until then
	}
}

// restarted answers why a pod's container was started again.
func (q *inquiry) restarted(p *world.Pod) {
	o := p.Object
	d := q.ask("restarted", "why.q-restarted", Plain, "pod", o.Name, "n", p.Restarts)
	r, ok := q.last(func(r event.Record) bool {
		c, is := r.Event.(event.ContainerChanged)
		return is && c.State == event.ContainerExited
	})
	switch {
	case ok:
		c := r.Event.(event.ContainerChanged)
		d.on(r.Seq)
		d.line("why.restart-exited", "container", c.Container, "code", c.ExitCode, "reason", c.Reason, "since", q.since(r.At), "n", p.Restarts)
		q.exitCause(d, r)
	default:
		for i := range o.Status.ContainerStatuses {
			if c := &o.Status.ContainerStatuses[i]; c.RestartCount > 0 {
				q.exit(d, c, nil)
				break
			}
		}
	}
	if len(d.Lines) == 0 {
		d.line("why.restart-unrecorded", "n", p.Restarts)
	}
	if policy := o.Spec.RestartPolicy; policy == "" || policy == corev1.RestartPolicyAlways {
		d.line("why.restart-policy")
	}
	q.add(d)
}

// exitCause tells what made a container end, where something outside it did.
func (q *inquiry) exitCause(d *draft, r event.Record) {
	chain := q.causes(r.Seq)
	for i, c := range chain {
		switch e := c.Event.(type) {
		case event.MachineDown:
			d.on(c.Seq)
			d.line("why.exit-machine", "host", e.Host)
		case event.CommandGiven:
			if i <= 3 { // it was meant for this container; a longer way leads to what made the pod
				d.on(c.Seq)
				d.line("why.began", "text", e.Text, "since", q.since(c.At))
			}
		}
	}
}

// podGone answers why a pod is not there any more.
func (q *inquiry) podGone(name string) {
	d := q.ask("gone", "why.q-gone", Plain, "pod", name)
	gone, ok := q.last(func(r event.Record) bool {
		c, is := r.Event.(event.ObjectChanged)
		return is && c.Type == event.Deleted
	})
	if !ok {
		if q.neverThere() {
			return
		}
		d.line("why.gone-unknown", "pod", name)
		q.add(d)
		return
	}
	d.on(gone.Seq)
	asked, found := q.last(func(r event.Record) bool {
		c, is := r.Event.(event.ObjectChanged)
		if !is || c.Type == event.Deleted && !q.deletingBefore(r) {
			return is
		}
		pod, is := c.Object.(*corev1.Pod)
		return is && pod.DeletionTimestamp != nil && !q.deletingBefore(r)
	})
	if !found {
		asked = gone
	}
	d.on(asked.Seq)
	chain := q.causes(asked.Seq)
	by := q.deleter(d, chain)
	d.Lines = append([]string{q.say("why.gone-by", "pod", name, "by", by, "since", q.since(asked.At))}, d.Lines...)
	d.root(chain)
	if took := gone.At.Sub(asked.At); took >= 2*time.Second {
		d.line("why.gone-took", "took", took)
	}
	if c, is := gone.Event.(event.ObjectChanged); is {
		if pod, is := c.Object.(*corev1.Pod); is {
			q.successor(d, asked, pod)
			if pod.Spec.NodeName != "" {
				d.linkTo(q.machine(pod.Spec.NodeName))
			}
		}
	}
	q.add(d)
}

// successor tells of the pod that was made in its place, which the deletion caused.
func (q *inquiry) successor(d *draft, asked event.Record, gone *corev1.Pod) {
	if q.Trace == nil {
		return
	}
	front := []event.Seq{asked.Seq}
	for depth := 0; depth < 4 && len(front) > 0; depth++ {
		var next []event.Seq
		for _, s := range front {
			for _, e := range q.Trace.Effects(s, q.World.Seq) {
				r, ok := q.Record(e)
				if !ok || len(next) > 64 {
					continue
				}
				if c, is := r.Event.(event.ObjectChanged); is && c.Type == event.Added {
					if pod, is := c.Object.(*corev1.Pod); is && pod.Namespace == gone.Namespace && pod.Name != gone.Name {
						d.on(r.Seq)
						d.line("why.gone-successor", "pod", pod.Name)
						d.linkTo(target.Target{Kind: target.Pod, Namespace: pod.Namespace, Name: pod.Name})
						return
					}
				}
				next = append(next, e)
			}
		}
		front = next
	}
}
