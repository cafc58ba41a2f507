// Package raftstore is the etcd stand-in: a revisioned key-value store, replicated by hashicorp/raft over the members that
// the masters of a cluster run.
//
// Owns: the Store and Cluster contracts, the errors with etcd's words, and (in raft.go) the cluster on hashicorp/raft. The state machine itself
// is mvcc, pure; memstore puts the same contract on one mvcc without raft; storetest is the suite both pass.
//
// Imports of ours: raftstore/mvcc, nothing else. The network between members is what the caller hands in (Network).
//
// Goroutines: every method may be called from any goroutine. Answers come by callback, exactly once each, from any goroutine, and on
// memstore before the call returns. A callback must not block and must not call back into the store's member synchronously.
//
// Time: hashicorp/raft lives in wall time. Deadlines of requests belong to the caller, who cancels the context it passed.
package raftstore

import (
	"context"
	"errors"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// Outcome says what is known about a write that has been answered.
type Outcome uint8

const (
	// Done: the write is committed; the answer holds its revision (also when its compares failed and it changed nothing).
	Done Outcome = iota
	// Refused: the write is not in the log and never will be; it may be tried again.
	Refused
	// Unknown: leadership was lost, the member stopped or the caller gave up while the write was in flight. It may or may not be applied
	// later. It is never repeated by the store.
	Unknown
)

func (o Outcome) String() string { return [...]string{"done", "refused", "unknown"}[o] }

// Errors of the store; the texts are etcd's (etcd api/v3rpc/rpctypes/error.go).
var (
	// ErrNoLeader: a watch or serializable caller asked for a leader and the member knows none.
	ErrNoLeader = errors.New("etcdserver: no leader")
	// ErrLeaderChanged: the read or write was in flight while leadership moved.
	ErrLeaderChanged = errors.New("etcdserver: leader changed")
	// ErrTimeout: the caller's context ended first.
	ErrTimeout = errors.New("etcdserver: request timed out")
	// ErrTimeoutLeaderFail: as ErrTimeout, for a write that was in flight when the leader was lost. Outcome Unknown.
	ErrTimeoutLeaderFail = errors.New("etcdserver: request timed out, possibly due to previous leader failure")
	// ErrCompacted: the revision asked for lies before the last compaction.
	ErrCompacted = errors.New("etcdserver: mvcc: required revision has been compacted")
	// ErrFutureRev: the revision asked for does not exist yet.
	ErrFutureRev = errors.New("etcdserver: mvcc: required revision is a future revision")
	// ErrTooLarge: the request is over the limit of 1.5 MiB.
	ErrTooLarge = errors.New("etcdserver: request is too large")
	// ErrStopped: this member is not running (the caller sees a refused connection).
	ErrStopped = errors.New("etcdserver: server stopped")
)

// MaxRequestBytes is etcd's limit for one request (etcd server/embed/config.go).
const MaxRequestBytes = 1.5 * 1024 * 1024

// TxnResult answers a Txn.
type TxnResult struct {
	Outcome Outcome
	// Result is valid when Outcome is Done.
	Result mvcc.TxnResult
	// Err is nil when Outcome is Done.
	Err error
	// Index and Term are the raft log entry that carried the write; zero on memstore.
	Index, Term uint64
}

// RangeRequest reads keys. With Serializable false the read is linearizable: it reflects every write acknowledged before it was asked.
type RangeRequest struct {
	mvcc.Range
	Serializable bool
}

// RangeResult answers a RangeRequest.
type RangeResult struct {
	mvcc.RangeResult
	Err error
}

// WatchRequest asks for all changes of keys with Prefix, from revision From on (0: from the next change on).
type WatchRequest struct {
	Prefix string
	From   int64
}

// WatchBatch is what a watch delivers: the events of whole revisions in order, or the error that ends it.
type WatchBatch struct {
	Events []mvcc.Event
	// Revision is the store revision up to which this watch is now complete; also sent alone, as progress.
	Revision int64
	// Err ends the watch: ErrCompacted (From is gone), ErrStopped (member stopped), mvcc.ErrRestored (the member's state was replaced by a snapshot).
	Err error
}

// Store is one member of the cluster as its clients see it. An API server talks to the member on its own machine.
type Store interface {
	// Txn proposes t through this member, which forwards it to the leader where it is not the leader itself. It waits for a leader as long
	// as ctx lives. done is called once.
	Txn(ctx context.Context, t mvcc.Txn, done func(TxnResult))
	// Range reads. done is called once.
	Range(ctx context.Context, r RangeRequest, done func(RangeResult))
	// Watch delivers to the callback, in order and never concurrently, until cancel is called or a batch with Err was delivered.
	Watch(r WatchRequest, deliver func(WatchBatch)) (cancel func())
	// Compact drops history up to and including rev, on all members.
	Compact(ctx context.Context, rev int64, done func(error))
	// Status tells this member's own view; it works without a leader.
	Status() MemberStatus
}

// Role of a member, in Raft's words.
type Role string

const (
	Follower  Role = "follower"
	Candidate Role = "candidate"
	Leader    Role = "leader"
	Learner   Role = "learner"
	Down      Role = "down"
)

// MemberStatus is one member's view of itself and the cluster.
type MemberStatus struct {
	Name        string
	Role        Role
	Term        uint64
	Leader      string // name of the leader this member follows; empty: none known
	LastIndex   uint64
	CommitIndex uint64
	Applied     uint64
	Revision    int64 // store revision applied
	Compacted   int64
	SizeBytes   int64 // size on disk, or of the values in memory
	Up          bool
	// LastContact is when a leader was last heard, by the wall; zero: never in this life, or it leads.
	LastContact time.Time
	// Ready is false after a start until the member has applied what a leader confirmed since (pitfalls: lists must not go back in time).
	Ready bool
	Err   string // why a member that should be up is not ("disk failed: …"), or why one that is up may not vote (MutedReason)
}

// MutedReason is the Err of a member that runs without a vote: it forgot what it acknowledged.
const MutedReason = "its disk was wiped: no vote until a leader has caught it up"

// Cluster is the set of members. The engine's assembly owns it.
type Cluster interface {
	// Members lists the names in the order given at start.
	Members() []string
	// Store returns the member's client door; valid for the cluster's life, answering ErrStopped while the member is down.
	Store(member string) Store
	// StartMember starts a member from its disk. It returns quickly; the member may join later.
	StartMember(name string) error
	// KillMember stops it as a power loss would: nothing is handed over. Its disk stays. Calls in flight on it get Unknown or ErrStopped.
	KillMember(name string) error
	// WipeMember deletes the disk of a member that is down.
	WipeMember(name string) error
	// SetPace tells how many virtual seconds pass per wall second, so that timeouts can follow (see DESIGN in raft.go). No effect on memstore.
	SetPace(rate float64)
	// NetworkChanged tells that Network answers differently from now on.
	NetworkChanged()
	// Settled reports that no request is in flight, a leader that is up is known, and every member that can keep up has caught up, so virtual time may run
	// free without distorting what an election or a commit costs.
	Settled() bool
	// Led reports that a leader is known that is up.
	Led() bool
	// Status of all members, in order.
	Status() []MemberStatus
	Close() error
}

// Verdict is what the network does to one message.
type Verdict struct {
	// Drop: the message vanishes (cut link, silent machine); Refuse: nobody listens there, the sender is told at once.
	Drop, Refuse bool
	// Delay in wall time before delivery.
	Delay time.Duration
	// Cause is an opaque mark for Observer: which fault did this.
	Cause uint64
}

// Network decides the fate of each message between two members. Called from many goroutines; must not block.
type Network interface {
	Verdict(from, to string) Verdict
}

// OpenNetwork delivers everything at once.
type OpenNetwork struct{}

// Verdict lets the message pass.
func (OpenNetwork) Verdict(from, to string) Verdict { return Verdict{} }

// Observer hears what happens inside the store. Calls come from the store's goroutines in order per member; they must not block.
type Observer interface {
	// RoleChanged: the member's role, term or known leader changed.
	RoleChanged(MemberStatus)
	// Message: one raft RPC was sent or answered. Heartbeats and appends come sampled; votes always.
	Message(Message)
	// Applied: revision rev, made by log entry index of term, was applied by a member for the first time in the cluster. events are shared, immutable.
	// This is the single place where a committed change is announced; across members each revision is announced once, in order.
	Applied(a Applied)
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
