package world

import (
	"cmp"
	"fmt"
	"slices"
)

// What mends the troubles of the store. It is decided here, once, so that every teller (screen, why view, summary of a run) offers the same.

// Remedy is the next thing to do about a store that refuses writes for want of space.
type Remedy int

// The remedies, in the order in which they are taken.
const (
	Compact Remedy = iota // history takes the space: give it up
	Defrag                // space is free inside the file: give it back
	Disarm                // there is room: lift the alarm
	Raise                 // what is in use alone is too much: delete, or raise the quota
)

// Remedy of a store whose members say NOSPACE. Space that is free inside a database is no help before it is given back, and the alarm stays until it is lifted.
func (w *World) Remedy() Remedy {
	m, quota, ok := w.Fullest()
	alarm, _ := w.Store.Alarm(NoSpace)
	live, known := w.Live()
	switch {
	case !ok || quota == 0:
		return Compact
	case m.DBSize <= quota:
		return Disarm
	case m.DBInUse < quota*9/10:
		return Defrag
	case known && live >= quota:
		return Raise
	case w.Store.Compacted.Seq < alarm.Seq:
		return Compact
	}
	return Raise
}

// Live is about how much of the fullest database is no history: what compaction cannot give up. All versions count as equally large, and those since the last
// compaction are as many as revisions. ok: sizes were told.
func (w *World) Live() (bytes int64, ok bool) {
	m, _, told := w.Fullest()
	keys := int64(w.Objects.Len())
	if !told || keys == 0 {
		return 0, false
	}
	base := max(w.Store.Compacted.Revision, w.Store.Restored.StoreRestored.Restored)
	versions := max(w.Revision-base, keys)
	if base > 0 { // what was not touched since is there beside it
		versions = max(w.Revision-base, 0) + keys
	}
	return int64(float64(m.DBInUse) * float64(keys) / float64(versions)), true
}

// Command does it, as the console takes it. A raised quota is the next power of two.
func (r Remedy) Command(w *World) string {
	switch r {
	case Compact:
		return "compact"
	case Defrag:
		return "defrag all"
	case Disarm:
		return "disarm"
	}
	m, quota, ok := w.Fullest()
	if !ok {
		return ""
	}
	mib := max(m.DBSize, quota) >> 20
	n := int64(1)
	for n <= mib {
		n *= 2
	}
	if n%1024 == 0 {
		return fmt.Sprintf("quota %dGi", n/1024)
	}
	return fmt.Sprintf("quota %dMi", n)
}

// Remedies are all that are left to take, the next first.
func (w *World) Remedies() []Remedy {
	first := w.Remedy()
	if first == Raise { // only then does the alarm stay away
		return []Remedy{Raise, Disarm}
	}
	var out []Remedy
	for r := first; r <= Disarm; r++ {
		out = append(out, r)
	}
	return out
}

// RescueFile is where a rescue puts what a member that is left has: a backup of this run alone, so no file has to be free.
const RescueFile = "@rescue"

// Rescue is the way out when so many voters have lost what they acknowledged that the others can never be a majority again, whoever is started and whatever is
// healed.
type Rescue struct {
	// From is the member whose state is saved; empty: nobody can give it.
	From string
	// File is an earlier backup to begin anew with, where From is empty; empty with it: there is none, and the store can only forget.
	File string
	// Lost are the voters that cannot come back.
	Lost     []string
	Commands []string
}

