// Package reader is the place in the journal that the screen shows, and how it moves: along with a running cluster, in its past, or through a recording.
//
// Live, the place is the newest record and time is the cluster's. Looking back, the place is an instant of the past; it stands still until it is played, steps, or is
// sought, while the cluster lives on and its records go on being folded. A recording is a past without a present. Played again slowly, records come in
// the order and at the distance that they had in wall time: that is how an election is seen.
//
// Owns: the place and its pace. Imports of ours: engine/event, engine/journal, engine/timeline, engine/world. Goroutines: the screen's one. Time: simulated for the place;
// wall time, as the clock given tells it, for the pace.
package reader

import (
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/timeline"
	"example.com/kubeviz/engine/world"
)

// longestGap of wall time that is played; what is longer was a pause of the program, not time to catch up.
const longestGap = 500 * time.Millisecond

// Reader is a place in a journal.
type Reader struct {
	line    *timeline.Timeline
	journal *journal.Journal
	cluster func() time.Time // simulated time of the running cluster; nil: that of the newest record
	wall    func() time.Time
	file    bool

	// While not live:
	now    time.Time
	rate   float64 // that it is played at; 0: it stands still
	before float64 // rate before it was held still
	last   time.Time
	slow   slow
}

// slow is a stretch that is played again by its wall time.
type slow struct {
	factor float64 // 0: none
	to     event.Seq
	at     time.Time // wall time of the records, as far as it has come
}

// Follow reads the journal of a running cluster. cluster is its simulated time, safe on any goroutine; nil: that of the newest record.
func Follow(j *journal.Journal, cluster, wall func() time.Time) *Reader {
	return &Reader{line: timeline.Follow(j), journal: j, cluster: cluster, wall: wall, before: 1}
}

// Replay reads a complete journal from its beginning, at the pace of simulated time.
func Replay(j *journal.Journal, wall func() time.Time) *Reader {
	r := &Reader{line: timeline.Replay(j), journal: j, wall: wall, file: true, rate: 1, before: 1}
	r.now = r.line.World().At
	return r
}

// World at the place. It is good until the next call.
func (r *Reader) World() *world.World { return r.line.World() }

// Head is the newest World, wherever the place is.
func (r *Reader) Head() *world.World { return r.line.Head() }

// Live reports whether the place is the newest record of a running cluster.
func (r *Reader) Live() bool { return r.line.Live() }

// Recording reports whether there is no cluster.
func (r *Reader) Recording() bool { return r.file }

// Rate at which the place is played; 0: it stands still. Of no meaning while live.
func (r *Reader) Rate() float64 { return r.rate }

// Slow is how many times slower than wall time a stretch is played again; 0: none is.
func (r *Reader) Slow() float64 { return r.slow.factor }

// Now is simulated time at the place, not before the World's.
func (r *Reader) Now() time.Time {
	if !r.line.Live() {
		return r.now
	}
	return r.present()
}

// present is simulated time of the cluster, or the end of a recording.
func (r *Reader) present() time.Time {
	at := r.line.Head().At
	if r.cluster != nil {
		if now := r.cluster(); now.After(at) {
			return now
		}
	}
	return at
}

// Bounds are the instants between which the place can be.
func (r *Reader) Bounds() (first, last time.Time) {
	first, last = r.line.Bounds()
	if r.file {
		if e, ok := r.journal.Get(r.journal.Last()); ok {
			last = e.At
		}
		return first, last
	}
	return first, r.present()
}

// Done reports whether the end of a recording is reached.
func (r *Reader) Done() bool { return r.file && r.line.Seq() >= r.journal.Last() }

// Advance folds in at most budget records that are new, moves the place on, and reports how many records were folded and whether the place has changed.
func (r *Reader) Advance(budget int) (folded int, moved bool) {
	before := r.line.Seq()
	_, folded = r.line.Advance(budget)
	if !r.line.Live() {
		r.play()
	}
	return folded, r.line.Seq() != before
}

// play moves a place that is not live on by the wall time that has passed.
func (r *Reader) play() {
	wall := r.wall()
	gap := time.Duration(0)
	if !r.last.IsZero() {
		gap = max(min(wall.Sub(r.last), longestGap), 0)
	}
	r.last = wall
	switch {
	case r.slow.factor > 0:
		r.crawl(gap)
	case r.rate > 0 && !r.Done():
		r.now = r.now.Add(time.Duration(float64(gap) * r.rate))
		if !r.file && !r.now.Before(r.present()) { // caught up with the present
			r.GoLive()
			return
		}
		r.line.Seek(r.now)
	}
}

