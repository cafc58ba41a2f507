// Package history is what clients of a store saw: every call with the instants it was made and answered, every watch with what it delivered, and what the store told its
// observer, so that a checker can judge a run afterwards, off line, however the run came about.
//
// Owns: the records, the Recorder that makes them around a raftstore.Cluster, and their form in a file (JSON lines), which is the bug report of a run that failed.
//
// Imports of ours: raftstore, raftstore/mvcc. Goroutines: a Recorder and its Clients are safe from any. Time: instants are a count of what the Recorder saw, because in virtual time a
// thousand things happen in the same nanosecond; the clock is noted beside them for the reader and for leases.
package history

import (
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Kind says what an Op asked for.
type Kind string

const (
	Txn       Kind = "txn"
	Range     Kind = "range"
	Compact   Kind = "compact"
	Grant     Kind = "grant"
	Revoke    Kind = "revoke"
	KeepAlive Kind = "keepalive"
	Add       Kind = "add"
	Promote   Kind = "promote"
	Remove    Kind = "remove"
	Disarm    Kind = "disarm"
)

// Op is one call of a client and its answer.
type Op struct {
	// ID counts from 1; it is also the Tag of the transaction, by which its revision is recognised.
	ID     int64
	Kind   Kind
	Client int
	Member string
	// Call and Return are instants; Return 0: never answered, so it may have happened or may yet. At and Ended are the same by the clock, since the run began.
	Call, Return int64
	At, Ended    time.Duration

	Txn          *mvcc.Txn     `json:",omitempty"`
	Range        *mvcc.Range   `json:",omitempty"`
	Serializable bool          `json:",omitempty"`
	Revision     int64         `json:",omitempty"` // of a compaction
	Lease        mvcc.LeaseID  `json:",omitempty"` // asked for, or granted
	TTL          time.Duration `json:",omitempty"`
	Target       string        `json:",omitempty"` // member added, promoted or removed

	Outcome     raftstore.Outcome
	Err         string            `json:",omitempty"`
	Index, Term uint64            `json:",omitempty"`
	Answer      *Answer           `json:",omitempty"`
	Read        *mvcc.RangeResult `json:",omitempty"`
}

// Answer is mvcc.TxnResult without its error, which is in Op.Err.
type Answer struct {
	Succeeded, Changed bool
	Revision           int64
	Read               []mvcc.KV `json:",omitempty"`
}

// Open tells that nobody knows whether the call had its effect: it was never answered, or answered so.
func (o *Op) Open() bool { return o.Return == 0 || o.Outcome == raftstore.Unknown }

// Done tells that it surely had.
func (o *Op) Done() bool { return o.Return != 0 && o.Outcome == raftstore.Done && o.Err == "" }

// Watch is one watch and what it delivered.
type Watch struct {
	ID      int64
	Client  int
	Member  string
	Request raftstore.WatchRequest
	Call    int64
	At      time.Duration
	// Ready: the member was ready when the watch was asked for, so it begins at once; it had begun by the instant Opened.
	Ready   bool
	Opened  int64
	Batches []Batch `json:",omitempty"`
	// End is what ended it: the store's error, or Cancelled, or empty when the run ended first. Until is that instant.
	End   string `json:",omitempty"`
	Until int64  `json:",omitempty"`
	// Settled is the revision of its member at the end of the run, long enough after the last change for everything to have been delivered; 0: it did not live that long.
	Settled int64 `json:",omitempty"`
}

// Cancelled is the end of a watch whose client had enough.
const Cancelled = "cancelled"

// Batch is a raftstore.WatchBatch as delivered.
type Batch struct {
	Seq      int64
	Events   []mvcc.Event `json:",omitempty"`
	Revision int64
	Partial  bool `json:",omitempty"`
}

// Applied is raftstore.Applied with its instant.
type Applied struct {
	Seq         int64
	At          time.Duration
	Revision    int64
	Index, Term uint64
	Tag         uint64       `json:",omitempty"`
	Events      []mvcc.Event `json:",omitempty"`
}

// Role is a change of a member's role, as the store reported it.
type Role struct {
	Seq        int64
	At         time.Duration
	Member, ID string
	Role       raftstore.Role
	Term       uint64
	Err        string `json:",omitempty"`
	Up, Forgot bool   `json:",omitempty"` // Forgot: its disk was emptied before this, so its term may begin anew
	Leader     string `json:",omitempty"`
	Applied    uint64 `json:",omitempty"`
	Revision   int64  `json:",omitempty"`
}

// Note is something done to the cluster, or that it told: a fault, a start, a compaction, an alarm.
type Note struct {
	Seq  int64
	At   time.Duration
	Kind string
	Text string `json:",omitempty"`
	// Member it concerns; Revision of a compaction; Lease and Keys of one that expired or was revoked.
	Member   string       `json:",omitempty"`
	Revision int64        `json:",omitempty"`
	Lease    mvcc.LeaseID `json:",omitempty"`
	Keys     int          `json:",omitempty"`
}

// Kinds of notes that checkers look at; all others are for the reader.
const (
	NoteCompacted    = "compacted"
	NoteLeaseExpired = "lease expired"
	NoteLeaseRevoked = "lease revoked"
	NoteDiverged     = "diverged"
	NoteWiped        = "wiped"
	NoteTwice        = "answered twice"
	NoteLate         = "not converged"
	NoteRestored     = "restored"
	NoteStarted      = "process started" // of a history over several lives of a process
)

// Final is the state of one member at the end.
type Final struct {
	Member    string
	Revision  int64
	Compacted int64
	Ready     bool
	Hash      mvcc.HashKV
	KVs       []mvcc.KV `json:",omitempty"`
	Err       string    `json:",omitempty"`
}

// Restored is what happened when, after the end of everything else, the cluster was restored from a backup taken on the way.
type Restored struct {
	// Revision of the backup, Claimed where the store said it begins again, Known the last revision that any client had been told.
	Revision, Claimed, Known int64
	// Reads of all keys through each member afterwards, and one write; Watch is how a watch from the last known revision ended.
	Reads []Final
	Wrote int64
	Watch string
	Err   string `json:",omitempty"`
}

// History is a run.
type History struct {
	// Name says which run: the test, the seed, what was drawn from it.
	Name    string
	Ops     []*Op
	Watches []*Watch
	Applied []Applied
	Roles   []Role
	Notes   []Note
	Finals  []Final
	// Restored is nil where no backup was restored.
	Restored *Restored
	// Took is how long it took by the clock.
	Took time.Duration
	// Complete: the run ended as it should, with every member equal; so what is in no Applied never happened.
	Complete bool
}

// Acknowledged counts writes that were done and changed something.
func (h *History) Acknowledged() int {
	n := 0
	for _, o := range h.Ops {
		if o.Kind == Txn && o.Done() && o.Answer != nil && o.Answer.Changed {
			n++
		}
	}
	return n
}

// LeaderChanges counts how often another term got its leader, the first not counted.
func (h *History) LeaderChanges() int {
	terms := make(map[uint64]bool)
	for _, r := range h.Roles {
		if r.Role == raftstore.Leader {
			terms[r.Term] = true
		}
	}
	return max(0, len(terms)-1)
}
