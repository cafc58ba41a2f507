package headless

// What the summary says of the store: its members as the configuration in force has them, and what is wrong with it, with the mends that the screen offers, too.

import (
	"fmt"
	"strings"

	"example.com/kubeviz/engine/world"
)

func raftOf(w *world.World) Raft {
	g, votes := w.Majority(), w.Arithmetic()
	r := Raft{
		Voters: votes.Voters, Quorum: votes.Quorum, Up: len(g.Members), CanLose: g.CanLose,
		Members: make([]Member, 0, w.Members.Len()), Removed: []string{}, Alarms: make([]Alarm, 0, len(w.Store.Alarms)), Troubles: troubles(w),
		Elections: make([]Election, 0, len(w.Elections)),
	}
	if l, ok := w.Leader(); ok && len(g.Members) >= g.Need {
		r.Leader = l.Name
	}
	w.Members.Scan(func(name string, m *world.Member) bool {
		if m.Out {
			r.Removed = append(r.Removed, name)
			return true
		}
		r.Term = max(r.Term, m.Term)
		role := m.Role
		switch up := w.MemberUp(m); {
		case !up:
			role = "down"
		case m.Learns():
			role = "learner"
		}
		r.Members = append(r.Members, Member{
			Name: name, Role: role, Term: m.Term, LastIndex: m.LastIndex, CommitIndex: m.CommitIndex, Up: w.MemberUp(m), Learner: m.Learns(), Disk: m.Disk.State,
		})
		return true
	})
	for _, a := range w.Store.Alarms {
		r.Alarms = append(r.Alarms, Alarm{Kind: a.Kind, Member: a.Member, At: w.SinceStart(a.At).String()})
	}
	for _, e := range w.Elections {
		if e.Anew {
			e.From = ""
		}
		r.Elections = append(r.Elections, Election{
			At: w.SinceStart(e.At).String(), From: e.From, To: e.To, Term: e.Term, VirtualMs: e.Virtual.Milliseconds(), WallMs: e.Wall.Milliseconds(), Anew: e.Anew,
		})
	}
	return r
}

// troubles of the store, the weightiest first, then what learners wait for. Advice for the store as a whole is given once, with the first that it mends.
func troubles(w *world.World) []Trouble {
	out := []Trouble{}
	rescue, lost := w.Rescue()
	rescued := false
	for _, a := range w.StoreAnomalies() {
		text := trouble(w, a)
		if text == "" {
			continue
		}
		t := Trouble{Kind: a.Kind.String(), Text: text, Mend: []string{}}
		switch mend := w.Mend(a); {
		case lost && len(rescue.Commands) > 0 && (a.Kind == world.NoQuorum || w.Spoiled(a.Subject)):
			if !rescued {
				t.Mend, rescued = mend, true
				t.Text += fmt.Sprintf("; without %s there can be no majority again", strings.Join(rescue.Lost, ", "))
				if rescue.From != "" {
					t.Text += ": begin anew with what " + rescue.From + " has"
				}
			}
		case mend != nil:
			t.Mend = mend
		}
		out = append(out, t)
	}
	for _, m := range w.Learners() {
		if t, ok := learner(w, m); ok {
			out = append(out, t)
		}
	}
	return out
}

// trouble is an anomaly in words; empty: others tell it.
func trouble(w *world.World, a world.Anomaly) string {
	m, _ := w.Members.Get(a.Subject)
	switch a.Kind {
	case world.NoQuorum:
		votes := w.Arithmetic()
		return fmt.Sprintf("no quorum: %d of %d voters run and reach each other, %d are needed: nothing can be written", a.Count, votes.Voters, votes.Quorum)
	case world.NoLeader:
		if g := w.Majority(); len(g.Members) < g.Need {
			return ""
		}
		return "nobody leads yet: an election comes within seconds"
	case world.StoreFull:
		text := "writes are refused: NOSPACE"
		full, quota, ok := w.Fullest()
		if !ok {
			return text
		}
		text += fmt.Sprintf(", the database of %s takes %s of %s, %s in use", full.Name, size(full.DBSize), size(quota), size(full.DBInUse))
		if w.Remedy() == world.Raise {
			text += "; that is too much without history: a larger quota (or deletions) first, disarm holds only then"
		}
		return text
	case world.StateDiverged:
		return fmt.Sprintf("etcd on %s was stopped: its state differs from that of the others", a.Subject)
	case world.DiskDamaged:
		what := a.Detail
		if m != nil && m.Disk.Damaged() {
			what = m.Disk.State
			if m.Disk.Text != "" {
				what += ": " + m.Disk.Text
			}
		}
		if m != nil && w.MemberUp(m) {
			return fmt.Sprintf("the disk of %s is damaged (%s); etcd there has not noticed yet", a.Subject, what)
		}
		return fmt.Sprintf("etcd on %s does not start: its disk is damaged (%s)", a.Subject, what)
	case world.DiskFails:
		text := fmt.Sprintf("the disk of %s is %s", a.Subject, a.Detail)
		if m != nil && !w.MemberUp(m) {
			text += ", and its etcd does not run"
		}
		return text
	case world.MemberMuted:
		return fmt.Sprintf("%s has no vote: its disk was wiped; it votes again when a leader has caught it up", a.Subject)
	case world.LearnerStuck:
		why := map[string]string{"down": "it does not run", "cut": "the leader does not reach it", "slow": fmt.Sprintf("it has %d %% of the leader's log", a.Count)}[a.Detail]
		return fmt.Sprintf("learner %s does not catch up: %s", a.Subject, why)
	}
	return ""
}

// learner is what a learner waits for, and what its vote would change; false: it is told of as stuck.
func learner(w *world.World, m *world.Member) (Trouble, bool) {
	percent, behind, ok := w.CaughtUp(m)
	if leader, led := w.Leader(); !ok || !w.MemberUp(m) || !led || !w.Reaches(leader.Name, m.Name) {
		return Trouble{}, false
	}
	votes := w.Arithmetic()
	after := world.ArithmeticOf(votes.Voters + 1)
	t := Trouble{Kind: "learner", Mend: []string{}}
	step := fmt.Sprintf("its vote would make %d voters, quorum %d, can lose %d (now %d)", after.Voters, after.Quorum, after.MayLose, votes.MayLose)
	if w.Promotable(m) {
		t.Text = fmt.Sprintf("learner %s has %d %% of the leader's log and can be promoted: %s", m.Name, percent, step)
		t.Mend = []string{"member promote " + m.Name}
		return t, true
	}
	t.Text = fmt.Sprintf("learner %s is %d entries behind, at %d %%; member promote %s when it has %d %%: %s", m.Name, behind, percent, m.Name, world.PromotableAt, step)
	return t, true
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}
