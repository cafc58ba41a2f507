package raftstore

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

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
	Name string
	// ID is the identity it votes under; a member that lost its disk and joins again gets another.
	ID          string
	Role        Role
	Term        uint64
	Leader      string // name of the leader this member follows; empty: none known
	LastIndex   uint64
	CommitIndex uint64
	Applied     uint64
	Revision    int64 // store revision applied
	Compacted   int64
	SizeBytes   int64 // size on disk of log and snapshots, or of the values in memory
	// DBSize is what the database occupies and DBInUse what of it is in use (etcd's db size); the first shrinks only by Defragment. Quota bounds the first.
	DBSize, DBInUse, Quota int64
	// Alarms are those in force, as this member knows it.
	Alarms []mvcc.Alarm
	Up     bool
	// LastContact is when a leader was last heard, by the wall; zero: never in this life, or it leads.
	LastContact time.Time
	// Ready is false after a start until the member has applied what a leader confirmed since (pitfalls: lists must not go back in time).
	Ready bool
	Err   string // why a member that should be up is not ("disk failed: …"), or why one that is up may not vote (MutedReason)
	// Disk is the state of its disk as somebody set it, or found by a check: failure.Sound when nothing is known to be wrong.
	Disk failure.Disk
}

// MutedReason is the Err of a member that runs without a vote: it forgot what it acknowledged.
const MutedReason = "its disk was wiped: no vote until a leader has caught it up"

// Member is a member as the configuration names it.
type Member struct {
	Name, ID string
	// Learner: it gets data and has no vote.
	Learner bool
}

const memberNameMax = 63

// CheckMemberName refuses a name that a place for a member cannot have. It is that of a machine, as Kubernetes has it (RFC 1123 label), and of a folder beside the store's own files.
func CheckMemberName(name string) error {
	bad := func(why string) error { return fmt.Errorf("member name %q %s", name, why) }
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > memberNameMax:
		return bad(fmt.Sprintf("is longer than %d", memberNameMax))
	case name == lockFile:
		return bad("is that of a file of the store")
	}
	for i, r := range name {
		if inside := i > 0 && i < len(name)-1; (r < 'a' || r > 'z') && (r < '0' || r > '9') && (r != '-' || !inside) {
			return bad("may hold small letters, digits and, between them, '-'")
		}
	}
	return nil
}

// Membership is a configuration of the cluster.
type Membership struct {
	Members []Member // in the order in which they joined
	// Index and Term of the log entry that made it.
	Index, Term uint64
}

// Voters counts the members that vote.
func (m Membership) Voters() int {
	n := 0
	for _, x := range m.Members {
		if !x.Learner {
			n++
		}
	}
	return n
}

// Quorum is how many of the voters must agree.
func (m Membership) Quorum() int { return m.Voters()/2 + 1 }

// Find returns the member of a name.
func (m Membership) Find(name string) (Member, bool) {
	for _, x := range m.Members {
		if x.Name == name {
			return x, true
		}
	}
	return Member{}, false
}

// Cluster is the set of members. The engine's assembly owns it.
type Cluster interface {
	// Members lists the names of all places for a member, in the order given at start and then of their joining; also of ones that were removed or are down.
	Members() []string
	// Membership is the newest committed configuration that any member ever knew, be it up or down.
	Membership() Membership
	// Store returns the member's client door; valid for the cluster's life, answering ErrStopped while the member is down.
	Store(member string) Store
	// StartMember starts a member from its disk. It returns quickly; the member may join later.
	StartMember(name string) error
	// KillMember stops it as a power loss would: nothing is handed over. Its disk stays. Calls in flight on it get Unknown or ErrStopped.
	KillMember(name string) error
	// WipeMember deletes the disk of a member that is down. It then runs without a vote until a leader has caught it up (MutedReason). When the disks of all voters were wiped, at once or one after the
	// other with starts between, the cluster begins anew with nothing, RevisionBump after the highest revision; as long as one holds what it had, running or not, it does not.
	WipeMember(name string) error

	// AddMember adds a member as a learner, with an empty disk and a new ID, and makes a place for it where there is none of that name. Whoever wants it to run starts it.
	// What its disk held is set aside, not deleted. Refused with ErrMemberExists, ErrTooManyLearners (one at a time), ErrUnhealthy, ErrNotEnoughStarted.
	AddMember(ctx context.Context, name string, done func(Written))
	// PromoteMember makes a learner a voter. Refused with ErrMemberNotFound, ErrMemberNotLearner, or ErrLearnerNotReady while it has less than 90 % of the leader's log.
	PromoteMember(ctx context.Context, name string, done func(Written))
	// RemoveMember takes a member out, whether it runs or not; the leader as well. One that runs stops with ErrRemoved in its status, one that is absent finds out
	// when it comes back. Refused with ErrMemberNotFound, or with ErrUnhealthy where the rest would have no quorum.
	RemoveMember(ctx context.Context, name string, done func(Written))

	// Backup writes the state of a member that is up as one file, as etcdctl snapshot save does. It blocks while it writes.
	Backup(member string, w io.Writer) (BackupInfo, error)
	// Restore makes every place in the membership start from a backup, as a new cluster, whatever its disk holds: the old content is set aside. All members must be down. Revisions go on
	// RevisionBump after the highest ever given, and everything before is compacted, so that no client ever sees one fall or misses a change. It blocks while it reads; when it
	// fails nothing has changed.
	Restore(r io.Reader) (BackupInfo, error)

	// SetQuota bounds the size of the database; 0: DefaultQuota.
	SetQuota(bytes int64)
	// SetDisk makes a member's disk behave, or be damaged; see failure.Disk. delay is that of failure.Slow, wall.
	SetDisk(member string, state failure.Disk, delay time.Duration) error
	// Traps are the failpoints of all members.
	Traps() *failure.Traps

	// Advance tells the virtual time, from which leases run out. It never goes back. Where it is not called they never do.
	Advance(now time.Time)
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

const (
	// RevisionBump is how far a restore leaps (etcdutl snapshot restore --bump-revision, as Kubernetes' documentation advises).
	RevisionBump = 1_000_000_000
	// DefaultQuota is etcd's.
	DefaultQuota = 2 << 30
)

// BackupInfo says what a backup holds.
type BackupInfo struct {
	// Revision, Keys and Hash (of all of them) are those of the state in the file.
	Revision int64
	Keys     int
	Hash     uint32
	// Bytes of the file, and the virtual time it was made at.
	Bytes int64
	At    time.Time
	// Restored, after a Restore, is the revision that the cluster begins at.
	Restored int64
}
