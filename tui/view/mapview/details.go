package mapview

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// nameOf is the selection in a few words.
func (v View) nameOf(f view.Frame) string {
	t := v.selected
	switch t.Kind {
	case scene.Pod:
		return "pod " + sanitize.Text(t.Name)
	case scene.Process:
		return sanitize.Text(t.Process) + " " + f.Words.Say("map.on", "host", t.Host)
	case target.Client:
		for _, c := range append(clients(f), programs(f, 1)...) {
			if c.name == t.Name && motion.ProgramOf(c.name) == "" {
				return c.label
			}
		}
		return sanitize.Text(motion.Label(t.Name))
	case scene.Balancer:
		return f.Words.Say("map.balancer")
	case target.Zone:
		if t.Name == "" {
			return f.Words.Say("map.zone-all")
		}
		return sanitize.Text(t.Name)
	}
	return sanitize.Text(t.Host)
}

// details of the selection: what it is, why, and what comes next.
func (v View) details(f view.Frame) []widget.Line {
	t := v.selected
	master, worker := f.Scene.Find(t)
	switch t.Kind {
	case scene.Master:
		if master != nil {
			return masterDetails(f, master)
		}
	case scene.Worker:
		if worker != nil {
			return workerDetails(f, worker)
		}
	case scene.Process:
		return processDetails(f, t)
	case scene.Pod:
		return podDetails(f, t)
	case scene.Balancer:
		return balancerDetails(f)
	case target.Client:
		return clientDetails(f, t)
	case target.Zone:
		return v.zoneDetails(f, t)
	}
	return nil
}

func balancerDetails(f view.Frame) []widget.Line {
	var out []widget.Line
	total := totalRate(f)
	for _, b := range f.Scene.Backends {
		if b.Healthy {
			out = append(out, text(f.Words.Say("about.balancer-in", "host", b.Host, "rate", rate(b.PerSec), "total", b.Total, "watches", b.Watches), theme.Text))
		} else {
			out = append(out, text(f.Words.Say("about.balancer-out", "host", b.Host, "since", f.Scene.Since(b.Since), "reason", b.Reason), theme.Failing))
		}
	}
	return append(out, text(f.Words.Say("about.balancer", "rate", rate(total)), theme.Dim))
}

func clientDetails(f view.Frame, t scene.Target) []widget.Line {
	say := f.Words.Say
	c := client{name: t.Name}
	for _, one := range append(clients(f), programs(f, 1)...) {
		if one.name == t.Name {
			c = one
		}
	}
	total := 0
	for _, l := range c.asks() {
		total += f.Motion.Total(l.From)
	}
	out := []widget.Line{text(say("about.client", "rate", rate(c.rate(f)), "total", total), theme.Text)}
	if t.Name == motion.You {
		return append(out, text(say("about.client-you"), theme.Dim))
	}
	if t.Name == motion.Others && f.World.Programs.Len() > 0 {
		n := 0
		f.World.Programs.Scan(func(_ string, p *world.Program) bool { n += p.Present; return true })
		return append(out, text(say("about.programs", "n", f.World.Programs.Len(), "clients", n), theme.Text), text(say("about.programs-enter"), theme.Dim))
	}
	if p, ok := f.World.Programs.Get(motion.ProgramOf(t.Name)); ok {
		return append(out, programDetails(f, motion.ProgramOf(t.Name), p)...)
	}
	if motion.ProgramOf(t.Name) != "" {
		return append(out, text(say("detail.client-gone"), theme.Dim))
	}
	return append(out, text(say("about.client-listed"), theme.Dim))
}

// clientsMost is how many clients of a program are looked at for one frame.
const clientsMost = 2000

// programDetails say who the clients of a program are, which API servers they talk to, what they watch and how far behind they are.
func programDetails(f view.Frame, key string, p *world.Program) []widget.Line {
	say := f.Words.Say
	user, door := p.User, p.Door
	if user == "" {
		user = say("story.client-nobody")
	}
	if door == "balancer" {
		door = say("map.balancer")
	}
	out := []widget.Line{text(say("about.program", "n", p.Present, "user", user, "door", door), theme.Text)}
	agent := ""
	servers, watched := map[string]int{}, map[string]int{}
	watches, looked := 0, 0
	f.World.Clients.Reverse(func(_ event.Seq, c *world.Client) bool { // the newest first
		if looked++; looked > clientsMost {
			return false
		}
		if c.Program() != key {
			return true
		}
		if agent == "" {
			agent = c.UserAgent
		}
		if c.Server != "" {
			servers[c.Server]++
		}
		f.World.WatchesOf(c.Client, func(o *world.Watch) bool {
			watches++
			resource, _, _ := strings.Cut(o.Resource, ".")
			watched[resource]++
			return true
		})
		return true
	})
	if agent != "" {
		out = append(out, text(agent, theme.Dim))
	}
	if len(servers) > 0 {
		out = append(out, text(say("about.program-servers", "list", counted(servers)), theme.Text))
	}
	if watches > 0 {
		out = append(out, text(say("about.program-watches", "n", watches, "list", counted(watched)), theme.Text))
	}
	if p.Behind > 0 {
		out = append(out, text(say("about.program-behind", "n", p.Behind), theme.Waiting))
	}
	if p.Failed > 0 {
		out = append(out, text(say("about.program-failed", "n", p.Failed, "asked", p.Asked), theme.Waiting))
	}
	return append(out, text(say("about.program-enter"), theme.Dim))
}