// Rescue of a store that can have no majority again; false: it still can.
func (w *World) Rescue() (Rescue, bool) {
	var r Rescue
	voters, lost := w.voters(), w.spoiled()
	need := ArithmeticOf(len(voters)).Quorum
	if need == 0 || len(voters)-len(lost) >= need {
		return r, false
	}
	var best *Member
	for _, m := range voters {
		if !lost[m.Name] {
			if w.canSave(m) && (best == nil || m.Applied > best.Applied) {
				best = m
			}
			continue
		}
		r.Lost = append(r.Lost, m.Name)
	}
	switch b := w.Store.Backup; {
	case best != nil:
		r.From = best.Name
		for _, m := range voters { // one that runs and has forgotten would be asked for what it has
			if lost[m.Name] && w.MemberUp(m) {
				r.Commands = append(r.Commands, "kill "+m.Name)
			}
		}
		r.Commands = append(r.Commands, "backup "+RescueFile, "restore "+RescueFile)
		r.Commands = append(r.Commands, w.startsAfter(voters, r.Commands)...)
	case b.Seq != 0:
		r.File = b.File
		r.Commands = append([]string{"restore " + b.File}, w.startsAfter(voters, nil)...)
	default:
		for _, act := range []string{"kill", "wipe", "start"} {
			for _, m := range voters {
				h, ok := w.Hosts.Get(m.Name)
				if act != "kill" || !ok || h.Up {
					r.Commands = append(r.Commands, act+" "+m.Name)
				}
			}
		}
	}
	return r, true
}

// startsAfter are the orders that switch on the machines of voters that are off, or will be by the orders before.
func (w *World) startsAfter(voters []*Member, before []string) []string {
	var out []string
	for _, m := range voters {
		if h, ok := w.Hosts.Get(m.Name); ok && !h.Up || slices.Contains(before, "kill "+m.Name) {
			out = append(out, "start "+m.Name)
		}
	}
	return out
}

// spoiled are the voters that do not start as they are, or may not vote, because what they acknowledged is gone.
func (w *World) spoiled() map[string]bool {
	out := map[string]bool{}
	for _, m := range w.voters() {
		up := w.MemberUp(m)
		if m.Disk.Damaged() && !up || m.Diverged.Seq != 0 || !up && m.damagedByItself(w) || up && m.Muted() {
			out[m.Name] = true
		}
	}
	return out
}

// Spoiled reports whether a voter does not start as it is, or may not vote, because what it acknowledged is gone.
func (w *World) Spoiled(name string) bool { return w.spoiled()[name] }

// canSave: it runs, and has served since before the leader was lost; one that started later does not know how old its state is and saves nothing.
func (w *World) canSave(m *Member) bool {
	if !w.MemberUp(m) {
		return false
	}
	p, known := w.Process(m.Name, etcd)
	return !known || !w.vacancy.lost || !p.Since.After(w.vacancy.at)
}

// Mend is what mends a trouble of the store: commands as the console takes them, in the order in which they are given. Nil: nothing can be ordered that does.
func (w *World) Mend(a Anomaly) []string {
	switch a.Kind {
	case StoreFull:
		var out []string
		for _, r := range w.Remedies() {
			out = append(out, r.Command(w))
		}
		return out
	case NoQuorum, StateDiverged, DiskDamaged, MemberMuted:
		if r, ok := w.Rescue(); ok {
			return r.Commands
		}
		g := w.Majority()
		if (a.Kind == StateDiverged || a.Kind == DiskDamaged) && len(g.Members) >= g.Need {
			return []string{"member replace " + a.Subject}
		}
		if a.Kind == NoQuorum {
			return w.startsAfter(w.voters(), nil)
		}
	case DiskFails:
		return []string{"disk " + a.Subject + " ok"} // its kubelet starts a member that stopped again by itself
	case LearnerStuck:
		switch a.Detail {
		case "down":
			return []string{"start " + a.Subject}
		case "cut":
			return []string{"heal " + a.Subject}
		}
	}
	return nil
}

// StoreAnomalies are those of AnomaliesAt that are about the store and its members, in the same order.
func (w *World) StoreAnomalies() []Anomaly {
	l := anomalyList{now: w.At}
	w.raftAnomalies(&l)
	slices.SortStableFunc(l.found, func(a, b Anomaly) int { return cmp.Compare(a.Kind, b.Kind) })
	return l.found
}
