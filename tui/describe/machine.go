package describe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// podsMost is how many pods of a machine are listed; a node of Kubernetes carries 110.
const podsMost = 500

// machine is a master or worker: power, links, processes, its Node object and its pods.
func (r *rows) machine(f view.Frame, s Subject) {
	say := f.Words.Say
	h, ok := f.World.Hosts.Get(s.Target.Host)
	if !ok {
		return
	}
	if h.Up {
		r.line(say("detail.power"), widget.S(string(fine.Symbol)+" "+say("detail.on", "since", age(f.Now, h.Since)), theme.OK)).Seq = h.Seq
	} else {
		r.line(say("detail.power"), widget.S(string(failing.Symbol)+" "+say("detail.off", "who", scene.By(h.By, f.Words), "since", age(f.Now, h.Since)), theme.Failing)).Seq = h.Seq
	}
	f.World.FaultsOn(h.Name, func(x world.Fault) bool {
		sign := grid.CutMark
		if x.Fault.Kind != fault.Cut { // packets pass
			sign = grid.Starting
		}
		r.line(say("detail.fault"), widget.S(string(sign)+" "+sanitize.Text(x.Fault.String())+"  "+say("detail.fault-by", "who", string(x.By), "since", age(f.Now, x.At)), theme.Fault)).Seq = x.Seq
		return true
	})
	r.processes(f, h)
	if n, ok := s.Object.(*corev1.Node); ok && !s.Gone {
		r.title(say("detail.node-object"))
		r.node(f, n)
	} else if s.Object == nil {
		r.line("", widget.S(say("detail.no-node-object"), theme.Waiting))
	}
}

func (r *rows) processes(f view.Frame, h *world.Host) {
	r.title(f.Words.Say("detail.processes"))
	for _, n := range slices.Sorted(maps.Keys(h.Processes)) {
		p := h.Processes[n]
		row := r.line(sanitize.Text(n), processState(f, p)...)
		row.Target = target.Target{Kind: target.Process, Host: h.Name, Process: n}
	}
}

func processState(f view.Frame, p world.Process) widget.Line {
	say := f.Words.Say
	if p.Up {
		line := widget.Line{widget.S(string(fine.Symbol)+" "+say("detail.runs", "since", age(f.Now, p.Since)), theme.OK)}
		if p.Restarts > 0 {
			line = append(line, widget.S("  "+say("map.restarts", "n", p.Restarts), theme.Dim))
		}
		return line
	}
	return widget.Line{widget.S(string(failing.Symbol)+" "+say("detail.stopped", "reason", p.Reason, "who", scene.By(p.By, f.Words), "since", age(f.Now, p.Since)), theme.Failing)}
}

// node is a Node object with its lease, what is given away of it, and its pods.
func (r *rows) node(f view.Frame, n *corev1.Node) {
	say := f.Words.Say
	st := nodeState(n)
	info, known := f.World.Nodes.Get(n.Name)
	status := strings.Join(columnsOf(n, f, "STATUS", "ROLES", "VERSION"), "  ")
	row := r.line(say("detail.state"), widget.S(string(st.Symbol)+" "+sanitize.Text(status), st.Style))
	if known && !info.Since.IsZero() {
		row.Line = append(row.Line, widget.S("  "+say("detail.since", "since", age(f.Now, info.Since)), theme.Dim))
	}
	if l, ok := f.World.NodeLease(n.Name); ok {
		old, _ := l.Age(f.Now)
		style, text := theme.Text, say("detail.lease-age", "since", old)
		if old > l.Duration {
			style = theme.Failing
		}
		if st.Well && old > l.Duration && old < world.NodeGrace+l.Duration {
			text += "  " + say("detail.judged-in", "in", world.NodeGrace-old)
		}
		r.line("lease", widget.S(text, style)).Target = target.Target{Kind: target.Object, Type: "leases.coordination.k8s.io", Namespace: l.Namespace, Name: l.Name}
	}
	if e, first := f.World.EvictionsOnNode(n.Name); e > 0 {
		r.line(say("detail.evictions"), widget.S(say("detail.evictions-due", "n", e, "when", until(f, first)), theme.Failing))
	}
	for i, t := range taints(n) {
		label := "taints"
		if i > 0 {
			label = ""
		}
		r.field(label, t, theme.Waiting)
	}
	if known {
		r.capacity(f, info)
	}
	for i, c := range n.Status.Conditions {
		if i == 0 {
			r.title(say("detail.conditions"))
		}
		bad := string(corev1.ConditionTrue)
		if c.Type == corev1.NodeReady {
			bad = string(corev1.ConditionFalse)
		}
		r.condition(f, string(c.Type), string(c.Status), bad, c.Reason, c.Message, c.LastTransitionTime.Time)
	}
	r.podsOf(f, n.Name)
}

