package why

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
)

// process answers about a program on a machine.
func (q *inquiry) process(host, process string) {
	h, ok := q.World.Hosts.Get(host)
	if !ok {
		return
	}
	p, ok := h.Processes[process]
	if !ok {
		return
	}
	if !p.Up || !h.Up {
		q.stopped(h, p)
	}
	m, _ := q.Scene.Find(target.Target{Host: host})
	if m == nil || !h.Up || !p.Up {
		if m != nil && m.Member != nil && process == "etcd" {
			q.space()
			q.diskOf(m.Member)
		}
		if p.Up {
			q.running(h, p)
		}
		return
	}
	switch process {
	case "etcd":
		if !q.quorum() {
			q.space()
		}
		if m.Member != nil {
			q.member(m.Member)
		}
		q.raftSeat(m)
	case "apiserver":
		q.backend(m)
	case "scheduler", "controller-manager":
		q.lead(m, process)
	}
	q.running(h, p)
}

func (q *inquiry) running(h *world.Host, p world.Process) {
	d := q.ask("up", "why.q-well", Fine, "what", p.Name+"/"+h.Name)
	d.line("why.process-up", "process", p.Name, "host", h.Name, "since", q.since(p.Since), "n", p.Restarts)
	if r, ok := q.last(func(r event.Record) bool { _, is := r.Event.(event.ProcessStarted); return is }); ok {
		d.on(r.Seq)
		d.root(q.causes(r.Seq))
	}
	q.add(d)
}

// stopped answers why a program does not run.
func (q *inquiry) stopped(h *world.Host, p world.Process) {
	d := q.ask("down", "why.q-down", Broken, "process", p.Name, "host", h.Name)
	defer func() { q.add(d) }()
	if !h.Up {
		d.on(h.Seq)
		d.line("why.machine-down", "host", h.Name, "by", q.by(h.By), "since", q.since(h.Since))
		d.line("why.down-with")
		d.root(q.causes(h.Seq))
		d.change("start "+h.Name, "why.change-start", "what", h.Name)
		return
	}
	d.on(p.Seq)
	if r, ok := q.Record(p.Seq); ok {
		if e, is := r.Event.(event.ProcessStopped); is {
			d.line("why.down-ended", "reason", e.Reason, "since", q.since(r.At), "by", q.by(p.By))
			if e.Message != "" || e.ExitCode != 0 {
				d.line("why.down-exit", "code", e.ExitCode, "message", e.Message)
			}
			d.root(q.causes(r.Seq))
		}
	}
	if len(d.Lines) == 0 {
		d.line("why.process-down", "process", p.Name, "host", h.Name, "reason", p.Reason, "by", q.by(p.By), "since", q.since(p.Since))
	}
	if p.Name == "etcd" {
		m, beyond := q.damagedEnd(h.Name)
		switch {
		case m != nil && m.Out:
			d.Mood = Plain
			d.line("why.member-out")
			d.change("member add "+h.Name, "why.change-add", "member", h.Name)
			return
		case beyond:
			d.line("why.disk-no-start")
			q.anew(d, m)
			return
		case m != nil && !m.Disk.Sound() && !m.Disk.Hinders(): // the kubelet starts it again when it can write
			d.line("why.disk-no-room")
			d.change("disk "+h.Name+" ok", "why.change-disk", "member", h.Name)
			return
		case m != nil:
			q.sprung(d, m, p.Seq)
		}
	}
	if c, ok := q.static(h.Name, p.Name); ok && c.State == event.ContainerBackoff && c.Until.After(q.Now) {
		d.on(c.Seq)
		d.line("why.down-static", "n", c.Restarts)
		d.next(c.Since, c.Until, "why.next-static")
	} else if k, ok := h.Processes["kubelet"]; ok && !k.Up && p.Name != "kubelet" {
		d.line("why.down-no-kubelet")
	}
	q.startOf(d, h, p.Name)
}

// startOf adds how a program comes back: the kubelet is started by name, all others by the kubelet of their machine, and by nobody else.
func (q *inquiry) startOf(d *draft, h *world.Host, process string) {
	if what := starts(h, process); what != "" {
		d.change("start "+what, "why.change-start", "what", what)
		return
	}
	d.change("", "why.change-kubelet-starts", "process", process, "host", h.Name)
}

// starts is what an order has to start so that a program of a machine that runs comes back; empty: its kubelet does it by itself.
func starts(h *world.Host, process string) string {
	if k, ok := h.Processes["kubelet"]; ok && process != "kubelet" && k.Up {
		return ""
	}
	return h.Name + "/kubelet"
}

// static finds the container of a program of the control plane, which the kubelet of its master runs from a file.
func (q *inquiry) static(host, process string) (found *world.Container, ok bool) {
	q.World.RunningOnNode(host, func(c *world.Container) bool {
		if c.Pod.Name == process+"-"+host || c.Pod.Name == "kube-"+process+"-"+host {
			found = c
		}
		return found == nil
	})
	return found, found != nil
}

