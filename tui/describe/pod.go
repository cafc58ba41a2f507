package describe

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

func (r *rows) pod(f view.Frame, s Subject, o *corev1.Pod) {
	say := f.Words.Say
	p := podOf(f.World, s, o)
	st := still
	if !s.Gone {
		st = podState(f.World, p)
	}
	r.line(say("detail.state"), widget.S(string(st.Symbol)+" "+sanitize.Text(p.Status), st.Style),
		widget.S("  "+say("detail.pod-state", "since", age(f.Now, p.Since), "ready", p.Ready, "total", p.Total, "restarts", p.Restarts), theme.Dim))
	r.podWhy(f, s, p)
	if node := o.Spec.NodeName; node != "" {
		row := r.field("node", node, theme.Title)
		row.Target = home(f, node)
		if n, ok := f.World.Nodes.Get(node); ok && n.Ready != string(corev1.ConditionTrue) {
			row.Line = append(row.Line, widget.S("  "+say("detail.node-not-ready", "ready", n.Ready, "since", age(f.Now, n.Since)), theme.Unknown))
		}
	} else {
		r.line("node", widget.S(say("detail.no-node"), theme.Waiting))
	}
	if o.Status.PodIP != "" {
		r.field("IP", o.Status.PodIP, theme.Text)
	}
	if o.Status.QOSClass != "" {
		r.field("QoS", string(o.Status.QOSClass), theme.Text)
	}
	if o.Spec.PriorityClassName != "" {
		r.field("priority", o.Spec.PriorityClassName, theme.Text)
	}
	if g := o.Spec.TerminationGracePeriodSeconds; g != nil {
		r.line(say("detail.grace"), widget.S(strconv.FormatInt(*g, 10)+"s", theme.Dim))
	}
	r.beliefAndTruth(f, s, p)
	for i, c := range o.Status.Conditions {
		if i == 0 {
			r.title(say("detail.conditions"))
		}
		bad := string(corev1.ConditionFalse)
		if c.Type == corev1.DisruptionTarget {
			bad = string(corev1.ConditionTrue)
		}
		r.condition(f, string(c.Type), string(c.Status), bad, c.Reason, c.Message, c.LastTransitionTime.Time)
	}
	if len(o.Spec.Tolerations) > 0 {
		r.title(say("detail.tolerations"))
		for _, t := range o.Spec.Tolerations {
			r.line("", widget.S(sanitize.Text(Toleration(t)), theme.Text))
		}
	}
}

// podOf is the World's pod, or one made of the last state of a deleted one.
func podOf(w *world.World, s Subject, o *corev1.Pod) *world.Pod {
	if !s.Gone {
		if p, ok := w.Pods.Get(kinds.ObjectRef{Namespace: o.Namespace, Name: o.Name}.String()); ok {
			return p
		}
	}
	c := kinds.ColumnsOf(o)
	return &world.Pod{Object: o, Seq: s.Seq, Status: c.Status, Ready: c.Ready, Total: c.Total, Restarts: c.Restarts, Deleting: o.DeletionTimestamp != nil, Since: s.GoneAt}
}

// podWhy is what waits for it, or threatens it.
func (r *rows) podWhy(f view.Frame, s Subject, p *world.Pod) {
	if s.Gone {
		return
	}
	say := f.Words.Say
	key := kinds.ObjectRef{Namespace: p.Object.Namespace, Name: p.Object.Name}.String()
	if a, ok := f.World.Attempts.Get(key); ok && p.Object.Spec.NodeName == "" {
		if a.Message != "" {
			r.field(say("detail.why"), a.Message, theme.Waiting).Seq = a.Seq
		}
		switch {
		case !a.Until.IsZero() && a.Until.After(f.Now):
			r.line(say("detail.next"), widget.S(say("detail.retry", "queue", a.Queue, "in", a.Until.Sub(f.Now), "n", a.Attempt), theme.Waiting))
		case a.Queue != "":
			r.line(say("detail.next"), widget.S(say("detail.queued", "queue", a.Queue, "n", a.Attempt), theme.Waiting))
		}
	}
	if e, ok := f.World.Evictions.Get(key); ok {
		r.line(say("detail.eviction"), widget.S(until(f, e.Due), theme.Failing)).Seq = e.Seq
	}
	if p.Deleting && p.Object.DeletionTimestamp != nil {
		if n, ok := f.World.Nodes.Get(p.Object.Spec.NodeName); ok && n.Ready != string(corev1.ConditionTrue) {
			r.line(say("detail.why"), widget.S(say("detail.ends-when-heard", "node", p.Object.Spec.NodeName), theme.Waiting))
		}
	}
}

