package event

import (
	"time"

	"example.com/kubeviz/engine/kinds"
)

// ---- the store's raft group
//
// Raft lives in wall time. Record.Wall is when the loop took a fact in; where order or distance matters a fact carries the wall instant of its own.
//
// Volume, for three members. An idle group is silent but for lease renewals, which are entries like any other. An entry costs four records when entries come one by
// one: RaftAppended of the first member, which says what it holds, and a tenth of a second (wall) later one of each other member and one RaftProgress of the first. When
// they come faster, all that a member did in that time is one record, so that a member costs at most about ten a second besides what the first has to say.
// Of messages, votes and snapshots are always told; of appends the answers to those with entries, at most two a second (wall) and link; of what is lost one a
// second and link; and from the loss of a leader to a second after the next election everything: some hundreds.

// RaftTiming: raft's timeouts, in wall time, are these from now on; they follow the rate. A follower that has heard no leader for a random time between Heartbeat and
// twice that stands for election; a candidate asks again after a random time between Election and twice that; a leader that has not reached a majority
// for Lease steps down.
type RaftTiming struct{ Heartbeat, Election, Lease time.Duration }

// RaftRole: a member's role, term or leader changed, as it sees itself.
type RaftRole struct {
	Member string
	Role   string // follower, candidate, leader, learner, down
	Term   uint64
	Leader string `json:",omitempty"`
	Err    string `json:",omitempty"`
	// Heard is when it last heard a leader, by the wall; zero: never in this life, or it leads.
	Heard time.Time `json:",omitzero"`
}

// RaftContact: a follower has heard nothing from its leader since Heard, for much longer than usual (Lost), or hears it again.
type RaftContact struct {
	Member, Leader string
	Lost           bool `json:",omitempty"`
	Heard          time.Time
}

// RaftProgress: a member's log moved. Sampled.
type RaftProgress struct {
	Member                          string
	LastIndex, CommitIndex, Applied uint64
	Revision                        int64
	SizeBytes                       int64 `json:",omitempty"` // of log and snapshots
	// DBSize is what the database occupies, DBInUse what of it is in use, Quota what bounds the first. Bytes.
	DBSize  int64 `json:",omitempty"`
	DBInUse int64 `json:",omitempty"`
	Quota   int64 `json:",omitempty"`
	// Refused says which entries, applied since the last record of this kind, changed nothing or not all that they ask for. Never written to.
	Refused *RaftRefused `json:",omitempty"`
}

// RaftRefused are entries that the state machine turned down, the oldest first.
type RaftRefused struct{ Entries []RaftRefusal }

// RaftRefusal: Refused of All writes of an entry changed nothing, and of the first of them why: "NOSPACE"; "compare", what it compared with was other; "unchanged"; or
// the error in words.
type RaftRefusal struct {
	Index, Term  uint64
	Refused, All int
	Why          string
}

// RaftMessage: a raft RPC or its answer. Which are told is said above.
type RaftMessage struct {
	From, To       string
	Kind           string // pre-vote, vote, append, heartbeat, snapshot
	Term           uint64
	Reply, Granted bool   `json:",omitempty"`
	Entries        int    `json:",omitempty"`
	CommitIndex    uint64 `json:",omitempty"`
	Lost           bool   `json:",omitempty"`
	// LastIndex and LastTerm are the end of the log that a vote asks with, that a snapshot replaces, or up to which an append reaches. In the answer to an append
	// LastIndex is the end of the follower's log.
	LastIndex uint64 `json:",omitempty"`
	LastTerm  uint64 `json:",omitempty"`
	// Piece of a snapshot, from 1, and of how many; 0: not told.
	Piece, Pieces int `json:",omitempty"`
	// Sent is when it left its sender, by the wall; in an answer Asked is when the question did. The record is made when it arrives, or is lost.
	Sent  time.Time `json:",omitzero"`
	Asked time.Time `json:",omitzero"`
}

// RaftAppended: a member has entries From..To, all of Term, in its log. What its log held from From on is replaced.
type RaftAppended struct {
	Member   string
	From, To uint64
	Term     uint64
	// Entries says what they hold, where no record has before.
	Entries []RaftEntry `json:",omitempty"`
	// CommitIndex and Applied are how far the member is as this is told.
	CommitIndex uint64 `json:",omitempty"`
	Applied     uint64 `json:",omitempty"`
	// Opened: the member starts and found the log From..To on its disk, whose newest entries are Entries. Not all of them need be of Term, which is that of the last.
	Opened bool `json:",omitempty"`
	// Stored is when, by the wall; of the newest where it tells of many.
	Stored time.Time `json:",omitzero"`
}

// RaftEntry is an entry of the log and what it holds.
type RaftEntry struct {
	Index, Term uint64
	// Kind: "" writes; "noop" is a leader's first entry; "configuration", "compaction", "barrier"; "mark" says only that a term began.
	Kind string `json:",omitempty"`
	// Writes it holds, at most eight; More counts further ones.
	Writes []RaftWrite `json:",omitempty"`
	More   int         `json:",omitempty"`
}

// RaftWrite is an object that an entry writes.
type RaftWrite struct {
	Object kinds.ObjectRef
	Delete bool `json:",omitempty"`
	// Cause is the record that asked for it; 0: none is known.
	Cause Seq `json:",omitempty"`
}

// RaftTruncated: a member deleted entries From..To, the end of its log, because a leader has others there. None of them was ever committed. Wiped: its disk was emptied.
type RaftTruncated struct {
	Member   string
	From, To uint64
	Wiped    bool `json:",omitempty"`
	// Done is when, by the wall.
	Done time.Time `json:",omitzero"`
}

// RaftSnapshot: a member made a snapshot of its state up to Index, or took over a leader's (Installed), which replaces its log up to there.
type RaftSnapshot struct {
	Member      string
	Index, Term uint64
	Installed   bool `json:",omitempty"`
}

func (RaftTiming) Name() string    { return "RaftTiming" }
func (RaftRole) Name() string      { return "RaftRole" }
func (RaftContact) Name() string   { return "RaftContact" }
func (RaftProgress) Name() string  { return "RaftProgress" }
func (RaftMessage) Name() string   { return "RaftMessage" }
func (RaftAppended) Name() string  { return "RaftAppended" }
func (RaftTruncated) Name() string { return "RaftTruncated" }
func (RaftSnapshot) Name() string  { return "RaftSnapshot" }
