package scene

import (
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/words"
)

// Severity of a problem.
type Severity int

// The severities.
const (
	Lasting Severity = iota // made by the user and without effect yet
	Soon                    // something will happen
	Broken
	Grave // the whole cluster is touched
)

// Problem is one thing that is not as it should be, in words: what, by whom, since when, what comes next.
type Problem struct {
	Severity Severity
	Text     string
	Next     string // what will happen, and when; may be empty
	Target   Target
}

// Problems of the scene, the gravest first.
func (s *Scene) Problems(w *world.World, c *words.Catalogue) []Problem {
	var out []Problem
	add := func(sev Severity, t Target, text, next string) { out = append(out, Problem{sev, text, next, t}) }
	if q := s.Quorum; q.Raft && q.Alive < q.Need {
		add(Grave, Target{}, c.Say("why.no-quorum", "alive", q.Alive, "members", q.Members, "need", q.Need), c.Say("why.no-quorum-next", "need", q.Need))
	} else if q.Raft && q.Leader == "" {
		add(Soon, Target{}, c.Say("why.no-leader"), c.Say("why.no-leader-next"))
	}
	s.vacant(w, c, add)
	for i := range s.Masters {
		m := &s.Masters[i]
		t := Target{Kind: Master, Host: m.Name}
		s.machineProblems(&m.Machine, t, c, add)
		if m.Muted() {
			severity, next := Soon, ""
			if s.Quorum.Alive < s.Quorum.Need { // this is why it does not come back
				severity, next = Grave, c.Say("why.muted-lost")
			}
			add(severity, t, c.Say("why.muted", "host", m.Name), next)
		}
		if b := m.Backend; b != nil && !b.Healthy && m.Up && !m.Stopped() && s.Quorum.Leader != "" {
			add(Broken, t, c.Say("why.backend-out", "host", m.Name, "reason", b.Reason), "")
		}
	}
	for i := range s.Workers {
		m := &s.Workers[i]
		t := Target{Kind: Worker, Host: m.Name}
		next := s.Next(m, c)
		if !m.Up || m.IsCut() { // one thing, told once: what was done, and what the cluster makes of it
			also := ""
			switch {
			case m.Node != nil && m.Node.Ready == "Unknown":
				also = c.Say("why.also-unknown", "since", s.Since(m.Node.Since))
			case m.Node != nil && m.Node.Ready == "False":
				also = c.Say("why.also-notready", "since", s.Since(m.Node.Since))
			}
			if also != "" && next != "" {
				also += "; "
			}
			also += next
			s.machineProblems(&m.Machine, t, c, func(sev Severity, t Target, text, _ string) { add(sev, t, text, also); also = "" })
			continue
		}
		s.machineProblems(&m.Machine, t, c, add)
		switch {
		case m.Node != nil && m.Node.Ready == "Unknown":
			add(Broken, t, c.Say("why.node-unknown", "node", m.Name, "since", s.Now.Sub(m.Node.Since)), next)
		case m.Node != nil && m.Node.Ready == "False":
			add(Broken, t, c.Say("why.node-notready", "node", m.Name, "since", s.Now.Sub(m.Node.Since)), next)
		case m.Silent:
			add(Soon, t, c.Say("why.node-silent", "node", m.Name, "since", m.LeaseAge), next)
		}
	}
	for _, f := range s.Faults {
		if f.Fault.Kind != fault.Cut || f.Fault.A != fault.All && f.Fault.B != fault.All { // those cut off from all are told with their machine
			add(Lasting, Target{}, c.Say("why.fault", "fault", f.Fault.String(), "by", By(f.By, c), "since", s.Now.Sub(f.At)), "")
		}
	}
	s.podProblems(w, c, add)
	slices.SortStableFunc(out, func(a, b Problem) int { return int(b.Severity - a.Severity) })
	return out
}

// vacant tells of components that nobody leads.
func (s *Scene) vacant(w *world.World, c *words.Catalogue, add func(Severity, Target, string, string)) {
	for _, lease := range []struct{ name, host, text string }{
		{"kube-system/kube-scheduler", s.ActiveScheduler, "why.no-scheduler"},
		{"kube-system/kube-controller-manager", s.ActiveControllers, "why.no-controllers"},
	} {
		l, ok := w.Leases.Get(lease.name)
		if !ok {
			continue
		}
		if lease.host == "" {
			add(Broken, Target{}, c.Say(lease.text), c.Say("why.vacant-next"))
			continue
		}
		m, _ := s.Find(Target{Host: lease.host})
		if m == nil {
			continue
		}
		process := strings.TrimPrefix(lease.name, "kube-system/kube-")
		if p, has := m.Host.Processes[process]; !m.Up || (has && !p.Up) {
			left := max(l.Duration-s.Now.Sub(l.Renewed), 0)
			add(Soon, Target{Kind: Master, Host: m.Name}, c.Say(lease.text), c.Say("why.lease-next", "host", lease.host, "left", left))
		}
	}
}

