package scene

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
)

// startWithin is how long after its start a cluster may still be said to be starting; 2 min, simulated.
const startWithin = 2 * time.Minute

// slot is a machine with what it was made from; the World's entries are immutable, so equal pointers mean equal content.
type slot struct {
	name   string
	host   *world.Host
	node   *world.Node
	lease  *world.Lease
	master bool
	at     int // place in Workers or Masters
	stale  bool
}

// Maker makes one scene after another. The zero value is ready. What it returned before is overwritten by the next call.
type Maker struct {
	world    *world.World
	seq      event.Seq
	slots    []slot // by name, as the World's tables are ordered
	workers  []WorkerInfo
	masters  []int // slots of masters in their order
	index    map[string]int
	trouble  []int
	faults   []world.Fault
	touched  []int // workers with faults
	zones    []Zone
	everyone []int
	rezone   bool
	looks    looks
}

// Of makes the scene of a World at an instant.
func Of(w *world.World, now time.Time) *Scene { return new(Maker).Of(w, now) }

// Of makes the scene of a World at an instant.
func (k *Maker) Of(w *world.World, now time.Time) *Scene {
	s := &Scene{Now: now, PodsPending: w.PendingCount(), PodsFailing: w.FailingCount(), Pods: w.Pods.Len()}
	w.StatusCounts(func(status string, n int) bool {
		switch status {
		case "Running":
			s.PodsRunning += n
		case "Terminating", "Completed":
			s.PodsEnding += n
		}
		return true
	})
	w.Pending(func(p *world.Pod) bool { s.Pending = append(s.Pending, p); return len(s.Pending) < most })
	w.FailingPods(func(p *world.Pod) bool { s.Failing = append(s.Failing, p); return len(s.Failing) < most })
	s.OnlyDeployment = onlyDeployment(w)
	w.Backends.Scan(func(_ string, b *world.Backend) bool { s.Backends = append(s.Backends, b); return true })
	slices.SortStableFunc(s.Backends, func(a, b *world.Backend) int { return NaturalCompare(a.Host, b.Host) })
	if w != k.world || w.Seq != k.seq || w.Seq == 0 {
		k.readFaults(w)
		k.sync(w)
		k.world, k.seq = w, w.Seq
	}
	s.Faults = k.faults
	s.Quorum = QuorumOf(w)
	s.ActiveScheduler = active(w, "kube-system/kube-scheduler", now)
	s.ActiveControllers = active(w, "kube-system/kube-controller-manager", now)
	for _, i := range k.masters {
		sl := &k.slots[i]
		m := machine(sl, k.faults)
		m.LeaseAge = age(m.renewed, now)
		s.Masters = append(s.Masters, s.master(w, m, now))
	}
	s.Workers, s.index = k.workers, k.index
	k.judge(w, s)
	k.compare(w, s)
	s.Trouble = k.trouble
	if s.Starting = starting(w, s); s.Starting {
		s.forgive(k)
	}
	s.zones = k.makeZones()
	s.everyone = k.everyone
	return s
}

// readFaults keeps the faults in force, and notes on workers those that touch them.
func (k *Maker) readFaults(w *world.World) {
	same, i := true, 0
	w.Faults.Scan(func(seq event.Seq, _ world.Fault) bool {
		same = i < len(k.faults) && k.faults[i].Seq == seq
		i++
		return same
	})
	if same && i == len(k.faults) {
		return
	}
	k.faults = nil // scenes made before hold the old list
	w.Faults.Scan(func(_ event.Seq, f world.Fault) bool { k.faults = append(k.faults, f); return true })
	for _, at := range k.touched {
		if at < len(k.workers) {
			k.workers[at].Faults, k.workers[at].CutFrom = nil, nil
		}
	}
	k.touched = k.touched[:0]
	k.spread()
}

// spread puts faults on the workers that are their ends.
func (k *Maker) spread() {
	for _, f := range k.faults {
		ends := [2]string{hostOf(f.Fault.A), hostOf(f.Fault.B)}
		for e, end := range ends {
			at, ok := k.index[end]
			if !ok || at < 0 || (e == 1 && ends[0] == end) {
				continue
			}
			m := &k.workers[at].Machine
			m.Faults = append(m.Faults, f)
			if f.Fault.Kind == fault.Cut {
				m.CutFrom = append(m.CutFrom, other(f.Fault, end))
			}
			k.touched = append(k.touched, at)
		}
	}
}

