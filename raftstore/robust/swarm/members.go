package swarm

import (
	"context"
	"fmt"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/robust/history"
)

// reshape changes who is a member. A member that is taken out and comes back has forgotten everything, under a new identity.
func (r *run) reshape(ctx context.Context, f Fault, victim string) {
	cl := r.rec.Client(1003, 3*time.Second)
	size := len(r.members())
	switch f {
	case Grow:
		if size >= 5 {
			return
		}
		r.spare++
		r.join(ctx, cl, fmt.Sprintf("n%d", r.spare))
	case Shrink:
		if size > 3 {
			r.rec.Note(string(f), victim, "")
			r.change(cl, history.Remove, victim)
		}
	case DiskDamage:
		if r.forgetful != "" || r.unsettled || len(r.voters()) < 3 {
			return
		}
		states := []failure.Disk{failure.Torn, failure.Zeroed, failure.Flipped, failure.Cut, failure.Deleted}
		state := states[r.rand.IntN(len(states))]
		r.rec.Note(string(f), victim, "%s", state)
		r.forgetful = victim
		r.cluster.KillMember(victim)
		if r.cluster.SetDisk(victim, state, 0) != nil {
			r.forgetful = ""
			return
		}
		r.cluster.StartMember(victim)
		sleep(ctx, r.upTo(time.Second))
		fallthrough
	case Replace:
		r.rec.Note(string(Replace), victim, "")
		if o := r.change(cl, history.Remove, victim); !o.Done() {
			return
		}
		r.cluster.KillMember(victim)
		sleep(ctx, r.upTo(time.Second))
		r.join(ctx, cl, victim)
	}
}

// join adds a member, starts it and promotes it when it has caught up.
func (r *run) join(ctx context.Context, cl *history.Client, name string) {
	r.rec.Note("join", name, "")
	if o := r.change(cl, history.Add, name); !o.Done() {
		return
	}
	r.cluster.StartMember(name)
	for try := 0; try < 20 && ctx.Err() == nil; try++ {
		sleep(ctx, 200*time.Millisecond)
		if o := r.change(cl, history.Promote, name); o.Done() {
			return
		}
	}
}

// change asks for a change of members, and remembers when nobody knows how it ended, and when a new identity came: who votes is then open until all know. (In hashicorp/raft a voter that lags
// refuses its vote to a candidate that is not in the configuration it knows.)
func (r *run) change(cl *history.Client, kind history.Kind, name string) *history.Op {
	o := cl.Change(kind, name)
	r.open = r.open || o.Open() || kind == history.Add && o.Done()
	r.unsettled = o.Open() || r.unsettled && !o.Done()
	return o
}
