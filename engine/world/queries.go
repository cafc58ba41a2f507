package world

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
)

// Leader is the raft member that leads as the world stands: of those that are up and say so, the one with the highest term (a cut-off leader may
// say so for a while after its successor was elected).
func (w *World) Leader() (*Member, bool) {
	var best *Member
	w.Members.Scan(func(_ string, m *Member) bool {
		if m.Role == roleLeader && !m.Out && w.MemberUp(m) && (best == nil || m.Term > best.Term) {
			best = m
		}
		return true
	})
	return best, best != nil
}

// MemberUp reports whether a raft member runs: it has a role, and neither its process nor its machine is down.
func (w *World) MemberUp(m *Member) bool {
	if m == nil || m.Role == "" || m.Role == roleDown {
		return false
	}
	h, ok := w.Hosts.Get(m.Name)
	if !ok {
		return true // a member on no machine of ours
	}
	if !h.Up && h.Seq != 0 {
		return false
	}
	p, known := h.Processes[etcd]
	return !known || p.Up
}

// MembersUp counts raft members that run, and all members; those that were removed are none.
func (w *World) MembersUp() (up, total int) {
	w.Members.Scan(func(_ string, m *Member) bool {
		if m.Out {
			return true
		}
		total++
		if w.MemberUp(m) {
			up++
		}
		return true
	})
	return up, total
}

// Majority is what the members of the raft group can do together.
type Majority struct {
	// Members are the largest set of which one reaches all others both ways: it can lead them. With a leader among them, where there are several such sets.
	Members []*Member
	// Total members of the group and Need of them for a majority; 0 where there is no raft.
	Total, Need int
	// CanLose is how many members, whichever they are, may fall without the others losing their majority; negative: it is lost, by so many.
	CanLose int
}

// Majority finds who can write together. Learners and members that were removed do not count here; a member that was wiped does, but has no vote. Raft needs one member that reaches a
// majority, not that all of them reach each other, but then that one may not fall.
func (w *World) Majority() Majority {
	var m Majority
	var up []*Member
	voters := w.voters()
	for _, x := range voters {
		if w.MemberUp(x) && !x.Muted() {
			up = append(up, x)
		}
	}
	m.Total = len(voters)
	if m.Total == 0 {
		return m
	}
	m.Need = ArithmeticOf(m.Total).Quorum
	near := w.near(up)
	for _, set := range near {
		var group []*Member
		leads := false
		for i, x := range up {
			if set&(1<<i) != 0 {
				group = append(group, x)
				leads = leads || x.Role == roleLeader
			}
		}
		if len(group) > len(m.Members) || len(group) == len(m.Members) && leads && !slices.ContainsFunc(m.Members, func(x *Member) bool { return x.Role == roleLeader }) {
			m.Members = group
		}
	}
	m.CanLose = canLose(near, len(m.Members), m.Need)
	return m
}

// near is for each member the set of those it reaches both ways, itself among them, as bits.
func (w *World) near(up []*Member) []uint {
	active := w.activeFaults()
	out := make([]uint, len(up))
	for i, a := range up {
		for j, b := range up {
			if i == j || !cut(active, a.Name, b.Name) && !cut(active, b.Name, a.Name) {
				out[i] |= 1 << j
			}
		}
	}
	return out
}

// canLose tries every way to lose members; groups have nine at most.
func canLose(near []uint, have, need int) int {
	if have < need {
		return have - need
	}
	least := len(near) - need + 1 // as many as surely take it
	for lost := uint(1); lost < 1<<len(near); lost++ {
		n := bits.OnesCount(lost)
		if n >= least {
			continue
		}
		left := 0
		for i, set := range near {
			if lost&(1<<i) == 0 {
				left = max(left, bits.OnesCount(set&^lost))
			}
		}
		if left < need {
			least = n
		}
	}
	return least - 1
}

func (w *World) activeFaults() []fault.Active {
	var active []fault.Active
	w.Faults.Scan(func(seq event.Seq, f Fault) bool {
		active = append(active, fault.Active{ID: uint64(seq), Fault: f.Fault})
		return true
	})
	return active
}

func cut(active []fault.Active, from, to string) bool {
	return len(active) > 0 && fault.Between(active, from+"/"+etcd, to+"/"+etcd).Cut
}

// FaultsOn visits the faults in force that have the host (or a process on it) as an end, oldest first.
func (w *World) FaultsOn(host string, visit func(Fault) bool) {
	w.Faults.Scan(func(_ event.Seq, f Fault) bool {
		return !f.Fault.Touches(host) || visit(f)
	})
}

// PodsOnNode visits the pods that the store believes are bound to a node, by namespace and name, until visit says no.
func (w *World) PodsOnNode(node string, visit func(*Pod) bool) {
	prefix := node + " "
	w.indexes.onNode.Ascend(prefix, func(key string) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		p, ok := w.Pods.Get(key[len(prefix):])
		return !ok || visit(p)
	})
}

// RunningOnNode visits the containers that the node's runtime really has, whatever the store believes, until visit says no.
func (w *World) RunningOnNode(node string, visit func(*Container) bool) {
	prefix := node + " "
	w.Running.Ascend(prefix, func(key string, c *Container) bool {
		return strings.HasPrefix(key, prefix) && visit(c)
	})
}

