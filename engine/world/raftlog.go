package world

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
)

// Entry of the raft log, with the record that says what it holds.
type Entry struct {
	event.RaftEntry
	Seq event.Seq
	// Refused says what of it changed nothing when it was applied; zero: all did, or that is not told.
	Refused event.RaftRefusal
}

// Run is a piece of a log whose entries are all of one term.
type Run struct{ From, To, Term uint64 }

// Round is a member's standing for election.
type Round struct {
	// Kind of what it asks for: "pre-vote" (would you vote for me?) or "vote"; empty: it has never stood.
	Kind string
	// Term it asks for, and the end of the log it asks with.
	Term, LastIndex, LastTerm uint64
	// At is when it began, Wall by the wall.
	At, Wall time.Time
	Seq      event.Seq
	// Granted, and Lost: whom its question did not reach.
	Granted, Lost []string
	Refused       []Refusal
}

// Refusal of a vote.
type Refusal struct {
	By  string
	Why RefusalReason
	// Than is what Why speaks of: the leader it hears, or whom it has voted for.
	Than string
	// Term and Index of what it has itself.
	Term, Index uint64
}

// RefusalReason is why a member did not vote for another.
type RefusalReason uint8

// The reasons, in raft's order.
const (
	// LaterTerm: it is in a later term.
	LaterTerm RefusalReason = iota + 1
	// HearsLeader: it follows a leader.
	HearsLeader
	// VotedOther: it has given its vote of the term away.
	VotedOther
	// NewerLog: its own log is newer.
	NewerLog
	// Unexplained: what is recorded does not say.
	Unexplained
)

// Cut is a piece of log that a member gave up because a leader had something else there.
type Cut struct {
	From, To uint64
	// Runs are the terms of what was there, Entries what the last of it held.
	Runs    []Run
	Entries []Entry
	// By is the term of what has taken its place; 0: nothing has yet.
	By       uint64
	At, Wall time.Time
	Seq      event.Seq
}

// TermAt is the term that the entry given up at an index had; 0: it was not one of them, or that is not known.
func (c *Cut) TermAt(index uint64) uint64 {
	for _, r := range c.Runs {
		if r.From <= index && index <= r.To {
			return r.Term
		}
	}
	return 0
}

const (
	// logKept is how many indexes World.Log holds, runsKept how many runs a member has, newestKept how many entries are Kept.
	logKept    = 1024
	runsKept   = 12
	newestKept = 16
	// roundApart is the wall time after which the same question begins a new round; what was lost is sent again sooner, and no timeout is shorter.
	roundApart = 230 * time.Millisecond
)

// votes that were given in the round, its own among them.
func (r *Round) votes(term uint64) int {
	if r.Kind != "vote" || r.Term != term {
		return 0
	}
	return 1 + len(r.Granted)
}

// TermAt is the term of the member's entry at an index; 0 when it has none there or the World does not know.
func (m *Member) TermAt(index uint64) uint64 {
	for i := len(m.Runs) - 1; i >= 0; i-- {
		if r := m.Runs[i]; r.From <= index && index <= r.To {
			return r.Term
		}
	}
	return 0
}

// LastTerm is the term of the last entry of the log; 0: unknown.
func (m *Member) LastTerm() uint64 { return m.TermAt(m.LastIndex) }

// EntryOf is what the member's entry at an index holds.
func (w *World) EntryOf(m *Member, index uint64) (Entry, bool) {
	term := m.TermAt(index)
	if term == 0 {
		return Entry{}, false
	}
	if e, ok := w.entry(index, term); ok {
		return e, true
	}
	for _, e := range m.Kept {
		if e.Index == index && e.Term == term {
			return e, true
		}
	}
	return Entry{}, false
}

func (w *World) entry(index, term uint64) (Entry, bool) {
	list, _ := w.Log.Get(index)
	for _, e := range list {
		if e.Term == term {
			return e, true
		}
	}
	return Entry{}, false
}

