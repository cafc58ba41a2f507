package describe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// Overview is the table of the fields that matter of a thing; empty when nothing is known of it.
func Overview(f view.Frame, s Subject) []Row {
	r := &rows{}
	switch s.Target.Kind {
	case target.Worker, target.Master:
		r.machine(f, s)
	case target.Process:
		r.process(f, s.Target)
	case target.Balancer:
		r.balancer(f)
	case target.Client:
		r.client(f, s.Target)
	case target.Queue:
		r.queue(f, s.Target)
	case target.Zone:
		r.zone(f, s.Target)
	default:
		r.object(f, s)
	}
	return r.all
}

func (r *rows) object(f view.Frame, s Subject) {
	if s.Object == nil {
		return
	}
	say := f.Words.Say
	if s.Gone {
		text := say("detail.gone", "at", clock(f, s.GoneAt), "since", age(f.Now, s.GoneAt))
		if s.GoneBy != "" {
			text = say("detail.gone-by", "at", clock(f, s.GoneAt), "since", age(f.Now, s.GoneAt), "who", s.GoneBy)
		}
		row := r.line("", widget.S(text, theme.Failing))
		row.Seq = s.Seq
	}
	switch o := s.Object.(type) {
	case *corev1.Pod:
		r.pod(f, s, o)
	case *corev1.Node:
		r.node(f, o)
	case *appsv1.Deployment:
		r.deployment(f, o)
	case *appsv1.ReplicaSet:
		r.replicaSet(f, o)
	case *coordinationv1.Lease:
		r.lease(f, o)
	case *corev1.Event:
		r.event(f, o)
	default:
		r.columns(f, s)
	}
	r.metadata(f, s.Object, s.Gone)
}

// columns is the row of kubectl get, one cell a line.
func (r *rows) columns(f view.Frame, s Subject) {
	for _, c := range columns.Of(s.Kind) {
		if c.Header != "NAME" && c.Header != "AGE" {
			r.field(strings.ToLower(c.Header), c.Cell(s.Object, f.Now), theme.Text)
		}
	}
}

// metadata is what every object has.
func (r *rows) metadata(f view.Frame, o kinds.Object, gone bool) {
	say := f.Words.Say
	r.title(say("detail.metadata"))
	if ns := o.GetNamespace(); ns != "" {
		r.field("namespace", ns, theme.Text).Target = target.ForObject(kinds.Namespaces, "", ns)
	}
	if t := o.GetCreationTimestamp(); !t.IsZero() {
		r.line(say("detail.created"), widget.S(say("detail.ago", "at", clock(f, t.Time), "since", age(f.Now, t.Time)), theme.Text))
	}
	if t := o.GetDeletionTimestamp(); t != nil && !gone {
		r.line(say("detail.deletion"), widget.S(until(f, t.Time), theme.Waiting))
	}
	for _, own := range o.GetOwnerReferences() {
		row := r.field(say("detail.owner"), own.Kind+" "+own.Name, theme.Text)
		if k, ok := kinds.Named(own.Kind); ok {
			ns := o.GetNamespace()
			if !k.Namespaced {
				ns = ""
			}
			row.Target = target.ForObject(k, ns, own.Name)
		}
	}
	r.pairs("labels", o.GetLabels())
	r.pairs("annotations", o.GetAnnotations())
	if fin := o.GetFinalizers(); len(fin) > 0 {
		r.field("finalizers", strings.Join(fin, ", "), theme.Text)
	}
	r.field(say("detail.revision"), o.GetResourceVersion(), theme.Dim)
	r.field("uid", string(o.GetUID()), theme.Dim)
}

func (r *rows) pairs(label string, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		r.line(label, widget.S(sanitize.Text(k)+"=", theme.Dim), widget.S(sanitize.Text(m[k]), theme.Text))
		label = ""
	}
}

// condition is one row of a table of conditions. bad is the status that is not well.
func (r *rows) condition(f view.Frame, kind, status, bad, reason, message string, since time.Time) {
	style := theme.OK
	sign := fine.Symbol
	switch {
	case status == string(corev1.ConditionUnknown):
		style, sign = lost.Style, lost.Symbol
	case status == bad:
		style, sign = theme.Failing, failing.Symbol
	}
	line := widget.Line{widget.S(string(sign)+" "+padTo(status, 8), style)}
	if !since.IsZero() {
		line = append(line, widget.S(padTo(words.Age(age(f.Now, since)), 6), theme.Dim))
	}
	text := sanitize.Text(reason)
	if message != "" {
		text = strings.TrimSpace(text + "  " + sanitize.Text(message))
	}
	if style == theme.OK {
		line = append(line, widget.S(text, theme.Dim))
	} else {
		line = append(line, widget.S(text, theme.Text))
	}
	r.line(sanitize.Text(kind), line...)
}

