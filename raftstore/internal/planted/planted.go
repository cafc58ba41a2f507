// Package planted is a set of bugs that can be planted into the store, to see whether the tests of package robust find them: a harness that cannot find them is broken.
//
// In a normal build Is is constantly false, so that the compiler removes the sites; only the build tag "planted" makes any of this exist. Sites are single lines in the code where the
// real bug would be: `if planted.Is(planted.ForgetVote) { … }`.
//
// Imports of ours: none. Goroutines: Is may be asked from any. Time: none.
package planted

// Bug names a bug.
type Bug string

// The bugs.
const (
	SkipSync           Bug = "skip fsync"                              // what is stored does not outlive a power loss
	AckBeforeCommit    Bug = "acknowledge before commit"               // the leader answers when it has proposed
	AckBeforeStore     Bug = "acknowledge before store"                // entries are confirmed that only the next write makes durable
	DropEvent          Bug = "drop a watch event"                      //
	RepeatEvent        Bug = "deliver an event twice"                  //
	SwapEvents         Bug = "reorder two events"                      //
	SplitRevision      Bug = "deliver a revision in two batches"       // and not say so
	FalseProgress      Bug = "progress beyond what was delivered"      //
	ForgetPrevious     Bug = "forget previous values"                  //
	WatchOverRestore   Bug = "go on with a watch over a snapshot"      // what the snapshot skipped is never delivered
	ReuseRevision      Bug = "reuse a revision"                        //
	ForgetVote         Bug = "forget a vote"                           // so that a member votes twice in a term
	ForgetTerm         Bug = "forget the term"                         //
	ServeEarly         Bug = "serve before catch-up"                   // after a start
	SkipConfirm        Bug = "serve a stale leader's read"             // without asking a majority
	ApplyRequestTwice  Bug = "apply a request id twice"                //
	ApplyCommandTwice  Bug = "apply a duplicated message twice"        //
	StaleList          Bug = "stale list at a revision"                // of the revision before
	CompactTooMuch     Bug = "compaction drops one too many"           //
	SnapshotMisses     Bug = "snapshot misses the last entry"          //
	KeepTruncated      Bug = "truncated entries are kept"              // a log that conflicts is not cut, and keeps what it has where it should take others
	LeaseEndsEarly     Bug = "lease expires early"                     //
	KeyOutlivesLease   Bug = "a key survives its lease"                //
	UnknownAsRefused   Bug = "unknown reported as refused"             //
	WipedVotes         Bug = "a wiped member votes at once"            //
	LearnerVotes       Bug = "learner counted as voter"                //
	RestoreFallsBehind Bug = "restore falls in revision"               //
	DirtyGap           Bug = "entries from before a snapshot are kept" // with a hole behind them
)

// Bugs lists all of them.
func Bugs() []Bug {
	return []Bug{SkipSync, AckBeforeCommit, AckBeforeStore, DropEvent, RepeatEvent, SwapEvents, SplitRevision, FalseProgress, ForgetPrevious, WatchOverRestore, ReuseRevision, ForgetVote,
		ForgetTerm, ServeEarly, SkipConfirm, ApplyRequestTwice, ApplyCommandTwice, StaleList, CompactTooMuch, SnapshotMisses, KeepTruncated, LeaseEndsEarly,
		KeyOutlivesLease, UnknownAsRefused, WipedVotes, LearnerVotes, RestoreFallsBehind, DirtyGap}
}
