package scene

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
)

// QuorumOf is the quorum alone, for who needs no whole scene.
func QuorumOf(w *world.World) Quorum {
	g := w.Majority()
	if g.Total == 0 { // the memory store: one place, never lost
		return Quorum{}
	}
	q := Quorum{Raft: true, Members: g.Total, Alive: len(g.Members), Need: g.Need, Lose: g.CanLose, Learners: len(w.Learners())}
	_, q.Refuses = w.Store.Alarm(world.NoSpace)
	for _, m := range g.Members {
		q.Last, q.Commit = max(q.Last, m.LastIndex), max(q.Commit, m.CommitIndex)
		q.Term = max(q.Term, m.Term)
		if m.Role == "leader" && (q.Leader == "" || m.Term >= q.Term) && q.Alive >= q.Need {
			q.Leader = m.Name
		}
	}
	if q.Leader == "" { // the highest that any of them has seen: nobody can be elected in an earlier one
		w.Members.Scan(func(_ string, m *world.Member) bool {
			if !m.Out {
				q.Term = max(q.Term, m.Term)
			}
			return true
		})
	}
	return q
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

// Machine is the worker or master of a name; nil where there is none.
func (s *Scene) Machine(host string) *Machine {
	switch master, worker := s.Find(Target{Host: host}); {
	case master != nil:
		return &master.Machine
	case worker != nil:
		return &worker.Machine
	}
	return nil
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
