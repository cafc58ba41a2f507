package scene

import (
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"
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
	// Hinders: it is a fault that lets packets pass, only later, twice or not all of them.
	Hinders bool
}

// problemsMax is how many facts are put into words; the rest is counted.
const problemsMax = 64

// few is how many pods of a kind of trouble are told of by name.
const few = 4

// Problems of the scene in words, the gravest first. What is wrong is World.AnomaliesAt; here are only the words, how grave it is, and what comes next.
func (s *Scene) Problems(w *world.World, c *words.Catalogue) []Problem {
	list, more := w.AnomaliesAt(s.Now, problemsMax)
	t := telling{s: s, w: w, c: c, told: map[string]bool{}, also: map[string]string{}}
	for _, a := range list {
		switch a.Kind {
		case world.HostDown:
			t.told[a.Subject] = true
		case world.NoQuorum:
			t.lost = true
		case world.LinkFault:
			if host, ok := t.cutOff(a); ok {
				t.told[host] = true
			}
		}
	}
	for host := range t.told {
		t.also[host] = t.afterwards(host)
	}
	for _, a := range list {
		t.tell(a)
	}
	if n := s.PodsPending - t.pending; n > 0 && t.pending >= few {
		t.add(Soon, Target{}, c.Say("why.pending-more", "n", n), "")
	}
	if n := s.PodsFailing - t.failing; n > 0 && t.failing >= few {
		t.add(Broken, Target{}, c.Say("why.failing-more", "n", n), "")
	}
	if t.pending < few && t.failing < few && more > 0 {
		t.add(Lasting, Target{}, c.Say("why.more-problems", "n", more), "")
	}
	slices.SortStableFunc(t.out, func(a, b Problem) int { return int(b.Severity - a.Severity) })
	return t.out
}

// telling is the list of problems in the making.
type telling struct {
	s   *Scene
	w   *world.World
	c   *words.Catalogue
	out []Problem
	// told are machines that are off or cut off from all: what the cluster makes of it is told with them (also), once.
	told map[string]bool
	also map[string]string
	// lost: there is no quorum.
	lost, rescued    bool
	pending, failing int
}

func (t *telling) add(sev Severity, on Target, text, next string) {
	t.out = append(t.out, Problem{Severity: sev, Text: text, Next: next, Target: on})
}

// cutOff is the machine that a fault cuts off from all others.
func (t *telling) cutOff(a world.Anomaly) (host string, ok bool) {
	f, found := t.w.Faults.Get(a.Seq)
	if !found || f.Fault.Kind != fault.Cut || f.Fault.A != fault.All && f.Fault.B != fault.All || f.Fault.A == f.Fault.B {
		return "", false
	}
	host, process, _ := strings.Cut(End(f.Fault), "/")
	_, known := t.w.Hosts.Get(host)
	return host, known && process == ""
}

// End is the side of a fault that is not all.
func End(f fault.Fault) string {
	if f.A == fault.All {
		return f.B
	}
	return f.A
}

// afterwards is what the cluster makes of a machine that is off or cut off, and what comes next.
func (t *telling) afterwards(host string) string {
	_, m := t.s.Find(Target{Host: host})
	if m == nil {
		return ""
	}
	also := ""
	switch {
	case m.Node != nil && m.Node.Ready == "Unknown":
		also = t.c.Say("why.also-unknown", "since", t.s.Since(m.Node.Since))
	case m.Node != nil && m.Node.Ready == "False":
		also = t.c.Say("why.also-notready", "since", t.s.Since(m.Node.Since))
	}
	next := t.s.Next(m, t.c)
	if also != "" && next != "" {
		also += "; "
	}
	return also + next
}

// take gives what is to be told with a machine, once.
func (t *telling) take(host string) string {
	text := t.also[host]
	t.also[host] = ""
	return text
}

func (t *telling) machine(host string) Target { return MachineTarget(t.w, host) }