// counted lists names in order, with how often each is there.
func counted(n map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if n[name] > 1 {
			name += " " + string(grid.Times) + strconv.Itoa(n[name])
		}
		parts = append(parts, sanitize.Text(name))
	}
	return strings.Join(parts, ", ")
}

// zoneDetails sum up a part of the workers.
func (v View) zoneDetails(f view.Frame, t scene.Target) []widget.Line {
	all := append([]zoom{v.zoom}, v.visible(f)...)
	for _, z := range all {
		if zoneTarget(f, z) != t {
			continue
		}
		members := z.members(f.Scene)
		s := sumOf(f, members)
		out := []widget.Line{text(f.Words.Say("about.zone", "n", len(members), "pods", s.pods, "cpu", cores(s.cpu), "of", cores(s.cpuAll), "mem", gib(s.mem), "memall", gib(s.memAll)), theme.Text)}
		if s.wrong > 0 {
			out = append(out, text(f.Words.Say("about.zone-wrong", "n", s.wrong), theme.Failing))
		}
		return append(out, text(f.Words.Say("about.zone-enter"), theme.Dim))
	}
	return nil
}

func text(s string, style grid.Style) widget.Line { return widget.Line{{Text: s, Style: style}} }

func masterDetails(f view.Frame, m *scene.MasterInfo) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if !m.Up {
		out = append(out, text(say("why.machine-down", "host", m.Name, "by", scene.By(m.By, f.Words), "since", f.Scene.Since(m.Since)), theme.Failing))
	} else {
		out = append(out, text(say("about.up", "since", f.Scene.Since(m.Since)), theme.Text))
	}
	if e := m.Member; e != nil {
		key := "about.member"
		if !m.Up || e.Role == "down" {
			key = "about.member-down"
		}
		out = append(out, text(say(key, "role", e.Role, "term", e.Term, "last", e.LastIndex, "commit", e.CommitIndex, "applied", e.Applied), theme.Text))
		if e.Err != "" {
			out = append(out, text(say("about.member-error", "error", e.Err), theme.Failing))
		}
	}
	if b := m.Backend; b != nil {
		key := "about.backend"
		if !b.Healthy {
			key = "about.backend-out"
		}
		out = append(out, text(say(key, "rate", rate(b.PerSec), "total", b.Total, "watches", b.Watches, "reason", b.Reason), theme.Text))
		out = append(out, overloadLines(f, m)...)
	}
	return append(out, faultLines(f, &m.Machine)...)
}

// overloadLines tell of requests that wait for seats and of those that were refused for want of one.
func overloadLines(f view.Frame, m *scene.MasterInfo) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if m.Queued > 0 {
		out = append(out, text(say("about.queued", "n", m.Queued, "levels", levelsOf(f, m.Name), "since", f.Scene.Since(m.QueuedSince)), theme.Waiting))
	}
	if b := m.Backend; b.TooMany > 0 {
		out = append(out, text(say("about.too-many", "n", b.TooMany, "rate", rate(b.TooManyPerSec)), theme.Waiting))
	}
	return out
}

// levelsOf lists the priority levels in which requests wait on an API server, with how many.
func levelsOf(f view.Frame, host string) string {
	q, ok := f.World.Queues.Get(string(event.On("apiserver", host)) + " requests")
	if !ok {
		return ""
	}
	return counted(q.Parts)
}

func faultLines(f view.Frame, m *scene.Machine) []widget.Line {
	var out []widget.Line
	for i, fl := range m.Faults {
		if i == 4 {
			out = append(out, text(f.Words.Say("about.more-faults", "n", len(m.Faults)-i), theme.Dim))
			break
		}
		out = append(out, text(f.Words.Say("why.fault", "fault", fl.Fault.String(), "by", scene.By(fl.By, f.Words), "since", f.Scene.Since(fl.At)), theme.Fault))
	}
	return out
}

func workerDetails(f view.Frame, w *scene.WorkerInfo) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if !w.Up {
		out = append(out, text(say("why.machine-down", "host", w.Name, "by", scene.By(w.By, f.Words), "since", f.Scene.Since(w.Since)), theme.Failing))
	}
	if n := w.Node; n != nil {
		out = append(out, text(say("about.node", "ready", n.Ready, "reason", n.Reason, "since", f.Scene.Since(n.Since), "lease", max(w.LeaseAge, 0)), theme.Text))
		for _, t := range n.Object.Spec.Taints {
			out = append(out, text(say("about.taint", "taint", t.Key+":"+string(t.Effect)), theme.Waiting))
		}
	}
	out = append(out, faultLines(f, &w.Machine)...)
	if w.Node != nil {
		zone := ""
		if w.Zone != "" {
			zone = "  " + say("about.in-zone", "zone", w.Zone)
		}
		out = append(out, text(say("about.asked", "n", w.Pods, "cpu", cores(w.CPU), "of", cores(w.CPUAll), "mem", gib(w.Mem), "memall", gib(w.MemAll))+zone, theme.Dim))
	}
	if w.Compared && w.Believed+w.True > 0 {
		style := theme.Dim
		if w.Differ {
			style = theme.Unknown
		}
		out = append(out, text(say("about.belief", "believed", w.Believed, "running", w.True), style))
	}
	if next := f.Scene.Next(w, f.Words); next != "" {
		out = append(out, text(string(grid.RightTo)+" "+next, theme.Waiting))
	}
	return out
}

