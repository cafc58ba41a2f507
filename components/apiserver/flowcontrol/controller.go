package flowcontrol

import (
	"hash/fnv"
	"time"

	"example.com/kubeviz/engine/sim"
)

// Limits of a server with default flags (API-21, API-24).
const (
	Seats     = 400 + 200        // --max-requests-inflight and --max-mutating-requests-inflight
	WaitLimit = 15 * time.Second // a quarter of --request-timeout
	// queueLength is how many requests a queue holds.
	queueLength = 50
)

// Verdict on a request.
type Verdict struct {
	Level, Schema, Flow string
	// Waited for a seat, simulated.
	Waited time.Duration
	// Refused says why there is no seat: "queue-full", "time-out", "concurrency-limit" (the reasons of apiserver_flowcontrol_rejected_requests_total); empty: there is one.
	Refused string
}

// Words of a verdict for who looks at a request.
func (v Verdict) Words() string {
	if v.Level == exempt.name {
		return "level exempt by schema " + v.Schema
	}
	w := "level " + v.Level + " by schema " + v.Schema
	if v.Flow != "" {
		w += ", flow " + v.Flow
	}
	switch v.Refused {
	case "queue-full":
		w += ": its queue is full"
	case "time-out":
		w += ": no seat came free within " + v.Waited.String()
	case "concurrency-limit":
		w += ": all seats are taken, and the level has no queue"
	}
	return w
}

// Controller of one API server.
type Controller struct {
	now    func() time.Time
	levels map[*level]*queueSet
	order  []*queueSet
	adjust time.Time // when seats are lent anew
}

// New makes a controller of so many seats.
func New(seats int, now func() time.Time) *Controller {
	c := &Controller{now: now, levels: map[*level]*queueSet{}, adjust: now().Add(adjustEvery)}
	sum := 0
	for _, l := range levels {
		sum += l.shares
	}
	for _, l := range levels {
		nominal := (seats*l.shares + sum - 1) / sum
		s := newQueueSet(l, nominal, now())
		c.levels[l] = s
		c.order = append(c.order, s)
	}
	return c
}

// Enter takes seats for a request and waits for them up to limit. leave gives them back; it is never nil, and must be called also when the process is being ended.
func (c *Controller) Enter(p *sim.Proc, a Attributes, seats int, limit time.Duration) (v Verdict, leave func()) {
	sch, flow := classify(&a)
	v = Verdict{Level: sch.level.name, Schema: sch.name, Flow: flow}
	if sch.level.exempt {
		return v, func() {}
	}
	now := c.now()
	c.borrow(now)
	set := c.levels[sch.level]
	r := &ticket{seats: max(1, min(seats, set.nominal)), came: now}
	if refused := set.arrive(now, r, flowHash(sch.name, flow)); refused != "" {
		v.Refused = refused
		return v, func() {}
	}
	leave = func() { set.leave(c.now(), r) }
	if r.state == seated {
		return v, leave
	}
	done := false
	defer func() {
		if !done {
			leave() // the process is being ended
		}
	}()
	for end := now.Add(min(limit, WaitLimit)); r.state == waiting; {
		left := end.Sub(c.now())
		if left <= 0 || !r.turn.WaitFor(p, left) && r.state == waiting {
			v.Refused = "time-out"
			break
		}
	}
	done = true
	v.Waited = c.now().Sub(now)
	if v.Refused != "" {
		leave()
		return v, func() {}
	}
	return v, leave
}

// LevelOf is the level that a request belongs to.
func LevelOf(a Attributes) string {
	sch, _ := classify(&a)
	return sch.level.name
}

// Waiting counts the requests that wait for seats, over all levels.
func (c *Controller) Waiting() int {
	n := 0
	for _, s := range c.order {
		n += s.waiting
	}
	return n
}

// Level is how one level stands.
type Level struct {
	Name string
	// Nominal seats, and those it has at present with what it lends and borrows.
	Nominal, Current int
	// Taken seats, and requests that wait.
	Taken, Waiting int
	// Refused counts since the start.
	Refused int64
}

// Levels lists the levels that have seats.
func (c *Controller) Levels() []Level {
	out := make([]Level, len(c.order))
	for i, s := range c.order {
		out[i] = Level{s.level.name, s.nominal, s.limit, s.taken, s.waiting, s.refused}
	}
	return out
}

func flowHash(schema, flow string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema))
	_, _ = h.Write([]byte{','})
	_, _ = h.Write([]byte(flow))
	return h.Sum64()
}
