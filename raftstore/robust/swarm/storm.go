package swarm

import (
	"context"
	"slices"
	"sort"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/robust/history"
)

// storm does one thing after another to the cluster, and some at the same time.
func (r *run) storm(ctx context.Context) {
	var faults []Fault
	total := 0
	for f, w := range r.plan.Weights {
		faults = append(faults, f)
		total += w
	}
	sort.Slice(faults, func(i, j int) bool { return faults[i] < faults[j] })
	await(LeaderWithin, func() bool { return r.leader() != "" })
	for began := time.Now(); time.Since(began) < r.plan.Storm || time.Since(began) < stormMax*r.plan.Storm && !enough(r.rec.SoFar()); {
		n := r.rand.IntN(total)
		var f Fault
		for _, f = range faults {
			if n -= r.plan.Weights[f]; n < 0 {
				break
			}
		}
		if r.plan.Backup && r.rand.IntN(6) == 0 {
			r.backup()
		}
		undo := r.strike(ctx, f)
		sleep(ctx, r.upTo(r.plan.FaultMax))
		// A fault that goes on while the next comes.
		if undo != nil && r.rand.IntN(5) > 0 {
			undo()
		}
		if r.rand.IntN(3) > 0 {
			r.patch()
		}
		sleep(ctx, r.upTo(r.plan.CalmMax))
	}
}

func (r *run) upTo(d time.Duration) time.Duration { return time.Duration(r.rand.Int64N(int64(d)) + 1) }

func (r *run) pick() string {
	all := r.members()
	return all[r.rand.IntN(len(all))]
}

// patch starts what is down, so that the storm is not one long silence.
func (r *run) patch() {
	for _, name := range r.members() {
		if s := r.status(name); !s.Up {
			r.revive(name)
		}
	}
	if s := r.forgetful; s != "" {
		if st := r.status(s); st.Up && st.Ready && st.Err == "" {
			r.forgetful = ""
		}
	}
}

// strike does f, and returns what ends it.
func (r *run) strike(ctx context.Context, f Fault) (undo func()) {
	victim := r.pick()
	lead := r.leader()
	if lead == "" {
		lead = victim
	}
	note := func(text string) { r.rec.Note(string(f), victim, "%s", text) }
	net := func(change func()) func() {
		note("")
		r.net.change(change)
		r.cluster.NetworkChanged()
		return func() {
			r.net.heal()
			r.cluster.NetworkChanged()
			r.rec.Note("network healed", "", "")
		}
	}
	disk := func(state failure.Disk, d time.Duration) func() {
		note(string(state))
		r.cluster.SetDisk(victim, state, d)
		return func() { r.revive(victim) }
	}
	switch f {
	case KillOne, KillLeader:
		if f == KillLeader {
			victim = lead
		}
		note("")
		r.cluster.KillMember(victim)
		return func() { r.revive(victim) }
	case KillAll:
		note("")
		for _, name := range r.members() {
			r.cluster.KillMember(name)
		}
		return func() {
			for _, name := range r.members() {
				r.revive(name)
			}
		}
	case Isolate:
		return net(func() {
			for _, other := range r.members() {
				r.net.cut[link{victim, other}], r.net.cut[link{other, victim}] = true, true
			}
		})
	case Silence:
		// As if its process were stopped: it does not notice how time passes, and so does not give up its lead in time.
		victim = lead
		r.cluster.Traps().Set(failure.Trap{Member: victim, Point: failure.BeforeStoreLog, Action: failure.Stall, Delay: r.upTo(r.plan.FaultMax) + time.Second})
		return net(func() { r.net.silent[victim] = true })
	case Split:
		all := r.members()
		r.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		half := len(all) / 2
		return net(func() {
			for _, a := range all[:half] {
				for _, b := range all[half:] {
					r.net.cut[link{a, b}], r.net.cut[link{b, a}] = true, true
				}
			}
		})
	case OneWay:
		return net(func() {
			for _, other := range r.members() {
				r.net.cut[link{lead, other}] = other == victim || r.rand.IntN(2) == 0
			}
		})
	case CutLink:
		return net(func() { r.net.cut[link{lead, victim}], r.net.cut[link{victim, lead}] = true, true })
	case Loss:
		rate := 0.02 + 0.3*r.rand.Float64()
		return net(func() { r.net.loss = rate })
	case Delay:
		d := r.upTo(150 * time.Millisecond)
		return net(func() { r.net.delay = d })
	case Reorder:
		d := r.upTo(100 * time.Millisecond)
		return net(func() { r.net.spread = d })
	case Duplicate:
		rate := 0.5 * r.rand.Float64()
		return net(func() { r.net.duplicate, r.net.spread = rate, 20*time.Millisecond })
	case Clog:
		// A member that has been away for long needs a snapshot, and does not get it.
		undoNet := net(func() {
			for _, other := range r.members() {
				r.net.clogged[link{other, victim}] = true
			}
		})
		r.cluster.KillMember(victim)
		sleep(ctx, r.upTo(r.plan.FaultMax))
		r.revive(victim)
		return undoNet
	case DiskSlow:
		return disk(failure.Slow, r.upTo(60*time.Millisecond))
	case DiskFull:
		return disk(failure.Full, 0)
	case DiskFlaky:
		return disk(failure.Flaky, 0)
	case DiskLocked:
		return disk(failure.ReadOnly, 0)
	case TrapKill, TrapFail, TrapStall:
		r.trap(f, victim)
		return func() { r.revive(victim) }
	case Wipe:
		return r.wipe(victim)
	case ChangePlaces:
		return r.changePlaces(ctx, lead)
	case Quota:
		note("")
		r.cluster.SetQuota(1)
		return func() {
			r.cluster.SetQuota(0)
			r.rec.Client(1002, time.Second).Disarm(lead)
		}
	case DiskDamage, Replace, Grow, Shrink:
		r.reshape(ctx, f, victim)
	}
	return nil
}