func processDetails(f view.Frame, t scene.Target) []widget.Line {
	h, ok := f.World.Hosts.Get(t.Host)
	if !ok {
		return nil
	}
	p, ok := h.Processes[t.Process]
	if !ok {
		return nil
	}
	say := f.Words.Say
	out := []widget.Line{}
	if p.Up {
		out = append(out, text(say("about.process", "since", f.Scene.Since(p.Since), "n", p.Restarts), theme.Text))
	} else {
		out = append(out, text(say("why.process-down", "process", t.Process, "host", t.Host, "reason", p.Reason, "by", scene.By(p.By, f.Words), "since", f.Scene.Since(p.Since)), theme.Failing))
	}
	out = append(out, figureLines(f, t)...)
	if key := "about." + t.Process; f.Words.Has(key) {
		out = append(out, text(say(key), theme.Dim))
	}
	return out
}

// figureLines are the figures that matter for a program of the control plane.
func figureLines(f view.Frame, t scene.Target) []widget.Line {
	say := f.Words.Say
	m, _ := f.Scene.Find(t)
	if m == nil {
		return nil
	}
	switch t.Process {
	case "etcd":
		if e := m.Member; e != nil && m.Up && e.Role != "down" {
			return []widget.Line{text(say("about.member", "role", e.Role, "term", e.Term, "last", e.LastIndex, "commit", e.CommitIndex, "applied", e.Applied), theme.Text)}
		}
	case "apiserver":
		if b := m.Backend; b != nil && b.Healthy {
			return append([]widget.Line{text(say("about.backend", "rate", rate(b.PerSec), "total", b.Total, "watches", b.Watches), theme.Text)}, overloadLines(f, m)...)
		} else if b != nil {
			return []widget.Line{text(say("about.backend-out", "reason", b.Reason), theme.Waiting)}
		}
	case "scheduler":
		return roleLines(f, &m.Scheduler)
	case "controller-manager":
		return roleLines(f, &m.Controllers)
	}
	return nil
}

func roleLines(f view.Frame, r *scene.Role) []widget.Line {
	say := f.Words.Say
	switch {
	case !r.Up:
		return nil
	case !r.Active:
		return []widget.Line{text(say("about.standby", "age", r.Age, "of", words.Span(r.Duration)), theme.Text)}
	case r.Parted:
		return []widget.Line{text(say("about.queues", "active", r.Waiting, "work", r.InWork, "backoff", r.Backoff, "unschedulable", r.Unschedulable), theme.Text)}
	case r.Queued:
		return []widget.Line{text(say("about.queue", "waiting", r.Waiting, "work", r.InWork, "delayed", r.Delayed), theme.Text)}
	}
	return nil
}

func podDetails(f view.Frame, t scene.Target) []widget.Line {
	say := f.Words.Say
	p, ok := f.World.Pods.Get(t.Namespace + "/" + t.Name)
	if !ok {
		return []widget.Line{text(say("about.gone"), theme.Dim)}
	}
	out := []widget.Line{text(say("about.pod", "status", p.Status, "ready", p.Ready, "total", p.Total, "since", f.Scene.Since(p.Since), "n", p.Restarts), theme.Text)}
	if t.Host != "" {
		out = append(out, text(say("about.pod-node", "node", t.Host), theme.Text))
	} else {
		why, next := f.Scene.PendingWhy(f.World, p, f.Words)
		out = append(out, text(why, theme.Waiting))
		if next != "" {
			out = append(out, text(string(grid.RightTo)+" "+next, theme.Dim))
		}
	}
	if e, ok := f.World.Evictions.Get(t.Namespace + "/" + t.Name); ok {
		out = append(out, text(string(grid.RightTo)+" "+say("why.evict-in", "in", e.Due.Sub(f.Now), "n", 1), theme.Waiting))
	}
	prefix := t.Host + " " + p.RunsAs() + " "
	for _, c := range p.Object.Spec.Containers {
		r, ok := f.World.Running.Get(prefix + c.Name)
		state := say("about.no-container")
		if ok {
			state = string(r.State) + " " + words.Span(f.Scene.Since(r.Since))
			if r.Until.After(f.Now) {
				state += ", " + say("about.until", "in", r.Until.Sub(f.Now))
			}
		}
		out = append(out, text(say("about.container", "name", c.Name, "image", c.Image, "state", state), theme.Dim))
	}
	return out
}