func hostOf(end string) string { h, _, _ := strings.Cut(end, "/"); return h }

// sync finds out which machines have changed.
func (k *Maker) sync(w *world.World) {
	i, same := 0, true
	w.Hosts.Scan(func(name string, h *world.Host) bool {
		if same = i < len(k.slots) && k.slots[i].name == name && k.slots[i].master == h.Master; !same {
			return false
		}
		if sl := &k.slots[i]; sl.host != h {
			sl.host, sl.stale = h, true
		}
		i++
		return true
	})
	if !same || i != len(k.slots) {
		k.rebuild(w)
	}
	i = 0
	set := func(n *world.Node) {
		if sl := &k.slots[i]; sl.node != n {
			sl.node, sl.stale = n, true
		}
		i++
	}
	w.Nodes.Scan(func(name string, n *world.Node) bool {
		for i < len(k.slots) && k.slots[i].name < name {
			set(nil)
		}
		if i < len(k.slots) && k.slots[i].name == name {
			set(n)
		}
		return i < len(k.slots)
	})
	for i < len(k.slots) {
		set(nil)
	}
	i = 0
	hold := func(l *world.Lease) {
		if sl := &k.slots[i]; sl.lease != l {
			sl.lease = l
			if !sl.master {
				k.workers[sl.at].renewed = renewed(l)
			}
		}
		i++
	}
	const prefix = corev1.NamespaceNodeLease + "/"
	w.Leases.Ascend(prefix, func(key string, l *world.Lease) bool {
		name, ok := strings.CutPrefix(key, prefix)
		if !ok {
			return false
		}
		for i < len(k.slots) && k.slots[i].name < name {
			hold(nil)
		}
		if i < len(k.slots) && k.slots[i].name == name {
			hold(l)
		}
		return i < len(k.slots)
	})
	for i < len(k.slots) {
		hold(nil)
	}
	for i := range k.slots {
		if sl := &k.slots[i]; sl.stale {
			sl.stale = false
			if !sl.master {
				k.refill(sl)
			}
		}
	}
}

// rebuild begins anew with the machines there are, in the order of people.
func (k *Maker) rebuild(w *world.World) {
	k.slots = make([]slot, 0, w.Hosts.Len())
	w.Hosts.Scan(func(name string, h *world.Host) bool {
		k.slots = append(k.slots, slot{name: name, host: h, master: h.Master, stale: true})
		return true
	})
	order := make([]int, len(k.slots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return NaturalCompare(k.slots[a].name, k.slots[b].name) })
	k.workers = make([]WorkerInfo, 0, len(k.slots))
	k.masters, k.touched, k.rezone = nil, nil, true
	k.index = make(map[string]int, len(k.slots))
	for _, i := range order {
		sl := &k.slots[i]
		if sl.master {
			sl.at = len(k.masters)
			k.masters = append(k.masters, i)
			k.index[sl.name] = -1 - sl.at
			continue
		}
		sl.at = len(k.workers)
		k.workers = append(k.workers, WorkerInfo{})
		k.index[sl.name] = sl.at
	}
	k.spread()
}

// refill makes what does not depend on the time of a worker's entry.
func (k *Maker) refill(sl *slot) {
	i := &k.workers[sl.at]
	faults, cut, zone := i.Faults, i.CutFrom, i.Zone
	*i = WorkerInfo{Machine: machine(sl, nil)}
	i.Faults, i.CutFrom = faults, cut
	if n := sl.node; n != nil {
		o := n.Object
		i.Cordoned = o.Spec.Unschedulable
		i.Pods, i.CPU, i.Mem = n.Pods, n.MilliCPU, n.Memory
		i.CPUAll, i.MemAll = o.Status.Allocatable.Cpu().MilliValue(), o.Status.Allocatable.Memory().Value()
		i.Zone = o.Labels[corev1.LabelTopologyZone]
		for _, t := range o.Spec.Taints {
			i.evicts = i.evicts || t.Effect == corev1.TaintEffectNoExecute
		}
	}
	k.rezone = k.rezone || zone != i.Zone
}

