package world

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
)

// Queue of a component, as it was told last.
type Queue struct {
	Actor event.Actor
	event.QueueChanged
	At  time.Time
	Seq event.Seq
	// History is what it looked like before.
	History History
}

// Backend of the load balancer: an API server.
type Backend struct {
	Host    string
	Healthy bool
	Reason  string
	Since   time.Time
	// Total requests served, and the rate per simulated second over the last tally.
	Total  int
	PerSec float64
	// TooMany counts requests answered with 429 Too Many Requests, and the rate of them over the last tally.
	TooMany       int
	TooManyPerSec float64
	Watches       int
	LastAt        time.Time
	// History counts requests as Done.
	History History
}

// Watch that is open on an API server.
type Watch struct {
	event.WatchOpened
	At  time.Time
	Seq event.Seq
	// Behind counts changes that its client has not read, the oldest of which reached it at BehindSince; told of clients from outside.
	Behind      int
	BehindSince time.Time
}

// The measure of a History.
const (
	HistoryStep = 2 * time.Second
	HistoryMax  = 90 // steps kept: three minutes
)

// History of a queue in steps of simulated time, bounded. A value never changes once made: add makes a new one.
type History struct {
	past []step // oldest first; steps in which nothing was told are left out
	now  step
}

// step is HistoryStep of a queue.
type step struct {
	n       int64 // number of the step since the zero of simulated time
	peak    int   // most that waited at once
	waiting int   // at its end
	done    int64 // sum at its end
	retried int64
	age     time.Duration // longest wait that ended in it
	oldest  time.Time     // at its end: since when the oldest item waits
}

// Point of a chart: HistoryStep of a queue.
type Point struct {
	Waiting int // most at once
	Done    int // in this step
	Retried int
	// Age is the longest that anything had waited.
	Age time.Duration
}

func stepAt(t time.Time) int64 { return t.UnixNano() / int64(HistoryStep) }

// add is h with one more state.
func (h History) add(at time.Time, s step) History {
	s.n = stepAt(at)
	switch {
	case h.now.n == 0:
		h.past = []step{{n: s.n - 1}} // what came before is nothing, so that the first sum is a difference
	case h.now.n == s.n:
		s.peak, s.age = max(s.peak, h.now.peak), max(s.age, h.now.age)
	default:
		keep := h.past
		if len(keep) >= HistoryMax {
			keep = keep[len(keep)-HistoryMax+1:]
		}
		past := make([]step, 0, len(keep)+1)
		h.past = append(append(past, keep...), h.now)
	}
	h.now = s
	return h
}

// at is the step of a number, or the last one before it.
func (h *History) at(n int64) step {
	for i := len(h.past); i >= 0; i-- {
		if s := h.step(i); s.n != 0 && s.n <= n {
			return *s
		}
	}
	return step{}
}

// step is the i-th, the present one last.
func (h *History) step(i int) *step {
	if i < len(h.past) {
		return &h.past[i]
	}
	return &h.now
}

// Chart appends the last n steps up to an instant, oldest first, to buf.
func (h *History) Chart(buf []Point, now time.Time, n int) []Point {
	last := stepAt(now)
	first := last - int64(n) + 1
	steps := len(h.past) + 1
	if h.now.n == 0 {
		steps = 0
	}
	next := steps // the first step that is not before the chart
	for next > 0 && h.step(next-1).n >= first {
		next--
	}
	var held step // what holds until the next one
	if next > 0 {
		held = *h.step(next - 1)
	}
	for i := first; i <= last; i++ {
		p := Point{Waiting: held.waiting}
		s := held
		if next < steps && h.step(next).n == i {
			s = *h.step(next)
			next++
			p = Point{Waiting: max(s.peak, s.waiting), Age: s.age}
			if held.n != 0 {
				p.Done, p.Retried = int(max(0, s.done-held.done)), int(max(0, s.retried-held.retried))
			}
		}
		if !s.oldest.IsZero() {
			end := time.Unix(0, (i+1)*int64(HistoryStep))
			if end.After(now) {
				end = now
			}
			p.Age = max(p.Age, end.Sub(s.oldest))
		}
		buf = append(buf, p)
		held = s
	}
	return buf
}

// PerSecond is how much was done a second over the last steps before an instant.
func (h *History) PerSecond(now time.Time, steps int) float64 {
	from := h.at(stepAt(now) - int64(steps))
	to := h.at(stepAt(now))
	if from.n == 0 || steps <= 0 {
		return 0
	}
	span := time.Duration(steps-1)*HistoryStep + time.Duration(now.UnixNano()%int64(HistoryStep))
	return float64(max(0, to.done-from.done)) / max(span.Seconds(), 1)
}