func (t *telling) tell(a world.Anomaly) {
	s, c := t.s, t.c
	since := s.Since(a.Since)
	switch a.Kind {
	case world.HostDown:
		t.add(Broken, t.machine(a.Subject), c.Say("why.machine-down", "host", a.Subject, "by", By(a.By, c), "since", since), t.take(a.Subject))
	case world.HostBoots:
		t.add(Soon, t.machine(a.Subject), c.Say("why.boots", "host", a.Subject, "since", since, "n", a.Count), "")
	case world.NoQuorum:
		need := s.Quorum.Need
		t.add(Grave, Target{}, c.Say("why.no-quorum", "alive", a.Count, "members", s.Quorum.Members, "need", need), t.unlessForever(c.Say("why.no-quorum-next", "need", need)))
	case world.NoLeader:
		if !t.lost {
			t.add(Soon, Target{}, c.Say("why.no-leader"), c.Say("why.no-leader-next"))
		}
	case world.StoreFull:
		t.full(a)
	case world.StateDiverged:
		on := Target{Kind: Process, Host: a.Subject, Process: "etcd"}
		text := c.Say("why.diverged", "member", a.Subject, "index", a.Count)
		if a.Count == 0 {
			text = c.Say("why.corrupt", "member", a.Subject)
		}
		t.add(Broken, on, text, t.unlessLost(c.Say("why.member-anew", "member", a.Subject)))
	case world.DiskDamaged:
		t.add(Broken, Target{Kind: Process, Host: a.Subject, Process: "etcd"}, c.Say("why.disk-damaged", "member", a.Subject, "what", t.damage(a)), t.unlessLost(c.Say("why.member-anew", "member", a.Subject)))
	case world.DiskFails:
		t.disk(a)
	case world.LearnerStuck:
		key := "why.learner-" + a.Detail
		t.add(Soon, Target{Kind: Process, Host: a.Subject, Process: "etcd"}, c.Say(key, "member", a.Subject, "percent", a.Count, "since", since), c.Say("why.learner-next", "least", world.PromotableAt))
	case world.MemberMuted:
		severity, next := Soon, ""
		if t.lost { // this is why it does not come back
			severity, next = Grave, t.unlessForever(c.Say("why.muted-lost"))
		}
		t.add(severity, Target{Kind: Master, Host: a.Subject}, c.Say("why.muted", "host", a.Subject), next)
	case world.ProcessDown:
		t.process(a, since)
	case world.LinkFault:
		t.link(a, since)
	case world.BackendDown:
		m, _ := s.Find(Target{Host: a.Subject})
		if m != nil && m.Up && !m.Stopped() && s.Quorum.Leader != "" { // otherwise it follows from what is told anyway
			t.add(Broken, Target{Kind: Master, Host: a.Subject}, c.Say("why.backend-out", "host", a.Subject, "reason", a.Detail), "")
		}
	case world.Overloaded:
		on, next := Target{Kind: Process, Host: a.Subject, Process: "apiserver"}, c.Say("why.overload-next")
		switch {
		case a.Count > 0 && a.Detail != "":
			t.add(Soon, on, c.Say("why.overload", "host", a.Subject, "n", a.Count, "since", since, "refused", a.Detail), next)
		case a.Count > 0:
			t.add(Soon, on, c.Say("why.overload-waits", "host", a.Subject, "n", a.Count, "since", since), next)
		default:
			t.add(Soon, on, c.Say("why.overload-refuses", "host", a.Subject, "refused", a.Detail), next)
		}
	case world.NoActive, world.ActiveGone:
		t.vacant(a)
	case world.NodeSilent, world.NodeNotReady, world.EvictionDue:
		t.node(a, since)
	default:
		t.work(a)
	}
}

func (t *telling) process(a world.Anomaly, since time.Duration) {
	host, process, _ := strings.Cut(a.Subject, "/")
	key := "why.process-down"
	if a.By == event.On(process, host) { // it ended by itself
		key = "why.process-ended"
	}
	t.add(Broken, Target{Kind: Process, Host: host, Process: process}, t.c.Say(key, "process", process, "host", host, "reason", a.Detail, "by", By(a.By, t.c), "since", since), "")
}

// full tells that the store takes no writes, and what mends it.
func (t *telling) full(a world.Anomaly) {
	text := t.c.Say("why.store-full", "member", a.Subject)
	if db := Database(t.w, t.c); db != "" {
		text = t.c.Say("why.store-full-sizes", "db", db)
	}
	t.add(Grave, Target{Kind: Process, Host: a.Subject, Process: "etcd"}, text, strings.Join(t.w.Mend(a), ", "))
}

// damage is what is wrong with what a member has written.
func (t *telling) damage(a world.Anomaly) string {
	if m, ok := t.w.Members.Get(a.Subject); ok && m.Disk.Damaged() {
		what := DiskWord(t.c, m.Disk)
		if m.Disk.Text != "" {
			what += ": " + m.Disk.Text
		}
		return what
	}
	return a.Detail
}

// unlessLost gives the advice to replace a member only while the others can agree to it.
func (t *telling) unlessLost(next string) string {
	if t.lost {
		return t.unlessForever(t.c.Say("why.anew-later"))
	}
	return next
}

// unlessForever gives another advice where no majority can come back: the way out, once.
func (t *telling) unlessForever(next string) string {
	r, lost := t.w.Rescue()
	switch {
	case !lost:
		return next
	case t.rescued:
		return ""
	}
	t.rescued = true
	return RescueOrders(t.c, r)
}

// disk tells of a disk that fails its member.
func (t *telling) disk(a world.Anomaly) {
	m, ok := t.w.Members.Get(a.Subject)
	if !ok {
		return
	}
	severity, next := Soon, t.c.Say("why.disk-mend", "member", a.Subject)
	if !t.w.MemberUp(m) {
		severity = Broken
	}
	key := "why.disk-fails"
	switch a.Detail {
	case "full", "readonly":
		if key = "why.disk-stops"; severity == Broken {
			key = "why.disk-stopped"
		}
	}
	t.add(severity, Target{Kind: Process, Host: a.Subject, Process: "etcd"}, t.c.Say(key, "member", a.Subject, "state", DiskWord(t.c, m.Disk)), next)
}

