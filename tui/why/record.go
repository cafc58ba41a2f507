package why

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
)

// record answers about one fact: a refused request, a failed order, or what led to any other.
func (q *inquiry) record(seq event.Seq) {
	r, ok := q.Record(seq)
	if !ok {
		return
	}
	switch e := r.Event.(type) {
	case event.RequestDone:
		if e.Code >= 400 {
			q.refused(r, e)
		}
	case event.CommandDone:
		if e.Error != "" {
			q.failed(r, e.Text, e.Error)
		}
	case event.CommandGiven:
		if done, ok := q.answerTo(seq); ok {
			q.failed(done, e.Text, done.Event.(event.CommandDone).Error)
		}
	case event.CommandRefused:
		d := q.ask("refused", "why.q-refused", Broken, "what", e.Text)
		d.on(seq)
		d.line("why.order-refused", "reason", e.Reason)
		d.line("why.order-unchanged")
		q.add(d)
	case event.SchedulingAttempt:
		t := target.Target{Kind: target.Pod, Namespace: e.Pod.Namespace, Name: e.Pod.Name}
		d := q.ask("attempt", "why.q-attempt", Plain, "pod", e.Pod.Name)
		d.on(seq)
		if e.Node == "" {
			d.line("why.attempt-none", "message", e.Message)
		} else {
			d.line("why.here-chosen", "node", e.Node, "feasible", e.Feasible, "nodes", e.Nodes, "since", q.since(r.At))
		}
		d.link(intent.Open{Page: "decision", Target: t, Seq: seq}, "why.link-decision")
		d.linkTo(t)
		q.add(d)
	}
	q.led(r)
}

// answerTo finds the failed end of an order.
func (q *inquiry) answerTo(seq event.Seq) (event.Record, bool) {
	if q.Trace == nil {
		return event.Record{}, false
	}
	effects := q.Trace.Effects(seq, q.World.Seq)
	for i := len(effects) - 1; i >= 0; i-- {
		if r, ok := q.Record(effects[i]); ok {
			if e, is := r.Event.(event.CommandDone); is && e.Error != "" {
				return r, true
			}
		}
	}
	return event.Record{}, false
}

func (q *inquiry) failed(r event.Record, text, reason string) {
	d := q.ask("failed", "why.q-failed", Broken, "what", text)
	d.on(r.Seq, r.Cause)
	d.line("why.order-failed", "reason", reason)
	if done, ok := q.refusalOf(r.Cause); ok {
		e := done.Event.(event.RequestDone)
		d.on(done.Seq)
		q.explain(d, e)
	}
	q.add(d)
}

// refusalOf finds a request that was refused among what an order led to.
func (q *inquiry) refusalOf(seq event.Seq) (event.Record, bool) {
	if q.Trace == nil || seq == 0 {
		return event.Record{}, false
	}
	front := []event.Seq{seq}
	for depth := 0; depth < 3; depth++ {
		var next []event.Seq
		for _, s := range front {
			for _, e := range q.Trace.Effects(s, q.World.Seq) {
				if len(next) > 64 {
					break
				}
				next = append(next, e)
				if r, ok := q.Record(e); ok {
					if d, is := r.Event.(event.RequestDone); is && d.Code >= 400 {
						return r, true
					}
				}
			}
		}
		front = next
	}
	return event.Record{}, false
}

// neverThere answers about a thing of which there is no more than a refused request, which is how it is met: somebody asked for it by name; false: nobody did.
func (q *inquiry) neverThere() bool {
	r, ok := q.last(func(r event.Record) bool {
		e, is := r.Event.(event.RequestDone)
		return is && e.Code >= 400
	})
	if ok {
		q.refused(r, r.Event.(event.RequestDone))
	}
	return ok
}

// refused answers why an API server said no.
func (q *inquiry) refused(r event.Record, e event.RequestDone) {
	what := strings.TrimSpace(e.Verb + " " + e.Resource + " " + e.ObjectName)
	d := q.ask("refused", "why.q-refused", Broken, "what", what)
	d.on(r.Seq, r.Cause)
	d.line("why.req-answer", "host", e.Server, "user", e.User, "code", e.Code, "reason", e.Reason)
	if e.Message != "" {
		d.line("why.req-message", "message", e.Message)
	}
	q.explain(d, e)
	d.root(q.causes(r.Seq))
	d.linkTo(target.Target{Kind: target.Process, Host: e.Server, Process: "apiserver"})
	q.add(d)
}

// explain says at which stage of the pipeline a request ended and what would have to be different.
func (q *inquiry) explain(d *draft, e event.RequestDone) {
	if n := len(e.Stages); n > 0 {
		d.line("why.req-stage", "stage", e.Stages[n-1].Stage, "passed", n-1)
	}
	switch e.Reason {
	case "AlreadyExists":
		d.change("", "why.fix-exists")
	case "Conflict":
		d.line("why.req-conflict")
		d.change("", "why.fix-conflict")
	case "Invalid", "BadRequest":
		d.change("", "why.fix-invalid")
	case "NotFound":
		d.change("", "why.fix-notfound")
	case "Forbidden":
		d.change("", "why.fix-forbidden", "user", e.User)
	case "Unauthorized":
		d.change("", "why.fix-unauthorized")
	case "Timeout", "ServerTimeout", "ServiceUnavailable", "InternalError":
		q.storeWas(d, e)
	default:
		if e.Code >= 500 {
			q.storeWas(d, e)
		}
	}
}

// storeWas tells of a store that took no writes.
func (q *inquiry) storeWas(d *draft, e event.RequestDone) {
	if qu := q.Scene.Quorum; qu.Raft && (qu.Leader == "" || qu.Alive < qu.Need) {
		d.line("why.req-store", "alive", qu.Alive, "members", qu.Members, "need", qu.Need)
		q.restore(d)
		return
	}
	d.line("why.req-store-then")
	d.change("", "why.fix-again")
}

// led answers what led to a record, from its causes.
func (q *inquiry) led(r event.Record) {
	chain := q.causes(r.Seq)
	d := q.ask("led", "why.q-led", Plain, "what", q.tell(r))
	if len(chain) <= 1 {
		d.line("why.led-nothing")
	}
	for i := 1; i < len(chain) && len(d.Lines) < 4; i++ {
		c := chain[i]
		if _, is := c.Event.(event.RequestReceived); is && i < len(chain)-1 {
			continue // the stages of a request are in the chain itself
		}
		d.on(c.Seq)
		d.line("why.led-by", "text", q.tell(c), "since", q.since(c.At))
	}
	if len(chain) > 1 {
		if root := chain[len(chain)-1]; len(d.Seqs) == 0 || d.Seqs[len(d.Seqs)-1] != root.Seq {
			if d.Lines = d.Lines[:min(len(d.Lines), 4)]; !slices.Contains(d.Seqs, root.Seq) {
				d.line("why.led-root", "text", q.tell(root), "since", q.since(root.At))
			}
			d.on(root.Seq)
		}
	}
	d.on(r.Seq)
	d.link(intent.Open{Page: "chain", Target: q.t, Seq: r.Seq}, "why.link-chain")
	q.add(d)
}
