package world

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// AnomalyKind says what is wrong. The order is that of weight: what explains most comes first.
type AnomalyKind int

// The kinds, with what Subject, Detail, Until and Count are for each.
const (
	// HostDown: Subject is the machine.
	HostDown AnomalyKind = iota
	// HostBoots: the machine Subject was switched on a moment ago; Count is how many of its programs do not run yet.
	HostBoots
	// NoQuorum: too few members can talk to each other for writes. Count is how many can.
	NoQuorum
	// NoLeader: Subject is the raft leader that was lost (empty at the start).
	NoLeader
	// StoreFull: the store takes no writes but deletions, because the database of Subject has grown over the quota; Count is how many members say so.
	StoreFull
	// StateDiverged: the state of the member Subject differs from that of the others, and it was stopped; Count is the index of the log where it was found.
	StateDiverged
	// DiskDamaged: the member Subject does not start: what is on its disk is damaged (Detail).
	DiskDamaged
	// DiskFails: the disk of the member Subject is Detail: full, readonly, slow, flaky.
	DiskFails
	// LearnerStuck: the learner Subject cannot catch up; Detail is why: down, cut, slow; Count how much of the leader's log it has, per cent.
	LearnerStuck
	// MemberMuted: the raft member Subject runs but has no vote, because its disk was wiped; Detail is what it says.
	MemberMuted
	// ProcessDown: Subject is "host/process", Detail the reason of its end. Its machine is on.
	ProcessDown
	// LinkFault: Subject is the fault in words ("cut worker-3 all").
	LinkFault
	// BackendDown: the balancer sends nothing to the API server on Subject; Detail says why.
	BackendDown
	// Overloaded: all seats of the API server on Subject are taken: Count requests wait for one, since Since; Detail is how many of the last second it refused with 429, if any.
	Overloaded
	// NoActive: nobody renews the lease of a component (Subject "kube-scheduler"); Detail is its last holder, Until when it runs or ran out.
	NoActive
	// ActiveGone: the program that holds the lease Subject has ended (and may have started anew), and the lease has not run out; Detail is its machine, Until when it
	// does.
	ActiveGone
	// NodeSilent: the node Subject is Ready, but renewed its lease last at Since, longer ago than usual; Until is when it can be judged Unknown.
	NodeSilent
	// NodeNotReady: Subject is the node, Detail the condition's reason.
	NodeNotReady
	// EvictionDue: pods of the node Subject will be deleted; Count is how many, Until when the first is due.
	EvictionDue
	// RolloutStuck: Subject is the Deployment "namespace/name", Detail the condition's reason.
	RolloutStuck
	// CrashLoop: Subject is the pod "namespace/name", Detail its Status, Count its restarts, Until the end of the back-off where the node tells.
	CrashLoop
	// PodFailing: Subject is the pod, Detail its Status.
	PodFailing
	// Unschedulable: Subject is the pod, Detail the scheduler's sentence, Until when it is tried again (zero: when something changes), Count the attempts.
	Unschedulable
	// Untried: Subject is a pod without a node that no scheduler has tried yet.
	Untried
)

var anomalyNames = [...]string{"host down", "host boots", "no quorum", "no leader", "store full", "state diverged", "disk damaged", "disk fails", "learner stuck", "member muted", "process down", "link fault", "backend down", "overloaded", "no active",
	"active gone", "node silent", "node not ready", "eviction due", "rollout stuck", "crash loop", "pod failing", "unschedulable", "untried"}

// What counts as silent, and when silence is judged.
const (
	// SilentAfter is the age of a node's lease that is worth a word: one renewal (10 s) missed, and a half.
	SilentAfter = 15 * time.Second
	// NodeGrace is how long a node may be silent before it is judged; 50 s. Source: kube-controller-manager --node-monitor-grace-period.
	NodeGrace = 50 * time.Second
	// LearnerGrace is how long a learner may take to catch up before that is worth a word.
	LearnerGrace = time.Minute
)

func (k AnomalyKind) String() string { return anomalyNames[k] }

// Anomaly is one thing that is not as it should be, as raw facts: views only put them into words.
type Anomaly struct {
	Kind    AnomalyKind
	Subject string
	Detail  string
	// Since is when it began; By who did it (You), empty when nobody did or nobody knows.
	Since time.Time
	By    event.Actor
	// Until is when it will change by plan; zero when there is no plan.
	Until time.Time
	Count int
	// Seq is the record that tells of it; 0 when it is derived.
	Seq event.Seq
}

// Anomalies lists what is not as it should be at the instant of the last record, see AnomaliesAt.
func (w *World) Anomalies(max int) (list []Anomaly, more int) { return w.AnomaliesAt(w.At, max) }