// machine makes an entry with those of the faults that touch it.
func machine(sl *slot, faults []world.Fault) Machine {
	h := sl.host
	m := Machine{Host: h, Name: h.Name, Up: h.Up, Since: h.Since, By: h.By, Seq: h.Seq, Node: sl.node, LeaseAge: -1, renewed: renewed(sl.lease)}
	for _, f := range faults {
		if !f.Fault.Touches(h.Name) {
			continue
		}
		m.Faults = append(m.Faults, f)
		if f.Fault.Kind == fault.Cut {
			m.CutFrom = append(m.CutFrom, other(f.Fault, h.Name))
		}
	}
	for _, p := range h.Processes {
		m.stopped = m.stopped || !p.Up
	}
	return m
}

func renewed(l *world.Lease) time.Time {
	if l == nil {
		return time.Time{}
	}
	return l.Renewed
}

// age since a renewal; negative where there was none.
func age(renewed, now time.Time) time.Duration {
	if renewed.IsZero() {
		return -1
	}
	return max(now.Sub(renewed), 0)
}

// judge brings all workers to the instant: whose lease is old, who is wrong.
func (k *Maker) judge(w *world.World, s *Scene) {
	k.trouble = k.trouble[:0]
	// while the store takes no writes, an old lease says nothing about the node
	writable := !s.Quorum.Raft || (s.Quorum.Alive >= s.Quorum.Need && s.Quorum.Leader != "")
	for at := range k.workers {
		i := &k.workers[at]
		i.LeaseAge = age(i.renewed, s.Now)
		ready := i.Node != nil && i.Node.Ready == string(corev1.ConditionTrue)
		if ready {
			s.NodesReady++
		}
		i.Silent, i.JudgedIn = ready && i.LeaseAge > world.SilentAfter && (writable || !i.Up || len(i.Faults) > 0), 0
		if i.Silent {
			i.JudgedIn = max(world.NodeGrace-i.LeaseAge, 0)
		}
		i.Wrong = !ready || !i.Up || len(i.Faults) > 0 || i.Silent || i.stopped
		if i.Wrong {
			k.trouble = append(k.trouble, at)
		} else if i.Compared {
			i.note(look{}, false)
		}
		if i.Wrong || i.evicts {
			i.Evictions, i.EvictAt = w.EvictionsOnNode(i.Name)
		} else {
			i.Evictions, i.EvictAt = 0, time.Time{}
		}
	}
}

// forgive takes what only has not come up yet out of the trouble.
func (s *Scene) forgive(k *Maker) {
	kept := k.trouble[:0]
	for _, at := range k.trouble {
		i := &s.Workers[at]
		if i.Wrong = i.Seq != 0 || i.Silent || i.troubled(); i.Wrong {
			kept = append(kept, at)
		}
	}
	k.trouble = kept
	s.Trouble = kept
}

// troubled: a process on it ended.
func (i *WorkerInfo) troubled() bool {
	for _, p := range i.Host.Processes {
		if !p.Up && p.Seq != 0 {
			return true
		}
	}
	return false
}

// starting reports a cluster that comes up for the first time: what is missing once it was all there is trouble, and so is what its store says is wrong.
func starting(w *world.World, s *Scene) bool {
	if w.Start.IsZero() || s.Now.Sub(w.Start) > startWithin || len(s.Faults) > 0 || !w.Came.IsZero() || len(w.Store.Alarms) > 0 {
		return false
	}
	missing := s.NodesReady < len(s.Workers) || (s.Quorum.Raft && len(w.Elections) == 0)
	for i := range s.Masters {
		m := &s.Masters[i]
		if m.Seq != 0 || m.Member != nil && (!m.Member.Disk.Sound() || m.Member.Diverged.Seq != 0) { // somebody switched it off, or it does not come up as it is
			return false
		}
		for _, p := range m.Host.Processes {
			if !p.Up && ByUser(p.By) {
				return false
			}
		}
		missing = missing || m.Node == nil || m.Node.Ready != string(corev1.ConditionTrue) || m.Backend == nil || !m.Backend.Healthy
	}
	if !missing {
		return false
	}
	for _, at := range s.Trouble {
		i := &s.Workers[at]
		if i.Seq != 0 || (i.Node != nil && i.Node.Ready == string(corev1.ConditionUnknown)) {
			return false
		}
	}
	return true
}