func (w *World) queueChanged(r event.Record, e event.QueueChanged) {
	key := string(r.Actor) + " " + e.Queue
	q := Queue{Actor: r.Actor, QueueChanged: e, At: r.At, Seq: r.Seq}
	if old, ok := w.Queues.Get(key); ok {
		q.History = old.History
		if e.Kept {
			q.Items, q.Kept = old.Items, false
		}
	}
	q.History = q.History.add(r.At, step{peak: max(e.Peak, e.Waiting), waiting: e.Waiting, done: e.Done, retried: e.Retried, age: e.Waited, oldest: e.Oldest})
	w.Queues.Set(key, &q)
}

func (w *World) requestTally(r event.Record, e event.RequestTally) {
	b := Backend{Host: e.Server, Since: r.At, LastAt: w.Start}
	if old, ok := w.Backends.Get(e.Server); ok {
		b = *old
	}
	b.PerSec, b.TooManyPerSec = 0, 0
	if d := r.At.Sub(b.LastAt).Seconds(); d > 0 {
		b.PerSec = float64(e.Total) / d
		b.TooManyPerSec = float64(e.ByCode[http.StatusTooManyRequests]) / d
	}
	b.TooMany += e.ByCode[http.StatusTooManyRequests]
	b.Total += e.Total
	b.Watches, b.LastAt = e.Watches, r.At
	b.History = b.History.add(r.At, step{done: int64(b.Total)})
	w.Backends.Set(e.Server, &b)
	w.forgetPrograms(r.At)

	w.Requests.Total += e.Total
	if len(e.ByCode) > 0 {
		sums := maps.Clone(w.Requests.ByCode)
		if sums == nil {
			sums = make(map[int]int, len(e.ByCode))
		}
		for code, n := range e.ByCode {
			sums[code] += n
		}
		w.Requests.ByCode = sums
	}
}

// watchKey sorts by server, then by number.
func watchKey(server string, watch uint64) string { return fmt.Sprintf("%s %016x", server, watch) }

func (w *World) watchOpened(r event.Record, e event.WatchOpened) {
	key := watchKey(e.Server, e.Watch)
	w.closeWatch(key)
	w.Watches.Set(key, &Watch{WatchOpened: e, At: r.At, Seq: r.Seq})
	w.indexes.watching.Insert(string(e.Client) + " " + key)
}

func (w *World) closeWatch(key string) {
	if old, ok := w.Watches.Delete(key); ok {
		w.indexes.watching.Delete(string(old.Client) + " " + key)
		w.lag(old.Client, -old.Behind)
	}
}

func (w *World) watchBehind(_ event.Record, e event.WatchBehind) {
	key := watchKey(e.Server, e.Watch)
	old, ok := w.Watches.Get(key)
	if !ok {
		return
	}
	o := *old
	o.Behind, o.BehindSince = e.Changes, e.Since
	w.Watches.Set(key, &o)
	w.lag(o.Client, o.Behind-old.Behind)
}

// lag adds to what a client from outside and its program have not read.
func (w *World) lag(client event.Actor, changes int) {
	if changes == 0 {
		return
	}
	if seq, ok := w.indexes.clients.Get(string(client)); ok {
		w.changeClient(seq, func(c *Client) { c.Behind += changes })
		c, _ := w.Clients.Get(seq)
		w.changeProgram(c.Program(), func(p *Program) { p.Behind += changes })
	}
}

// closeWatches drops all watches of a server that ended.
func (w *World) closeWatches(server string) {
	var keys []string
	w.WatchesOn(server, func(o *Watch) bool {
		keys = append(keys, watchKey(o.Server, o.Watch))
		return true
	})
	for _, key := range keys {
		w.closeWatch(key)
	}
}

// WatchesOn visits the watches that are open on the API server of a host, oldest first, until visit says no.
func (w *World) WatchesOn(server string, visit func(*Watch) bool) {
	prefix := server + " "
	w.Watches.Ascend(prefix, func(key string, o *Watch) bool { return strings.HasPrefix(key, prefix) && visit(o) })
}

// WatchesOf visits the watches that a program has open, by server, until visit says no.
func (w *World) WatchesOf(client event.Actor, visit func(*Watch) bool) {
	prefix := string(client) + " "
	w.indexes.watching.Ascend(prefix, func(key string) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		o, ok := w.Watches.Get(key[len(prefix):])
		return !ok || visit(o)
	})
}

// QueuesOf visits the queues of a program by name, until visit says no.
func (w *World) QueuesOf(actor event.Actor, visit func(*Queue) bool) {
	prefix := string(actor) + " "
	w.Queues.Ascend(prefix, func(key string, q *Queue) bool { return strings.HasPrefix(key, prefix) && visit(q) })
}

// BackedOffCount is how many containers wait to be started again.
func (w *World) BackedOffCount() int { return w.indexes.backedOff.Len() }

// BackedOff visits the containers that wait to be started again, by node, until visit says no.
func (w *World) BackedOff(visit func(*Container) bool) {
	w.indexes.backedOff.Scan(func(key string) bool {
		c, ok := w.Running.Get(key)
		return !ok || visit(c)
	})
}
