package swarm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// How long a healed cluster may take, virtual.
const (
	LeaderWithin = 5 * time.Second
	WriteWithin  = 6 * time.Second
	EqualWithin  = 15 * time.Second
	// quiet is how long nothing changes before the end is looked at: everything has been delivered by then, and leases have run out.
	quiet = 2 * time.Second
	// LeaseSlack is how much later than its time a lease may run out when all is well.
	LeaseSlack = 2 * time.Second
	leasesEnd  = 5*time.Second + LeaseSlack

	tick = 50 * time.Millisecond

	// A storm in which too little happened goes on for up to this many times its length.
	stormMax = 4
)

// Floors that a run must reach to count.
const (
	AcknowledgedMin  = 200
	LeaderChangesMin = 3
)

// Counts tells whether enough happened in a run.
func Counts(h *history.History) bool { return enough(h.Acknowledged(), h.LeaderChanges()) }

func enough(acknowledged, changes int) bool {
	return acknowledged >= AcknowledgedMin && changes >= LeaderChangesMin
}

// run is one run.
type run struct {
	plan    Plan
	cluster raftstore.Cluster
	net     *network
	rec     *history.Recorder
	rand    *rand.Rand // of the faults

	// forgetful is the member that lost what was on its disk and has not caught up since.
	forgetful string
	spare     int
	// open: a change of members may yet happen.
	open bool
	// unsettled: the last change of members may be in the log of some and wait for its quorum, which may be the old one or the new one. A member of either that loses its disk then is lost for both.
	unsettled bool
	// image is a backup taken on the way, of backed.
	image  []byte
	backed raftstore.BackupInfo
}

// Run runs a plan and returns its history.
func Run(p Plan) *history.History {
	r := &run{plan: p, net: newNetwork(p.Seed), rand: rand.New(rand.NewPCG(p.Seed, 0xfa17)), rec: history.NewRecorder(p.String(), 0, nil)}
	var names []string
	for i := range p.Members {
		names = append(names, fmt.Sprintf("m%d", i+1))
	}
	c, err := raftstore.Open(raftstore.Options{
		Members: names, InMemory: true, Sync: true, Volatile: true, Seed: p.Seed, Network: r.net, Observer: r.rec, SnapshotThreshold: p.SnapshotThreshold, TrailingLogs: p.TrailingLogs, SnapshotInterval: p.SnapshotInterval,
		CommitTimeout: p.CommitTimeout, AppendMax: p.AppendMax, FragmentMax: p.FragmentMax, Rate: p.Rate,
	})
	if err != nil {
		panic(err) // the plan is wrong
	}
	r.cluster = c
	r.rec.Attach(c)
	clock, stopClock := context.WithCancel(context.Background())
	var clocks sync.WaitGroup
	clocks.Go(func() { r.advance(clock) })

	storm, calm := context.WithCancel(context.Background())
	var load, watchers sync.WaitGroup
	for i := range p.Clients {
		cl := r.client(i)
		load.Go(func() { cl.load(storm) })
	}
	watching, unwatch := context.WithCancel(context.Background())
	for i := range p.Watchers {
		cl := r.client(100 + i)
		watchers.Go(func() { cl.watcher(watching) })
	}
	r.storm(storm)
	calm()
	r.healMajority()
	load.Wait()
	r.healAll()
	converged := r.converge()
	h := r.rec.Finish(converged)
	unwatch()
	watchers.Wait()
	if r.image != nil && converged {
		r.restore(h)
	}
	stopClock()
	clocks.Wait()
	c.Close()
	return h
}

// Drive has clients and watchers at work on a cluster without doing anything to it, until ctx ends. It tells the cluster the time as well. from is where ids go on from, so that a run over
// several processes never uses one twice.
func Drive(ctx context.Context, p Plan, c raftstore.Cluster, rec *history.Recorder, from int64) {
	r := &run{plan: p, cluster: c, rec: rec}
	var all sync.WaitGroup
	all.Go(func() { r.advance(ctx) })
	for i := range p.Clients + p.Watchers {
		cl := r.client(i)
		cl.asked = int(from)
		cl.rand = rand.New(rand.NewPCG(p.Seed+uint64(from), uint64(i)))
		if i < p.Clients {
			all.Go(func() { cl.load(ctx) })
		} else {
			all.Go(func() { cl.watcher(ctx) })
		}
	}
	all.Wait()
}

func (r *run) client(n int) *client {
	return &client{run: r, calls: r.rec.Client(n, r.plan.Patience), rand: rand.New(rand.NewPCG(r.plan.Seed, uint64(n+1)<<8)), n: n, kvs: make(map[string]mvcc.KV)}
}

// advance tells the cluster the time.
func (r *run) advance(ctx context.Context) {
	base := time.Now()
	for ctx.Err() == nil {
		r.cluster.Advance(base.Add(time.Since(base)))
		sleep(ctx, tick)
	}
}

func (r *run) any(random *rand.Rand) string {
	all := r.cluster.Members()
	return all[random.IntN(len(all))]
}