// lead answers why a program leads, or stands by, or why nobody leads.
func (q *inquiry) lead(m *scene.MasterInfo, process string) {
	role, active := m.Scheduler, q.Scene.ActiveScheduler
	if process == "controller-manager" {
		role, active = m.Controllers, q.Scene.ActiveControllers
	}
	if !role.Up {
		return
	}
	name := "kube-" + process
	l, ok := q.World.Leases.Get("kube-system/" + name)
	if !ok {
		return
	}
	duration := l.Duration
	if duration == 0 {
		duration = 15 * time.Second
	}
	holder, _, _ := strings.Cut(l.Holder, "_")
	id := "lead-" + process
	switch {
	case active == "":
		d := q.ask(id, "why.q-nobody-leads", Broken, "process", process)
		d.on(l.Seq)
		d.line("why.lead-over", "host", holder, "since", q.since(l.Renewed), "duration", duration)
		q.vacant(d, process)
		q.add(d)
	case active == m.Name && m.Host.Processes[process].Since.After(l.Renewed):
		d := q.ask(id, "why.q-standby", Waits, "process", process, "host", m.Name)
		d.on(l.Seq, m.Host.Processes[process].Seq)
		d.line("why.lead-restarted", "since", q.since(m.Host.Processes[process].Since), "lease", name)
		d.next(l.Renewed, l.Renewed.Add(duration), "why.next-standby")
		q.add(d)
	case active == m.Name:
		d := q.ask(id, "why.q-leads", Fine, "process", process, "host", m.Name)
		if b, ok := q.World.Leaders.Get(name); ok {
			d.on(b.Seq)
			d.line("why.lead-since", "host", m.Name, "lease", name, "since", q.since(b.Since))
			if r, ok := q.Record(b.Seq); ok {
				if e, is := r.Event.(event.Leading); is && e.Message != "" {
					d.line("why.lead-took", "message", e.Message)
				}
			}
		}
		d.line("why.lead-renewed", "since", role.Age, "duration", duration)
		q.add(d)
	default:
		d := q.ask(id, "why.q-standby", Fine, "process", process, "host", m.Name)
		d.on(l.Seq)
		d.line("why.standby-held", "host", holder, "lease", name, "since", role.Age)
		d.line("why.standby-when", "duration", duration)
		d.linkTo(target.Target{Kind: target.Process, Host: active, Process: process})
		if h, ok := q.World.Hosts.Get(active); ok && (!h.Up || !h.Processes[process].Up) {
			d.Mood = Waits
			d.line("why.standby-dead", "host", active)
			d.next(l.Renewed, l.Renewed.Add(duration), "why.next-standby")
		}
		q.add(d)
	}
}

// raftSeat answers why a member leads or follows.
func (q *inquiry) raftSeat(m *scene.MasterInfo) {
	e := m.Member
	if e == nil || !m.Up || e.Role == "down" || e.Learns() || e.Out {
		return
	}
	switch {
	case m.Leads:
		d := q.ask("raft", "why.q-raft-leads", Fine, "host", m.Name)
		if n := len(q.World.Elections); n > 0 && q.World.Elections[n-1].To == m.Name {
			el := q.World.Elections[n-1]
			d.on(el.Seq)
			d.line("why.raft-won", "term", el.Term, "since", q.since(el.At))
			if el.From != "" && el.From != m.Name && !el.Anew {
				d.line("why.raft-after", "from", el.From, "took", el.Virtual.Milliseconds())
			}
			d.root(q.causes(el.Seq))
		}
		d.line("why.raft-stays")
		q.add(d)
	case m.Claims:
		d := q.ask("raft", "why.q-raft-claims", Broken, "host", m.Name)
		d.on(e.Seq)
		d.line("why.raft-claims", "term", e.Term)
		d.line("why.raft-claims-2")
		q.faultChange(d, m.Faults)
		q.add(d)
	case e.Leader != "":
		d := q.ask("raft", "why.q-raft-follows", Fine, "host", m.Name)
		d.on(e.Seq)
		d.line("why.raft-follows", "leader", e.Leader, "term", e.Term)
		d.line("why.raft-follows-2")
		q.add(d)
	default:
		d := q.ask("raft", "why.q-raft-alone", Broken, "host", m.Name)
		d.on(e.Seq)
		d.line("why.raft-alone", "host", m.Name, "term", e.Term, "since", q.since(e.Since))
		for _, f := range m.Faults {
			d.line("why.fault", "fault", f.Fault.String(), "by", q.by(f.By), "since", q.since(f.At))
			d.on(f.Seq)
		}
		d.line("why.raft-alone-2")
		q.faultChange(d, m.Faults)
		q.add(d)
	}
}

// backend answers why the balancer sends nothing to an API server.
func (q *inquiry) backend(m *scene.MasterInfo) {
	b := m.Backend
	if b == nil || b.Healthy || b.Reason == "" {
		return
	}
	d := q.ask("backend", "why.q-backend", Broken, "host", m.Name)
	d.line("why.backend-why", "reason", b.Reason, "since", q.since(b.Since))
	if r, ok := q.last(func(r event.Record) bool { _, is := r.Event.(event.BackendChanged); return is }); ok {
		d.on(r.Seq)
	}
	if strings.Contains(b.Reason, "etcd") || q.Scene.Quorum.Raft && q.Scene.Quorum.Leader == "" {
		d.line("why.backend-etcd")
		q.restore(d)
	}
	q.faultChange(d, m.Faults)
	d.Next = q.say("why.next-backend")
	q.add(d)
}

// cordonRecord is the revision of a node with which it was cordoned.
func (q *inquiry) cordonRecord(node string) (event.Record, bool) {
	t := target.Target{Kind: target.Object, Type: "nodes", Name: node}
	all := q.About(t)
	var found event.Record
	for i := len(all) - 1; i >= 0 && len(all)-i <= lookMax; i-- {
		r, ok := q.Record(all[i])
		c, is := r.Event.(event.ObjectChanged)
		if !ok || !is {
			continue
		}
		n, is := c.Object.(*corev1.Node)
		if !is {
			continue
		}
		if !n.Spec.Unschedulable {
			break
		}
		found = r
	}
	return found, found.Seq != 0
}
