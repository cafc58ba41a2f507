package reconcile

import (
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// Retry delays of a key (cg util/workqueue: DefaultTypedControllerRateLimiter).
const (
	retryMin = 5 * time.Millisecond
	retryMax = 1000 * time.Second
	// Over all keys of a queue retries go through a token bucket: a hundred at once, then ten a second.
	retryBurst     = 100
	retryPerSecond = 10
)

// reportEvery bounds how often a queue's state is journalled.
const reportEvery = 200 * time.Millisecond

// Item is a key taken from a queue.
type Item struct {
	Key kubeapi.Key
	// Since is when it became ready.
	Since time.Time
	// Cause is the newest record that asked for it.
	Cause event.Seq
}

// Queue is a work queue as client-go has it: a key waits once however often it is added, and never is in work twice at a time (added meanwhile, it waits again
// when done). Delayed keys and retry counts are visible facts.
type Queue struct {
	name    string
	proc    *kubeapi.Process
	waiting []Item
	at      map[kubeapi.Key]int // in waiting, offset by taken
	taken   int
	inWork  map[kubeapi.Key]bool
	again   map[kubeapi.Key]Item // added while in work
	delayed map[kubeapi.Key]*delayed
	retries map[kubeapi.Key]int
	tokens  float64 // of the bucket, at refill; negative: reserved ahead
	refill  time.Time
	cond    sim.Cond
	report  *clock.Timer
	last    event.QueueChanged
}

type delayed struct {
	timer *clock.Timer
	due   time.Time
	cause event.Seq
}

// NewQueue makes a queue of that name in a program.
func NewQueue(pr *kubeapi.Process, name string) *Queue {
	return &Queue{name: name, proc: pr, at: map[kubeapi.Key]int{}, inWork: map[kubeapi.Key]bool{}, again: map[kubeapi.Key]Item{},
		delayed: map[kubeapi.Key]*delayed{}, retries: map[kubeapi.Key]int{}, tokens: retryBurst, refill: pr.Loop.Now()}
}

// Add makes key ready now.
func (q *Queue) Add(key kubeapi.Key, cause event.Seq) {
	defer q.changed()
	item := Item{Key: key, Since: q.proc.Loop.Now(), Cause: cause}
	if i, ok := q.at[key]; ok {
		q.waiting[i-q.taken].Cause = max(cause, q.waiting[i-q.taken].Cause)
		return
	}
	if q.inWork[key] {
		if old, ok := q.again[key]; ok {
			item.Since = old.Since
		}
		q.again[key] = item
		return
	}
	q.push(item)
}

func (q *Queue) push(item Item) {
	q.at[item.Key] = q.taken + len(q.waiting)
	q.waiting = append(q.waiting, item)
	q.cond.Signal()
}

// AddAfter makes key ready when d has passed; an earlier time asked for before stays.
func (q *Queue) AddAfter(key kubeapi.Key, d time.Duration, cause event.Seq) {
	if d <= 0 {
		q.Add(key, cause)
		return
	}
	due := q.proc.Loop.Now().Add(d)
	if old, ok := q.delayed[key]; ok {
		if !old.due.After(due) {
			return
		}
		old.timer.Stop()
	}
	e := &delayed{due: due, cause: cause}
	q.delayed[key] = e
	e.timer = q.proc.Loop.After(d, func() {
		if q.proc.Group.Dead() {
			return
		}
		delete(q.delayed, key)
		q.Add(key, cause)
	})
	q.changed()
}

// AddRateLimited makes key ready after its present back-off, which doubles each time until Forget, or when the queue's retries as a whole allow it, if that is later.
func (q *Queue) AddRateLimited(key kubeapi.Key, cause event.Seq) {
	n := q.retries[key]
	q.retries[key] = n + 1
	d := retryMax
	if n < 18 {
		d = min(retryMin<<n, retryMax)
	}
	q.AddAfter(key, max(d, q.reserve()), cause)
}

// reserve takes a token and tells how long to wait for it.
func (q *Queue) reserve() time.Duration {
	now := q.proc.Loop.Now()
	q.tokens = min(retryBurst, q.tokens+now.Sub(q.refill).Seconds()*retryPerSecond)
	q.refill = now
	q.tokens--
	return time.Duration(max(0, -q.tokens) / retryPerSecond * float64(time.Second))
}

// Forget resets the back-off of key.
func (q *Queue) Forget(key kubeapi.Key) { delete(q.retries, key) }

// Retries counts failures of key in a row.
func (q *Queue) Retries(key kubeapi.Key) int { return q.retries[key] }

// Get parks p until a key is ready and takes it into work; Done must follow.
func (q *Queue) Get(p *sim.Proc) Item {
	for len(q.waiting) == 0 {
		q.cond.Wait(p)
	}
	item := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.taken++
	delete(q.at, item.Key)
	q.inWork[item.Key] = true
	q.changed()
	return item
}

// Done says that the work on key ended.
func (q *Queue) Done(key kubeapi.Key) {
	delete(q.inWork, key)
	if item, ok := q.again[key]; ok {
		delete(q.again, key)
		q.push(item)
	}
	q.changed()
}

// State is the queue as a fact.
func (q *Queue) State() event.QueueChanged {
	s := event.QueueChanged{Queue: q.name, Waiting: len(q.waiting) + len(q.again), InWork: len(q.inWork), Delayed: len(q.delayed)}
	for _, d := range q.delayed {
		if s.NextDue.IsZero() || d.due.Before(s.NextDue) {
			s.NextDue = d.due
		}
	}
	return s
}

// changed journals the state soon, if it differs by then from what was journalled last.
func (q *Queue) changed() {
	if q.report != nil || q.proc.Group.Dead() {
		return
	}
	q.report = q.proc.Loop.After(reportEvery, func() {
		q.report = nil
		if q.proc.Group.Dead() {
			return
		}
		s := q.State()
		if s.Waiting == q.last.Waiting && s.InWork == q.last.InWork && s.Delayed == q.last.Delayed {
			return
		}
		q.last = s
		q.proc.Sink.Emit(q.proc.Actor(), 0, s)
	})
}
