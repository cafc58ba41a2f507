package apiserver

import (
	"maps"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"example.com/kubeviz/components/apiserver/flowcontrol"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// requestsQueue is what the requests in flight are called as a queue.
const requestsQueue = "requests"

// slowAfter is how long a request is in flight before it is worth telling: those that go well take a few milliseconds.
const slowAfter = time.Second

// inflight are the requests that are not answered yet, in the order in which they came.
type inflight struct {
	all  btree.Map[uint64, *request]
	next uint64
	last event.QueueChanged // as told
}

func (f *inflight) enter(rq *request) (leave func()) {
	f.next++
	n := f.next
	f.all.Set(n, rq)
	return func() { f.all.Delete(n) }
}

// reportStalled journals the requests that have been in flight for long, all of them where some wait for a seat, when they are not those told last. Called once a tally.
func (s *Server) reportStalled(now time.Time) {
	q := event.QueueChanged{Queue: requestsQueue}
	queued := s.flow.Waiting()
	listed := map[event.ItemState]int{}
	for _, l := range s.flow.Levels() {
		if queued > 0 && l.Waiting > 0 {
			if q.Parts == nil {
				q.Parts = map[string]int{}
			}
			q.Parts[l.Name] = l.Waiting
		}
	}
	s.inflight.all.Scan(func(_ uint64, rq *request) bool {
		if now.Sub(rq.received) < slowAfter && queued == 0 {
			return false // those behind it came later
		}
		state, due := event.ItemInWork, rq.deadline
		if rq.stage == stageFlow {
			state = event.ItemWaiting
			if end := rq.began.Add(flowcontrol.WaitLimit); end.Before(due) {
				due = end
			}
			if q.Waiting++; q.Oldest.IsZero() {
				q.Oldest = rq.received
			}
		} else {
			q.InWork++
		}
		if listed[state]++; listed[state] <= event.QueueItemsMax {
			key := rq.asked()
			if rq.Name != "" {
				key += " " + kinds.ObjectRef{Namespace: rq.Namespace, Name: rq.Name}.String()
			}
			why := string(rq.Verb) + " by " + rq.user.Name
			if rq.stage != "" {
				why += ", in stage " + rq.stage
			}
			if rq.level != "" && state == event.ItemWaiting {
				why += ", level " + rq.level
			}
			cause := rq.record
			if cause == 0 {
				cause = rq.Cause
			}
			q.Items = append(q.Items, event.QueueItem{Key: key, State: state, Since: rq.received, Due: due, Why: kubeapi.QueueWhy(why), By: client(rq.From), Cause: cause})
		}
		return true
	})
	if q.InWork == s.inflight.last.InWork && q.Waiting == s.inflight.last.Waiting && maps.Equal(q.Parts, s.inflight.last.Parts) && slices.Equal(q.Items, s.inflight.last.Items) {
		return
	}
	s.inflight.last = q
	s.emit(0, q)
}