func (r *rows) capacity(f view.Frame, n *world.Node) {
	say := f.Words.Say
	cpu, mem := n.Object.Status.Allocatable.Cpu().MilliValue(), n.Object.Status.Allocatable.Memory().Value()
	bar := func(part, whole int64, text string) []widget.Span {
		style := theme.OK
		if whole > 0 && part*10 > whole*9 {
			style = theme.Waiting
		}
		return []widget.Span{widget.S(widget.Bar(part, whole, 10), style), widget.S("  "+text+"  ", theme.Text), widget.S(percent(part, whole), theme.Dim)}
	}
	r.line("cpu", bar(n.MilliCPU, cpu, say("detail.requested", "part", milli(n.MilliCPU), "whole", milli(cpu)))...)
	r.line("memory", bar(n.Memory, mem, say("detail.requested", "part", bytes(n.Memory), "whole", bytes(mem)))...)
	slots := n.Object.Status.Allocatable.Pods().Value()
	r.line("pods", bar(int64(n.Pods), slots, fmt.Sprintf("%d / %d", n.Pods, slots))...)
}

// podsOf lists what the store has on a node and, where they differ, what runs there.
func (r *rows) podsOf(f view.Frame, node string) {
	say := f.Words.Say
	r.title(say("detail.pods"))
	cmp := f.World.Compare(node)
	if cmp.Belief != cmp.Truth || cmp.Unknown > 0 {
		text := say("detail.compare", "belief", cmp.Belief, "truth", cmp.Truth)
		if cmp.Unknown > 0 {
			text += say("detail.compare-unknown", "unknown", cmp.Unknown)
		}
		r.line("", widget.S(text, theme.Unknown))
	}
	n, more := 0, 0
	f.World.PodsOnNode(node, func(p *world.Pod) bool {
		if n++; n > podsMost {
			more++
			return true
		}
		st := podState(f.World, p)
		row := r.line("", widget.S(string(st.Symbol)+" ", st.Style), widget.S(padTo(p.Object.Namespace+"/"+p.Object.Name, 40), theme.Title),
			widget.S(padTo(p.Status, 10), st.Style), widget.S(fmt.Sprintf("%d/%d  ", p.Ready, p.Total), theme.Dim), widget.S(words.Age(age(f.Now, p.Since)), theme.Dim))
		row.Target = podTarget(p.Object)
		return true
	})
	if n == 0 {
		r.line("", widget.S(say("detail.no-pods"), theme.Dim))
	}
	if more > 0 {
		r.line("", widget.S(say("detail.more", "n", more), theme.Dim))
	}
}

func columnsOf(n *corev1.Node, f view.Frame, names ...string) []string {
	var out []string
	for _, c := range columns.Of(kinds.Nodes) {
		for _, name := range names {
			if v := c.Cell(n, f.Now); c.Header == name && v != "<none>" {
				out = append(out, v)
			}
		}
	}
	return out
}

// process is a program on a machine, with what is special about it.
func (r *rows) process(f view.Frame, t target.Target) {
	say := f.Words.Say
	p, ok := f.World.Process(t.Host, t.Process)
	if !ok {
		return
	}
	r.line(say("detail.state"), processState(f, p)...).Seq = p.Seq
	r.field(say("detail.machine"), t.Host, theme.Title).Target = home(f, t.Host)
	switch t.Process {
	case "apiserver":
		r.apiserver(f, t.Host)
	case "etcd":
		r.etcd(f, t.Host)
	case "scheduler":
		r.candidate(f, t.Host, "kube-scheduler")
	case "controller-manager":
		r.candidate(f, t.Host, "kube-controller-manager")
	case "kubelet":
		r.kubelet(f, t.Host)
	}
}

func (r *rows) apiserver(f view.Frame, host string) {
	say := f.Words.Say
	if b, ok := f.World.Backends.Get(host); ok {
		if b.Healthy {
			r.line(say("detail.balancer"), widget.S(string(fine.Symbol)+" "+say("detail.in-rotation"), theme.OK))
		} else {
			r.line(say("detail.balancer"), widget.S(string(failing.Symbol)+" "+say("detail.out", "reason", b.Reason, "since", age(f.Now, b.Since)), theme.Failing))
		}
		r.line(say("detail.rate"), widget.S(widget.Spark(f.Feed.Rates(host), 8)+" ", theme.OK), widget.S(say("detail.per-second", "n", b.PerSec, "total", b.Total), theme.Text))
		r.line("watches", widget.S(strconv.Itoa(b.Watches), theme.Text))
	}
}

