package why

import (
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
)

// worker answers about a machine that runs pods.
func (q *inquiry) worker(host string) {
	_, w := q.Scene.Find(target.Target{Host: host})
	if w == nil {
		return
	}
	q.workerState(w)
	if w.Wrong && (w.Believed > 0 || w.True > 0) {
		q.belief(w)
	}
	if w.Wrong {
		q.eviction(w)
	}
	if w.Cordoned {
		q.cordon(w)
	}
}

func (q *inquiry) workerState(w *scene.WorkerInfo) {
	ready := readyOf(w)
	if !w.Wrong {
		d := q.ask("state", "why.q-well", Fine, "what", w.Name)
		d.line("why.worker-well", "host", w.Name, "lease", max(w.LeaseAge, 0), "pods", w.Pods, "n", w.Pods)
		d.line("why.worker-room", "cpu", cpuText(w.CPU), "allcpu", cpuText(w.CPUAll), "memory", memoryText(w.Mem), "allmemory", memoryText(w.MemAll))
		if w.Node != nil {
			d.on(w.Node.Seq)
		}
		q.add(d)
		return
	}
	title := "why.q-machine"
	switch {
	case ready == "Unknown":
		title = "why.q-worker-unknown"
	case ready == "False":
		title = "why.q-worker-notready"
	case w.Silent:
		title = "why.q-worker-silent"
	}
	d := q.ask("state", title, Broken, "host", w.Name)
	q.deed1(d, &w.Machine)
	if w.LeaseAge >= 0 {
		d.line("why.worker-lease", "lease", w.LeaseAge)
		if l, ok := q.World.NodeLease(w.Name); ok && l.Renewed.Before(q.Now.Add(-20*time.Second)) {
			d.on(l.Seq)
		}
	}
	q.judged(d, w, ready)
	q.whenWorker(d, w, ready)
	q.revive(d, w.Name)
	if len(d.Changes) == 0 {
		q.faultChange(d, w.Faults)
	}
	q.add(d)
}

// deed1 tells what was done to a machine, and by whom.
func (q *inquiry) deed1(d *draft, m *scene.Machine) {
	switch {
	case !m.Up && m.Seq == 0:
		d.line("why.machine-never", "host", m.Name)
	case !m.Up:
		d.on(m.Seq)
		d.line("why.machine-down", "host", m.Name, "by", q.by(m.By), "since", q.since(m.Since))
		d.root(q.causes(m.Seq))
	}
	for i, f := range m.Faults {
		if i == 2 {
			break
		}
		d.on(f.Seq)
		if m.IsCut() && i == 0 && len(m.Faults) == 1 {
			d.line("why.cut", "host", m.Name, "by", q.by(f.By), "since", q.since(f.At))
			continue
		}
		d.line("why.fault", "fault", f.Fault.String(), "by", q.by(f.By), "since", q.since(f.At))
		if f.Fault.Kind == fault.Clog {
			d.line("why.fault-clog")
		}
	}
	if !m.Up || m.Host == nil {
		return
	}
	for _, name := range scene.ProcessNames(m.Host) {
		p := m.Host.Processes[name]
		if p.Up {
			continue
		}
		if m.Boots(name) {
			d.line("why.machine-boots", "host", m.Name, "since", q.since(m.Since), "process", name)
			return
		}
		d.on(p.Seq)
		key := "why.process-down"
		if p.By == event.On(name, m.Name) {
			key = "why.process-ended"
		}
		d.line(key, "process", name, "host", m.Name, "reason", p.Reason, "by", q.by(p.By), "since", q.since(p.Since))
	}
}

// judged tells what the node lifecycle controller made of the silence.
func (q *inquiry) judged(d *draft, w *scene.WorkerInfo, ready string) {
	if w.Node == nil {
		d.line("why.worker-unregistered", "host", w.Name)
		return
	}
	r, ok := q.last(func(r event.Record) bool { _, is := r.Event.(event.NodeJudged); return is })
	switch {
	case ready == "Unknown" && ok:
		e := r.Event.(event.NodeJudged)
		d.on(r.Seq)
		d.line("why.worker-judged", "silent", e.SilentFor, "since", q.since(r.At), "host", r.Actor.Host())
	case ready == "False":
		d.on(w.Node.Seq)
		d.line("why.worker-says", "reason", w.Node.Reason, "since", q.since(w.Node.Since))
	}
}

// whenWorker says what happens next to a worker, and when.
func (q *inquiry) whenWorker(d *draft, w *scene.WorkerInfo, ready string) {
	leaderless := q.Scene.ActiveControllers == ""
	switch {
	case leaderless && (w.Silent || ready != "True"):
		d.line("why.worker-nobody")
		q.vacant(d, "controller-manager")
	case w.Silent:
		last := q.Now.Add(-w.LeaseAge)
		d.line("why.worker-not-yet", "host", q.Scene.ActiveControllers)
		d.next(last, last.Add(world.NodeGrace), "why.next-judged")
		if d.Until.IsZero() { // judged at the next look
			d.Next = q.say("why.judged-now")
		}
	case !w.EvictAt.IsZero():
		d.next(w.EvictAt.Add(-300*time.Second), w.EvictAt, "why.next-evictions", "n", w.Evictions)
	case ready != "True" && w.Pods > 0:
		d.Next = q.say("why.next-none-evicted")
	}
}

