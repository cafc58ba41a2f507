package failure

// Point names an instant in a member's work, before or after a durable step.
type Point string

// The points, in the order in which a member's life meets them.
const (
	BeforeBootstrap     Point = "before-bootstrap"      // nothing of the first configuration is written
	AfterTermBootstrap  Point = "after-term-bootstrap"  // the term is, the log is not (pitfall: a member with state and no peers)
	AfterBootstrap      Point = "after-bootstrap"       // term and log are, the marker of a used disk is not
	BeforeStoreTerm     Point = "before-store-term"     //
	AfterStoreTerm      Point = "after-store-term"      //
	BeforeStoreVote     Point = "before-store-vote"     //
	AfterStoreVote      Point = "after-store-vote"      // durable, not yet sent
	BeforeStoreLog      Point = "before-store-log"      //
	AfterStoreLog       Point = "after-store-log"       // durable, not yet acknowledged
	BeforeDeleteLog     Point = "before-delete-log"     // truncation of a conflicting end, or of what a snapshot stands for
	AfterDeleteLog      Point = "after-delete-log"      //
	BeforePropose       Point = "before-propose"        // a leader holds writes and has not given them to raft
	AfterPropose        Point = "after-propose"         // raft has them; nobody was answered
	BeforeForward       Point = "before-forward"        // a follower is about to hand writes to the leader
	AfterForward        Point = "after-forward"         // the leader has taken them
	BeforeApply         Point = "before-apply"          // committed, not applied
	AfterApply          Point = "after-apply"           // applied, clients not answered
	BeforeSnapshot      Point = "before-snapshot"       //
	InSnapshot          Point = "in-snapshot"           // half of it is written
	BeforeSnapshotClose Point = "before-snapshot-close" // all written, not yet its name
	AfterSnapshot       Point = "after-snapshot"        // durable; the log not yet cut
	BeforeInstall       Point = "before-install"        // a leader's snapshot has come in
	AfterInstall        Point = "after-install"         // the state is replaced
	InSendSnapshot      Point = "in-send-snapshot"      // a leader has sent some pieces
	BeforeConfigure     Point = "before-configure"      // a leader is about to propose a change of members
	AfterConfigure      Point = "after-configure"       // proposed
	BeforeUnmute        Point = "before-unmute"         // a wiped member has caught up, and still counts as muted on disk
	AfterUnmute         Point = "after-unmute"          //
)

// Points lists all of them.
func Points() []Point {
	return []Point{BeforeBootstrap, AfterTermBootstrap, AfterBootstrap, BeforeStoreTerm, AfterStoreTerm, BeforeStoreVote, AfterStoreVote, BeforeStoreLog, AfterStoreLog,
		BeforeDeleteLog, AfterDeleteLog, BeforePropose, AfterPropose, BeforeForward, AfterForward, BeforeApply, AfterApply, BeforeSnapshot, InSnapshot, BeforeSnapshotClose,
		AfterSnapshot, BeforeInstall, AfterInstall, InSendSnapshot, BeforeConfigure, AfterConfigure, BeforeUnmute, AfterUnmute}
}

// CanFail reports that the step at the point is an access to the disk, which can fail with an I/O error. Elsewhere Fail is Kill.
func (p Point) CanFail() bool {
	switch p {
	case BeforeBootstrap, AfterTermBootstrap, AfterBootstrap, BeforeStoreTerm, AfterStoreTerm, BeforeStoreVote, AfterStoreVote, BeforeStoreLog, AfterStoreLog,
		BeforeDeleteLog, AfterDeleteLog, BeforeSnapshot, InSnapshot, BeforeSnapshotClose, AfterSnapshot, BeforeUnmute, AfterUnmute:
		return true
	}
	return false
}
