package flowcontrol

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/sim"
)

// expected is how long a request is taken to need a seat before it is known (the real one's estimate of a service time is of that size).
const expected = 3 * time.Millisecond

type ticketState int

const (
	waiting ticketState = iota
	seated
	gone
)

// ticket of a request that has or waits for seats.
type ticket struct {
	seats int
	came  time.Time
	began time.Time // when it was seated
	queue *queue
	state ticketState
	turn  sim.Cond
}

// queue of one or a few flows. next is the virtual time, in seat-seconds, at which its head may begin in a server that shares its seats fairly among queues.
type queue struct {
	waiting []*ticket
	taken   int // seats
	next    float64
}

// queueSet holds one level's seats and queues.
type queueSet struct {
	level   *level
	nominal int
	limit   int // seats at present
	taken   int
	waiting int // requests
	wanted  int // seats of those that wait
	refused int64

	queues  []queue
	virtual float64 // the level's virtual time
	real    time.Time
	turn    int // the queue served last

	demand demand
}

func newQueueSet(l *level, nominal int, now time.Time) *queueSet {
	return &queueSet{level: l, nominal: nominal, limit: nominal, queues: make([]queue, max(1, l.queues)), real: now, demand: newDemand(now)}
}

// advance moves virtual time on. It runs the faster the more seats are in use and the slower the more queues share them, and stands while nobody wants anything.
func (s *queueSet) advance(now time.Time) {
	passed := now.Sub(s.real).Seconds()
	s.real = now
	if passed <= 0 || s.taken+s.wanted == 0 {
		return
	}
	active := 0
	for i := range s.queues {
		if q := &s.queues[i]; q.taken > 0 || len(q.waiting) > 0 {
			active++
		}
	}
	s.virtual += passed * float64(min(s.taken+s.wanted, s.limit)) / float64(max(1, active))
}

// arrive seats a request, lets it wait or refuses it with a reason.
func (s *queueSet) arrive(now time.Time, r *ticket, hash uint64) (refused string) {
	s.advance(now)
	if s.level.queues == 0 {
		if s.taken+r.seats > s.limit {
			s.refused++
			return "concurrency-limit"
		}
		r.queue = &s.queues[0]
		s.seat(now, r)
		return ""
	}
	q := s.deal(hash)
	if len(q.waiting) >= queueLength {
		s.refused++
		return "queue-full"
	}
	if q.taken == 0 && len(q.waiting) == 0 {
		q.next = max(q.next, s.virtual) // a queue that had nothing to do earns nothing by it
	}
	r.queue = q
	q.waiting = append(q.waiting, r)
	s.waiting++
	s.wanted += r.seats
	s.demand.change(now, s.taken+s.wanted)
	s.dispatch(now)
	return ""
}

// deal gives a flow its hand of queues and chooses of it the one with the least to do: two flows seldom have the same hand, so a noisy one leaves most others a queue without it.
func (s *queueSet) deal(hash uint64) *queue {
	n := len(s.queues)
	hand := make([]int, 0, 8) // sorted
	var best *queue
	load := 0
	for i := range s.level.hand {
		left := uint64(n - i)
		card := int(hash % left)
		hash /= left
		// The card counts the queues that are left: those in the hand are passed over.
		at := 0
		for ; at < len(hand) && hand[at] <= card; at++ {
			card++
		}
		hand = slices.Insert(hand, at, card)
		q := &s.queues[card]
		l := q.taken
		for _, w := range q.waiting {
			l += w.seats
		}
		if best == nil || l < load {
			best, load = q, l
		}
	}
	return best
}

// dispatch seats those whose turn it is while there are seats.
func (s *queueSet) dispatch(now time.Time) {
	for s.waiting > 0 && s.taken < s.limit {
		q := s.nextQueue()
		if q == nil {
			return
		}
		r := q.waiting[0]
		if s.taken+r.seats > s.limit && s.taken > 0 {
			return // whose turn it is waits until there are as many; smaller ones behind do not pass
		}
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		s.waiting--
		s.wanted -= r.seats
		s.seat(now, r)
		q.next += expected.Seconds() * float64(r.seats)
		r.turn.Broadcast()
	}
}

// nextQueue is the one whose head would end first; of equals the one after that which was served last.
func (s *queueSet) nextQueue() *queue {
	var best *queue
	least, at := 0.0, 0
	for i := range s.queues {
		j := (s.turn + 1 + i) % len(s.queues)
		q := &s.queues[j]
		if len(q.waiting) == 0 {
			continue
		}
		if end := q.next + expected.Seconds()*float64(q.waiting[0].seats); best == nil || end < least {
			best, least, at = q, end, j
		}
	}
	s.turn = at
	return best
}

func (s *queueSet) seat(now time.Time, r *ticket) {
	r.state, r.began = seated, now
	s.taken += r.seats
	r.queue.taken += r.seats
	s.demand.change(now, s.taken+s.wanted)
}

// leave gives back the seats of a request, or its place in the queue. What it took beyond the estimate is put on its queue's account.
func (s *queueSet) leave(now time.Time, r *ticket) {
	s.advance(now)
	switch r.state {
	case gone:
		return
	case waiting:
		q := r.queue
		q.waiting = slices.DeleteFunc(q.waiting, func(w *ticket) bool { return w == r })
		s.waiting--
		s.wanted -= r.seats
		s.refused++
	case seated:
		s.taken -= r.seats
		r.queue.taken -= r.seats
		if s.level.queues > 0 {
			r.queue.next += (now.Sub(r.began) - expected).Seconds() * float64(r.seats)
		}
	}
	r.state = gone
	s.demand.change(now, s.taken+s.wanted)
	s.dispatch(now)
}
