package raftstore

// DESIGN of the cluster on hashicorp/raft.
//
// Writes. A member queues the writes its clients bring. When it knows a leader it hands over all that are waiting: to its own proposer if it
// leads, else over the network to the leader's. The proposer puts everything that has arrived while the groups before were on their way into one
// (group commit), in entries of a size that bolt stores well. Where disks are synced the followers get the entries while the leader's disk is still
// at work (internal/peer/ahead.go); where they are not, all disks are written a moment later (internal/peer/behind.go). A write is answered when the state machine of the member it was brought to has applied it, as in etcd: who is answered
// by a member can read the write there. Nothing waits for raft's futures, which may never answer.
//
// Outcomes. An entry is valid only in the term it was proposed in, and is skipped by all members where raft logs it in another. A new leader's
// first entry is a mark without writes. So when a member applies anything of a later term, each write it handed over for an earlier one
// either was seen before or never will be applied: the doubt ends there, with Refused. Until then it is real, and a caller that gives up
// gets Unknown. That holds whatever raft does with what it was given, and so raft's channel may be buffered (BatchApplyCh): an entry that waits in it while
// leadership is lost is dropped, or logged by the same member in a term that it leads later. Terms in the log only rise, so from the first entry of a later term on there is no
// place left where it would count. A proposal is taken back, to be handed over again, only when raft was never given it.
//
// Reads. A linearizable read asks the leader for its commit index. The leader answers once it has applied its mark and a majority said, after the
// index was taken, that they are in no later term. The member waits until it has applied that index and reads its own state. The question
// to the majority is our own message, not raft's VerifyLeader, whose future may never answer when a member stops; it is sound because
// a later leader needs a majority in its term before it can commit anything. Reads that arrive together share one question.
//
// Start. After a start the state machine holds only its newest snapshot. The member asks for an index as above, and until it has applied that it is
// not Ready, and reads and watches wait. A member whose disk was wiped forgot what it voted and acknowledged; it keeps out of elections until
// a leader, confirmed by a majority without it, has brought its log up to the leader's own end. When every voter's disk was wiped there will never be one, and nothing is left
// that it could contradict: then the cluster begins anew (anew.go).
//
// Members. A member is a name, its place, and an identity, which is new each time the place joins. Raft counts identities; the fabric finds places. Each message says whom it is
// for and who it is from, so that nothing that was promised by, or told to, the one that had a place before counts for the one that has it now. Who votes is what raft's newest
// configuration says, from the moment it is in a member's log.
//
// That confirmation of a read stays sound across a change of members: the leader of term T takes the index, then reads its newest configuration L, then asks. A later leader that
// was elected before the index was taken had C, the newest configuration in its own log, and the votes of a majority of C. It has everything committed up to T's first entry, so C
// is L, or the one L was made from, or, where raft has stored a successor of L and not yet shown it, that one; further on raft does not go before the successor is committed, which it
// shows before. Any two neighbours differ by one voter, so their majorities share a voter; it cannot have voted in a later term before the index was taken and say afterwards that it is in
// none. A voter answers only under the identity in L, and not while it is muted: one that forgot its term must not vouch for it.
//
// Failure. A disk error, a bad entry or a panic in a member stops that member, says why in its Status, and leaves the others alone. It is
// started again from its disk.
//
// Pace. Raft lives in wall time, the cluster in virtual time. A fail-over takes two to three times the heartbeat timeout: raft looks at its timer once or twice in a
// timeout, and the first to miss the leader is turned down by those who do not miss it yet. At 1x that is heartbeatSlow, for a fail-over that takes
// about two thirds of etcd's at its defaults (etcdbench) and is slow enough to watch; from 5x on it is heartbeatFast, so that it stays far below the
// 15 virtual seconds of the scheduler's lease. Raft's advice to stay above a second is about slow disks, on which heartbeats queue behind
// fsync; here the disk is not synced unless Options.Sync asks for it. The leader's lease cannot be changed while raft runs and must not exceed
// the shortest heartbeat timeout, so links slower than 250 ms (wall, there and back) cost leadership. CommitTimeout is how soon followers
// hear of a commit when no further entry follows. It is short, and the transport keeps idle followers from paying for that (internal/peer/idle.go).

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/kubeviz/raftstore/internal/peer"
)

const (
	heartbeatSlow = 400 * time.Millisecond
	heartbeatFast = 250 * time.Millisecond
	// The rates between which the heartbeat timeout falls from slow to fast.
	rateSlow, rateFast = 1.0, 5.0

	leaderLease = 250 * time.Millisecond

	membersMax = 9
)