// ContainersOf visits the containers that really exist of a pod, on the node it is bound to.
func (w *World) ContainersOf(p *Pod, visit func(*Container) bool) {
	prefix := p.Object.Spec.NodeName + " " + p.RunsAs() + " "
	w.Running.Ascend(prefix, func(key string, c *Container) bool {
		return strings.HasPrefix(key, prefix) && visit(c)
	})
}

// BeliefAndTruth of one node.
type BeliefAndTruth struct {
	// Belief counts bound pods that the store has as Running; Truth counts pods of which a container really runs on the machine.
	Belief, Truth int
	// Unknown counts pods of Truth that the store does not have on this node (any more).
	Unknown int
}

// Compare sets what the store believes of a node against what runs there. It walks the node's pods.
func (w *World) Compare(node string) BeliefAndTruth {
	var c BeliefAndTruth
	w.PodsOnNode(node, func(p *Pod) bool {
		if p.Object.Status.Phase == corev1.PodRunning {
			c.Belief++
		}
		return true
	})
	last := ""
	w.RunningOnNode(node, func(t *Container) bool {
		// containers of one pod are neighbours
		if (t.State == event.ContainerRunning || t.State == event.ContainerStopping) && t.Pod.UID != last {
			last = t.Pod.UID
			c.Truth++
			p, ok := w.Pods.Get(podKey(t.Pod.Namespace, t.Pod.Name))
			if !ok || string(p.Object.UID) != t.Pod.UID || p.Object.Spec.NodeName != node {
				if !w.mirrored(t, node) {
					c.Unknown++
				}
			}
		}
		return true
	})
	return c
}

// mirrored: a static pod is known to the store under another UID, that of its mirror.
func (w *World) mirrored(t *Container, node string) bool {
	p, ok := w.Pods.Get(podKey(t.Pod.Namespace, t.Pod.Name))
	return ok && p.Object.Spec.NodeName == node && p.Object.Annotations[corev1.MirrorPodAnnotationKey] != ""
}

// Pending visits the pods that wait for a node, until visit says no.
func (w *World) Pending(visit func(*Pod) bool) {
	w.visitPods(&w.indexes.unbound, visit)
}

// PendingCount is how many pods wait for a node.
func (w *World) PendingCount() int { return w.indexes.unbound.Len() }

// FailingPods visits the pods whose Status is a failure, until visit says no.
func (w *World) FailingPods(visit func(*Pod) bool) {
	w.visitPods(&w.indexes.failing, visit)
}

// FailingCount is how many pods fail.
func (w *World) FailingCount() int { return w.indexes.failing.Len() }

// StatusCounts visits how many pods show each Status, by Status.
func (w *World) StatusCounts(visit func(status string, pods int) bool) {
	w.indexes.statuses.Scan(visit)
}

// EvictionsOnNode counts the evictions planned for pods of a node and tells when the first is due.
func (w *World) EvictionsOnNode(node string) (n int, first time.Time) {
	n, _ = w.indexes.evictions.Get(node)
	if e, ok := w.firstEviction(node); ok {
		first = e.Due
	}
	return n, first
}

func (w *World) firstEviction(node string) (e *Eviction, ok bool) {
	prefix := node + " "
	w.indexes.due.Ascend(prefix, func(key string) bool {
		if strings.HasPrefix(key, prefix) {
			_, pod, _ := strings.Cut(key[len(prefix):], " ")
			e, ok = w.Evictions.Get(pod)
		}
		return false
	})
	return e, ok
}

// LeaseAge is how long ago a lease was renewed, and whether it has run out at now.
func (w *World) LeaseAge(namespace, name string, now time.Time) (age time.Duration, expired, ok bool) {
	l, ok := w.Leases.Get(podKey(namespace, name))
	if !ok {
		return 0, false, false
	}
	age, expired = l.Age(now)
	return age, expired, true
}

// Age is how long ago the lease was renewed, and whether it has run out at now. A lease nobody holds has run out.
func (l *Lease) Age(now time.Time) (age time.Duration, expired bool) {
	age = now.Sub(l.Renewed)
	return age, l.Holder == "" || age > l.Duration
}

// NodeLease is the lease by which a node's kubelet shows that it lives.
func (w *World) NodeLease(node string) (*Lease, bool) {
	return w.Leases.Get(podKey(corev1.NamespaceNodeLease, node))
}

// Process finds a process on a host.
func (w *World) Process(host, process string) (Process, bool) {
	h, ok := w.Hosts.Get(host)
	if !ok {
		return Process{}, false
	}
	p, ok := h.Processes[process]
	return p, ok
}

// Vacancy describes the seat of the raft leader while it is empty: who sat there, since when it is empty, and who took it down.
func (w *World) Vacancy() (from string, since time.Time, by event.Actor, seq event.Seq, vacant bool) {
	v := w.vacancy
	return v.leader, v.at, v.by, v.seq, v.lost
}

// Elapsed is simulated time since the start.
func (w *World) Elapsed() time.Duration { return w.At.Sub(w.Start) }

// SinceStart is how long after the start of the cluster t is.
func (w *World) SinceStart(t time.Time) time.Duration { return t.Sub(w.Start) }