func (q *inquiry) faultChange(d *draft, faults []world.Fault) {
	if len(faults) > 0 {
		f := faults[0].Fault
		d.change("heal "+scene.End(f), "why.change-heal-link", "fault", f.String())
	}
}

// belief answers why pods are shown Running on a machine where they do not, or the other way round.
func (q *inquiry) belief(w *scene.WorkerInfo) {
	d := q.ask("belief", "why.q-belief", Plain, "n", w.Believed, "host", w.Name)
	d.line("why.belief-two", "believed", w.Believed, "truth", w.True, "host", w.Name)
	d.line("why.belief-who")
	switch {
	case w.True > 0 && q.silence(w.Name) != "":
		d.line("why.belief-runs", "why", q.silence(w.Name))
	case w.True == 0 && !w.Up:
		d.line("why.belief-off")
	}
	if w.Node != nil && w.Node.Ready != "True" {
		d.on(w.Node.Seq)
		d.line("why.belief-conditions")
	}
	d.on(w.Seq)
	q.whenWorker(d, w, readyOf(w))
	q.revive(d, w.Name)
	q.add(d)
}

func readyOf(w *scene.WorkerInfo) string {
	if w.Node == nil {
		return ""
	}
	return w.Node.Ready
}

// eviction answers why nothing is evicted yet.
func (q *inquiry) eviction(w *scene.WorkerInfo) {
	if w.Node == nil || w.Pods == 0 {
		return
	}
	d := q.ask("evict", "why.q-evict", Waits, "host", w.Name)
	switch {
	case !w.EvictAt.IsZero():
		planned := 0
		q.World.PodsOnNode(w.Name, func(p *world.Pod) bool {
			if e, ok := q.World.Evictions.Get(key(p.Object.Namespace, p.Object.Name)); ok {
				d.on(e.Seq)
				planned++
			}
			return planned < 8
		})
		d.line("why.evict-planned", "n", w.Evictions, "taint", q.noExecute(w.Name))
	case w.Silent:
		d.line("why.evict-not-judged")
	case readyOf(w) == "True":
		d.line("why.evict-ready")
	default:
		d.line("why.evict-none")
	}
	q.whenWorker(d, w, readyOf(w))
	q.add(d)
}

// cordon answers why a worker takes no new pods.
func (q *inquiry) cordon(w *scene.WorkerInfo) {
	d := q.ask("cordon", "why.q-cordon", Plain, "host", w.Name)
	d.line("why.cordoned")
	if r, ok := q.cordonRecord(w.Name); ok {
		d.on(r.Seq)
		d.root(q.causes(r.Seq))
	}
	d.change("kubectl uncordon "+w.Name, "why.edit-uncordon", "node", w.Name)
	q.add(d)
}

// master answers about a machine of the control plane.
func (q *inquiry) master(host string) {
	m, _ := q.Scene.Find(target.Target{Host: host})
	if m == nil {
		return
	}
	muted := m.Muted()
	out := m.Backend != nil && !m.Backend.Healthy && m.Backend.Reason != ""
	if m.Member != nil {
		q.member(m.Member)
	}
	if m.Up && !m.Stopped() && !muted && !out && len(m.Faults) == 0 {
		if !q.quorum() {
			q.space()
		}
		d := q.ask("state", "why.q-well", Fine, "what", m.Name)
		d.line("why.master-well", "host", m.Name, "since", q.since(m.Since))
		q.roles(d, m)
		q.add(d)
	} else {
		d := q.ask("state", "why.q-machine", Broken, "host", m.Name)
		q.deed1(d, &m.Machine)
		if muted {
			d.line("why.muted", "host", m.Name)
		}
		if out && m.Up {
			d.line("why.backend-why", "reason", m.Backend.Reason, "since", q.since(m.Backend.Since))
		}
		if qu := q.Scene.Quorum; qu.Raft {
			key := "why.master-quorum"
			if qu.Alive < qu.Need {
				key = "why.master-no-quorum"
			}
			d.line(key, "alive", qu.Alive, "members", qu.Members, "need", qu.Need, "lose", max(qu.Lose, 0))
		}
		q.revive(d, m.Name)
		if len(d.Changes) == 0 {
			q.startStopped(d, &m.Machine)
			q.faultChange(d, m.Faults)
		}
		q.add(d)
		if !q.quorum() {
			q.space()
		}
	}
	if m.Up {
		q.raftSeat(m)
		for _, process := range []string{"scheduler", "controller-manager"} {
			q.lead(m, process)
		}
	}
}

// startStopped adds the start of a program that is down.
func (q *inquiry) startStopped(d *draft, m *scene.Machine) {
	if m.Host == nil {
		return
	}
	for _, name := range scene.ProcessNames(m.Host) {
		if member, beyond := q.damagedEnd(m.Name); name == "etcd" && member != nil && (beyond || member.Out) {
			continue
		}
		if p := m.Host.Processes[name]; !p.Up && !m.Boots(name) {
			q.startOf(d, m.Host, name)
			return
		}
	}
}

// roles tells what a master leads.
func (q *inquiry) roles(d *draft, m *scene.MasterInfo) {
	var leads []string
	if m.Leads {
		leads = append(leads, "raft")
	}
	if m.Scheduler.Active {
		leads = append(leads, "scheduler")
	}
	if m.Controllers.Active {
		leads = append(leads, "controller-manager")
	}
	if len(leads) == 0 {
		d.line("why.master-standby")
		return
	}
	d.line("why.master-leads", "what", strings.Join(leads, ", "))
}
