package why

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
)

// staleAfter is how long a pod stays unschedulable before it is tried again whatever happened; the scheduler looks each staleEvery.
// Source: k/k pkg/scheduler/backend/queue.
const (
	staleAfter = 5 * time.Minute
	staleEvery = 30 * time.Second
)

// pending answers why a pod has no node.
func (q *inquiry) pending(p *world.Pod) {
	o := p.Object
	d := q.ask("pending", "why.q-pending", Waits, "pod", o.Name, "status", p.Status)
	d.on(p.Seq)
	defer func() { q.add(d) }()
	if len(o.Spec.SchedulingGates) > 0 {
		d.line("why.gated", "n", len(o.Spec.SchedulingGates), "gates", gates(o))
		d.line("why.gated-2")
		d.change("", "why.change-gates", "n", len(o.Spec.SchedulingGates), "gates", gates(o))
		q.queuedAt(d)
		return
	}
	if name := o.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		d.line("why.other-scheduler", "name", name)
		d.change("", "why.change-scheduler", "name", corev1.DefaultSchedulerName)
		return
	}
	a, tried := q.World.Attempts.Get(key(o.Namespace, o.Name))
	tried = tried && a.Message != ""
	s := q.survey(p)
	if tried {
		d.on(a.Seq)
		d.line("why.tried", "n", max(a.Attempt, 1), "since", q.since(a.At), "nodes", a.Nodes)
	}
	if q.nobodySchedules(d, tried) {
		if !tried {
			return
		}
	} else if !tried {
		q.untried(d, a)
	}
	if tried && len(s.free) > 0 && !beyond(a) {
		d.line("why.would-fit", "nodes", strings.Join(s.free, ", "), "n", s.count[fits])
	}
	if tried || s.count[fits] == 0 {
		q.reasons(d, s)
	}
	if tried {
		q.beyondLine(d, a)
		d.link(intent.Open{Page: "decision", Target: q.t}, "why.link-decision")
	}
	if s.count[fits] == 0 {
		q.offer(d, s, p)
	}
	if tried {
		q.again(d, a)
	}
}

