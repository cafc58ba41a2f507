package world

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
)

// Roles of a raft member, as facts name them.
const (
	roleLeader    = "leader"
	roleCandidate = "candidate"
	roleLearner   = "learner"
	roleDown      = "down"
)

// vacancy follows the seat of the raft leader from the loss of one to the election of the next.
type vacancy struct {
	leader   string // who sits, or sat last
	term     uint64
	lost     bool
	at, wall time.Time // of the loss
	seq      event.Seq
	by       event.Actor
	// anew: the group has begun anew since somebody sat, so terms count from the beginning.
	anew bool
}

func (w *World) raftRole(r event.Record, e event.RaftRole) {
	before := w.member(e.Member)
	m := before
	if before.Role != e.Role {
		m.Since, m.Wall = r.At, r.Wall
		if before.Role == roleLeader {
			m.Kept = w.newest(&m)
		}
	}
	if !e.Heard.IsZero() {
		m.Heard = e.Heard
	}
	if e.Leader != "" {
		m.Silent = false
	}
	if e.Role != roleDown && e.Err == "" && before.Disk.Damaged() { // it started from that disk: what was damaged did not matter
		m.Disk = Disk{}
	}
	m.Role, m.Term, m.Leader, m.Err, m.Seq = e.Role, e.Term, e.Leader, e.Err, r.Seq
	w.Members.Set(e.Member, &m)
	switch {
	case e.Role == roleLeader && w.MemberUp(&m) && (e.Term > w.vacancy.term || before.Role == roleCandidate && w.forgotten(e.Term)):
		w.elected(r, e, before)
	case e.Role == roleLeader && e.Term == w.vacancy.term && e.Member == w.vacancy.leader:
		w.vacancy.lost = w.vacancy.lost && !w.MemberUp(&m) // said again
	case e.Member == w.vacancy.leader && e.Role != roleLeader:
		w.lost(r)
	}
}

// forgotten reports whether the group has begun anew: its leader is lost, and nobody remembers a term above this one (all disks were wiped).
func (w *World) forgotten(term uint64) bool {
	all := w.vacancy.lost
	w.Members.Scan(func(_ string, m *Member) bool {
		all = all && (m.Out || m.Term <= term)
		return all
	})
	return all
}

// elected records a new leader. When nobody saw the old one go (it still thinks it leads, behind a cut), the seat counts as empty from the moment the
// winner began to run for it.
func (w *World) elected(r event.Record, e event.RaftRole, before Member) {
	v := w.vacancy
	el := Election{At: r.At, Lost: r.At, From: v.leader, To: e.Member, Term: e.Term, Seq: r.Seq, LostSeq: r.Seq, Voters: len(w.voters()), Anew: v.anew || e.Term <= v.term}
	el.Votes = el.atLeast(before.Round.votes(e.Term))
	switch {
	case v.lost:
		el.Lost, el.LostSeq = v.at, v.seq
		if !v.wall.IsZero() && !r.Wall.IsZero() {
			el.Wall = r.Wall.Sub(v.wall)
		}
	case v.leader != "" && before.Role == roleCandidate:
		el.Lost, el.LostSeq = before.Since, before.Seq
	}
	el.Virtual = el.At.Sub(el.Lost)
	w.Elections = append(w.Elections, el)
	w.vacancy = vacancy{leader: e.Member, term: e.Term}
}

// atLeast is a number of votes that are known to have been given in an election, but never fewer than the winner must have had: it may say that it leads before what
// the others answered is recorded. 0 stays 0: nothing is known.
func (e *Election) atLeast(votes int) int {
	if votes == 0 {
		return 0
	}
	return max(votes, ArithmeticOf(e.Voters).Quorum)
}

// recount adds votes that are told of after their election was won. Elections are shared with clones: it copies them.
func (w *World) recount(c *Member) {
	last := len(w.Elections) - 1
	if last < 0 || w.Elections[last].To != c.Name {
		return
	}
	el := w.Elections[last]
	votes := el.atLeast(c.Round.votes(el.Term))
	if votes <= el.Votes {
		return
	}
	w.Elections = slices.Clone(w.Elections)
	w.Elections[last].Votes = votes
}

// lost notes that the leader is gone; the first sign counts.
func (w *World) lost(r event.Record) {
	if w.vacancy.lost || w.vacancy.leader == "" {
		return
	}
	v := &w.vacancy
	v.lost, v.at, v.wall, v.seq, v.by = true, r.At, r.Wall, r.Seq, w.by(r)
}

// memberStopped: the member's program or machine is down, so it has no role any more.
func (w *World) memberStopped(r event.Record, name string) {
	old, ok := w.Members.Get(name)
	if !ok {
		return
	}
	if old.Role != roleDown {
		m := *old
		m.Role, m.Leader, m.Since, m.Wall, m.Seq, m.Kept = roleDown, "", r.At, r.Wall, r.Seq, w.newest(old)
		w.Members.Set(name, &m)
	}
	if name == w.vacancy.leader {
		w.lost(r)
	}
}

func (w *World) raftProgress(e event.RaftProgress) {
	w.Revision = max(w.Revision, e.Revision)
	m := w.member(e.Member)
	// A figure may be older than what the member has appended since; only a truncation makes a log shorter.
	m.LastIndex, m.CommitIndex, m.Applied = max(m.LastIndex, e.LastIndex), max(m.CommitIndex, e.CommitIndex), max(m.Applied, e.Applied)
	if e.SizeBytes > 0 {
		m.Size = e.SizeBytes
	}
	if e.DBSize > 0 {
		m.DBSize, m.DBInUse = e.DBSize, e.DBInUse
	}
	if e.Quota > 0 {
		m.Quota = e.Quota
	}
	if e.Refused != nil {
		for _, r := range e.Refused.Entries {
			w.refused(r)
		}
	}
	w.Members.Set(e.Member, &m)
}