// members that the configuration names, up or not.
func (r *run) members() []string {
	m := r.cluster.Membership()
	if len(m.Members) == 0 {
		return r.cluster.Members()
	}
	var names []string
	for _, x := range m.Members {
		names = append(names, x.Name)
	}
	return names
}

// voters are those of them that vote.
func (r *run) voters() []string {
	var names []string
	for _, x := range r.cluster.Membership().Members {
		if !x.Learner {
			names = append(names, x.Name)
		}
	}
	return names
}

func (r *run) status(name string) raftstore.MemberStatus { return r.cluster.Store(name).Status() }

func (r *run) leader() string {
	var name string
	var term uint64
	for _, s := range r.cluster.Status() {
		if s.Role == raftstore.Leader && s.Term >= term {
			name, term = s.Name, s.Term
		}
	}
	return name
}

// await waits until a condition holds; false when it did not within d.
func await(d time.Duration, holds func() bool) bool {
	for began := time.Now(); ; {
		if holds() {
			return true
		}
		if time.Since(began) >= d {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (r *run) late(format string, args ...any) {
	var all []string
	for _, s := range r.cluster.Status() {
		all = append(all, fmt.Sprintf("%s %s up %v ready %v term %d leader %q last %d applied %d revision %d err %q", s.Name, s.Role, s.Up, s.Ready, s.Term, s.Leader, s.LastIndex, s.Applied, s.Revision, s.Err))
	}
	r.rec.Note(history.NoteLate, "", "%s; %v", fmt.Sprintf(format, args...), all)
}

// revive mends what is wrong with a member and starts it.
func (r *run) revive(name string) {
	r.cluster.Traps().Clear(name)
	r.cluster.SetDisk(name, failure.Sound, 0)
	r.cluster.StartMember(name) // one that runs says so
}

// healMajority leaves a minority of the voters as the storm left it, cut off and maybe down, and demands a leader and a write.
func (r *run) healMajority() {
	all := r.voters()
	r.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	majority := len(all)/2 + 1
	if r.forgetful != "" || r.open {
		majority = len(all) // one that has forgotten all does not count, and one that may be out neither
	}
	r.net.heal()
	r.net.change(func() {
		for _, name := range all[majority:] {
			r.net.silent[name] = true
		}
	})
	for _, name := range all[:majority] {
		r.revive(name)
	}
	r.cluster.SetQuota(0)
	r.cluster.NetworkChanged()
	r.rec.Note("heal", "", "a majority: %v", all[:majority])
	healed := time.Now()
	led := func() bool {
		lead := r.leader()
		return lead != "" && !r.net.isSilent(lead)
	}
	if !await(LeaderWithin, led) {
		r.late("no leader within %v of healing %v", LeaderWithin, all[:majority])
		return
	}
	cl := r.rec.Client(1000, WriteWithin-time.Since(healed))
	var o *history.Op
	for try := 0; try < 3; try++ {
		through := r.leader()
		if through == "" {
			through = all[0]
		}
		o = cl.Txn(through, mvcc.Txn{Then: []mvcc.Op{{Delete: true, Key: "g0/none"}, {Delete: true, Key: "g0/never"}}, ReadThen: []string{"g0/0"}})
		if o.Done() {
			return
		}
		await(LeaderWithin-time.Since(healed), led)
		if cl.Patience = WriteWithin - time.Since(healed); cl.Patience <= 0 {
			break
		}
	}
	r.late("no write through %s within %v of healing %v: %v %s", o.Member, WriteWithin, all[:majority], o.Outcome, o.Err)
}

// healAll mends everything.
func (r *run) healAll() {
	r.net.heal()
	for _, name := range r.members() {
		r.revive(name)
	}
	r.cluster.NetworkChanged()
	r.mend()
	r.rec.Note("heal", "", "all: %v", r.members())
}

// mend gives a new disk, and a new identity, to members that cannot start from the one they have.
func (r *run) mend() {
	time.Sleep(time.Second)
	cl := r.rec.Client(1004, 3*time.Second)
	for _, name := range r.members() {
		if r.status(name).Up {
			continue
		}
		if o := r.change(cl, history.Remove, name); o.Done() {
			r.join(context.Background(), cl, name)
		}
	}
}

// equal tells that every member is at work and at the same revision.
func (r *run) equal() bool {
	var revision int64
	for _, name := range r.members() {
		s := r.status(name)
		if !s.Up || !s.Ready || s.Err != "" || revision != 0 && s.Revision != revision {
			return false
		}
		revision = s.Revision
	}
	return r.leader() != ""
}

// converge waits until all members are equal, and then until nothing is to come.
func (r *run) converge() bool {
	began := time.Now()
	if !await(EqualWithin, r.equal) {
		r.late("members are not equal within %v", EqualWithin)
		return false
	}
	r.rec.Note("equal", "", "after %v", time.Since(began))
	time.Sleep(leasesEnd + quiet)
	// A read on each member brings its watches up to date.
	for _, name := range r.members() {
		r.rec.Client(1001, time.Second).Range(name, mvcc.Range{Key: "g", End: "h"}, false)
	}
	time.Sleep(quiet)
	if !r.equal() {
		r.late("members that were equal are not any more")
		return false
	}
	return true
}