// Holders counts the members whose log has the entry of that index and term.
func (w *World) Holders(index, term uint64) int {
	n := 0
	w.Members.Scan(func(_ string, m *Member) bool {
		if term != 0 && m.TermAt(index) == term {
			n++
		}
		return true
	})
	return n
}

// Divergence is the first index at which the member's log holds something that the leader's does not, so that it will be overwritten; 0: there is none, or it
// cannot be known.
func (w *World) Divergence(m *Member) uint64 {
	leader, ok := w.Leader()
	if !ok || leader.Name == m.Name || len(leader.Runs) == 0 {
		return 0
	}
	for _, r := range m.Runs {
		if r.Term >= leader.Term {
			continue // from the leader itself
		}
		for i := max(r.From, leader.Runs[0].From); i <= r.To; {
			l, ok := leader.run(i)
			switch {
			case !ok && i > leader.LastIndex || ok && l.Term != r.Term:
				return i
			case !ok: // not known of the leader's log
				i++
			default:
				i = l.To + 1
			}
		}
	}
	return 0
}

func (m *Member) run(index uint64) (Run, bool) {
	for _, r := range m.Runs {
		if r.From <= index && index <= r.To {
			return r, true
		}
	}
	return Run{}, false
}

// newest is what the last entries of a log hold.
func (w *World) newest(m *Member) []Entry { return w.held(m, 1, m.LastIndex) }