// AnomaliesAt lists what is not as it should be at an instant, which lies at or after the last record: leases run out without one. Weightiest first, at most max
// entries; more counts those left out. Its cost follows what is wrong, max and the number of machines, never that of pods.
func (w *World) AnomaliesAt(now time.Time, max int) (list []Anomaly, more int) {
	l := anomalyList{max: max, now: now}
	w.hostAnomalies(&l)
	w.raftAnomalies(&l)
	w.linkAnomalies(&l)
	w.activeAnomalies(&l)
	w.nodeAnomalies(&l)
	w.rolloutAnomalies(&l)
	w.podAnomalies(&l)
	slices.SortStableFunc(l.found, func(a, b Anomaly) int { return cmp.Compare(a.Kind, b.Kind) })
	if len(l.found) > max {
		l.more += len(l.found) - max
		l.found = l.found[:max]
	}
	return l.found, l.more
}

type anomalyList struct {
	now   time.Time
	found []Anomaly
	max   int
	more  int
}

func (l *anomalyList) add(a Anomaly) { l.found = append(l.found, a) }

// full says that further entries of the present kind, of which n are left, need not be looked at.
func (l *anomalyList) full(n int) bool {
	if len(l.found) < l.max {
		return false
	}
	l.more += n
	return true
}

func (w *World) hostAnomalies(l *anomalyList) {
	w.indexes.troubled.Scan(func(name string) bool {
		h, _ := w.Hosts.Get(name)
		if !h.Up {
			l.add(Anomaly{Kind: HostDown, Subject: name, Since: h.Since, By: h.By, Seq: h.Seq})
			return true
		}
		boots := 0
		for _, p := range sortedProcesses(h) {
			switch {
			case p.Up:
			case p.Name == etcd && w.stopsForGood(name): // told otherwise, or as it was ordered
			case h.Boots(p):
				boots++
			default:
				l.add(Anomaly{Kind: ProcessDown, Subject: name + "/" + p.Name, Detail: p.Reason, Since: p.Since, By: p.By, Seq: p.Seq})
			}
		}
		if boots > 0 {
			l.add(Anomaly{Kind: HostBoots, Subject: name, Since: h.Since, Count: boots})
		}
		return true
	})
}

// Boots reports whether a program is not there yet because its machine was switched on after it ended.
func (h *Host) Boots(p Process) bool { return h.Up && !p.Up && p.Since.Before(h.Since) }