// trap lays a trap at a point of a member's work.
func (r *run) trap(f Fault, victim string) {
	t := failure.Trap{Member: victim, Action: failure.Kill, Skip: r.rand.IntN(4)}
	switch f {
	case TrapFail:
		t.Action = failure.Fail
	case TrapStall:
		t.Action, t.Delay = failure.Stall, r.upTo(400*time.Millisecond)
	}
	points := failure.Points()
	t.Point = points[r.rand.IntN(len(points))]
	r.rec.Note(string(f), victim, "%s, skip %d", t.Point, t.Skip)
	r.cluster.Traps().Set(t)
}

// wipe empties the disk of a member, if no other has forgotten anything: a majority that remembers must be left.
func (r *run) wipe(victim string) func() {
	if r.forgetful != "" || r.unsettled || len(r.voters()) < 3 {
		return nil
	}
	r.rec.Note(history.NoteWiped, victim, "")
	r.cluster.KillMember(victim)
	if r.cluster.WipeMember(victim) != nil {
		return nil
	}
	r.forgetful = victim
	return func() { r.revive(victim) }
}

// changePlaces has a minority of the voters miss what the others write, and then makes a new majority of it and as few of the others as that takes, who are started anew for it, one of them
// maybe from an empty disk; the rest, the leader among them, is silent now. So two majorities in a row have as little in common as they can, and all that the first has promised hangs on
// what that remembers.
func (r *run) changePlaces(ctx context.Context, lead string) func() {
	all := r.voters()
	majority := len(all)/2 + 1
	away := len(all) - majority
	if away == 0 || !slices.Contains(all, lead) {
		return nil
	}
	r.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	last := slices.Index(all, lead)
	all[last], all[len(all)-1] = all[len(all)-1], lead
	first, links, rest := all[:away], all[away:majority], all[majority:]
	silence := func(names []string) {
		r.net.change(func() {
			clear(r.net.silent)
			for _, name := range names {
				r.net.silent[name] = true
			}
		})
		r.cluster.NetworkChanged()
	}
	r.rec.Note(string(ChangePlaces), "", "without %v, then without %v, with %v started anew", first, rest, links)
	silence(first)
	sleep(ctx, r.upTo(r.plan.FaultMax))
	for _, name := range links {
		r.cluster.KillMember(name)
	}
	if r.rand.IntN(2) == 0 {
		r.wipe(links[0])
	}
	silence(rest)
	for _, name := range links {
		r.revive(name)
	}
	return func() {
		r.net.heal()
		r.cluster.NetworkChanged()
		r.rec.Note("network healed", "", "")
	}
}
