package raftstore

import (
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// Verdict is what the network does to one message.
type Verdict struct {
	// Drop: the message vanishes (cut link, silent machine); Refuse: nobody listens there, the sender is told at once.
	Drop, Refuse bool
	// Delay in wall time before delivery. Different delays let messages overtake one another.
	Delay time.Duration
	// Copies is how many further times the message is delivered, each after another Delay.
	Copies int
	// Cause is an opaque mark for Observer: which fault did this.
	Cause uint64
}

// Packet is a message on its way.
type Packet struct {
	From, To string
	// Kind: "pre-vote", "vote", "append", "heartbeat", "snapshot", or of the store's own questions "forward" (writes to the leader), "index" (what a read must wait for),
	// "term" (does anyone know a later one), "lease", "configure" (a change of members, to the leader), "member" (am I still one). Answers have the kind of their question and Reply set.
	Kind  string
	Reply bool
	// Piece counts the pieces of a snapshot from 0.
	Piece int
}

// Network decides the fate of each message between two members. Called from many goroutines; must not block.
type Network interface {
	Verdict(Packet) Verdict
}

// OpenNetwork delivers everything at once.
type OpenNetwork struct{}

// Verdict lets the message pass.
func (OpenNetwork) Verdict(Packet) Verdict { return Verdict{} }

// Observer hears what happens inside the store. Calls come from the store's goroutines in order per member; they must not block.
type Observer interface {
	// RoleChanged: the member's role, term or known leader changed.
	RoleChanged(MemberStatus)
	// Message: one raft RPC was sent or answered. Heartbeats and appends come sampled; votes always.
	Message(Message)
	// Applied: revision rev, made by log entry index of term, was applied by a member for the first time in the cluster. events are shared, immutable.
	// This is the single place where a committed change is announced; across members each revision is announced once, in order.
	Applied(a Applied)
	// Changed: something else about the store or a member changed.
	Changed(Change)
}

// ChangeKind says what a Change is about.
type ChangeKind uint8

const (
	// MembersChanged: Membership is the configuration from now on. Told once per configuration, when the first member has it committed.
	MembersChanged ChangeKind = iota
	// Compacted: history up to Revision is gone. Told once per compaction, by the first member that applies it.
	Compacted
	// Defragmented: Member gave free space back; Before and After are the sizes of its database, bytes.
	Defragmented
	// AlarmRaised and AlarmLifted: Alarm. Told once each.
	AlarmRaised
	AlarmLifted
	// LeaseGranted (Lease, TTL), LeaseExpired and LeaseRevoked (Lease, Keys: how many went with it). Told once each.
	LeaseGranted
	LeaseExpired
	LeaseRevoked
	// DiskChanged: the disk of Member is Disk now; Text says what was found or done.
	DiskChanged
	// TrapSprung: Member stepped on Trap.
	TrapSprung
	// SetAside: what was on the disk of Member was moved to Text (a folder, or "" in memory), and its place is empty.
	SetAside
	// BegunAnew: the disks of all voters were wiped, and the store begins with nothing, at Revision. Told once, after the MembersChanged that goes with it.
	BegunAnew
	// Diverged: the state of Member is not that of the others at Index; it was stopped.
	Diverged
)

// Change is something about the store or a member that changed. Only the fields that its Kind names are set.
type Change struct {
	Kind          ChangeKind
	Member        string
	Membership    Membership
	Revision      int64
	Index         uint64
	Before, After int64
	Alarm         mvcc.Alarm
	Lease         mvcc.LeaseID
	TTL           time.Duration
	Keys          int
	Disk          failure.Disk
	Trap          failure.Trap
	Text          string
	// Tag is mvcc.Txn.Tag of what asked for it, where that is known.
	Tag uint64
}

// Message is a raft RPC between two members.
type Message struct {
	From, To string
	// Kind: "pre-vote", "vote", "append", "heartbeat", "snapshot".
	Kind string
	Term uint64
	// Reply is set for answers; Granted tells a vote's or an append's success.
	Reply, Granted bool
	// Entries carried, and the leader's commit index, for appends.
	Entries     int
	CommitIndex uint64
	// Lost: the network dropped or refused it.
	Lost  bool
	Cause uint64
	// LastIndex and LastTerm: the end of the log that a candidate stands for, that a snapshot replaces, or up to which an append reaches. In the answer to an
	// append LastIndex is the end of the follower's log.
	LastIndex, LastTerm uint64
	// Piece of a snapshot, from 1, and of how many; 0 in answers, and in other kinds.
	Piece, Pieces int
	// Sent is when it left its sender, by the wall; in an answer Asked is when the question did.
	Sent, Asked time.Time
}

// Applied is a revision becoming real.
type Applied struct {
	Revision    int64
	Index, Term uint64
	// Tag is mvcc.Txn.Tag of the write: the caller's mark, carried through the log.
	Tag    uint64
	Events []mvcc.Event
}