// Options say what cluster to open. The zero value of everything but Members and Dir (or InMemory) is a sensible default.
type Options struct {
	// Members are the names, one to nine, all different. A folder that holds a store already may hold other members by now: then these are as many as it has, or as it began with.
	Members []string
	// Dir holds one folder per member. InMemory keeps everything in memory instead; a member's disk then lives as long as the cluster.
	Dir      string
	InMemory bool
	// Sync forces every write to the medium before it is acknowledged, so that it survives power loss. Without it, what a member acknowledged survives the end of that
	// member, however sudden, but of the last 100 ms nothing may survive the end of the program (internal/peer/behind.go): for folders that nobody opens again.
	Sync bool
	// Network decides about messages; nil: OpenNetwork. Observer hears what happens; nil: nobody.
	Network  Network
	Observer Observer
	// Logger takes raft's log lines; nil: nobody.
	Logger io.Writer
	// SnapshotThreshold is the number of entries after which a snapshot is made (2048), TrailingLogs how many are kept behind it (the same; three
	// times that with Sync, so that the log reaches behind the oldest of three snapshots), SnapshotInterval how often that is looked at (20 s).
	SnapshotThreshold, TrailingLogs uint64
	SnapshotInterval                time.Duration
	// CommitTimeout is how soon followers hear of a commit that nothing follows (1 ms).
	CommitTimeout time.Duration
	// AppendMax is how many entries go to a follower in one message (64), FragmentMax takes the place of MaxFragment. Where they are small, a test need not write much to see things come in parts.
	AppendMax, FragmentMax int
	// Volatile makes a disk in memory that is not synced forget at KillMember some of what was written last, as at a power loss; how much is drawn from Seed, and so is where
	// SetDisk does its damage.
	Volatile bool
	Seed     uint64
	// Check, when set, looks at the file of a member's log before it is opened; see CheckCommand.
	Check func(ctx context.Context, path string) error
	// Rate is the pace to begin with, as in SetPace (1).
	Rate float64
}

// RaftCluster is a Cluster on hashicorp/raft.
type RaftCluster struct {
	opt     Options
	logger  hclog.Logger
	fabric  *peer.Fabric
	decoder *peer.Decoder

	// members are the places; placing guards that one is added. roster is who is in the cluster; rostering guards its changes.
	members   atomic.Pointer[[]*member]
	placing   sync.Mutex
	roster    atomic.Pointer[roster]
	rostering sync.Mutex
	// wiping is held while a disk is wiped and it is looked whether one is left that holds something.
	wiping sync.Mutex
	// highest is the newest revision that any member has had in this run; halfRestored is why no member may start.
	highest      atomic.Int64
	halfRestored atomic.Pointer[error]
	questions    atomic.Uint64 // of changes of members, so far
	// over is closed by Close.
	over     chan struct{}
	overOnce sync.Once

	// heartbeat is the present timeout, in nanoseconds.
	heartbeat atomic.Int64

	upkeep upkeep

	insider *insider // nil: the observer does not want to see inside

	announcing sync.Mutex
	announced  int64 // newest revision told to the observer

	release func() error // of the folder
}

var _ Cluster = (*RaftCluster)(nil)

// nobody observes.
type nobody struct{}

func (nobody) RoleChanged(MemberStatus) {}
func (nobody) Message(Message)          {}
func (nobody) Applied(Applied)          {}
func (nobody) Changed(Change)           {}

// Open starts all members of a cluster, new or from what an earlier run left in Dir. It returns when they run, which is before they have elected a
// leader. A member that cannot start because of its disk does not fail Open; its Status says why. A folder that cannot be used at all does: one that cannot be
// written, that another process has, or that holds the store of other members.
func Open(o Options) (*RaftCluster, error) {
	if len(o.Members) == 0 || len(o.Members) > membersMax {
		return nil, fmt.Errorf("open store: %d members, want 1 to %d", len(o.Members), membersMax)
	}
	if o.Dir == "" && !o.InMemory {
		return nil, errors.New("open store: neither a folder nor memory to keep it in")
	}
	if o.Network == nil {
		o.Network = OpenNetwork{}
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Logger == nil {
		o.Logger = io.Discard
	}
	o.SnapshotThreshold = cmp.Or(o.SnapshotThreshold, 2048)
	if o.Sync {
		o.TrailingLogs = cmp.Or(o.TrailingLogs, 3*o.SnapshotThreshold)
	}
	o.TrailingLogs = cmp.Or(o.TrailingLogs, o.SnapshotThreshold)
	o.SnapshotInterval = cmp.Or(o.SnapshotInterval, 20*time.Second)
	o.CommitTimeout = cmp.Or(o.CommitTimeout, time.Millisecond)
	o.AppendMax, o.FragmentMax = cmp.Or(o.AppendMax, 64), cmp.Or(o.FragmentMax, MaxFragment)
	o.Rate = cmp.Or(o.Rate, 1)

	c := &RaftCluster{opt: o, decoder: new(peer.Decoder), over: make(chan struct{})}
	c.logger = hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Info, Output: o.Logger})
	if o.Logger == io.Discard {
		c.logger = hclog.NewNullLogger()
	}
	c.fabric = peer.NewFabric(c.verdict, c.message)
	c.heartbeat.Store(int64(heartbeatAt(o.Rate)))
	if in, ok := o.Observer.(Insider); ok {
		c.insider = newInsider(c, in)
		c.fabric.Selects.Inside = true
	}
	for i, name := range o.Members {
		if err := CheckMemberName(name); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
		if slices.Contains(o.Members[:i], name) {
			return nil, fmt.Errorf("open store: member name %q is given twice", name)
		}
	}
	c.members.Store(new([]*member))
	c.roster.Store(newRoster(o.Members))
	c.release = func() error { return nil }
	if !o.InMemory {
		release, err := claim(o.Dir, o.Members, o.Sync)
		if err != nil {
			return nil, err
		}
		c.release = release
		if err := c.openRoster(); err != nil {
			return nil, errors.Join(fmt.Errorf("open store: %w", err), release())
		}
	}
	for _, name := range c.roster.Load().Places {
		c.place(name)
	}
	if !o.InMemory {
		if err := errors.Join(c.goOnRestoring(), c.noteUsed()); err != nil {
			return nil, errors.Join(fmt.Errorf("open store: %w", err), c.release())
		}
		if err := c.allGone(); err != nil {
			return nil, errors.Join(fmt.Errorf("open store: %w", err), c.release())
		}
	}
	c.insider.start()
	if c.forgotten() { // the program ended when the last disk was wiped
		if err := c.beginAnew(); err != nil {
			return nil, errors.Join(fmt.Errorf("open store: %w", err), c.Close())
		}
	} else {
		o.Observer.Changed(Change{Kind: MembersChanged, Membership: c.roster.Load().Membership})
	}
	kept := c.roster.Load()
	var lives []*life
	for _, m := range c.places() {
		if _, in := kept.Find(m.name); !in {
			m.failure = RemovedReason(m.name)
			continue
		}
		l, err := m.start(false)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		lives = append(lives, l)
	}
	for _, l := range lives {
		<-l.started
	}
	return c, nil
}