func sortedProcesses(h *Host) []Process {
	list := make([]Process, 0, len(h.Processes))
	for _, p := range h.Processes {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (w *World) raftAnomalies(l *anomalyList) {
	g := w.Majority()
	have, need := len(g.Members), g.Need
	if need == 0 {
		return
	}
	w.Members.Scan(func(name string, m *Member) bool {
		if !m.Out {
			w.memberAnomalies(l, m)
		}
		return true
	})
	w.storeAnomalies(l)
	from, since, by, seq, vacant := w.Vacancy()
	if have < need {
		l.add(Anomaly{Kind: NoQuorum, Count: have, Since: since, By: by, Seq: seq})
	}
	if _, ok := w.Leader(); !ok {
		if !vacant {
			since = w.Start
		}
		l.add(Anomaly{Kind: NoLeader, Subject: from, Since: since, By: by, Seq: seq})
	}
}

// memberAnomalies looks at one member: its vote, its disk, its state, what it learns.
func (w *World) memberAnomalies(l *anomalyList, m *Member) {
	up := w.MemberUp(m)
	if m.Muted() && up {
		l.add(Anomaly{Kind: MemberMuted, Subject: m.Name, Detail: m.Err, Since: m.Since, Seq: m.Seq})
	}
	switch d := m.Disk; {
	case m.Diverged.Seq != 0:
		l.add(Anomaly{Kind: StateDiverged, Subject: m.Name, Since: m.Diverged.At, Count: int(m.Diverged.Index), Seq: m.Diverged.Seq})
	case d.Damaged():
		l.add(Anomaly{Kind: DiskDamaged, Subject: m.Name, Detail: firstOf(d.Text, d.State), Since: d.At, By: d.By, Seq: d.Seq})
	case !d.Sound():
		l.add(Anomaly{Kind: DiskFails, Subject: m.Name, Detail: d.State, Since: d.At, By: d.By, Seq: d.Seq})
	case !up && m.damagedByItself(w):
		p, _ := w.Process(m.Name, etcd)
		l.add(Anomaly{Kind: DiskDamaged, Subject: m.Name, Detail: found(p.Reason), Since: p.Since, Seq: p.Seq})
	}
	if !m.Learns() {
		return
	}
	percent, _, known := w.CaughtUp(m)
	a := Anomaly{Kind: LearnerStuck, Subject: m.Name, Since: m.Joined, Count: percent, Seq: m.JoinedSeq}
	leader, led := w.Leader()
	switch {
	case !up:
		a.Detail, a.Since = "down", m.Since
	case led && !w.Reaches(leader.Name, m.Name):
		a.Detail = "cut"
	case known && percent < PromotableAt && l.now.Sub(m.Joined) > LearnerGrace:
		a.Detail = "slow"
	default:
		return
	}
	l.add(a)
}

// damagedByItself: its program ended because a check found its disk damaged, and nobody told of the damage otherwise.
func (m *Member) damagedByItself(w *World) bool {
	p, ok := w.Process(m.Name, etcd)
	return ok && !p.Up && strings.Contains(p.Reason, "disk damaged")
}

// stopsForGood: the member on a host was removed, or must not start again as it is, which is told as such.
func (w *World) stopsForGood(host string) bool {
	m, ok := w.Members.Get(host)
	return ok && (m.Out || m.Disk.Damaged() || m.Diverged.Seq != 0 || m.damagedByItself(w))
}

// found is what a check found, out of the reason that a program ended for: "damaged: entry 12".
func found(reason string) string {
	_, what, ok := strings.Cut(reason, "disk damaged")
	if !ok {
		return reason
	}
	return "damaged" + what
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// storeAnomalies looks at what concerns the store as a whole.
func (w *World) storeAnomalies(l *anomalyList) {
	full := Anomaly{Kind: StoreFull}
	for _, a := range w.Store.Alarms {
		switch a.Kind {
		case NoSpace:
			if full.Count++; full.Count == 1 {
				full.Subject, full.Since, full.By, full.Seq = a.Member, a.At, a.By, a.Seq
			}
		case Corrupt:
			if m, ok := w.Members.Get(a.Member); !ok || m.Diverged.Seq == 0 && !m.Out {
				l.add(Anomaly{Kind: StateDiverged, Subject: a.Member, Since: a.At, Seq: a.Seq})
			}
		}
	}
	if full.Count > 0 {
		l.add(full)
	}
}

// Muted reports whether a member runs without a vote, because its disk was wiped.
func (m *Member) Muted() bool { return m.Role != roleDown && m.Err != "" }

func (w *World) linkAnomalies(l *anomalyList) {
	w.Faults.Scan(func(_ event.Seq, f Fault) bool {
		l.add(Anomaly{Kind: LinkFault, Subject: f.Fault.String(), Since: f.At, By: f.By, Seq: f.Seq})
		return true
	})
	w.Backends.Scan(func(_ string, b *Backend) bool {
		if !b.Healthy && b.Reason != "" {
			l.add(Anomaly{Kind: BackendDown, Subject: b.Host, Detail: b.Reason, Since: b.Since})
		}
		w.overload(l, b)
		return true
	})
}

// overloadShown is how long refusals count as present after the tally that told them.
const overloadShown = 5 * time.Second

// overload looks at the seats of an API server.
func (w *World) overload(l *anomalyList, b *Backend) {
	a := Anomaly{Kind: Overloaded, Subject: b.Host}
	if q, ok := w.Queues.Get(string(event.On(apiserver, b.Host)) + " requests"); ok && q.Waiting > 0 {
		a.Count, a.Since, a.Seq = q.Waiting, q.Oldest, q.Seq
	}
	if b.TooManyPerSec > 0 && w.At.Sub(b.LastAt) < overloadShown {
		a.Detail = strconv.FormatFloat(b.TooManyPerSec, 'f', 0, 64)
		if a.Since.IsZero() {
			a.Since = b.LastAt
		}
	}
	if a.Count > 0 || a.Detail != "" {
		l.add(a)
	}
}

// activeAnomalies looks at the leases of programs that run active-standby.
func (w *World) activeAnomalies(l *anomalyList) {
	for _, name := range [...]string{"kube-controller-manager", "kube-scheduler"} {
		lease, ok := w.Leases.Get(podKey(metav1.NamespaceSystem, name))
		if !ok {
			continue
		}
		if _, expired := lease.Age(l.now); expired {
			l.add(Anomaly{Kind: NoActive, Subject: name, Detail: lease.Holder, Since: lease.Renewed, Until: lease.Renewed.Add(lease.Duration), Seq: lease.Seq})
			continue
		}
		host, _, _ := strings.Cut(lease.Holder, "_")
		if h, ok := w.Hosts.Get(host); ok {
			// started again since, it has another identity and waits like a standby
			if p, has := h.Processes[strings.TrimPrefix(name, "kube-")]; !h.Up || has && (!p.Up || p.Since.After(lease.Renewed)) {
				l.add(Anomaly{Kind: ActiveGone, Subject: name, Detail: host, Since: lease.Renewed, Until: lease.Renewed.Add(lease.Duration), Seq: lease.Seq})
			}
		}
	}
}

// silentNodes looks for leases that are old while their nodes still count as Ready. While the store takes no writes, an old lease says nothing about the node.
func (w *World) silentNodes(l *anomalyList) {
	g := w.Majority()
	have, need := len(g.Members), g.Need
	_, led := w.Leader()
	writable := need == 0 || have >= need && led
	const prefix = "kube-node-lease/"
	w.Leases.Ascend(prefix, func(key string, lease *Lease) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		if l.now.Sub(lease.Renewed) <= SilentAfter || lease.Renewed.IsZero() {
			return true
		}
		n, ok := w.Nodes.Get(lease.Name)
		if !ok || n.Ready != string(corev1.ConditionTrue) {
			return true
		}
		if !writable && !w.touched(lease.Name) {
			return true
		}
		if l.full(1) {
			return true
		}
		l.add(Anomaly{Kind: NodeSilent, Subject: lease.Name, Since: lease.Renewed, By: w.silencer(lease.Name), Until: lease.Renewed.Add(NodeGrace), Seq: lease.Seq})
		return true
	})
}

// touched: the machine is off, or a fault lies on its links.
func (w *World) touched(host string) bool {
	if h, ok := w.Hosts.Get(host); ok && !h.Up {
		return true
	}
	on := false
	w.FaultsOn(host, func(Fault) bool { on = true; return false })
	return on
}

func (w *World) nodeAnomalies(l *anomalyList) {
	w.silentNodes(l)
	seen := 0
	w.indexes.notReady.Scan(func(name string) bool {
		if l.full(w.indexes.notReady.Len() - seen) {
			return false
		}
		seen++
		n, _ := w.Nodes.Get(name)
		l.add(Anomaly{Kind: NodeNotReady, Subject: name, Detail: n.Reason, Since: n.Since, By: w.silencer(name), Seq: n.Seq})
		return true
	})
	seen = 0
	w.indexes.evictions.Scan(func(node string, pods int) bool {
		if l.full(w.indexes.evictions.Len() - seen) {
			return false
		}
		seen++
		if first, ok := w.firstEviction(node); ok {
			l.add(Anomaly{Kind: EvictionDue, Subject: node, Count: pods, Until: first.Due, By: w.silencer(node), Seq: first.Seq})
		}
		return true
	})
}

// silencer names who keeps a node from being heard: whoever took its machine or kubelet down or put a fault on its links.
func (w *World) silencer(node string) (by event.Actor) {
	if h, ok := w.Hosts.Get(node); ok {
		if !h.Up {
			return h.By
		}
		if p, ok := h.Processes["kubelet"]; ok && !p.Up {
			return p.By
		}
	}
	w.FaultsOn(node, func(f Fault) bool {
		by = f.By
		return false
	})
	return by
}

func (w *World) rolloutAnomalies(l *anomalyList) {
	seen := 0
	w.indexes.stuck.Scan(func(key string) bool {
		if l.full(w.indexes.stuck.Len() - seen) {
			return false
		}
		seen++
		o, _ := w.Objects.Get(resourceNames[kinds.Deployments] + " " + key)
		d := o.Object.(*appsv1.Deployment)
		for i := range d.Status.Conditions {
			if c := &d.Status.Conditions[i]; c.Type == appsv1.DeploymentProgressing {
				l.add(Anomaly{Kind: RolloutStuck, Subject: key, Detail: c.Reason, Since: c.LastTransitionTime.Time, Seq: o.Seq})
			}
		}
		return true
	})
}

func (w *World) podAnomalies(l *anomalyList) {
	seen := 0
	w.FailingPods(func(p *Pod) bool {
		if l.full(w.FailingCount() - seen) {
			return false
		}
		seen++
		a := Anomaly{Kind: PodFailing, Subject: podKey(p.Object.Namespace, p.Object.Name), Detail: p.Status, Since: p.Since, Seq: p.Seq}
		if p.Status == "CrashLoopBackOff" || p.Status == "Init:CrashLoopBackOff" {
			a.Kind, a.Count = CrashLoop, p.Restarts
			w.ContainersOf(p, func(c *Container) bool {
				if c.State == event.ContainerBackoff {
					a.Until = c.Until
				}
				return c.State != event.ContainerBackoff
			})
		}
		l.add(a)
		return true
	})
	seen = 0
	w.Pending(func(p *Pod) bool {
		if l.full(w.PendingCount() - seen) {
			return false
		}
		seen++
		key := podKey(p.Object.Namespace, p.Object.Name)
		if t, ok := w.Attempts.Get(key); ok && t.Message != "" {
			l.add(Anomaly{Kind: Unschedulable, Subject: key, Detail: t.Message, Since: p.Since, Until: t.Until, Count: t.Attempt, Seq: t.Seq})
			return true
		}
		l.add(Anomaly{Kind: Untried, Subject: key, Since: p.Since, Seq: p.Seq})
		return true
	})
}
