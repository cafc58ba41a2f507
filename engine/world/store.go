package world

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
)

// Store is what its operators know of the store as a whole; what a single member has is in Member.
type Store struct {
	// Group is the configuration in force, Before the one it replaced. Both are empty in journals that never tell of one: there every master votes.
	Group, Before Group
	// Alarms in force, in the order in which they were raised. Copied on write.
	Alarms []Alarm
	// Quota bounds the database of each member, bytes; 0: not known.
	Quota int64
	// Compacted is how far history is gone, Backup the last that was written, Restored the last that the members began anew from; Seq is 0 where there was none.
	Compacted Compaction
	Backup    Backup
	Restored  Restore
	// Leases granted and not ended yet.
	Leases int
}

// Group is a configuration of the store: who has a vote, and who only learns.
type Group struct {
	Members     []event.StoreMember // in the order in which they joined; never written to
	Index, Term uint64
	At          time.Time
	Seq         event.Seq
}

// Alarm in force.
type Alarm struct {
	Kind, Member string
	At           time.Time
	By           event.Actor
	Seq          event.Seq
}

// Compaction of the store's history.
type Compaction struct {
	Revision int64
	At       time.Time
	Seq      event.Seq
}

// Backup that was written.
type Backup struct {
	event.StoreBackedUp
	At  time.Time
	Seq event.Seq
}

// Restore from a backup.
type Restore struct {
	event.StoreRestored
	At  time.Time
	Seq event.Seq
}

// Alarms of the store, as etcd names them.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// Disk is the state of a member's disk as somebody set it or a check found it. The zero value: nothing is known to be wrong.
type Disk struct {
	// State: full, slow, flaky, readonly; torn, zeroed, flipped, cut, deleted are damage to what was written. Empty: sound.
	State string
	Delay time.Duration // of slow, wall
	Text  string
	At    time.Time
	By    event.Actor
	Seq   event.Seq
}

// Sound reports that nothing is known to be wrong.
func (d Disk) Sound() bool { return d.State == "" }

// Hinders reports that a member can live with it: its writes are slow, or one of them fails.
func (d Disk) Hinders() bool { return d.State == "slow" || d.State == "flaky" }

// Damaged reports that what was written is no longer what it was.
func (d Disk) Damaged() bool {
	switch d.State {
	case "torn", "zeroed", "flipped", "cut", "deleted":
		return true
	}
	return false
}

// Sprung is a failpoint that a member stepped on.
type Sprung struct {
	Point, Action string
	At            time.Time
	Seq           event.Seq
}

// Aside is what was moved away from a member's disk.
type Aside struct {
	Text string
	At   time.Time
	Seq  event.Seq
}

// Diverged is where a member's state was found to differ from that of the others.
type Diverged struct {
	Index uint64
	At    time.Time
	Seq   event.Seq
}

// Install is a snapshot on its way to a member, or the last that was.
type Install struct {
	From        string
	Index, Term uint64
	// Pieces that arrived, Of how many; 0: it is not told. Stalled: the last piece that was sent was lost.
	Pieces, Of int
	Stalled    bool
	// At and Wall are of its first piece, Moved by the wall of its last; Done: the member has taken it over, or refused it.
	At, Wall, Moved time.Time
	Done            bool
	Seq             event.Seq
}

// Arithmetic is what a number of votes comes to.
type Arithmetic struct {
	// Voters there are, Quorum of them that must agree, MayLose how many may fall so that the rest still can.
	Voters, Quorum, MayLose int
}

// ArithmeticOf a group of voters.
func ArithmeticOf(voters int) Arithmetic {
	if voters <= 0 {
		return Arithmetic{}
	}
	need := voters/2 + 1
	return Arithmetic{Voters: voters, Quorum: need, MayLose: voters - need}
}

// Known reports that the configuration was told; where it was not, every master votes.
func (g Group) Known() bool { return g.Seq != 0 }

// Voters counts the members with a vote.
func (g Group) Voters() int {
	n := 0
	for _, m := range g.Members {
		if !m.Learner {
			n++
		}
	}
	return n
}