func (c *RaftCluster) verdict(p peer.Packet) peer.Verdict {
	return peer.Verdict(c.opt.Network.Verdict(Packet(p)))
}

func (c *RaftCluster) message(m peer.Message) { c.opt.Observer.Message(Message(m)) }

// heartbeatAt is the heartbeat timeout for a pace.
func heartbeatAt(rate float64) time.Duration {
	part := min(max((rate-rateSlow)/(rateFast-rateSlow), 0), 1)
	return heartbeatSlow - time.Duration(part*float64(heartbeatSlow-heartbeatFast))
}

// Members lists the names of all places, in the order given at start and then of their joining.
func (c *RaftCluster) Members() []string {
	var names []string
	for _, m := range c.places() {
		names = append(names, m.name)
	}
	return names
}

// Store returns a member's client door; nil when there is no such member.
func (c *RaftCluster) Store(name string) Store {
	if m := c.find(name); m != nil {
		return m
	}
	return nil
}

func (c *RaftCluster) member(name string) (*member, error) {
	m := c.find(name)
	if m == nil {
		return nil, fmt.Errorf("no member %q", name)
	}
	return m, nil
}

// StartMember starts a member from its disk and returns at once. It fails when there is none of that name or it runs.
func (c *RaftCluster) StartMember(name string) error {
	m, err := c.member(name)
	if err != nil {
		return err
	}
	_, err = m.start(false)
	return err
}

// KillMember stops a member as a power loss would. One that is down stays down.
func (c *RaftCluster) KillMember(name string) error {
	m, err := c.member(name)
	if err != nil {
		return err
	}
	m.kill("")
	return nil
}

// SetPace sets how many virtual seconds pass per wall second, and with it raft's timeouts.
func (c *RaftCluster) SetPace(rate float64) {
	d := heartbeatAt(rate)
	if c.heartbeat.Swap(int64(d)) != int64(d) {
		c.insider.timed(d)
	}
	for _, m := range c.places() {
		if l := m.current(); l != nil {
			l.setHeartbeat(d)
		}
	}
}

// NetworkChanged makes everything that waits for a link look again.
func (c *RaftCluster) NetworkChanged() { c.fabric.NetworkChanged() }

// Close stops all members and waits until their disks are free.
func (c *RaftCluster) Close() error {
	c.insider.close()
	c.overOnce.Do(func() { close(c.over) })
	for _, m := range c.places() {
		m.kill("")
	}
	for _, m := range c.places() {
		m.waitDown()
	}
	return c.release()
}

// announce tells the observer of revisions that no member has applied before, in order.
func (c *RaftCluster) announce(index, term uint64, outcomes []peer.Outcome) {
	c.announcing.Lock()
	defer c.announcing.Unlock()
	for i := range outcomes {
		o := &outcomes[i]
		if len(o.Events) == 0 || o.Result.Revision <= c.announced {
			continue
		}
		c.announced = o.Result.Revision
		c.opt.Observer.Applied(Applied{Revision: o.Result.Revision, Index: index, Term: term, Tag: o.Tag, Events: o.Events})
	}
}