func (s *Scene) machineProblems(m *Machine, t Target, c *words.Catalogue, add func(Severity, Target, string, string)) {
	if !m.Up {
		add(Broken, t, c.Say("why.machine-down", "host", m.Name, "by", By(m.By, c), "since", s.Now.Sub(m.Since)), "")
		return
	}
	if m.IsCut() {
		f, _ := m.Worst()
		add(Broken, t, c.Say("why.cut", "host", m.Name, "by", By(f.By, c), "since", s.Now.Sub(f.At)), "")
	}
	if !m.Stopped() {
		return
	}
	boots := 0
	for _, name := range ProcessNames(m.Host) {
		p := m.Host.Processes[name]
		switch {
		case p.Up:
		case m.Boots(name):
			boots++
		default:
			key := "why.process-down"
			if p.By == event.On(name, m.Name) { // it ended by itself
				key = "why.process-ended"
			}
			next := ""
			if name == "etcd" && strings.Contains(p.Reason, "disk damaged") && s.Quorum.Alive >= s.Quorum.Need {
				next = c.Say("why.disk-next", "host", m.Name)
			}
			add(Broken, Target{Kind: Process, Host: m.Name, Process: name}, c.Say(key, "process", name, "host", m.Name, "reason", p.Reason, "by", By(p.By, c), "since", s.Now.Sub(p.Since)), next)
		}
	}
	if boots > 0 {
		add(Soon, t, c.Say("why.boots", "host", m.Name, "since", s.Now.Sub(m.Since), "n", boots), "")
	}
}

// Boots reports whether a process is not there yet because its machine was switched on a moment ago.
func (m *Machine) Boots(process string) bool {
	p, ok := m.Host.Processes[process]
	return ok && m.Up && !p.Up && p.Since.Before(m.Since)
}

// Muted reports whether the member runs but has no vote, because its disk was wiped.
func (m *MasterInfo) Muted() bool {
	return m.Up && m.Member != nil && m.Member.Role != "down" && m.Member.Err != ""
}

// Next says what will happen to a worker that has a problem, and when.
func (s *Scene) Next(m *WorkerInfo, c *words.Catalogue) string {
	switch {
	case m.Silent && s.ActiveControllers == "":
		return c.Say("why.nobody-judges")
	case m.Silent && m.JudgedIn < time.Second:
		return c.Say("why.judged-now")
	case m.Silent:
		return c.Say("why.judged-in", "in", m.JudgedIn)
	case !m.EvictAt.IsZero() && s.ActiveControllers == "":
		return c.Say("why.nobody-evicts")
	case !m.EvictAt.IsZero():
		return c.Say("why.evict-in", "in", m.EvictAt.Sub(s.Now), "n", m.Evictions)
	case m.Node != nil && m.Node.Ready != "True" && s.ActiveControllers == "":
		return c.Say("why.nobody-evicts")
	}
	return ""
}

func (s *Scene) podProblems(w *world.World, c *words.Catalogue, add func(Severity, Target, string, string)) {
	const few = 4
	for i, p := range s.Pending {
		if i == few {
			add(Soon, Target{}, c.Say("why.pending-more", "n", s.PodsPending-few), "")
			break
		}
		text, next := s.PendingWhy(w, p, c)
		add(Soon, PodTarget(p), text, next)
	}
	for i, p := range s.Failing {
		if i == few {
			add(Broken, Target{}, c.Say("why.failing-more", "n", s.PodsFailing-few), "")
			break
		}
		key := "why.failing"
		if p.Restarts == 0 { // it never ran, so there is nothing to count
			key = "why.failed"
		}
		add(Broken, PodTarget(p), c.Say(key, "pod", p.Object.Name, "status", p.Status, "n", p.Restarts), "")
	}
}

// PendingWhy says why a pod has no node, and when it is tried again.
func (s *Scene) PendingWhy(w *world.World, p *world.Pod, c *words.Catalogue) (text, next string) {
	name := p.Object.Name
	a, ok := w.Attempts.Get(p.Object.Namespace + "/" + name)
	if !ok || a.Message == "" {
		if s.ActiveScheduler == "" {
			return c.Say("why.pending", "pod", name), c.Say("why.no-scheduler")
		}
		return c.Say("why.pending", "pod", name), c.Say("why.pending-queue")
	}
	switch {
	case a.Queue == "backoff" && a.Until.After(s.Now):
		next = c.Say("why.again-in", "in", a.Until.Sub(s.Now))
	case a.Queue == "unschedulable":
		next = c.Say("why.again-event")
	}
	return c.Say("why.pending-because", "pod", name, "message", a.Message), next
}

// PodTarget names a pod.
func PodTarget(p *world.Pod) Target {
	return Target{Kind: Pod, Host: p.Object.Spec.NodeName, Namespace: p.Object.Namespace, Name: p.Object.Name}
}

// By names who did something: "you", or a part of the cluster.
func By(a event.Actor, c *words.Catalogue) string {
	switch a {
	case event.You:
		return c.Say("why.by-you")
	case "":
		return c.Say("why.by-nobody")
	}
	return string(a)
}

// order of processes on a card; others follow by name.
var order = []string{"apiserver", "etcd", "scheduler", "controller-manager", "cloud-controller-manager", "kubelet", "kube-proxy"}

// ProcessNames lists the processes of a machine in the order of its card.
func ProcessNames(h *world.Host) []string {
	if h == nil {
		return nil
	}
	out := make([]string, 0, len(h.Processes))
	for _, n := range order {
		if _, ok := h.Processes[n]; ok {
			out = append(out, n)
		}
	}
	if len(out) == len(h.Processes) {
		return out
	}
	known := len(out)
	for n := range h.Processes {
		if !slices.Contains(out[:known], n) {
			out = append(out, n)
		}
	}
	slices.Sort(out[known:])
	return out
}

// Since is a span from an instant, or zero where there is none.
func (s *Scene) Since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(s.Now.Sub(t), 0)
}