// candidate is a program that leads or stands by.
func (r *rows) candidate(f view.Frame, host, lease string) {
	say := f.Words.Say
	l, ok := f.World.Leases.Get("kube-system/" + lease)
	if !ok {
		return
	}
	old, expired := l.Age(f.Now)
	holder, _, _ := strings.Cut(l.Holder, "_")
	row := r.line("lease", widget.S("", theme.Text))
	row.Target = target.Target{Kind: target.Object, Type: "leases.coordination.k8s.io", Namespace: l.Namespace, Name: l.Name}
	switch {
	case holder == host && !expired:
		row.Line = widget.Line{widget.S(string(grid.Leader)+" "+say("detail.leads", "in", l.Duration-old), theme.Leader)}
	case expired:
		row.Line = widget.Line{widget.S(string(grid.Failing)+" "+say("detail.nobody-leads", "who", holder, "since", old-l.Duration), theme.Failing)}
	default:
		row.Line = widget.Line{widget.S(string(grid.Standby)+" "+say("detail.stands-by", "who", holder), theme.Text)}
	}
}

func (r *rows) kubelet(f view.Frame, host string) {
	if n, ok := f.World.Nodes.Get(host); ok {
		r.title(f.Words.Say("detail.node-object"))
		r.node(f, n.Object)
	}
}

func (r *rows) balancer(f view.Frame) {
	say := f.Words.Say
	f.World.Backends.Scan(func(_ string, b *world.Backend) bool {
		st, text := fine, say("detail.in-rotation")
		if !b.Healthy {
			st, text = failing, say("detail.out", "reason", b.Reason, "since", age(f.Now, b.Since))
		}
		row := r.line(sanitize.Text(b.Host), widget.S(string(st.Symbol)+" ", st.Style), widget.S(widget.Spark(f.Feed.Rates(b.Host), 8)+" ", st.Style),
			widget.S(say("detail.per-second", "n", b.PerSec, "total", b.Total)+"  ", theme.Text), widget.S(text, st.Style))
		row.Target = target.Target{Kind: target.Process, Host: b.Host, Process: "apiserver"}
		return true
	})
}

func (r *rows) client(f view.Frame, t target.Target) {
	say := f.Words.Say
	if t.Name != string(event.You) {
		r.outside(f, t.Name)
		return
	}
	r.title(say("detail.commands"))
	all := f.World.Commands
	for i := len(all) - 1; i >= 0 && i >= len(all)-100; i-- {
		c := all[i]
		st, text := fine, ""
		switch {
		case c.Error != "":
			st, text = failing, c.Error
		case !c.Done:
			st = starting
		}
		row := r.line(clock(f, c.At), widget.S(string(st.Symbol)+" ", st.Style), widget.S(sanitize.Text(c.Text), theme.Title), widget.S("  "+sanitize.Text(text), theme.Failing))
		row.Seq = c.Seq
	}
}

func (r *rows) zone(f view.Frame, t target.Target) {
	say := f.Words.Say
	const most = 200
	n, more := 0, 0
	for i := range f.Scene.Workers {
		w := &f.Scene.Workers[i]
		if w.Node == nil || w.Zone != t.Name {
			continue
		}
		if n++; n > most {
			more++
			continue
		}
		st := nodeState(w.Node.Object)
		r.line(sanitize.Text(w.Name), widget.S(string(st.Symbol)+" ", st.Style), widget.S(say("detail.worker-pods", "n", w.Pods), theme.Text)).Target = target.Target{Kind: target.Worker, Host: w.Name}
	}
	if more > 0 {
		r.line("", widget.S(say("detail.more", "n", more), theme.Dim))
	}
}

func milli(m int64) string {
	if m%1000 == 0 {
		return strconv.FormatInt(m/1000, 10)
	}
	return strconv.FormatFloat(float64(m)/1000, 'f', 2, 64)
}

func bytes(b int64) string {
	const mi, gi = 1 << 20, 1 << 30
	if b >= gi {
		return strconv.FormatFloat(float64(b)/gi, 'f', 1, 64) + "Gi"
	}
	return strconv.FormatInt(b/mi, 10) + "Mi"
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(float64(part)/float64(whole)*100), 10) + "%"
}
