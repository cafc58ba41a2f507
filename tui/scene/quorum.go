package scene

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
)

// quorum finds the largest group of members that run and reach each other, and who leads it.
func quorum(w *world.World, faults []world.Fault) Quorum {
	var q Quorum
	var alive []*world.Member
	w.Members.Scan(func(name string, m *world.Member) bool {
		q.Raft = true
		if m.Role != "learner" {
			q.Members++
		}
		h, ok := w.Hosts.Get(name)
		up := m.Role != "down" && m.Role != "learner" && m.Err == "" // a member that was wiped counts, but has no vote
		if ok {
			p, has := h.Processes["etcd"]
			up = up && h.Up && (!has || p.Up)
		}
		if up {
			alive = append(alive, m)
		}
		return true
	})
	q.Need = q.Members/2 + 1
	active := make([]fault.Active, len(faults))
	for i, f := range faults {
		active[i] = fault.Active{ID: uint64(f.Seq), Fault: f.Fault}
	}
	best := largest(alive, active)
	q.Alive = len(best)
	for _, m := range best {
		q.Last, q.Commit = max(q.Last, m.LastIndex), max(q.Commit, m.CommitIndex)
		q.Term = max(q.Term, m.Term)
		if m.Role == "leader" && (q.Leader == "" || m.Term >= q.Term) && q.Alive >= q.Need {
			q.Leader = m.Name
		}
	}
	if len(best) == 0 { // nobody is there: the term that they will come back with
		w.Members.Scan(func(_ string, m *world.Member) bool { q.Term = max(q.Term, m.Term); return true })
	}
	if !q.Raft { // the memory store: one place, never lost
		return Quorum{}
	}
	return q
}

// largest finds the biggest group in which everybody reaches everybody; groups of a cluster are few, so trying each member as a start is enough.
func largest(alive []*world.Member, active []fault.Active) []*world.Member {
	var best []*world.Member
	for i := range alive {
		group := []*world.Member{alive[i]}
		for j := range alive {
			if j == i {
				continue
			}
			fits := true
			for _, m := range group {
				fits = fits && reach(active, m.Name, alive[j].Name)
			}
			if fits {
				group = append(group, alive[j])
			}
		}
		if len(group) > len(best) || (len(group) == len(best) && leads(group) && !leads(best)) {
			best = group
		}
	}
	return best
}

func leads(group []*world.Member) bool {
	for _, m := range group {
		if m.Role == "leader" {
			return true
		}
	}
	return false
}

func reach(active []fault.Active, a, b string) bool {
	a, b = a+"/etcd", b+"/etcd"
	return !fault.Between(active, a, b).Cut && !fault.Between(active, b, a).Cut
}

// QuorumOf is the quorum alone, for who needs no whole scene.
func QuorumOf(w *world.World) Quorum {
	var faults []world.Fault
	w.Faults.Scan(func(_ event.Seq, f world.Fault) bool { faults = append(faults, f); return true })
	return quorum(w, faults)
}

// Find returns the worker or master that a target lies on.
func (s *Scene) Find(t Target) (master *MasterInfo, worker *WorkerInfo) {
	i, ok := s.index[t.Host]
	switch {
	case !ok:
		return nil, nil
	case i < 0:
		return &s.Masters[-1-i], nil
	}
	return nil, &s.Workers[i]
}

// IsCut reports whether a machine is cut off from all others by one fault.
func (m *Machine) IsCut() bool {
	for _, f := range m.Faults {
		if f.Fault.Kind == fault.Cut && (f.Fault.A == fault.All || f.Fault.B == fault.All) {
			return true
		}
	}
	return false
}

// Stopped reports whether a process on it does not run.
func (m *Machine) Stopped() bool { return m.stopped }

// Worst is the oldest fault that touches the machine; cuts first.
func (m *Machine) Worst() (world.Fault, bool) {
	if len(m.Faults) == 0 {
		return world.Fault{}, false
	}
	for _, f := range m.Faults {
		if f.Fault.Kind == fault.Cut {
			return f, true
		}
	}
	return m.Faults[0], true
}

// ByUser reports whether the user did it.
func ByUser(a event.Actor) bool { return a == event.You }
