package peer

import (
	"sync"
	"sync/atomic"
	"time"
)

// How often appends and heartbeats of one link are shown.
const (
	// sampleEvery is the least time between two of them to an observer that wants all kinds.
	sampleEvery = 100 * time.Millisecond
	// calmEvery is the same for answers to appends that carried entries, lostEvery for messages that were lost, to an observer that sees inside.
	calmEvery = 500 * time.Millisecond
	lostEvery = time.Second
	// closelyMax is how many are shown in one close look.
	closelyMax = 4000
)

// selection decides which messages of the endless stream of appends and heartbeats an observer is told of.
//
// An observer that sees inside has each single one of them during a close look (around an election), and otherwise only what says something: answers to
// appends that carried entries, and what is lost. Another observer has a sample of everything. Any goroutine.
type selection struct {
	// Inside is set before the first message.
	Inside bool
	until  atomic.Int64 // end of the close look, wall nanoseconds
	shown  atomic.Int64 // in it
}

// Closely makes everything be shown for some time from now on.
func (s *selection) Closely(d time.Duration) {
	now := time.Now()
	if s.until.Swap(now.Add(d).UnixNano()) < now.UnixNano() {
		s.shown.Store(0)
	}
}

func (s *selection) closely(now int64) bool {
	return now < s.until.Load() && s.shown.Add(1) <= closelyMax
}

// shows tells whether m is shown. samples holds when a message was last shown, by kind and link.
func (s *selection) shows(samples *sync.Map, m Message) bool {
	every := sampleEvery
	now := time.Now().UnixNano()
	if s.Inside {
		if s.closely(now) {
			return true
		}
		switch {
		case m.Lost:
			every = lostEvery
		case m.Entries > 0 && m.Reply:
			every = calmEvery
		default:
			return false
		}
	}
	key := m.Kind + m.From + ">" + m.To
	if m.Lost {
		key = "lost " + key
	}
	last, ok := samples.Load(key)
	if !ok {
		last, _ = samples.LoadOrStore(key, new(atomic.Int64))
	}
	at := last.(*atomic.Int64)
	before := at.Load()
	return now-before >= int64(every) && at.CompareAndSwap(before, now)
}