// Find returns a member by its name.
func (g Group) Find(name string) (event.StoreMember, bool) {
	for _, m := range g.Members {
		if m.Name == name {
			return m, true
		}
	}
	return event.StoreMember{}, false
}

// Step is what one configuration changed in another.
type Step struct {
	// Added as learners or voters, Promoted from learner to voter, Removed, and Replaced: the same name under another ID. Members in order.
	Added, Promoted, Removed, Replaced []event.StoreMember
	Before, After                      Arithmetic
}

// Step compares the configuration in force with the one before; false: there was none before.
func (s *Store) Step() (Step, bool) {
	if !s.Before.Known() {
		return Step{}, false
	}
	return StepOf(s.Before, s.Group), true
}

// StepOf compares two configurations.
func StepOf(before, after Group) Step {
	out := Step{Before: ArithmeticOf(before.Voters()), After: ArithmeticOf(after.Voters())}
	for _, m := range after.Members {
		switch old, was := before.Find(m.Name); {
		case !was:
			out.Added = append(out.Added, m)
		case old.ID != m.ID:
			out.Replaced = append(out.Replaced, m)
		case old.Learner && !m.Learner:
			out.Promoted = append(out.Promoted, m)
		}
	}
	for _, m := range before.Members {
		if _, stays := after.Find(m.Name); !stays {
			out.Removed = append(out.Removed, m)
		}
	}
	return out
}

// Alarm finds an alarm in force by its kind; the oldest of several.
func (s *Store) Alarm(kind string) (Alarm, bool) {
	for _, a := range s.Alarms {
		if a.Kind == kind {
			return a, true
		}
	}
	return Alarm{}, false
}

// Raised reports that a member says an alarm.
func (s *Store) Raised(kind, member string) bool {
	return slices.ContainsFunc(s.Alarms, func(a Alarm) bool { return a.Kind == kind && a.Member == member })
}

// Arithmetic of the votes there are.
func (w *World) Arithmetic() Arithmetic { return ArithmeticOf(len(w.voters())) }

// Learners are the members that get data and have no vote, in order of names.
func (w *World) Learners() []*Member {
	var out []*Member
	w.Members.Scan(func(_ string, m *Member) bool {
		if m.Learns() {
			out = append(out, m)
		}
		return true
	})
	return out
}

// Learns reports that it gets data and has no vote. What the configuration says counts; only where none was told, what the member says of itself.
func (m *Member) Learns() bool {
	return !m.Out && (m.Learner || m.Joined.IsZero() && m.Role == roleLearner)
}

// Votes reports that it belongs to the group with a vote. Whether it can give it is another matter, see Muted.
func (m *Member) Votes() bool { return !m.Out && !m.Learns() }

// voters are the members with a vote.
func (w *World) voters() []*Member {
	var out []*Member
	w.Members.Scan(func(_ string, m *Member) bool {
		if m.Votes() {
			out = append(out, m)
		}
		return true
	})
	return out
}

// PromotableAt is what share of the leader's log a learner must have, per cent. Source: etcd, server.go readyPercentThreshold.
const PromotableAt = 90

// CaughtUp is how much of the leader's log a member has, per cent, and how many entries it is behind. ok: there is a leader to compare with.
func (w *World) CaughtUp(m *Member) (percent int, behind uint64, ok bool) {
	l, led := w.Leader()
	if !led || l.LastIndex == 0 {
		return 0, 0, false
	}
	if m.LastIndex >= l.LastIndex {
		return 100, 0, true
	}
	return int(m.LastIndex * 100 / l.LastIndex), l.LastIndex - m.LastIndex, true
}

// Promotable reports whether a learner has enough of the leader's log to get a vote.
func (w *World) Promotable(m *Member) bool {
	percent, _, ok := w.CaughtUp(m)
	return ok && m.Learns() && w.MemberUp(m) && percent >= PromotableAt
}

// Reaches reports that two members hear each other, as far as the network is concerned.
func (w *World) Reaches(a, b string) bool {
	active := w.activeFaults()
	return !cut(active, a, b) && !cut(active, b, a)
}

