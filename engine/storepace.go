package engine

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
)

// electionRate is the fastest that simulated time runs while no leader is known although one can be elected: an election takes wall time, and
// at 10x it still ends within 15 simulated seconds.
const electionRate sim.Rate = 10

// settleFor is the wall time after a commit within which an unpaced clock waits for members that lag.
const settleFor = 50 * time.Millisecond

// noticeFor is the wall time after a change that took the quorum within which members notice that they follow nobody.
const noticeFor = 1200 * time.Millisecond

// busyLimit is how long the store may be at work without a break before a fast clock is held to electionRate: at 60x a wall second of writing
// would cost a simulated minute, and leases would lapse for no fault of the cluster.
const busyLimit = 30 * time.Millisecond

// joinFor is the same after a member was started or a link healed: joining and catching up take longer.
const joinFor = 3 * time.Second

func (d *storeDoor) netChanged() {
	d.majority, d.learners = d.findMajority()
	d.cluster.NetworkChanged()
}

// findMajority looks for voters that are up and all reach one another in both directions, enough to elect a leader, and for learners that they reach. A member that was removed
// counts for nothing.
func (d *storeDoor) findMajority() (group, learners []string) {
	runs := func(m string) bool { return d.e.net.HostUp(m) && d.e.net.Listening(etcdOn(m)) && d.leader[m].Err == "" }
	for _, seed := range d.members.Members {
		if seed.Learner || !runs(seed.Name) {
			continue
		}
		group, learners = []string{seed.Name}, nil
		for _, m := range d.members.Members {
			switch {
			case m == seed || !runs(m.Name) || !d.reach(seed.Name, m.Name):
			case m.Learner:
				learners = append(learners, m.Name)
			default:
				group = append(group, m.Name)
			}
		}
		if len(group) >= d.members.Quorum() {
			return group, learners
		}
	}
	return nil, nil
}

// reach reports that two members hear each other.
func (d *storeDoor) reach(a, b string) bool {
	return d.e.net.Reachable(etcdOn(a), etcdOn(b)) && d.e.net.Reachable(etcdOn(b), etcdOn(a))
}

// removed reports that a master is none of the members.
func (d *storeDoor) removed(name string) bool {
	return !slices.ContainsFunc(d.members.Members, func(m raftstore.Member) bool { return m.Name == name })
}

// gate says how fast simulated time may run now.
//
// While no leader is known but one can be elected, it is held to electionRate (paced) or HeldRate (unpaced). Paced, it is also held to electionRate while the store
// has been at work for busyLimit without a break. Unpaced, it is also held while a request to the store is
// in flight on the side of the majority, and shortly after a commit until the members there have applied it. Requests on a side that cannot get through do not hold it:
// nothing in wall time will ever answer them. A leader that lost its majority holds it until it has stepped down, which takes wall time too.
func (e *Engine) gate() sim.Rate {
	if e.opts.Store == StoreMemory {
		return sim.Unpaced
	}
	return e.store.gate(e.loop.Rate(), e.opts.HeldRate)
}

// gate is Engine.gate for a clock that wants to run at rate and is held to held.
func (d *storeDoor) gate(rate, held sim.Rate) sim.Rate {
	free := rate == sim.Unpaced || rate == 0 // a step jumps
	if d.majority == nil && !d.cluster.Led() {
		if free && (d.givenUp > 0 || d.shakenWithin(noticeFor)) { // the members left are still finding out
			return held
		}
		return sim.Unpaced
	}
	if d.majority == nil || !d.led() {
		if free {
			return held
		}
		return electionRate
	}
	if !free {
		if d.busyFor() > busyLimit {
			return electionRate
		}
		return sim.Unpaced
	}
	if d.asking() || d.lagging() {
		return held
	}
	return sim.Unpaced
}

// shakenWithin reports that members or links changed less than t of wall time ago.
func (d *storeDoor) shakenWithin(t time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.lastShaken) < t
}

// busyFor is the wall time for which there has been a request in flight on the side of the majority without a break.
func (d *storeDoor) busyFor() time.Duration {
	if d.asking() {
		return time.Since(d.busySince)
	}
	d.busySince = time.Now()
	return 0
}

// asking reports that a request on the side of the majority, or an order of the user to the store as a whole, is in flight.
func (d *storeDoor) asking() bool {
	return d.orders > 0 || slices.ContainsFunc(d.majority, func(m string) bool { return d.inFlight[m] > 0 })
}

// led reports that a member of the majority believes it leads.
func (d *storeDoor) led() bool {
	if !d.cluster.Led() {
		return false
	}
	for _, m := range d.majority {
		if d.leader[m].Role == raftstore.Leader {
			return true
		}
	}
	return false
}

// lagging reports that a commit is fresh, or members or links changed a moment ago, and a member of the majority is not ready or has not applied everything, or a learner
// that it reaches has not, or one that was removed can hear of it and has not yet.
func (d *storeDoor) lagging() bool {
	d.mu.Lock()
	fresh := time.Since(d.lastCommit) < settleFor || time.Since(d.lastShaken) < joinFor
	d.mu.Unlock()
	if !fresh {
		return false
	}
	var most int64
	status := d.cluster.Status()
	for _, s := range status {
		most = max(most, s.Revision)
	}
	for _, s := range status {
		votes, learns := slices.Contains(d.majority, s.Name), slices.Contains(d.learners, s.Name)
		switch {
		case !s.Up:
		case votes && !s.Ready, (votes || learns) && s.Revision < most, d.removed(s.Name) && slices.ContainsFunc(d.majority, func(m string) bool { return d.reach(s.Name, m) }):
			return true
		}
	}
	return false
}