func gates(o *corev1.Pod) string {
	names := make([]string, 0, len(o.Spec.SchedulingGates))
	for _, g := range o.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

// untried tells why the pod was never tried although somebody schedules.
func (q *inquiry) untried(d *draft, a *world.Attempt) {
	host := q.Scene.ActiveScheduler
	waiting := 0
	if qu, ok := q.World.Queues.Get(string(event.On("scheduler", host)) + " scheduler"); ok {
		waiting = qu.Waiting
	}
	switch {
	case a != nil && a.Queue == "backoff" && a.Until.After(q.Now):
		d.line("why.untried-backoff", "host", host)
		d.next(q.queuedAt(d), a.Until, "why.next-backoff")
	case waiting > 1:
		d.line("why.untried-queue", "host", host, "n", waiting)
	default:
		d.line("why.untried", "host", host)
	}
	q.queuedAt(d)
	d.linkTo(target.Target{Kind: target.Process, Host: host, Process: "scheduler"})
}

// nobodySchedules tells of a scheduler that does not work, and reports whether that is so.
func (q *inquiry) nobodySchedules(d *draft, tried bool) bool {
	l, ok := q.World.Leases.Get("kube-system/kube-scheduler")
	if !ok {
		if q.Scene.ActiveScheduler == "" && !tried {
			d.line("why.scheduler-never")
			q.vacant(d, "scheduler")
			return true
		}
		return false
	}
	host, _, _ := strings.Cut(l.Holder, "_")
	if q.Scene.ActiveScheduler == "" {
		d.line("why.scheduler-none", "host", host, "since", q.since(l.Renewed))
		d.on(l.Seq)
		q.vacant(d, "scheduler")
		return true
	}
	h, ok := q.World.Hosts.Get(host)
	if !ok {
		return false
	}
	proc, known := h.Processes["scheduler"]
	key := "why.scheduler-dead"
	if h.Up && (!known || proc.Up) {
		if !proc.Since.After(l.Renewed) {
			return false
		}
		key = "why.scheduler-restarted" // under a new identity, so it waits like a standby
	}
	end := l.Renewed.Add(l.Duration)
	d.line(key, "host", host, "lease", max(end.Sub(q.Now), 0))
	d.on(l.Seq, h.Seq, proc.Seq)
	d.next(l.Renewed, end, "why.next-standby")
	return true
}

// vacant tells what keeps a standby from taking the lead.
func (q *inquiry) vacant(d *draft, process string) {
	if qu := q.Scene.Quorum; qu.Raft && (qu.Leader == "" || qu.Alive < qu.Need) {
		d.line("why.vacant-store")
		q.restore(d)
		return
	}
	up := 0
	for i := range q.Scene.Masters {
		if m := &q.Scene.Masters[i]; m.Up && m.Host.Processes[process].Up {
			up++
		}
	}
	if up == 0 {
		d.line("why.vacant-no-standby", "process", process)
		for i := range q.Scene.Masters {
			m := &q.Scene.Masters[i]
			if _, has := m.Host.Processes[process]; !has {
				continue
			}
			if !m.Up {
				d.change("start "+m.Name, "why.change-start", "what", m.Name)
			} else {
				q.startOf(d, m.Host, process)
			}
			break
		}
		return
	}
	d.Next = q.say("why.next-standby-soon", "n", up)
}

// reasons says how many nodes refuse and for what, with the numbers of now, in the order of the scheduler's filters.
func (q *inquiry) reasons(d *draft, s *survey) {
	names := func(r reason) string { return q.names(s.byWhy[r], s.count[r]) }
	if s.nodes == 0 {
		d.line("why.no-nodes")
		return
	}
	if s.skipped > 0 {
		d.line("why.looked-at", "n", s.nodes, "more", s.skipped)
	}
	if n := s.count[tooSmall]; n > 0 {
		q.room(d, s, n)
	}
	if n := s.count[tainted]; n > 0 {
		d.line("why.refuse-taints", "n", n, "names", names(tainted), "taints", taintList(s))
	}
	if n := s.count[unlabelled]; n > 0 {
		d.line("why.refuse-labels", "n", n, "names", names(unlabelled), "wants", selectorText(s.need.pod))
	}
	if n := s.count[cordoned]; n > 0 {
		d.line("why.refuse-cordoned", "n", n, "names", names(cordoned))
	}
	if n := s.count[portTaken]; n > 0 {
		d.line("why.refuse-ports", "n", n, "names", names(portTaken))
	}
	if n := s.count[otherName]; n > 0 {
		d.line("why.refuse-name", "n", n, "node", s.need.pod.Spec.NodeName)
	}
}

// room tells of nodes that have too little left.
func (q *inquiry) room(d *draft, s *survey, n int) {
	names := q.names(s.byWhy[tooSmall], n)
	switch {
	case s.mostCPU != "" && s.maxCPU < s.need.cpu:
		d.line("why.refuse-cpu", "n", n, "names", names, "asks", cpuText(s.need.cpu), "free", cpuText(max(s.maxCPU, 0)), "node", s.mostCPU)
	case s.mostMemory != "":
		d.line("why.refuse-memory", "n", n, "names", names, "asks", exactMemory(s.need.memory), "free", memoryText(max(s.maxMemory, 0)), "node", s.mostMemory)
	default:
		d.line("why.refuse-room", "n", n, "names", names)
	}
}

// names lists a few of many.
func (q *inquiry) names(list []string, n int) string {
	text := strings.Join(list, ", ")
	if more := n - len(list); more > 0 {
		return q.say("why.names-more", "names", text, "more", more)
	}
	return text
}

// taintList names the taints without the domains of their keys.
func taintList(s *survey) string {
	var all []string
	for t := range s.taints {
		all = append(all, t[strings.LastIndexByte(t[:strings.IndexAny(t, "=:")], '/')+1:])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > 3 {
		all = append(all[:3], "…")
	}
	return strings.Join(all, ", ")
}

func selectorText(p *corev1.Pod) string {
	var all []string
	for k, v := range p.Spec.NodeSelector {
		all = append(all, k+"="+v)
	}
	slices.Sort(all)
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, x := range t.MatchExpressions {
				all = append(all, x.Key+" "+string(x.Operator)+" ("+strings.Join(x.Values, ", ")+")")
			}
		}
	}
	return strings.Join(all, ", ")
}