// Fullest is the member whose database is the largest, with the quota that bounds it: of those that run, for what others had may be long past; of all where none
// runs. ok: sizes were told.
func (w *World) Fullest() (m *Member, quota int64, ok bool) {
	up := false
	w.Members.Scan(func(_ string, x *Member) bool {
		if x.Out || x.DBSize == 0 {
			return true
		}
		runs := w.MemberUp(x)
		if m == nil || runs && !up || runs == up && x.DBSize > m.DBSize {
			m, up = x, runs
		}
		return true
	})
	if m == nil {
		return nil, 0, false
	}
	return m, w.QuotaOf(m), true
}

// QuotaOf is what bounds the database of a member; 0: not known.
func (w *World) QuotaOf(m *Member) int64 {
	if m.Quota > 0 {
		return m.Quota
	}
	return w.Store.Quota
}

// ---- the fold

// change replaces the entry of a member, where there is one, by a changed copy.
func (w *World) change(name string, f func(*Member)) {
	if old, ok := w.Members.Get(name); ok {
		m := *old
		f(&m)
		w.Members.Set(name, &m)
	}
}

func (w *World) membersChanged(r event.Record, e event.MembersChanged) {
	if w.Store.Group.Known() {
		w.Store.Before = w.Store.Group
	}
	g := Group{Members: slices.Clone(e.Members), Index: e.Index, Term: e.Term, At: r.At, Seq: r.Seq}
	w.Store.Group = g
	for _, s := range g.Members {
		m := w.member(s.Name)
		if m.Role == "" {
			m.Role, m.Since = roleDown, r.At
		}
		if m.Out || m.ID != s.ID || m.Learner != s.Learner || m.Joined.IsZero() {
			m.Joined, m.JoinedSeq = r.At, r.Seq
		}
		if m.ID != s.ID {
			m.Diverged = Diverged{} // that was another
		}
		m.ID, m.Learner, m.Out = s.ID, s.Learner, false
		w.Members.Set(s.Name, &m)
	}
	var gone []*Member
	w.Members.Scan(func(name string, m *Member) bool {
		if _, stays := g.Find(name); !stays && !m.Out {
			gone = append(gone, m)
		}
		return true
	})
	for _, old := range gone {
		m := *old
		m.Out, m.Learner = true, false
		if w.Store.Before.Known() {
			m.Joined, m.JoinedSeq = r.At, r.Seq
		}
		w.Members.Set(m.Name, &m)
	}
}

func (w *World) storeAlarm(r event.Record, e event.StoreAlarm) {
	switch s := &w.Store; {
	case !e.Raised:
		s.Alarms = slices.DeleteFunc(slices.Clone(s.Alarms), func(a Alarm) bool { return a.Kind == e.Kind && (a.Member == e.Member || e.Member == "") })
	case !s.Raised(e.Kind, e.Member): // said again it is the same alarm
		s.Alarms = append(slices.Clip(s.Alarms), Alarm{Kind: e.Kind, Member: e.Member, At: r.At, By: w.by(r), Seq: r.Seq})
	}
}

func (w *World) storeLease(e event.StoreLease) {
	switch e.Change {
	case "granted":
		w.Store.Leases++
	default:
		w.Store.Leases = max(w.Store.Leases-1, 0)
	}
}

func (w *World) storeDefragmented(e event.StoreDefragmented) {
	w.change(e.Member, func(m *Member) { m.DBSize, m.DBInUse = e.After, min(m.DBInUse, e.After) })
}

// storeRestored: the members that are down come back with a snapshot and nothing else; in the new group terms begin anew.
func (w *World) storeRestored(r event.Record, e event.StoreRestored) {
	w.Store.Restored = Restore{StoreRestored: e, At: r.At, Seq: r.Seq}
	w.Store.Alarms = nil
	w.Store.Leases = 0
	w.Revision = max(w.Revision, e.Restored)
	var all []*Member
	w.Members.Scan(func(_ string, m *Member) bool {
		if m.Role == roleDown {
			all = append(all, m)
		}
		return true
	})
	for _, m := range all {
		fresh := m.forgot()
		fresh.Disk = Disk{}
		w.Members.Set(m.Name, &fresh)
	}
	if len(all) == w.Members.Len() {
		w.vacancy.term, w.vacancy.anew = 0, true
		w.Log.Clear()
	}
}

