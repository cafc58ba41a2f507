package history

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Recorder makes the history of a cluster. It is the cluster's Observer, and its Clients are the cluster's only clients.
type Recorder struct {
	began time.Time
	sink  func(Line)

	mu      sync.Mutex
	cluster raftstore.Cluster
	h       History
	seq     int64
	ids     int64
	live    map[*Watch]func() // watches that go on, with what cancels them
	over    bool              // what happens now is no part of it any more
	forgot  map[string]bool   // members whose disk was emptied since they were last heard of
}

// NewRecorder begins a history. With sink every line is also handed on at the moment it becomes known, a call before it is made; sink must not call back. from is where instants and ids
// go on from, for a run over several processes.
func NewRecorder(name string, from int64, sink func(Line)) *Recorder {
	r := &Recorder{began: time.Now(), sink: sink, seq: from, ids: from, live: make(map[*Watch]func()), forgot: make(map[string]bool)}
	r.h.Name = name
	r.tell(Line{Name: name})
	return r
}

// Began sets when the run began, for one that goes on over several processes.
func (r *Recorder) Began(at time.Time) { r.began = at }

// Attach tells which cluster the clients talk to.
func (r *Recorder) Attach(c raftstore.Cluster) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cluster = c
}

func (r *Recorder) store(member string) raftstore.Store {
	r.mu.Lock()
	c := r.cluster
	r.mu.Unlock()
	return c.Store(member)
}

// tell hands a line on; with mu held, so that the order of lines is that of instants.
func (r *Recorder) tell(l Line) {
	if r.sink != nil {
		r.sink(l)
	}
}

// now is the next instant, and the time by the clock.
func (r *Recorder) now() (int64, time.Duration) {
	r.seq++
	return r.seq, time.Since(r.began)
}

func (r *Recorder) nextID() int64 {
	r.ids++
	return r.ids
}

// Since is the clock of the history.
func (r *Recorder) Since() time.Duration { return time.Since(r.began) }

// SoFar is what History.Acknowledged and LeaderChanges say at this moment.
func (r *Recorder) SoFar() (acknowledged, leaderChanges int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.h.Acknowledged(), r.h.LeaderChanges()
}

// Note writes down what was done to the cluster.
func (r *Recorder) Note(kind, member, format string, args ...any) {
	r.note(Note{Kind: kind, Member: member, Text: fmt.Sprintf(format, args...)})
}

func (r *Recorder) note(n Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	n.Seq, n.At = r.now()
	if n.Kind == NoteWiped {
		r.forgot[n.Member] = true
	}
	r.h.Notes = append(r.h.Notes, n)
	r.tell(Line{Note: &n})
}

// RoleChanged, Message, Applied and Changed make the Recorder an Observer.
func (r *Recorder) RoleChanged(s raftstore.MemberStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := Role{Member: s.Name, ID: s.ID, Role: s.Role, Term: s.Term, Err: s.Err, Up: s.Up, Leader: s.Leader, Applied: s.Applied, Revision: s.Revision}
	if r.over {
		return
	}
	x.Seq, x.At = r.now()
	if s.Up && r.forgot[s.Name] {
		x.Forgot = true
		delete(r.forgot, s.Name)
	}
	r.h.Roles = append(r.h.Roles, x)
	r.tell(Line{Role: &x})
}

func (r *Recorder) Message(raftstore.Message) {}

func (r *Recorder) Applied(a raftstore.Applied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := Applied{Revision: a.Revision, Index: a.Index, Term: a.Term, Tag: a.Tag, Events: a.Events}
	if r.over {
		return
	}
	x.Seq, x.At = r.now()
	r.h.Applied = append(r.h.Applied, x)
	r.tell(Line{Applied: &x})
}

func (r *Recorder) Changed(c raftstore.Change) {
	n := Note{Member: c.Member, Revision: c.Revision, Lease: c.Lease, Keys: c.Keys, Text: c.Text}
	switch c.Kind {
	case raftstore.Compacted:
		n.Kind = NoteCompacted
	case raftstore.LeaseExpired:
		n.Kind = NoteLeaseExpired
	case raftstore.LeaseRevoked:
		n.Kind = NoteLeaseRevoked
	case raftstore.Diverged:
		n.Kind, n.Text = NoteDiverged, fmt.Sprintf("at log index %d", c.Index)
	case raftstore.MembersChanged:
		n.Kind, n.Text = "members", fmt.Sprint(c.Membership)
	case raftstore.SetAside:
		n.Kind = "set aside"
		r.mu.Lock()
		r.forgot[c.Member] = true
		r.mu.Unlock()
	case raftstore.DiskChanged:
		n.Kind, n.Text = "disk", fmt.Sprint(c.Disk, " ", c.Text)
	case raftstore.TrapSprung:
		n.Kind, n.Text = "trap", fmt.Sprint(c.Trap)
	case raftstore.AlarmRaised, raftstore.AlarmLifted:
		n.Kind, n.Text = "alarm", fmt.Sprint(c.Alarm, " raised ", c.Kind == raftstore.AlarmRaised)
	default:
		n.Kind = fmt.Sprint("change ", c.Kind)
	}
	r.note(n)
}

// Finish looks at every member that is up, cancels the watches that go on, and ends the history. Watches are held to the revision of their member only with settled, which says that
// nothing has changed for long enough.
func (r *Recorder) Finish(settled bool) *History {
	r.mu.Lock()
	c := r.cluster
	r.mu.Unlock()
	revisions := make(map[string]int64)
	var finals []Final
	for _, s := range c.Status() {
		if !s.Up {
			continue
		}
		f := Final{Member: s.Name, Ready: s.Ready, Compacted: s.Compacted}
		answered := make(chan raftstore.RangeResult, 1)
		if s.Ready {
			c.Store(s.Name).Range(context.Background(), raftstore.RangeRequest{Range: mvcc.Range{Key: "\x00", End: "\xff\xff"}, Serializable: true}, func(x raftstore.RangeResult) { answered <- x })
			x := <-answered
			f.Revision, f.KVs = x.Revision, x.KVs
			h, err := c.Store(s.Name).HashKV(0)
			f.Hash = h
			if err := first(x.Err, err); err != nil {
				f.Err = err.Error()
			}
		}
		revisions[s.Name] = f.Revision
		finals = append(finals, f)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for w, cancel := range r.live {
		if settled {
			w.Settled = revisions[w.Member]
		}
		w.Until, _ = r.now()
		r.tell(Line{Watch: r.withoutBatches(w)})
		go cancel()
	}
	clear(r.live)
	for i := range finals {
		r.tell(Line{Final: &finals[i]})
	}
	r.h.Finals, r.over = finals, true
	r.h.Complete, r.h.Took = settled, time.Since(r.began)
	r.tell(Line{Took: r.h.Took, Complete: settled})
	return &r.h
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// withoutBatches is w as a line: its batches have lines of their own.
func (r *Recorder) withoutBatches(w *Watch) *Watch {
	cp := *w
	cp.Batches = nil
	return &cp
}