// held is what the entries of a piece of a log hold; of a long one the last.
func (w *World) held(m *Member, from, to uint64) []Entry {
	var out []Entry
	for n := uint64(0); n < newestKept && n < to && to-n >= from; n++ {
		if e, ok := w.EntryOf(m, to-n); ok {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// from is what runs have at and after an index. Runs are shared: it never writes to them.
func from(runs []Run, index uint64) []Run {
	var out []Run
	for _, r := range runs {
		if r.To >= index {
			r.From = max(r.From, index)
			out = append(out, r)
		}
	}
	return out
}

// sameWrites reports that two descriptions can be of one entry: one of them says nothing, or both name the same objects.
func sameWrites(a, b event.RaftEntry) bool {
	if a.Kind == "mark" || b.Kind == "mark" || len(b.Writes) == 0 && b.Kind == "" {
		return true
	}
	return a.Kind == b.Kind && slices.EqualFunc(a.Writes, b.Writes, func(x, y event.RaftWrite) bool { return x.Object == y.Object && x.Delete == y.Delete })
}

// upTo is what is left of runs when the log ends at last. Runs are shared: it never writes to them.
func upTo(runs []Run, last uint64) []Run {
	n := len(runs)
	if n == 0 || runs[n-1].To <= last {
		return runs
	}
	for n > 0 && runs[n-1].From > last {
		n--
	}
	runs = slices.Clone(runs[:n])
	if n > 0 {
		runs[n-1].To = min(runs[n-1].To, last)
	}
	return runs
}

// join puts a run at the end of a log; what it had there is replaced.
func join(runs []Run, r Run) []Run {
	runs = upTo(runs, r.From-1)
	if n := len(runs); n > 0 && runs[n-1].Term == r.Term && runs[n-1].To == r.From-1 {
		runs = slices.Clone(runs)
		runs[n-1].To = r.To
		return runs
	}
	return append(slices.Clone(runs[max(0, len(runs)-runsKept+1):]), r)
}

func (w *World) member(name string) Member {
	if m, ok := w.Members.Get(name); ok {
		return *m
	}
	return Member{Name: name}
}

func (w *World) raftContact(e event.RaftContact) {
	m := w.member(e.Member)
	m.Heard, m.Silent = e.Heard, e.Lost
	w.Members.Set(e.Member, &m)
}

func (w *World) raftAppended(r event.Record, e event.RaftAppended) {
	for _, entry := range e.Entries {
		w.describe(Entry{RaftEntry: entry, Seq: r.Seq})
	}
	m := w.member(e.Member)
	if e.Opened {
		m.opened(e)
	} else {
		m.Runs, m.LastIndex = join(m.Runs, Run{From: e.From, To: e.To, Term: e.Term}), e.To
		m.CommitIndex, m.Applied = max(m.CommitIndex, e.CommitIndex), max(m.Applied, e.Applied)
		if m.Cut.Seq != 0 && m.Cut.By == 0 && e.From <= m.Cut.From && e.To >= m.Cut.From {
			m.Cut.By = e.Term
		}
	}
	w.Members.Set(e.Member, &m)
}

// opened: what is on the disk is known again, which may be from a run before this journal; how much of it is committed is not.
func (m *Member) opened(e event.RaftAppended) {
	known := m.LastIndex == e.To && m.LastTerm() == e.Term
	m.LastIndex, m.Applied = e.To, e.Applied
	if !known {
		m.CommitIndex = min(m.CommitIndex, e.To)
		m.Runs = nil
		for _, entry := range e.Entries {
			m.Runs = join(m.Runs, Run{From: entry.Index, To: entry.Index, Term: entry.Term})
		}
	}
}

// describe remembers what an entry holds.
func (w *World) describe(e Entry) {
	list, _ := w.Log.Get(e.Index)
	for i, have := range list {
		if have.Term != e.Term {
			continue
		}
		if !sameWrites(have.RaftEntry, e.RaftEntry) { // of a group that has begun anew
			list = slices.Clone(list)
			list[i] = e
			w.Log.Set(e.Index, list)
		}
		return
	}
	w.Log.Set(e.Index, append(slices.Clip(list), e))
	if w.Log.Len() > logKept {
		w.Log.PopMin()
	}
}

// refused remembers what the state machine turned down. Lists are shared with clones: it copies them.
func (w *World) refused(r event.RaftRefusal) {
	list, _ := w.Log.Get(r.Index)
	for i, e := range list {
		if e.Term == r.Term {
			list = slices.Clone(list)
			list[i].Refused = r
			w.Log.Set(r.Index, list)
			return
		}
	}
}

func (w *World) raftTruncated(r event.Record, e event.RaftTruncated) {
	m := w.member(e.Member)
	if e.Wiped {
		fresh := m.forgot()
		if fresh.Disk.Damaged() {
			fresh.Disk = Disk{}
		}
		w.Members.Set(e.Member, &fresh)
		return
	}
	e.From = max(e.From, 1)
	m.Cut = Cut{From: e.From, To: e.To, Runs: from(m.Runs, e.From), Entries: w.held(&m, e.From, e.To), At: r.At, Wall: r.Wall, Seq: r.Seq}
	if !e.Done.IsZero() {
		m.Cut.Wall = e.Done
	}
	m.Runs, m.LastIndex = upTo(m.Runs, e.From-1), e.From-1
	w.Members.Set(e.Member, &m)
}

func (w *World) raftSnapshot(r event.Record, e event.RaftSnapshot) {
	m := w.member(e.Member)
	m.Snapshot = max(m.Snapshot, e.Index)
	if e.Installed {
		if m.Install.Seq != 0 && !m.Install.Done {
			m.Install.Done, m.Install.Moved = true, r.Wall
		}
		m.LastIndex, m.CommitIndex, m.Applied = max(m.LastIndex, e.Index), max(m.CommitIndex, e.Index), max(m.Applied, e.Index)
		if m.TermAt(e.Index) != e.Term {
			m.Runs = []Run{{From: e.Index, To: e.Index, Term: e.Term}}
		}
	}
	w.Members.Set(e.Member, &m)
}

// raftMessage follows who asks for votes and who gives them, snapshots, and what followers say that they have. Other messages leave nothing behind.
func (w *World) raftMessage(r event.Record, e event.RaftMessage) {
	switch e.Kind {
	case "vote", "pre-vote":
	case "snapshot":
		w.installing(r, e)
		return
	case "append":
		w.acknowledged(e)
		return
	default:
		return
	}
	if !e.Reply {
		w.asked(r, e)
		return
	}
	c := w.member(e.To)
	if e.Granted && e.Kind == "vote" {
		v := w.member(e.From)
		v.VotedFor, v.VoteTerm = e.To, e.Term
		w.Members.Set(e.From, &v)
	}
	if c.Round.Kind != e.Kind && c.Round.Kind != "" {
		return // the answer comes too late
	}
	c.Round.Kind = e.Kind
	switch {
	case e.Lost:
		c.Round.Lost = with(c.Round.Lost, e.From)
	case e.Granted:
		c.Round.Term = max(c.Round.Term, e.Term)
		c.Round.Granted = with(c.Round.Granted, e.From)
	default:
		c.Round.Refused = append(slices.Clip(c.Round.Refused), w.refusal(e, &c.Round))
	}
	w.recount(&c)
	w.Members.Set(e.To, &c)
}

// acknowledged: a follower said that its log reaches to an index, which is told here before it is told what it stored. Its word counts in the term and life it is in, and
// only after the last piece of log that it gave up: an answer can come late.
func (w *World) acknowledged(e event.RaftMessage) {
	leader, ok := w.Members.Get(e.To)
	m, known := w.Members.Get(e.From)
	if !e.Reply || !e.Granted || e.Lost || !ok || !known || e.LastIndex <= m.LastIndex || m.Role == roleDown || m.Role == roleLeader || m.Term != e.Term {
		return
	}
	if e.Sent.Before(m.Wall) || m.Cut.Seq != 0 && !e.Sent.After(m.Cut.Wall) {
		return
	}
	var add []Run
	for i := m.LastIndex + 1; i <= e.LastIndex; { // all of it is the leader's
		l, ok := leader.run(i)
		if !ok {
			return
		}
		to := min(l.To, e.LastIndex)
		add = append(add, Run{From: i, To: to, Term: l.Term})
		i = to + 1
	}
	if n := len(m.Runs); n > 0 && m.Runs[n-1].To != m.LastIndex {
		return // where it goes on is not known
	}
	w.change(e.From, func(m *Member) {
		for _, r := range add {
			m.Runs = join(m.Runs, r)
		}
		m.LastIndex = e.LastIndex
	})
}

func (w *World) asked(r event.Record, e event.RaftMessage) {
	c := w.member(e.From)
	sent := e.Sent
	if sent.IsZero() {
		sent = r.Wall
	}
	if c.Round.Kind != e.Kind || c.Round.Term != e.Term || sent.Sub(c.Round.Wall) > roundApart {
		c.Round = Round{Kind: e.Kind, Term: e.Term, LastIndex: e.LastIndex, LastTerm: e.LastTerm, At: r.At, Wall: sent, Seq: r.Seq}
	}
	if e.Lost {
		c.Round.Lost = with(c.Round.Lost, e.To)
	}
	if e.Kind == "vote" {
		c.VotedFor, c.VoteTerm = e.From, e.Term
	}
	w.Members.Set(e.From, &c)
}

func with(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(slices.Clip(list), name)
}

// refusal finds out why a member did not vote for another, by what is recorded of it. The order is raft's.
func (w *World) refusal(e event.RaftMessage, round *Round) Refusal {
	v := w.member(e.From)
	f := Refusal{By: e.From, Why: Unexplained, Term: v.LastTerm(), Index: v.LastIndex}
	switch {
	case e.Term > round.Term:
		f.Why, f.Term = LaterTerm, e.Term
	case v.Leader != "" && v.Leader != e.To:
		f.Why, f.Than = HearsLeader, v.Leader
	case e.Kind == "vote" && v.VoteTerm == round.Term && v.VotedFor != e.To && v.VotedFor != "":
		f.Why, f.Than = VotedOther, v.VotedFor
	case f.Term > round.LastTerm || f.Term == round.LastTerm && f.Index > round.LastIndex:
		f.Why = NewerLog
	}
	return f
}

// LeaderLost is the record that told of the loss of the leader, while nobody has been elected since.
func (w *World) LeaderLost() (event.Seq, bool) { return w.vacancy.seq, w.vacancy.lost }