// forgot is what is left of a member whose disk is another: its place in the group, and what is set on it from outside.
func (m *Member) forgot() Member {
	n := Member{Name: m.Name, Role: m.Role, Since: m.Since, Wall: m.Wall, Seq: m.Seq, Err: m.Err}
	n.ID, n.Learner, n.Out, n.Joined, n.JoinedSeq = m.ID, m.Learner, m.Out, m.Joined, m.JoinedSeq
	n.Disk, n.Traps, n.Sprung, n.Aside, n.Quota = m.Disk, m.Traps, m.Sprung, m.Aside, m.Quota
	return n
}

func (w *World) diskChanged(r event.Record, e event.DiskChanged) {
	w.change(e.Member, func(m *Member) {
		if e.State == "ok" || e.State == "" {
			m.Disk = Disk{}
			return
		}
		d := Disk{State: e.State, Delay: e.Delay, Text: e.Text, At: r.At, By: w.by(r), Seq: r.Seq}
		if m.Disk.State == e.State { // said again, with more of it
			d.At, d.By = m.Disk.At, m.Disk.By
			if d.Text == "" {
				d.Text = m.Disk.Text
			}
		}
		m.Disk = d
	})
}

func (w *World) diskSetAside(r event.Record, e event.DiskSetAside) {
	w.change(e.Member, func(m *Member) {
		*m = m.forgot()
		m.Disk = Disk{}
		m.Aside = Aside{Text: e.Text, At: r.At, Seq: r.Seq}
	})
}

func (w *World) trapSet(e event.TrapSet) {
	if e.Point == "" {
		w.forgetTraps(e.Member)
		return
	}
	w.change(e.Member, func(m *Member) { m.Traps = append(slices.Clip(m.Traps), e) })
}

// forgetTraps of a member; of all where none is named.
func (w *World) forgetTraps(name string) {
	var all []*Member
	w.Members.Scan(func(_ string, m *Member) bool {
		if len(m.Traps) > 0 && (name == "" || m.Name == name) {
			all = append(all, m)
		}
		return true
	})
	for _, old := range all {
		m := *old
		m.Traps = nil
		w.Members.Set(m.Name, &m)
	}
}

func (w *World) trapSprung(r event.Record, e event.TrapSprung) {
	w.change(e.Member, func(m *Member) {
		for i, t := range m.Traps {
			if t.Point == e.Point && (t.Action == e.Action || e.Action == "") {
				m.Traps = slices.Delete(slices.Clone(m.Traps), i, i+1)
				break
			}
		}
		m.Sprung = Sprung{Point: e.Point, Action: e.Action, At: r.At, Seq: r.Seq}
	})
}

// installing follows the pieces of a snapshot to a member, and its answer.
func (w *World) installing(r event.Record, e event.RaftMessage) {
	if e.Reply { // from the member back to the leader
		w.change(e.From, func(m *Member) {
			if m.Install.From == e.To && !m.Install.Done {
				m.Install.Done, m.Install.Stalled = !e.Lost, e.Lost
			}
		})
		return
	}
	w.change(e.To, func(m *Member) {
		in := m.Install
		if in.Done || in.From != e.From || in.Index != e.LastIndex || in.Term != e.LastTerm || e.Piece == 1 { // sent again, from its beginning
			in = Install{From: e.From, Index: e.LastIndex, Term: e.LastTerm, At: r.At, Wall: r.Wall, Seq: r.Seq}
		}
		switch {
		case e.Lost:
			in.Stalled = true
		case e.Piece > 0:
			in.Pieces, in.Of, in.Stalled, in.Moved = max(in.Pieces, e.Piece), e.Pieces, false, r.Wall
		default:
			in.Pieces, in.Of, in.Stalled, in.Moved = in.Pieces+1, e.Pieces, false, r.Wall
		}
		m.Install = in
	})
}
