package event

import "time"

// ---- the store as its operators know it: members, space, disks, backups

// MembersChanged: the store's members are these from now on. Told once per configuration, when it is committed; the first one right after the start.
type MembersChanged struct {
	Members []StoreMember
	// Index and Term of the log entry that made it.
	Index uint64 `json:",omitempty"`
	Term  uint64 `json:",omitempty"`
}

// StoreMember is a member of the store. ID is the identity it votes under: one that lost its disk and joins again gets another. A Learner gets data and has no vote.
type StoreMember struct {
	Name    string
	ID      string `json:",omitempty"`
	Learner bool   `json:",omitempty"`
}

// StoreCompacted: history up to Revision is gone; who asks for older is told 410 Expired.
type StoreCompacted struct{ Revision int64 }

// StoreDefragmented: a member gave free space of its database back. Bytes.
type StoreDefragmented struct {
	Member        string
	Before, After int64
}

// StoreAlarm: an alarm (NOSPACE, CORRUPT) was raised by a member, or lifted.
type StoreAlarm struct {
	Kind, Member string
	Raised       bool
}

// StoreLease: a lease of the store (not a Lease object) was "granted", "expired" or "revoked". Keys: how many were deleted with it.
type StoreLease struct {
	ID     int64
	Change string
	TTL    time.Duration `json:",omitempty"`
	Keys   int           `json:",omitempty"`
}

// StoreQuota: the database of each member may grow to Bytes from now on.
type StoreQuota struct{ Bytes int64 }

// StoreBackedUp: the state of Member at Revision was written to File.
type StoreBackedUp struct {
	Member, File string
	Revision     int64
	Keys         int
	Bytes        int64
}

// StoreRestored: the members begin anew with the state that File held, as it was at Revision; revisions go on from Restored.
type StoreRestored struct {
	File               string
	Revision, Restored int64
	Keys               int
}

// DiskChanged: the disk of a member is State from now on (ok, full, slow, flaky, readonly), or was damaged (torn, zeroed, flipped, cut, deleted). Text says what was done or found.
type DiskChanged struct {
	Member, State string
	Delay         time.Duration `json:",omitempty"` // of slow, wall
	Text          string        `json:",omitempty"`
}

// DiskSetAside: what was on the disk of a member was moved away, and the member has an empty one. Text says where it is.
type DiskSetAside struct {
	Member string
	Text   string `json:",omitempty"`
}

// TrapSet: a failpoint waits for a member. TrapSprung: the member stepped on it. Action: kill, fail, stall (Delay, wall). Skip: how many passes go by first.
// A TrapSet without a Point says that none waits for the member any more; without a Member either, for none at all.
type TrapSet struct {
	Member, Point, Action string
	Delay                 time.Duration `json:",omitempty"`
	Skip                  int           `json:",omitempty"`
}
type TrapSprung struct{ Member, Point, Action string }

// StoreDiverged: the state of a member was found to differ from that of the others at a log index; the member was stopped.
type StoreDiverged struct {
	Member string
	Index  uint64
}

func (MembersChanged) Name() string    { return "MembersChanged" }
func (StoreCompacted) Name() string    { return "StoreCompacted" }
func (StoreDefragmented) Name() string { return "StoreDefragmented" }
func (StoreAlarm) Name() string        { return "StoreAlarm" }
func (StoreLease) Name() string        { return "StoreLease" }
func (StoreQuota) Name() string        { return "StoreQuota" }
func (StoreBackedUp) Name() string     { return "StoreBackedUp" }
func (StoreRestored) Name() string     { return "StoreRestored" }
func (DiskChanged) Name() string       { return "DiskChanged" }
func (DiskSetAside) Name() string      { return "DiskSetAside" }
func (TrapSet) Name() string           { return "TrapSet" }
func (TrapSprung) Name() string        { return "TrapSprung" }
func (StoreDiverged) Name() string     { return "StoreDiverged" }
