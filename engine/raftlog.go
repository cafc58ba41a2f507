package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore"
)

// raftLog brings what the members' logs hold to the journal. What an entry says is told at once, by the first member that has it; where the others are with it is told
// a little later and for all that came meanwhile, so that the journal grows by members and time and not by entries times members. After the fall of
// a leader, and until a while after the next election, everything is told at once. See engine/event/raft.go for the figures.
type raftLog struct {
	d *storeDoor

	mu      sync.Mutex
	members map[string]*memberLog
	order   []string
	// posted: a flush is on its way to the loop; timed: one will be, soon.
	posted, timed bool
	// closely is until when nothing waits. Wall.
	closely time.Time
}

// memberLog is what has happened to one log and was not told yet.
type memberLog struct {
	changes         []raftstore.LogChange
	due             time.Time
	last            uint64
	commit, applied uint64
	revision        int64
	refused         []event.RaftRefusal
	// held is since when it is held back how far it is, see raftLog.hold. Wall.
	held time.Time
}

const (
	// tellLater is how long it may take until the journal hears that another member has an entry, or that it was applied.
	tellLater = 100 * time.Millisecond
	// tellClosely is how long after the last change of a role nothing waits.
	tellClosely = time.Second
	// entriesTold is how many entries one record describes at most.
	entriesTold = 32
	// refusedTold is how many refused entries one record names at most.
	refusedTold = 256
	// heldMost is for how long it is held back that a member has committed what the journal does not know a majority to have: what the others stored is told
	// within tellLater.
	heldMost = 3 * tellLater
)

func newRaftLog(d *storeDoor) *raftLog { return &raftLog{d: d, members: map[string]*memberLog{}} }

// look makes everything be told at once for a while.
func (l *raftLog) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closely = time.Now().Add(tellClosely)
}

// note takes in a change. Store goroutines; it does not block.
func (l *raftLog) note(c raftstore.LogChange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.members[c.Member]
	if m == nil {
		m = &memberLog{}
		l.members[c.Member] = m
		l.order = append(l.order, c.Member)
	}
	quiet := len(m.changes) == 0 && m.due.IsZero()
	m.take(c)
	now := time.Now()
	due := now.Add(tellLater)
	if len(c.Entries) > 0 || c.Kind != raftstore.LogApplied && c.Kind != raftstore.LogAppended || now.Before(l.closely) {
		due = now
	}
	if quiet || due.Before(m.due) {
		m.due = due
	}
	l.call(!due.After(now))
}

// take adds a change to what waits, joined to the one before where both say the same kind of thing.
func (m *memberLog) take(c raftstore.LogChange) {
	m.commit, m.applied, m.revision = max(m.commit, c.CommitIndex), max(m.applied, c.Applied), max(m.revision, c.Revision)
	switch c.Kind {
	case raftstore.LogApplied:
		m.commit, m.applied = max(m.commit, c.To), max(m.applied, c.To)
		if r := c.Refused; r.Refused > 0 && len(m.refused) < refusedTold {
			m.refused = append(m.refused, event.RaftRefusal{Index: c.To, Term: c.Term, Refused: r.Refused, All: r.All, Why: r.Why})
		}
		return
	case raftstore.LogSaved:
	case raftstore.LogTruncated:
		m.last = c.From - 1
	case raftstore.LogOpened, raftstore.LogWiped:
		m.last, m.commit, m.applied, m.revision = c.To, c.CommitIndex, c.Applied, c.Revision
	case raftstore.LogRestored:
		m.last, m.commit, m.applied = max(m.last, c.To), max(m.commit, c.To), max(m.applied, c.To)
	default:
		m.last = c.To
		if n := len(m.changes); n > 0 {
			b := &m.changes[n-1]
			if b.Kind == c.Kind && b.Term == c.Term && c.From == b.To+1 && len(b.Entries)+len(c.Entries) <= entriesTold {
				b.To, b.At = c.To, c.At
				b.Entries = append(b.Entries[:len(b.Entries):len(b.Entries)], c.Entries...)
				return
			}
		}
	}
	m.changes = append(m.changes, c)
}

// call sees to it that flush will run on the loop: now, or when tellLater is over. Locked.
func (l *raftLog) call(now bool) {
	switch {
	case l.posted:
	case now:
		l.posted = true
		l.d.e.loop.Post(l.flush)
	case !l.timed:
		l.timed = true
		time.AfterFunc(tellLater, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.timed = false
			l.call(true)
		})
	}
}

// flush tells what is due. Loop only.
func (l *raftLog) flush() {
	type told struct {
		name string
		memberLog
	}
	var out []told
	l.mu.Lock()
	l.posted = false
	now, waits := time.Now(), false
	for _, name := range l.order {
		m := l.members[name]
		switch {
		case m.due.IsZero():
		case m.due.After(now.Add(time.Millisecond)):
			waits = true
		default:
			out = append(out, told{name, *m})
			m.changes, m.refused, m.due = nil, nil, time.Time{}
		}
	}
	if waits {
		l.call(false)
	}
	l.mu.Unlock()
	// Who has committed less comes first: a leader commits what the others have stored before.
	slices.SortStableFunc(out, func(a, b told) int { return cmp.Compare(a.commit, b.commit) })
	for i := range out {
		l.tell(out[i].name, &out[i].memberLog)
	}
}