func (r *rows) deployment(f view.Frame, d *appsv1.Deployment) {
	say := f.Words.Say
	ro := world.RolloutOf(d)
	st := deploymentState(d)
	head := say("detail.rollout", "ready", ro.Ready, "want", ro.Desired)
	switch {
	case st == failing:
		head = say("detail.rollout-stuck", "ready", ro.Ready, "want", ro.Desired, "reason", ro.Reason)
	case ro.Paused:
		head = say("detail.rollout-paused", "ready", ro.Ready, "want", ro.Desired)
	case st == starting:
		head = say("detail.rollout-going", "ready", ro.Ready, "want", ro.Desired, "updated", ro.Updated)
	}
	r.line(say("detail.state"), widget.S(string(st.Symbol)+" "+head, st.Style))
	r.line(say("detail.replicas"), widget.S(say("detail.replica-counts", "want", ro.Desired, "updated", ro.Updated, "current", ro.Current, "available", ro.Available, "ready", ro.Ready), theme.Text))
	r.field(say("detail.strategy"), strategy(d), theme.Text)
	r.field(say("detail.selector"), metav1.FormatLabelSelector(d.Spec.Selector), theme.Text)
	r.template(&d.Spec.Template.Spec)
	r.title(say("detail.conditions"))
	for _, c := range d.Status.Conditions {
		bad := string(corev1.ConditionFalse)
		if c.Type == appsv1.DeploymentReplicaFailure {
			bad = string(corev1.ConditionTrue)
		}
		r.condition(f, string(c.Type), string(c.Status), bad, c.Reason, c.Message, c.LastTransitionTime.Time)
	}
	r.owned(f, kinds.ReplicaSets, d)
}

// owned lists the objects of a kind in the namespace that an object controls; they carry its name in front.
func (r *rows) owned(f view.Frame, k *kinds.Kind, o kinds.Object) {
	const most, looked = 50, 500
	prefix := world.ObjectKey(k, o.GetNamespace(), o.GetName()+"-")
	n, more, seen := 0, 0, 0
	f.World.Objects.Ascend(prefix, func(key string, c *world.Object) bool {
		if seen++; !strings.HasPrefix(key, prefix) || seen > looked {
			return false
		}
		if own := metav1.GetControllerOf(c.Object); own == nil || own.UID != o.GetUID() {
			return true
		}
		if n++; n > most {
			more++
			return true
		}
		if n == 1 {
			r.title(k.Resource)
		}
		st := StateOf(f.World, c)
		text := ""
		for _, col := range columns.Of(k)[1:] {
			if !col.Wide() {
				text += strings.ToLower(col.Name) + " " + col.Cell(c.Object, f.Now) + "  "
			}
		}
		row := r.line("", widget.S(string(st.Symbol)+" ", st.Style), widget.S(sanitize.Text(c.Object.GetName())+"  ", theme.Title), widget.S(sanitize.Text(text), theme.Dim))
		row.Target = target.ForObject(k, c.Object.GetNamespace(), c.Object.GetName())
		if p, ok := c.Object.(*corev1.Pod); ok {
			row.Target = podTarget(p)
		}
		return true
	})
	if more > 0 {
		r.line("", widget.S(f.Words.Say("detail.more", "n", more), theme.Dim))
	}
}

func (r *rows) template(s *corev1.PodSpec) {
	for i := range s.Containers {
		c := &s.Containers[i]
		r.line(sanitize.Text(c.Name), widget.S(sanitize.Text(c.Image)+"  ", theme.Text), widget.S(sanitize.Text(requests(c)), theme.Dim))
	}
}

func requests(c *corev1.Container) string {
	var out []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := c.Resources.Requests[name]; ok {
			out = append(out, string(name)+" "+q.String())
		}
	}
	return strings.Join(out, ", ")
}

func strategy(d *appsv1.Deployment) string {
	if s := d.Spec.Strategy.RollingUpdate; s != nil {
		return fmt.Sprintf("%s, %s max unavailable, %s max surge", d.Spec.Strategy.Type, quantity(s.MaxUnavailable), quantity(s.MaxSurge))
	}
	return string(d.Spec.Strategy.Type)
}

func (r *rows) replicaSet(f view.Frame, rs *appsv1.ReplicaSet) {
	say := f.Words.Say
	want := kinds.Desired(rs.Spec.Replicas)
	style := theme.OK
	if int(rs.Status.ReadyReplicas) != want {
		style = theme.Waiting
	}
	r.line(say("detail.replicas"), widget.S(say("detail.replica-set", "ready", int(rs.Status.ReadyReplicas), "current", int(rs.Status.Replicas), "want", want), style))
	r.field(say("detail.selector"), metav1.FormatLabelSelector(rs.Spec.Selector), theme.Text)
	r.template(&rs.Spec.Template.Spec)
	for i, c := range rs.Status.Conditions {
		if i == 0 {
			r.title(say("detail.conditions"))
		}
		r.condition(f, string(c.Type), string(c.Status), string(corev1.ConditionTrue), c.Reason, c.Message, c.LastTransitionTime.Time)
	}
	r.owned(f, kinds.Pods, rs)
}