// crawl plays the slow stretch: records are due by their wall time.
func (r *Reader) crawl(gap time.Duration) {
	r.slow.at = r.slow.at.Add(time.Duration(float64(gap) / r.slow.factor))
	due := r.line.Seq()
	var next event.Record
	ok := false
	for due < r.slow.to {
		if next, ok = r.journal.Get(due + 1); !ok || r.wallOf(next).After(r.slow.at) {
			break
		}
		due++
	}
	if due != r.line.Seq() {
		r.line.SeekSeq(due)
	}
	r.now = r.line.World().At
	if due >= r.slow.to || !ok {
		r.slow = slow{}
		r.rate = 0
		return
	}
	r.now = r.between(next)
}

// between is simulated time between the last record and the next one, as far as wall time has come from one to the other.
func (r *Reader) between(next event.Record) time.Time {
	w := r.line.World()
	from, to := w.Wall, r.wallOf(next)
	if here, ok := r.journal.Get(w.Seq); ok {
		from = r.wallOf(here)
	}
	span := to.Sub(from)
	if span <= 0 {
		return w.At
	}
	share := min(max(float64(r.slow.at.Sub(from))/float64(span), 0), 1)
	return w.At.Add(time.Duration(share * float64(next.At.Sub(w.At))))
}

// RecordedWall is the wall time of the records that a slow stretch has come to; zero while none is played.
func (r *Reader) RecordedWall() time.Time {
	if r.slow.factor == 0 {
		return time.Time{}
	}
	return r.slow.at
}

// wallOf is the wall time of a record: for a message of the store when it was sent, which is before the journal took it in. In journals that have none, simulated time
// stands for it.
func (r *Reader) wallOf(e event.Record) time.Time {
	if m, ok := e.Event.(event.RaftMessage); ok && !m.Sent.IsZero() {
		return m.Sent
	}
	if e.Wall.IsZero() {
		return e.At
	}
	return e.Wall
}

// Crawl plays the records from one number to another again, factor times slower than they came in wall time, and stands still at the end.
func (r *Reader) Crawl(from, to event.Seq, factor float64) bool {
	first, ok := r.journal.Get(from)
	if !ok || to <= from || factor <= 0 {
		return false
	}
	r.leave()
	r.line.SeekSeq(from)
	r.now = r.line.World().At
	r.slow = slow{factor: factor, to: to, at: r.wallOf(first)}
	return true
}

// SetSlow changes the factor while a stretch is played slowly.
func (r *Reader) SetSlow(factor float64) {
	if r.slow.factor > 0 {
		r.slow.factor = factor
	}
}

// leave makes the place one of its own, if it was the present.
func (r *Reader) leave() {
	if r.line.Live() {
		r.rate = 0
	}
	r.slow = slow{}
	r.last = time.Time{}
}

// Seek goes to an instant.
func (r *Reader) Seek(at time.Time) {
	first, last := r.Bounds()
	switch {
	case at.Before(first):
		at = first
	case !at.Before(last) && !r.file:
		r.GoLive()
		return
	case at.After(last):
		at = last
	}
	r.leave()
	r.line.Seek(at)
	r.now = at
	if w := r.line.World(); w.At.After(at) { // of what is no longer in memory only some instants are left
		r.now = w.At
	}
}

// SeekSeq goes to a record.
func (r *Reader) SeekSeq(seq event.Seq) {
	r.leave()
	r.line.SeekSeq(seq)
	r.now = r.line.World().At
}

// stepReach is how many records a step looks at.
const stepReach = 20_000

// Step goes to the next record that stirs, forward (1) or back (-1), and reports whether there is one.
func (r *Reader) Step(by int) bool {
	seq := r.line.Seq()
	first, last := r.journal.First(), r.journal.Last()
	for range stepReach {
		if by < 0 && seq <= first || by > 0 && seq >= last {
			return false
		}
		if by < 0 {
			seq--
		} else {
			seq++
		}
		e, ok := r.journal.Get(seq)
		if !ok {
			return false
		}
		if event.Stirs(e.Event) {
			break
		}
	}
	r.SeekSeq(seq)
	r.rate = 0
	return true
}

// Await goes on to the next record that matches, or where nothing matches, stays and reports false.
func (r *Reader) Await(match func(event.Record) bool) bool {
	for seq := r.line.Seq() + 1; seq <= r.journal.Last(); seq++ {
		if e, ok := r.journal.Get(seq); ok && match(e) {
			r.SeekSeq(seq)
			r.rate = 0
			return true
		}
	}
	return false
}

// Play sets the rate at which a place that is not live is played; 0 holds it still.
func (r *Reader) Play(rate float64) {
	if rate == 0 && r.rate != 0 {
		r.before = r.rate
	}
	r.rate = rate
	r.slow.factor = 0
	r.last = time.Time{}
}

// Toggle holds a place still, or plays it at the rate before.
func (r *Reader) Toggle() {
	if r.rate != 0 || r.slow.factor > 0 {
		r.Play(0)
		return
	}
	r.Play(r.before)
}

// GoLive comes back to the present; in a recording, to its end.
func (r *Reader) GoLive() {
	r.leave()
	r.line.GoLive()
	r.now = r.line.World().At
}