// majorityTold is the newest entry that the journal knows a majority to have once a member's log is told to end at last. Loop only.
func (d *storeDoor) majorityTold(name string, last uint64) uint64 {
	var ends []uint64
	for _, m := range d.members.Members {
		switch {
		case m.Learner:
		case m.Name == name:
			ends = append(ends, last)
		default:
			ends = append(ends, d.progress[m.Name].LastIndex)
		}
	}
	if len(ends) == 0 {
		return 0
	}
	slices.Sort(ends)
	return ends[(len(ends)-1)/2]
}

// hold keeps back how far a member has committed and applied where the journal does not know yet that a majority has that much, and tells it a little later: what is
// shown as committed is held by a majority at every record. Loop only.
func (l *raftLog) hold(name string, m *memberLog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := max(l.d.majorityTold(name, m.last), l.d.progress[name].CommitIndex)
	kept := l.members[name]
	now := time.Now()
	if m.commit <= known || !kept.held.IsZero() && now.Sub(kept.held) > heldMost {
		kept.held = time.Time{}
		return
	}
	m.commit, m.applied = known, min(m.applied, known)
	if kept.held.IsZero() {
		kept.held = now
	}
	if kept.due.IsZero() {
		kept.due = now.Add(tellLater)
	}
	l.call(false)
}

// tell emits the facts of one member. Loop only.
func (l *raftLog) tell(name string, m *memberLog) {
	d := l.d
	by, cause := event.On("etcd", name), d.why(0)
	l.hold(name, m)
	said := false // how far the member is
	for i, c := range m.changes {
		switch c.Kind {
		case raftstore.LogOpened, raftstore.LogAppended:
			e := event.RaftAppended{Member: name, From: c.From, To: c.To, Term: c.Term, Opened: c.Kind == raftstore.LogOpened, Stored: c.At}
			e.Entries = d.entriesOf(c.Entries)
			if i == len(m.changes)-1 {
				e.CommitIndex, e.Applied, said = m.commit, m.applied, true
			}
			d.e.journal.Emit(by, d.why(causeOf(e.Entries)), e)
		case raftstore.LogTruncated:
			d.e.journal.Emit(by, cause, event.RaftTruncated{Member: name, From: c.From, To: c.To, Done: c.At})
		case raftstore.LogWiped:
			d.e.journal.Emit(by, cause, event.RaftTruncated{Member: name, Wiped: true, Done: c.At})
		case raftstore.LogRestored, raftstore.LogSaved:
			d.e.journal.Emit(by, cause, event.RaftSnapshot{Member: name, Index: c.To, Term: c.Term, Installed: c.Kind == raftstore.LogRestored})
		}
	}
	p := d.progress[name]
	p.Member, p.LastIndex, p.CommitIndex, p.Applied, p.Revision = name, m.last, m.commit, m.applied, max(p.Revision, m.revision)
	moved := p != d.progress[name] && !said
	d.progress[name] = p
	if len(m.refused) > 0 {
		p.Refused, moved = &event.RaftRefused{Entries: m.refused}, true
	}
	if moved {
		d.e.journal.Emit(by, d.e.root, p)
	}
}

// why is cause, or where there is none what last shook the store, or the beginning. Loop only.
func (d *storeDoor) why(cause event.Seq) event.Seq {
	if cause != 0 {
		return cause
	}
	return max(d.cause, d.e.root)
}

// causeOf is the first cause that an entry names.
func causeOf(entries []event.RaftEntry) event.Seq {
	for _, e := range entries {
		for _, w := range e.Writes {
			if w.Cause != 0 {
				return w.Cause
			}
		}
	}
	return 0
}

// entriesOf says in Kubernetes' words what entries hold.
func (d *storeDoor) entriesOf(list []raftstore.LogEntry) []event.RaftEntry {
	var out []event.RaftEntry
	for _, l := range list {
		e := event.RaftEntry{Index: l.Index, Term: l.Term, More: l.More}
		if l.Kind != "write" {
			e.Kind = l.Kind
		}
		for _, w := range l.Writes {
			e.Writes = append(e.Writes, event.RaftWrite{Object: objectOf(w.Key), Delete: w.Delete, Cause: d.run.record(w.Tag)})
		}
		out = append(out, e)
	}
	return out
}

// objectOf names the object that lives at a key of the store; one of no kind by the key itself.
func objectOf(key string) kinds.ObjectRef {
	k, ok := kinds.ForKey(key)
	if !ok {
		if ref, ok := kinds.RefOfKey(key); ok {
			return ref
		}
		return kinds.ObjectRef{Name: key}
	}
	name := strings.TrimPrefix(key, k.Prefix)
	namespace := ""
	if i := strings.IndexByte(name, '/'); i >= 0 {
		namespace, name = name[:i], name[i+1:]
	}
	return kinds.ObjectRef{Resource: k.String(), Namespace: namespace, Name: name}
}
