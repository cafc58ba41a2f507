// Package mvcc is the state machine of the store: a revisioned key-value map in etcd's sense, pure. It knows no raft, no clock, no
// goroutine and no randomness; the same operations in the same order give the same state and the same answers.
//
// Imports of ours: none. Goroutines: one writer; Snapshot gives a frozen view that any goroutine may read beside the writer.
// Time: none.
package mvcc

import "errors"

var (
	// ErrCompacted: the revision asked for was compacted away. As in etcd a range at the compacted revision itself still works; its events are gone.
	ErrCompacted = errors.New("required revision has been compacted")
	// ErrFutureRev: the revision asked for does not exist yet.
	ErrFutureRev = errors.New("required revision is a future revision")
	// ErrNoSpace: an alarm for lack of space is on, and the request puts something.
	ErrNoSpace = errors.New("database space exceeded")
	// ErrLeaseNotFound: a put names a lease that does not exist, or it was to be revoked.
	ErrLeaseNotFound = errors.New("requested lease not found")
	// ErrRestored ends watches: the state was replaced by a snapshot, so a client must list again.
	ErrRestored = errors.New("state was replaced by a snapshot")
)

// KV is a key at one revision. Immutable once handed out; Value is shared, never written to.
type KV struct {
	Key   string
	Value []byte
	// CreateRevision is the revision that created the key, ModRevision the last that changed it; Version counts changes since creation, from 1.
	CreateRevision, ModRevision, Version int64
	// Lease the key is attached to; 0: none.
	Lease LeaseID
}

// LeaseID names a lease; 0: none.
type LeaseID int64

// Alarm says that something is wrong that stops clients from some of what they do, until it is disarmed.
type Alarm struct {
	// Kind: NoSpace or Corrupt.
	Kind string
	// Member that raised it.
	Member string
}

// Kinds of alarm, in etcd's words.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// HashKV is a checksum of keys, values and revisions; members agree on it for the same revision and compaction (etcd's HashKV).
type HashKV struct {
	Hash uint32
	// Revision it covers, from the compaction at Compacted on.
	Revision, Compacted int64
}

// Event is one change of one key.
type Event struct {
	Deleted bool
	// KV after the change; for a deletion only Key and ModRevision (the revision of the deletion).
	KV KV
	// Prev is the value before; nil when the key did not exist.
	Prev *KV
}

// Target says what of a key a Compare looks at.
type Target uint8

const (
	ModRevision Target = iota
	CreateRevision
	Version
	// LeaseOf compares the lease.
	LeaseOf
	// Content compares the value. A key that does not exist fails each comparison of content, as in etcd.
	Content
)

// Relation of what a key has to what a Compare names.
type Relation uint8

const (
	Equal Relation = iota
	NotEqual
	Greater
	Less
)

// Compare holds when what the key has is in Relation to Value; to Bytes when Target is Content. A key that does not exist has zero for each number.
type Compare struct {
	Key      string
	Target   Target
	Relation Relation
	Value    int64
	Bytes    []byte
}

// Op is a put (Delete false) or a deletion.
type Op struct {
	Delete bool
	Key    string
	// End makes a deletion one of all keys k with Key <= k < End; "\x00": of all from Key on.
	End   string
	Value []byte
	// Lease to attach a put to; a put without one takes the key from the lease it had.
	Lease LeaseID
}

// Txn applies Then if all of If hold. A Txn that changes nothing takes no revision. A key that is put may be touched once in a branch (Validate).
type Txn struct {
	// ID names the request: the same non-empty ID applied twice changes the state once and gives the same answer (kept for the last 10,000), a refusal as well: what was refused can succeed
	// later under a new ID only.
	ID string
	If []Compare
	// Then and Else are the operations.
	Then, Else []Op
	// Read lists keys whose values are returned when the compares failed (etcd's Else get), ReadThen when they held; both as they are after the transaction.
	Read, ReadThen []string
	// Tag is opaque to the store; it comes back with the change, so that a watcher can tell which request made it.
	Tag uint64
}

// TxnResult is the answer of the state machine.
type TxnResult struct {
	Succeeded bool
	// Revision is the store's revision after the transaction.
	Revision int64
	// Changed tells whether the transaction took a revision.
	Changed bool
	// Read holds the keys asked for in Txn.Read, or Txn.ReadThen when Succeeded, that exist.
	Read []KV
	// Err is ErrNoSpace or ErrLeaseNotFound when the state machine turned the whole transaction down.
	Err error
}

// Range asks for keys. End empty: the one key; "\x00": all from Key on; otherwise Key <= k < End. PrefixEnd gives the End of a prefix.
type Range struct {
	Key, End string
	// Revision to read at; 0 means the present.
	Revision int64
	// Limit of keys returned; 0 means all. Count is always the whole number.
	Limit     int
	KeysOnly  bool
	CountOnly bool
}

// RangeResult answers a Range.
type RangeResult struct {
	KVs []KV
	// More tells that Limit cut the answer.
	More     bool
	Count    int
	Revision int64 // the store's revision when it was read
}
