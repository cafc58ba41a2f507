package nodelifecycle

import (
	"time"

	"example.com/kubeviz/engine/event"
)

// taintQueue holds the nodes of a zone that wait for their NoExecute taint, first come first served, behind a token bucket of one token.
type taintQueue struct {
	waiting []*taintRequest
	known   map[string]*taintRequest // waiting or done, until removed
	rate    float64                  // tokens a second; 0: never
	spent   time.Time                // when the last token was taken; zero: the bucket is full
	added   int64                    // requests taken in, ever
}

type taintRequest struct {
	node  string
	since time.Time
	retry time.Time // not before, after a failure
	cause event.Seq
	done  bool
	gone  bool
}

// due is when the request may be tried.
func (r *taintRequest) due() time.Time {
	if r.retry.After(r.since) {
		return r.retry
	}
	return r.since
}

func newTaintQueue() *taintQueue {
	return &taintQueue{known: map[string]*taintRequest{}, rate: EvictionRate}
}

// add queues node unless it waits already. A node served before is queued again only when lost says that its taint is not there.
func (q *taintQueue) add(node string, lost bool, now time.Time, cause event.Seq) bool {
	if r := q.known[node]; r != nil && !(r.done && lost) {
		return false
	}
	r := &taintRequest{node: node, since: now, cause: cause}
	q.known[node] = r
	q.added++
	q.waiting = append(q.waiting, r)
	return true
}

// remove forgets node.
func (q *taintQueue) remove(node string) {
	if r := q.known[node]; r != nil {
		r.gone = true
		delete(q.known, node)
	}
}

// head is the request that waits longest; nil when none does.
func (q *taintQueue) head() *taintRequest {
	for len(q.waiting) > 0 {
		if r := q.waiting[0]; !r.gone && !r.done {
			return r
		}
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
	}
	return nil
}

// pop takes the head out as served.
func (q *taintQueue) pop() {
	if r := q.head(); r != nil {
		r.done = true
		q.waiting = q.waiting[1:]
	}
}

// again puts a served request back, not to be tried before at.
func (q *taintQueue) again(r *taintRequest, at time.Time) {
	if r.gone {
		return
	}
	r.done, r.retry = false, at
	q.waiting = append(q.waiting, r)
}

// accept takes the token if there is one.
func (q *taintQueue) accept(now time.Time) bool {
	at, ever := q.nextToken()
	if !ever || now.Before(at) {
		return false
	}
	q.spent = now
	return true
}

// nextToken tells from when on there is a token; false: never at the present rate.
func (q *taintQueue) nextToken() (time.Time, bool) {
	if q.rate <= 0 {
		return time.Time{}, false
	}
	if q.spent.IsZero() {
		return time.Time{}, true
	}
	return q.spent.Add(time.Duration(float64(time.Second) / q.rate)), true
}

// setRate changes the limit. A bucket that was empty starts empty under the new rate.
func (q *taintQueue) setRate(rate float64, now time.Time) {
	if rate == q.rate {
		return
	}
	full := q.accept(now)
	q.rate, q.spent = rate, time.Time{}
	if !full {
		q.spent = now
	}
}
