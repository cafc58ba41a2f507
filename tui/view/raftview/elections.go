package raftview

import (
	"fmt"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// electionsShown are the records of the elections that the pane shows, the newest first.
func (p *figure) electionsShown() []event.Seq { return p.electionsIn(p.plan().elections) }

func (p *figure) electionsIn(r layout.Rect) []event.Seq {
	all := p.f.World.Elections
	var out []event.Seq
	for i := len(all) - 1; i >= 0 && len(out) < r.H-1; i-- {
		out = append(out, all[i].Seq)
	}
	return out
}

// drawElections lists who was elected when, by how many, and how long there was no leader.
func (p *figure) drawElections(c grid.Canvas) {
	w, h := c.Size()
	if w < 20 || h < 2 {
		return
	}
	all := p.f.World.Elections
	in := p.pane(c, p.say("raft.elections", "n", len(all)))
	if len(all) == 0 {
		in.PutMax(1, 0, w-2, p.say("raft.elections-none"), theme.Dim)
		return
	}
	for y, seq := range p.electionsIn(layout.Rect{H: h}) {
		e := all[len(all)-1-y]
		style := theme.Dim
		if y == 0 {
			style = theme.Text
		}
		if seq == p.v.election {
			style |= grid.Reverse
			in.Put(0, y, string(grid.Marker), theme.Accent)
		}
		in.PutMax(1, y, w-1, p.electionLine(e), style)
	}
}

func (p *figure) electionLine(e world.Election) string {
	head := fmt.Sprintf("%8s  t%-3d %c ", "+"+words.Span(e.At.Sub(p.f.World.Start)), e.Term, grid.Leader)
	switch {
	case e.Anew:
		return head + p.say("raft.election-anew", "to", e.To) + p.votes(e)
	case e.From == "":
		return head + p.say("raft.election-first", "to", e.To) + p.votes(e)
	}
	return head + p.say("raft.election", "to", e.To, "from", e.From) + p.votes(e) + p.say("raft.election-gap", "gap", p.gap(e))
}

func (p *figure) votes(e world.Election) string {
	if e.Votes == 0 {
		return ""
	}
	return p.say("raft.election-votes", "votes", e.Votes, "members", p.votersOf(e))
}

// wallGap is how long there was no leader, by the wall.
func (p *figure) wallGap(e world.Election) time.Duration {
	if e.Wall > 0 {
		return e.Wall
	}
	lost, ok := p.f.Record(e.LostSeq)
	won, ok2 := p.f.Record(e.Seq)
	if ok && ok2 && !lost.Wall.IsZero() && !won.Wall.IsZero() {
		return max(won.Wall.Sub(lost.Wall), 0)
	}
	return e.Virtual
}

// lossOf is the wall instant at which the leader was lost that is missing now, or was until the last election.
func (p *figure) lossOf() (time.Time, bool) {
	var seq event.Seq
	if at, lost := p.f.World.LeaderLost(); lost {
		seq = at
	} else if last, ok := lastElection(p.f.World); ok && last.From != "" {
		if r, ok := p.f.Record(last.Seq); !ok || p.clock.since(r.Wall, r.At) > recent {
			return time.Time{}, false
		}
		seq = last.LostSeq
	}
	r, ok := p.f.Record(seq)
	return r.Wall, ok && !r.Wall.IsZero()
}

// recent is for how long, by the wall, an election is told of as what has just been.
const recent = 20 * time.Second