func (t *telling) link(a world.Anomaly, since time.Duration) {
	host, all := t.cutOff(a)
	if !all {
		next := ""
		f, _ := t.w.Faults.Get(a.Seq)
		if f.Fault.Kind == fault.Clog {
			next = t.c.Say("why.fault-clog")
		}
		t.add(Lasting, Target{}, t.c.Say("why.fault", "fault", a.Subject, "by", By(a.By, t.c), "since", since), next)
		t.out[len(t.out)-1].Hinders = f.Seq != 0 && f.Fault.Kind != fault.Cut
		return
	}
	if h, ok := t.w.Hosts.Get(host); ok && !h.Up { // told already: it is off
		return
	}
	t.add(Broken, t.machine(host), t.c.Say("why.cut", "host", host, "by", By(a.By, t.c), "since", since), t.take(host))
}

// vacant tells of components that nobody leads.
func (t *telling) vacant(a world.Anomaly) {
	text := "why.no-scheduler"
	if a.Subject == "kube-controller-manager" {
		text = "why.no-controllers"
	}
	if a.Kind == world.NoActive {
		t.add(Broken, Target{}, t.c.Say(text), t.c.Say("why.vacant-next"))
		return
	}
	t.add(Soon, t.machine(a.Detail), t.c.Say(text), t.c.Say("why.lease-next", "host", a.Detail, "left", max(a.Until.Sub(t.s.Now), 0)))
}

func (t *telling) node(a world.Anomaly, since time.Duration) {
	if t.told[a.Subject] {
		return
	}
	_, m := t.s.Find(Target{Host: a.Subject})
	next := ""
	if m != nil {
		next = t.s.Next(m, t.c)
	}
	on := t.machine(a.Subject)
	switch a.Kind {
	case world.NodeSilent:
		t.add(Soon, on, t.c.Say("why.node-silent", "node", a.Subject, "since", since), next)
	case world.NodeNotReady:
		key := "why.node-notready"
		if n, ok := t.w.Nodes.Get(a.Subject); ok && n.Ready == "Unknown" {
			key = "why.node-unknown"
		}
		t.add(Broken, on, t.c.Say(key, "node", a.Subject, "since", since), next)
	case world.EvictionDue:
		if n, ok := t.w.Nodes.Get(a.Subject); ok && n.Ready == "True" { // otherwise told as what comes next
			t.add(Soon, on, t.c.Say("why.node-evicts", "node", a.Subject), t.c.Say("why.evict-in", "in", max(a.Until.Sub(t.s.Now), 0), "n", a.Count))
		}
	}
}

// work tells of rollouts and pods.
func (t *telling) work(a world.Anomaly) {
	c := t.c
	namespace, name, _ := strings.Cut(a.Subject, "/")
	if a.Kind == world.RolloutStuck {
		on := Target{Kind: target.Object, Type: kinds.Deployments.String(), Namespace: namespace, Name: name}
		t.add(Broken, on, c.Say("why.rollout-is-stuck", "name", name, "reason", a.Detail, "since", t.s.Since(a.Since)), "")
		return
	}
	p, ok := t.w.Pods.Get(a.Subject)
	if !ok {
		return
	}
	switch a.Kind {
	case world.CrashLoop, world.PodFailing:
		if t.failing++; t.failing > few {
			t.failing = few
			return
		}
		key, next := "why.failing", ""
		if p.Restarts == 0 { // it never ran, so there is nothing to count
			key = "why.failed"
		}
		if a.Until.After(t.s.Now) {
			next = c.Say("why.again-started", "in", a.Until.Sub(t.s.Now))
		}
		t.add(Broken, PodTarget(p), c.Say(key, "pod", name, "status", p.Status, "n", p.Restarts), next)
	case world.Unschedulable, world.Untried:
		if t.pending++; t.pending > few {
			t.pending = few
			return
		}
		text, next := t.s.PendingWhy(t.w, p, c)
		t.add(Soon, PodTarget(p), text, next)
	}
}

// Boots reports whether a process is not there yet because its machine was switched on a moment ago.
func (m *Machine) Boots(process string) bool {
	p, ok := m.Host.Processes[process]
	return ok && m.Host.Boots(p)
}

// Muted reports whether the member runs but has no vote, because its disk was wiped.
func (m *MasterInfo) Muted() bool {
	return m.Up && m.Member != nil && m.Member.Muted()
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

// MachineTarget names a machine.
func MachineTarget(w *world.World, host string) Target {
	if h, ok := w.Hosts.Get(host); ok && h.Master {
		return Target{Kind: Master, Host: host}
	}
	return Target{Kind: Worker, Host: host}
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