func (r *rows) lease(f view.Frame, o *coordinationv1.Lease) {
	l, ok := f.World.Leases.Get(kinds.ObjectRef{Namespace: o.Namespace, Name: o.Name}.String())
	if !ok {
		return
	}
	say := f.Words.Say
	old, expired := l.Age(f.Now)
	if expired {
		r.line(say("detail.state"), widget.S(string(failing.Symbol)+" "+say("detail.lease-out", "since", old-l.Duration), theme.Failing))
	} else {
		r.line(say("detail.state"), widget.S(string(fine.Symbol)+" "+say("detail.lease-held", "in", l.Duration-old), theme.OK))
	}
	row := r.field(say("detail.holder"), l.Holder, theme.Title)
	host, _, _ := strings.Cut(l.Holder, "_")
	if _, known := f.World.Hosts.Get(host); known {
		row.Target = home(f, host)
	}
	r.line(say("detail.renewed"), widget.S(say("detail.ago", "at", clock(f, l.Renewed), "since", old), theme.Text)).Seq = l.Seq
	r.line(say("detail.duration"), widget.S(words.Span(l.Duration), theme.Text))
	r.line(say("detail.transitions"), widget.S(strconv.Itoa(l.Transitions), theme.Text))
}

func (r *rows) event(f view.Frame, e *corev1.Event) {
	say := f.Words.Say
	style := theme.Text
	if e.Type == corev1.EventTypeWarning {
		style = theme.Waiting
	}
	r.field("message", e.Message, style)
	r.field("reason", e.Reason, theme.Text)
	r.field("type", e.Type, theme.Text)
	row := r.field("object", strings.ToLower(e.InvolvedObject.Kind)+"/"+e.InvolvedObject.Name, theme.Title)
	if k, ok := kinds.Named(e.InvolvedObject.Kind); ok {
		row.Target = target.ForObject(k, e.InvolvedObject.Namespace, e.InvolvedObject.Name)
	}
	r.field("source", kinds.EventSource(e), theme.Text)
	r.line(say("detail.count"), widget.S(strconv.Itoa(kinds.EventCount(e)), theme.Text))
	r.line(say("detail.last-seen"), widget.S(say("detail.ago", "at", clock(f, kinds.EventLast(e)), "since", age(f.Now, kinds.EventLast(e))), theme.Text))
	r.line(say("detail.first-seen"), widget.S(say("detail.ago", "at", clock(f, kinds.EventFirst(e)), "since", age(f.Now, kinds.EventFirst(e))), theme.Text))
}

// EventRows are the Events about a subject, the newest last.
func EventRows(f view.Frame, s Subject) []Row {
	r := &rows{}
	if s.Object == nil {
		return nil
	}
	for _, e := range EventsOf(f.World, s.Kind, s.Object.GetNamespace(), s.Object.GetName()) {
		style, sign := theme.Text, still.Symbol
		if e.Object.Type == corev1.EventTypeWarning {
			style, sign = theme.Waiting, '!'
		}
		times := ""
		if n := kinds.EventCount(e.Object); n > 1 {
			times = "  " + f.Words.Say("detail.times", "n", n)
		}
		row := r.line(padTo(kinds.Age(age(f.Now, kinds.EventLast(e.Object))), 6),
			widget.S(string(sign)+" "+padTo(e.Object.Reason, 18), style), widget.S(sanitize.Text(e.Object.Message)+times, style),
			widget.S("  "+sanitize.Text(kinds.EventSource(e.Object)), theme.Dim))
		row.Seq = e.Seq
	}
	return r.all
}

// clock is an instant as the time since the cluster's start.
func clock(f view.Frame, t time.Time) string {
	if t.IsZero() || f.World.Start.IsZero() {
		return "?"
	}
	if t.Before(f.World.Start) {
		return "-" + words.Span(f.World.Start.Sub(t))
	}
	return "+" + words.Span(t.Sub(f.World.Start))
}

// until says when a planned instant is, or that it has passed.
func until(f view.Frame, t time.Time) string {
	if t.After(f.Now) {
		return f.Words.Say("detail.in", "in", t.Sub(f.Now), "at", clock(f, t))
	}
	return f.Words.Say("detail.overdue", "since", age(f.Now, t), "at", clock(f, t))
}
