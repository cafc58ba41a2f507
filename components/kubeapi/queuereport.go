package kubeapi

import (
	"slices"
	"time"
	"unicode/utf8"

	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
)

// How often the state of a queue is journalled: after a change of its figures or of few items, soon; where only its sums or many items changed, once a second.
const (
	queueReportSoon  = 200 * time.Millisecond
	queueReportLate  = time.Second
	queueReportItems = event.QueueItemsMax // up to as many items are few
)

// queueWhyMax bounds the reason of an item, in bytes: an API server's message can be long.
const queueWhyMax = 200

// QueueReporter journals what a work queue looks like, seldom enough for a queue that never rests and soon enough for a person who watches it.
type QueueReporter struct {
	proc  *Process
	state func() (s event.QueueChanged, ok bool)
	timer *clock.Timer // running until due, or nil
	due   time.Time
	told  bool
	last  event.QueueChanged // as told, with Items
	// at and itemsAt are when the queue and its items were told last.
	at, itemsAt time.Time
	peak        int
	waited      time.Duration
}

// NewQueueReporter makes a reporter for a queue of a program. state gives the queue as it is; not ok: nothing shall be told now. Peak, Waited and Kept are the
// reporter's.
func NewQueueReporter(pr *Process, state func() (event.QueueChanged, bool)) *QueueReporter {
	return &QueueReporter{proc: pr, state: state}
}

// Changed says that the queue is not as it was.
func (r *QueueReporter) Changed() { r.within(queueReportSoon) }

// Waits says how many items wait now.
func (r *QueueReporter) Waits(n int) { r.peak = max(r.peak, n) }

// Took says that an item was taken which had waited for so long.
func (r *QueueReporter) Took(waited time.Duration) { r.waited = max(r.waited, waited) }

// within reports after d, or before if that is planned.
func (r *QueueReporter) within(d time.Duration) {
	due := r.proc.Loop.Now().Add(d)
	if r.timer != nil && !due.Before(r.due) || r.proc.Group.Dead() {
		return
	}
	r.timer.Stop()
	r.due = due
	r.timer = r.proc.Loop.After(d, func() {
		r.timer = nil
		if !r.proc.Group.Dead() {
			r.report()
		}
	})
}

// report tells the state if it is news, or comes back when it may be told.
func (r *QueueReporter) report() {
	s, ok := r.state()
	if !ok {
		return
	}
	now := r.proc.Loop.Now()
	news := !r.told || figures(&s, &r.last)
	items := !slices.Equal(s.Items, r.last.Items)
	many := s.Waiting+s.InWork+s.Delayed > queueReportItems
	if items && !many {
		news = true
	}
	if !news {
		if s.Added == r.last.Added && s.Done == r.last.Done && s.Retried == r.last.Retried && !items {
			return
		}
		if left := r.at.Add(queueReportLate).Sub(now); left > 0 {
			r.within(left)
			return
		}
	}
	s.Peak, s.Waited = max(r.peak, s.Waiting), r.waited
	r.peak, r.waited = 0, 0
	emit := s
	switch {
	case !items || many && r.told && now.Before(r.itemsAt.Add(queueReportLate)):
		s.Items = r.last.Items
		emit.Items, emit.Kept = nil, len(s.Items) > 0
		if items {
			defer r.within(max(r.itemsAt.Add(queueReportLate).Sub(now), queueReportSoon))
		}
	default:
		r.itemsAt = now
	}
	r.told, r.at, r.last = true, now, s
	r.proc.Sink.Emit(r.proc.Actor(), 0, emit)
}

// figures reports whether two states differ in what a person would call the state.
func figures(a, b *event.QueueChanged) bool {
	if a.Waiting != b.Waiting || a.InWork != b.InWork || a.Delayed != b.Delayed || a.Failing != b.Failing || !a.NextDue.Equal(b.NextDue) || len(a.Parts) != len(b.Parts) {
		return true
	}
	for part, n := range a.Parts { // equal or not, whatever the order
		if b.Parts[part] != n {
			return true
		}
	}
	return false
}

// QueueWhy cuts a reason to what a fact about a queue holds.
func QueueWhy(why string) string {
	if len(why) <= queueWhyMax {
		return why
	}
	n := queueWhyMax
	for n > 0 && !utf8.RuneStart(why[n]) {
		n--
	}
	return why[:n] + "…"
}
