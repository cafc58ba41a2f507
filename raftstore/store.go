// Package raftstore is the etcd stand-in: a revisioned key-value store, replicated by hashicorp/raft over the members that
// the masters of a cluster run.
//
// Owns: the Store and Cluster contracts, the errors with etcd's words, and (in raft.go) the cluster on hashicorp/raft. The state machine itself
// is mvcc, pure; memstore puts the same contract on one mvcc without raft; storetest is the suite both pass.
//
// Imports of ours: raftstore/mvcc, raftstore/failure and what is internal to raftstore, nothing else. The network between members is what the caller hands in (Network).
//
// Goroutines: every method may be called from any goroutine. Answers come by callback, exactly once each, from any goroutine, and on
// memstore before the call returns. A callback must not block and must not call back into the store's member synchronously.
//
// Time: hashicorp/raft lives in wall time. Deadlines of requests belong to the caller, who cancels the context it passed.
package raftstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// Outcome says what is known about a write that has been answered.
type Outcome uint8

const (
	// Done: the write is committed; the answer holds its revision (also when its compares failed and it changed nothing).
	Done Outcome = iota
	// Refused: the write changed nothing and never will: it is in no log, or the state machine turned it down. Err says which, and whether trying again makes sense.
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
	// ErrNoSpace: the NOSPACE alarm is on, and the request puts something.
	ErrNoSpace = errors.New("etcdserver: mvcc: database space exceeded")
	// ErrCorrupt: the members' states have been found to differ.
	ErrCorrupt = errors.New("etcdserver: corrupt cluster")

	ErrLeaseNotFound    = errors.New("etcdserver: requested lease not found")
	ErrLeaseTTLTooLarge = errors.New("etcdserver: too large lease TTL")

	ErrMemberNotFound = errors.New("etcdserver: member not found")
	ErrMemberExists   = errors.New("etcdserver: member ID already exist")
	// ErrMemberNotLearner and ErrLearnerNotReady refuse a promotion, ErrTooManyLearners a second learner.
	ErrMemberNotLearner = errors.New("etcdserver: can only promote a learner member")
	ErrLearnerNotReady  = errors.New("etcdserver: can only promote a learner member which is in sync with leader")
	ErrTooManyLearners  = errors.New("etcdserver: too many learner members in cluster")
	// ErrUnhealthy and ErrNotEnoughStarted refuse a change of members that would leave too few of them at work (etcd's strict reconfiguration check).
	ErrUnhealthy        = errors.New("etcdserver: unhealthy cluster")
	ErrNotEnoughStarted = errors.New("etcdserver: re-configuration failed due to not enough started members")
	// ErrLearner: a learner was asked for what only a voting member may serve.
	ErrLearner = errors.New("etcdserver: rpc not supported for learner")
	// ErrRemoved is the end of a member that was taken out of the cluster.
	ErrRemoved = errors.New("the member has been permanently removed from the cluster")
)

// MaxRequestBytes is etcd's limit for one request (etcd server/embed/config.go).
const MaxRequestBytes = 1.5 * 1024 * 1024

// Written says how a write ended.
type Written struct {
	Outcome Outcome
	// Err is nil when Outcome is Done.
	Err error
	// Index and Term are the raft log entry that carried the write; zero where there is none.
	Index, Term uint64
}

// TxnResult answers a Txn.
type TxnResult struct {
	Written
	// Result is valid when Outcome is Done.
	Result mvcc.TxnResult
}

// Lease is what a caller of GrantLease and KeepAlive gets.
type Lease struct {
	Written
	ID mvcc.LeaseID
	// TTL is what is left, virtual.
	TTL time.Duration
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

// WatchRequest asks for changes of keys from revision From on (0: from the next change on).
type WatchRequest struct {
	// Prefix of the keys; with Exact the one key.
	Prefix string
	Exact  bool
	From   int64
	// NoPut and NoDelete leave out events of that kind; NoPrev leaves out previous values.
	NoPut, NoDelete, NoPrev bool
	// Progress asks to hear, in batches without events, that the watch is complete up to a revision although nothing it wants has changed: within 20 ms of wall time
	// after a change of other keys, and at once after each linearizable read on the member (which is how to ask for it).
	Progress bool
	// Fragment allows to divide the events of one revision among several batches when they are more than MaxFragment bytes; all but the last have Partial set. Without it, one revision
	// is one batch, however large.
	Fragment bool
}

// MaxFragment is how many bytes of keys and values go into a batch of a watch that allows fragments.
const MaxFragment = 512 << 10

// WatchBatch is what a watch delivers: the events of whole revisions in order, or the error that ends it.
type WatchBatch struct {
	Events []mvcc.Event
	// Revision is the store revision up to which this watch is now complete; also sent alone, as progress.
	Revision int64
	// Partial: more events of Revision follow; the watch is complete only up to the revision before.
	Partial bool
	// Err ends the watch: ErrCompacted (From is gone), ErrStopped (member stopped), mvcc.ErrRestored (the member's state was replaced by a snapshot).
	Err error
}

// Store is one member of the cluster as its clients see it. An API server talks to the member on its own machine.
type Store interface {
	// A learner serves serializable reads only, HashKV, Defragment and Status; everything else ends with ErrLearner.

	// Txn proposes t through this member, which forwards it to the leader where it is not the leader itself. It waits for a leader as long
	// as ctx lives. done is called once.
	Txn(ctx context.Context, t mvcc.Txn, done func(TxnResult))
	// Range reads. done is called once.
	Range(ctx context.Context, r RangeRequest, done func(RangeResult))
	// Watch delivers to the callback, in order and never concurrently, until cancel is called or a batch with Err was delivered.
	Watch(r WatchRequest, deliver func(WatchBatch)) (cancel func())
	// Compact drops history up to and including rev, on all members. It is refused with ErrCompacted or ErrFutureRev when rev is not fit for it.
	Compact(ctx context.Context, rev int64, done func(Written))

	// GrantLease makes a lease; keys are attached to it by mvcc.Op.Lease. When its TTL (virtual, whole seconds, at least one) has passed without KeepAlive, by the leader's clock
	// (Cluster.Advance), its keys are deleted in one revision. A new leader begins to count anew, as in etcd.
	GrantLease(ctx context.Context, ttl time.Duration, done func(Lease))
	// RevokeLease ends a lease now. KeepAlive starts its TTL anew. Both fail with ErrLeaseNotFound.
	RevokeLease(ctx context.Context, id mvcc.LeaseID, done func(Written))
	KeepAlive(ctx context.Context, id mvcc.LeaseID, done func(Lease))

	// Disarm lifts all alarms. Where the cause of one is still there it is raised again.
	Disarm(ctx context.Context, done func(Written))
	// Defragment gives the free space of this member's database back. The member answers nothing meanwhile. The sizes are MemberStatus.DBSize before and after.
	Defragment(done func(before, after int64, err error))
	// HashKV is a checksum of all keys, values and revisions up to rev (0: the present one) since the last compaction, of this member alone.
	HashKV(rev int64) (mvcc.HashKV, error)
	// Status tells this member's own view; it works without a leader.
	Status() MemberStatus
}

// RemovedReason is what the status of a member says that ended with ErrRemoved, and how it can join again.
func RemovedReason(name string) string {
	return fmt.Sprintf("%v; to let it join: member add %s", ErrRemoved, name)
}