// beyond reports whether the last attempt was refused by rules that are not computed here.
func beyond(a *world.Attempt) bool {
	return slices.ContainsFunc(a.Verdicts, func(v event.NodeVerdict) bool { return slices.Contains(notComputed, v.Plugin) })
}

// notComputed are the plugins of the rules between pods.
var notComputed = []string{"InterPodAffinity", "PodTopologySpread"}

// related: rules between pods may still refuse where the sums here agree.
func related(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	if a != nil && (a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0) {
		return true
	}
	return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == corev1.DoNotSchedule })
}

func (q *inquiry) beyondLine(d *draft, a *world.Attempt) {
	counts := map[string]int{}
	reasons := map[string]string{}
	for _, v := range a.Verdicts {
		if slices.Contains(notComputed, v.Plugin) {
			counts[v.Plugin]++
			reasons[v.Plugin] = strings.Join(v.Reasons, ", ")
		}
	}
	for _, plugin := range notComputed {
		if n := counts[plugin]; n > 0 {
			d.line("why.refuse-beyond", "n", n, "plugin", plugin, "reason", reasons[plugin])
		}
	}
}

// offer adds the smallest changes that would let the pod fit.
func (q *inquiry) offer(d *draft, s *survey, p *world.Pod) {
	for _, e := range s.edits(q.World) {
		d.Changes = append(d.Changes, q.editText(s, e))
	}
	if len(d.Changes) == 0 && s.nodes > 0 {
		d.change("", "why.change-new-node", "cpu", cpuText(s.need.cpu), "memory", exactMemory(s.need.memory))
	}
	if related(p.Object) && len(d.Changes) > 0 {
		d.line("why.beyond-unknown")
	}
}

// editText puts an edit into words.
func (q *inquiry) editText(s *survey, e edit) Change {
	var parts []string
	add := func(key string, args ...any) { parts = append(parts, q.say(key, append(args, "node", e.node)...)) }
	h, _ := q.World.Hosts.Get(e.node)
	down := h != nil && !h.Up
	_, worker := q.Scene.Find(target.Target{Host: e.node})
	cut := worker != nil && worker.IsCut()
	if e.cpu != nil {
		add("why.edit-cpu", "from", cpuText(s.need.cpu), "to", cpuText(*e.cpu))
	}
	if e.memory != nil {
		add("why.edit-memory", "from", exactMemory(s.need.memory), "to", memoryText(*e.memory))
	}
	if e.uncordon {
		add("why.edit-uncordon")
	}
	for i := range e.tolerate {
		add("why.edit-tolerate", "taint", e.tolerate[i].ToString())
	}
	if len(e.heal) > 0 {
		switch {
		case down:
			add("why.edit-start")
		case cut:
			add("why.edit-heal")
		default:
			add("why.edit-ready")
		}
	}
	if len(e.label) > 0 {
		var all []string
		for k, v := range e.label {
			all = append(all, k+"="+v)
		}
		slices.Sort(all)
		add("why.edit-label", "labels", strings.Join(all, " "))
	}
	for _, v := range e.remove {
		n := needOf(v.Object)
		add("why.edit-delete", "pod", v.Object.Name, "cpu", cpuText(n.cpu), "memory", exactMemory(n.memory))
	}
	return Change{Text: strings.Join(parts, " "+q.say("why.and")+" "), Command: e.command(cut, down)}
}

// again says when the pod is tried next.
func (q *inquiry) again(d *draft, a *world.Attempt) {
	at := q.queuedAt(d)
	switch a.Queue {
	case "backoff":
		d.next(at, a.Until, "why.next-backoff")
	case "active":
		d.Next = q.say("why.next-active")
	case "unschedulable":
		if at.IsZero() {
			at = a.At
		}
		d.next(at, at.Add(staleAfter+staleEvery), "why.next-unschedulable")
	}
}

// queuedAt is when the pod last moved between the scheduler's queues.
func (q *inquiry) queuedAt(d *draft) time.Time {
	r, ok := q.last(func(r event.Record) bool { _, is := r.Event.(event.PodQueued); return is })
	if !ok {
		return time.Time{}
	}
	d.on(r.Seq)
	return r.At
}