// beliefAndTruth sets what the store says of each container against what the runtime of its node really has.
func (r *rows) beliefAndTruth(f view.Frame, s Subject, p *world.Pod) {
	say := f.Words.Say
	truth := map[string]*world.Container{}
	if prefix := p.Object.Spec.NodeName + " " + p.RunsAs() + " "; !s.Gone {
		f.World.Running.Ascend(prefix, func(key string, c *world.Container) bool {
			if !strings.HasPrefix(key, prefix) {
				return false
			}
			truth[c.Name] = c
			return true
		})
	}
	believed := map[string]*corev1.ContainerStatus{}
	for _, list := range [][]corev1.ContainerStatus{p.Object.Status.InitContainerStatuses, p.Object.Status.ContainerStatuses} {
		for i := range list {
			believed[list[i].Name] = &list[i]
		}
	}
	if len(p.Object.Spec.Containers) == 0 {
		return
	}
	r.title(say("detail.belief-truth"))
	all := append(append([]corev1.Container{}, p.Object.Spec.InitContainers...), p.Object.Spec.Containers...)
	for i := range all {
		c := &all[i]
		r.line(sanitize.Text(c.Name), widget.S(sanitize.Text(c.Image), theme.Title), widget.S("  "+sanitize.Text(requests(c)), theme.Dim))
		store, running := containerBelief(f, believed[c.Name])
		r.line("  "+say("detail.store-says"), store)
		if s.Gone {
			continue
		}
		runs, really := containerTruth(f, truth[c.Name])
		line := widget.Line{runs}
		if running != really {
			line = append(line, widget.S("  "+say("detail.differ"), theme.Unknown))
		}
		row := r.line("  "+say("detail.node-runs"), line...)
		if t := truth[c.Name]; t != nil {
			row.Seq = t.Seq
		}
	}
}

func containerBelief(f view.Frame, c *corev1.ContainerStatus) (widget.Span, bool) {
	say := f.Words.Say
	switch {
	case c == nil:
		return widget.S(say("detail.nothing-yet"), theme.Dim), false
	case c.State.Running != nil:
		ready := say("detail.not-ready")
		if c.Ready {
			ready = say("detail.ready")
		}
		return widget.S(say("detail.c-running", "since", age(f.Now, c.State.Running.StartedAt.Time), "ready", ready, "n", int(c.RestartCount)), theme.Text), true
	case c.State.Terminated != nil:
		return widget.S(say("detail.c-exited", "code", int(c.State.Terminated.ExitCode), "reason", c.State.Terminated.Reason, "n", int(c.RestartCount)), theme.Failing), false
	case c.State.Waiting != nil:
		style := theme.Waiting
		if strings.Contains(c.State.Waiting.Reason, "BackOff") || strings.Contains(c.State.Waiting.Reason, "Err") {
			style = theme.Failing
		}
		return widget.S(say("detail.c-waiting", "reason", c.State.Waiting.Reason, "n", int(c.RestartCount)), style), false
	}
	return widget.S(say("detail.nothing-yet"), theme.Dim), false
}

func containerTruth(f view.Frame, c *world.Container) (widget.Span, bool) {
	say := f.Words.Say
	if c == nil {
		return widget.S(say("detail.nothing-runs"), theme.Dim), false
	}
	style := theme.Text
	running := c.State == event.ContainerRunning || c.State == event.ContainerStopping
	text := say("detail.t-state", "state", string(c.State), "since", age(f.Now, c.Since))
	if c.State == event.ContainerExited || c.State == event.ContainerBackoff {
		style = theme.Failing
		text += ", " + say("detail.exit-code", "code", c.ExitCode)
	}
	if c.Reason != "" {
		text += ", " + sanitize.Text(c.Reason)
	}
	if !c.Until.IsZero() && c.Until.After(f.Now) {
		text += ", " + say("detail.until", "in", c.Until.Sub(f.Now))
	}
	return widget.S(text, style), running
}

// Toleration as kubectl describe writes one: "key=value:Effect op=Exists for 300s".
func Toleration(t corev1.Toleration) string {
	var b strings.Builder
	b.WriteString(t.Key)
	if t.Value != "" {
		b.WriteString("=" + t.Value)
	}
	if t.Effect != "" {
		b.WriteString(":" + string(t.Effect))
	}
	if t.Operator == corev1.TolerationOpExists && t.Value == "" {
		if t.Key != "" || t.Effect != "" {
			b.WriteByte(' ')
		}
		b.WriteString("op=Exists")
	}
	if t.TolerationSeconds != nil {
		fmt.Fprintf(&b, " for %ds", *t.TolerationSeconds)
	}
	return b.String()
}

func taints(n *corev1.Node) []string {
	out := make([]string, 0, len(n.Spec.Taints))
	for i := range n.Spec.Taints {
		out = append(out, n.Spec.Taints[i].ToString())
	}
	sort.Strings(out)
	return out
}

func quantity(v *intstr.IntOrString) string {
	if v == nil {
		return "?"
	}
	return v.String()
}

// padTo is grid.Pad that never cuts: a longer text keeps one blank behind it.
func padTo(s string, width int) string {
	s = sanitize.Text(s)
	if grid.Width(s) >= width {
		return s + " "
	}
	return grid.Pad(s, width)
}
