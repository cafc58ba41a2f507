package reconcile

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidwall/btree"

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

// Item is a key taken from a queue.
type Item struct {
	Key kubeapi.Key
	// Since is when it became ready.
	Since time.Time
	// Cause is the newest record that asked for it.
	Cause event.Seq
	// why it waits where its cause does not say; empty: its cause is all there is to say.
	why string
}

// Queue is a work queue as client-go has it: a key waits once however often it is added, and never is in work twice at a time (added meanwhile, it waits again
// when done). Delayed keys and retry counts are visible facts.
type Queue struct {
	name    string
	proc    *kubeapi.Process
	waiting []Item
	at      map[kubeapi.Key]int // in waiting, offset by taken
	taken   int
	inWork  map[kubeapi.Key]Item // Since is when the work began
	again   map[kubeapi.Key]Item // added while in work
	delayed map[kubeapi.Key]*delayed
	due     *btree.BTreeG[*delayed]
	made    uint64 // delayed entries made, the last tie-breaker of due
	retries map[kubeapi.Key]int
	tokens  float64 // of the bucket, at refill; negative: reserved ahead
	refill  time.Time
	cond    sim.Cond
	report  *kubeapi.QueueReporter

	added, done, retried int64
}

type delayed struct {
	key   kubeapi.Key
	timer *clock.Timer
	since time.Time
	due   time.Time
	nth   uint64
	cause event.Seq
	why   string
}

func sooner(a, b *delayed) bool {
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.nth < b.nth
}

// NewQueue makes a queue of that name in a program.
func NewQueue(pr *kubeapi.Process, name string) *Queue {
	q := &Queue{name: name, proc: pr, at: map[kubeapi.Key]int{}, inWork: map[kubeapi.Key]Item{}, again: map[kubeapi.Key]Item{}, delayed: map[kubeapi.Key]*delayed{},
		due: btree.NewBTreeGOptions(sooner, btree.Options{NoLocks: true}), retries: map[kubeapi.Key]int{}, tokens: retryBurst, refill: pr.Loop.Now()}
	q.report = kubeapi.NewQueueReporter(pr, func() (event.QueueChanged, bool) { return q.State(), true })
	return q
}

// Add makes key ready now.
func (q *Queue) Add(key kubeapi.Key, cause event.Seq) { q.add(key, cause, "") }

func (q *Queue) add(key kubeapi.Key, cause event.Seq, why string) {
	item := Item{Key: key, Since: q.proc.Loop.Now(), Cause: cause, why: why}
	if i, ok := q.at[key]; ok {
		q.waiting[i-q.taken].Cause = max(cause, q.waiting[i-q.taken].Cause)
		return
	}
	if q.inWork[key].Key != "" {
		if old, ok := q.again[key]; ok {
			item.Since = old.Since
		} else {
			q.added++
		}
		q.again[key] = item
		q.changed()
		return
	}
	q.added++
	q.push(item)
	q.changed()
}

func (q *Queue) push(item Item) {
	q.at[item.Key] = q.taken + len(q.waiting)
	q.waiting = append(q.waiting, item)
	q.cond.Signal()
}

// AddAfter makes key ready when d has passed; an earlier time asked for before stays. why is a phrase for people.
func (q *Queue) AddAfter(key kubeapi.Key, d time.Duration, cause event.Seq, why string) {
	if d <= 0 {
		q.add(key, cause, why)
		return
	}
	now := q.proc.Loop.Now()
	due := now.Add(d)
	if old, ok := q.delayed[key]; ok {
		if !old.due.After(due) {
			return
		}
		old.timer.Stop()
		q.due.Delete(old)
	}
	q.made++
	e := &delayed{key: key, since: now, due: due, nth: q.made, cause: cause, why: why}
	q.delayed[key] = e
	q.due.Set(e)
	e.timer = q.proc.Loop.After(d, func() {
		if q.proc.Group.Dead() {
			return
		}
		delete(q.delayed, key)
		q.due.Delete(e)
		q.add(key, cause, why)
		q.changed()
	})
	q.changed()
}

// AddRateLimited makes key ready after its present back-off, which doubles each time until Forget, or when the queue's retries as a whole allow it, if that is later.
func (q *Queue) AddRateLimited(key kubeapi.Key, cause event.Seq, why string) {
	n := q.retries[key]
	q.retries[key] = n + 1
	q.retried++
	d := retryMax
	if n < 18 {
		d = min(retryMin<<n, retryMax)
	}
	if all := q.reserve(); all > d {
		d = all
		why += "; the queue retries ten a second"
	}
	q.AddAfter(key, d, cause, why)
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
	working := item
	working.Since = p.Now()
	q.inWork[item.Key] = working
	q.report.Took(working.Since.Sub(item.Since))
	q.changed()
	return item
}

// Done says that the work on key ended.
func (q *Queue) Done(key kubeapi.Key) {
	delete(q.inWork, key)
	q.done++
	if item, ok := q.again[key]; ok {
		delete(q.again, key)
		q.push(item)
	}
	q.changed()
}

// State is the queue as a fact.
func (q *Queue) State() event.QueueChanged {
	s := event.QueueChanged{Queue: q.name, Waiting: len(q.waiting) + len(q.again), InWork: len(q.inWork), Delayed: len(q.delayed),
		Added: q.added, Done: q.done, Retried: q.retried, Failing: len(q.retries)}
	waiting := append(q.waiting[:min(len(q.waiting), event.QueueItemsMax):min(len(q.waiting), event.QueueItemsMax)], oldest(q.again)...)
	slices.SortStableFunc(waiting, older)
	for i, item := range waiting {
		if i == 0 {
			s.Oldest = item.Since
		}
		if i < event.QueueItemsMax {
			s.Items = append(s.Items, q.item(item, event.ItemWaiting))
		}
	}
	for i, item := range oldest(q.inWork) {
		if i < event.QueueItemsMax {
			s.Items = append(s.Items, q.item(item, event.ItemInWork))
		}
	}
	n := 0
	q.due.Scan(func(d *delayed) bool {
		if n == 0 {
			s.NextDue = d.due
		}
		n++
		s.Items = append(s.Items, event.QueueItem{Key: string(d.key), State: event.ItemDelayed, Since: d.since, Due: d.due, Why: kubeapi.QueueWhy(d.why),
			Retries: q.retries[d.key], Cause: d.cause})
		return n < event.QueueItemsMax
	})
	return s
}

func (q *Queue) item(i Item, state event.ItemState) event.QueueItem {
	return event.QueueItem{Key: string(i.Key), State: state, Since: i.Since, Why: kubeapi.QueueWhy(i.why), Retries: q.retries[i.Key], Cause: i.Cause}
}

// oldest lists a few items, at most one a worker, by age.
func oldest(m map[kubeapi.Key]Item) []Item {
	out := make([]Item, 0, len(m))
	for _, item := range m {
		out = append(out, item)
	}
	slices.SortFunc(out, older)
	return out
}

func older(a, b Item) int {
	if c := a.Since.Compare(b.Since); c != 0 {
		return c
	}
	return cmp.Compare(a.Key, b.Key)
}

// changed has the state journalled soon.
func (q *Queue) changed() {
	q.report.Waits(len(q.waiting) + len(q.again))
	q.report.Changed()
}
