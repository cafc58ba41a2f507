package raftview

import (
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// What is played around an election, by the wall, and how slowly: first, and at most.
const (
	leadIn  = 300 * time.Millisecond
	leadOut = 600 * time.Millisecond
	// longest is how much of a time without a leader is played.
	longest   = 5 * time.Second
	slowFirst = 10
	slowMost  = 1000
	// scanMax bounds how many records are looked at for the beginning and the end.
	scanMax = 6000
)

// slow plays the selected election, or the last one, again by its wall time; pressed while it is playing, ten times slower, and after the slowest from the first again.
func (v View) slow(f view.Frame) (view.View, []intent.Intent) {
	factor := float64(slowFirst)
	if f.Slow > 0 {
		factor = f.Slow * 10
		if factor > slowMost {
			factor = slowFirst
		}
		if v.replay.To != 0 && v.replay.From <= f.World.Seq && f.World.Seq <= v.replay.To {
			v.replay.Factor = factor
			return v, []intent.Intent{intent.Slow{From: f.World.Seq, To: v.replay.To, Factor: factor}}
		}
	}
	if lost, out := f.World.LeaderLost(); out && lost != 0 && v.election == 0 { // nobody leads yet: what has happened so far
		v.replay = intent.Slow{From: max(around(f, lost, -leadIn), around(f, f.World.Seq, -longest)), To: f.World.Seq, Factor: factor}
		return v, []intent.Intent{v.replay}
	}
	e, ok := v.replayed(f)
	if !ok {
		return v, []intent.Intent{intent.Tell{Text: f.Words.Say("raft.slow-none")}}
	}
	from := around(f, e.LostSeq, -leadIn)
	if e.Wall > longest { // what nobody could win is passed over
		from = max(from, around(f, e.Seq, -longest))
	}
	v.replay = intent.Slow{From: from, To: around(f, e.Seq, leadOut), Factor: factor}
	return v, []intent.Intent{v.replay}
}

func (v View) replayed(f view.Frame) (world.Election, bool) {
	for _, e := range f.World.Elections {
		if e.Seq == v.election {
			return e, true
		}
	}
	return lastElection(f.World)
}

// around is a record a span before (less than 0) or after another, by the wall; where there are no wall times, by simulated time.
func around(f view.Frame, seq event.Seq, span time.Duration) event.Seq {
	if f.Journal == nil {
		return seq
	}
	from, ok := f.Journal.Get(seq)
	if !ok {
		return max(seq, f.Journal.First())
	}
	way := event.Seq(1)
	if span < 0 {
		way = ^event.Seq(0)
	}
	at := seq
	for range scanMax {
		next := at + way
		r, ok := f.Journal.Get(next)
		if !ok {
			break
		}
		gap := r.Wall.Sub(from.Wall)
		if from.Wall.IsZero() {
			gap = r.At.Sub(from.At)
		}
		if gap.Abs() > span.Abs() {
			break
		}
		at = next
	}
	return at
}
