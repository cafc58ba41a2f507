package tui

import (
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/timeline"
	"example.com/kubeviz/engine/world"
)

// Line is a place in a journal with the World folded up to it; the screen pulls it forward once a frame.
type Line interface {
	// Advance folds in at most budget records that are due and returns how many.
	Advance(budget int) int
	// World at the place. The pointer is good until the next Advance.
	World() *world.World
	// Now is simulated time, not before the World's.
	Now() time.Time
	// Live is false in a recording.
	Live() bool
}

// Pacer is a Line that has a pace of its own: a recording.
type Pacer interface {
	SetRate(rate float64) // 0 pauses
	Rate() float64
	// Step goes to the next record.
	Step()
	// Done: the end is reached.
	Done() bool
}

// follower is the Line at the end of a journal that grows.
type follower struct {
	line  *timeline.Timeline
	clock func() time.Time // nil: the time of the last record
}

func newFollower(j *journal.Journal, clock func() time.Time) *follower {
	return &follower{line: timeline.Follow(j), clock: clock}
}

func (l *follower) Advance(budget int) int {
	_, n := l.line.Advance(budget)
	return n
}

func (l *follower) World() *world.World { return l.line.World() }
func (l *follower) Live() bool          { return true }

func (l *follower) Now() time.Time {
	at := l.line.World().At
	if l.clock != nil {
		if now := l.clock(); now.After(at) {
			return now
		}
	}
	return at
}

// player is the Line through a recording, at a pace of its own.
type player struct {
	line    *timeline.Timeline
	journal *journal.Journal
	wall    func() time.Time
	last    time.Time // wall
	now     time.Time
	rate    float64
}

var _ Pacer = (*player)(nil)

// longestGap of wall time that is played; what is longer was a pause (a stopped program), not time to catch up.
const longestGap = 500 * time.Millisecond

func newPlayer(j *journal.Journal, wall func() time.Time) *player {
	p := &player{line: timeline.Replay(j), journal: j, wall: wall, rate: 1}
	p.now = p.line.World().At
	return p
}

func (p *player) Advance(budget int) int {
	wall := p.wall()
	gap := time.Duration(0)
	if !p.last.IsZero() {
		gap = min(wall.Sub(p.last), longestGap)
	}
	p.last = wall
	if !p.Done() {
		p.now = p.now.Add(time.Duration(float64(gap) * p.rate))
	}
	return p.catchUp(budget)
}

// catchUp goes to the last record that is due, or as far as the budget reaches; the rest is due in the next frame as well.
func (p *player) catchUp(budget int) int {
	before := p.line.Seq()
	due := p.line.Seq()
	for n := 0; n < budget; n++ {
		r, ok := p.journal.Get(due + 1)
		if !ok || r.At.After(p.now) {
			break
		}
		due++
	}
	if due == before {
		return 0
	}
	p.line.SeekSeq(due)
	return int(p.line.Seq() - before)
}

func (p *player) World() *world.World  { return p.line.World() }
func (p *player) Now() time.Time       { return p.now }
func (p *player) Live() bool           { return false }
func (p *player) Rate() float64        { return p.rate }
func (p *player) SetRate(rate float64) { p.rate = rate }
func (p *player) Done() bool           { return p.line.Seq() >= p.journal.Last() }

func (p *player) Step() {
	if r, ok := p.journal.Get(p.line.Seq() + 1); ok && r.At.After(p.now) {
		p.now = r.At
	}
}

// feedReach is how far back the story is read again after a jump.
const feedReach event.Seq = 1 << 16

// pump gives the feed the records between where it is and where the World is.
func (m *model) pump() {
	w := m.line.World()
	if w.Seq < m.feed.Last() { // gone back in time
		m.feed.Rewind()
	}
	from := m.feed.Last() + 1
	if w.Seq > feedReach && from < w.Seq-feedReach {
		from = w.Seq - feedReach
	}
	for from <= w.Seq {
		recs, lost := m.journal.Read(m.buf[:0], from, min(foldBatch, int(w.Seq-from)+1))
		if lost > 0 {
			m.feed.Skip(lost, w.At)
		}
		for _, r := range recs {
			if r.Seq <= w.Seq {
				m.feed.Read(r, w)
			}
		}
		from += event.Seq(lost + len(recs))
		clear(recs) // records hold objects; the journal decides how long
		m.buf = recs[:0]
		if len(recs) == 0 {
			return
		}
	}
}
