package why

import (
	"fmt"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
)

// problemsMax is how many things that are wrong are told of by name.
const problemsMax = 3

// cluster answers how the whole stands: the gravest thing first; or that all is well, and what would be worth trying.
func (q *inquiry) cluster() {
	problems := q.Scene.Problems(q.World, q.Words)
	if len(problems) == 0 {
		d := q.ask("well", "why.q-all-well", Fine)
		s := q.Scene
		d.line("why.all-well", "masters", len(s.Masters), "workers", len(s.Workers), "pods", s.PodsRunning)
		if s.Quorum.Raft {
			d.line("why.all-quorum", "alive", s.Quorum.Alive, "members", s.Quorum.Members, "lose", max(s.Quorum.Lose, 0), "leader", s.Quorum.Leader)
		}
		if q.Live {
			q.tries(d)
		}
		q.add(d)
		return
	}
	if (q.quorum() || q.space()) && len(problems) == 1 {
		return
	}
	d := q.ask("cluster", "why.q-cluster", Broken)
	if problems[0].Severity == scene.Soon || problems[0].Severity == scene.Lasting {
		d.Mood = Waits
	}
	for i, p := range problems {
		if i == problemsMax {
			d.line("why.more-problems", "n", len(problems)-i)
			break
		}
		d.Lines = append(d.Lines, p.Text)
		if i == 0 {
			d.Next = p.Next
		}
		if p.Target.Kind != target.Nothing {
			d.linkTo(p.Target)
		}
	}
	list, _ := q.World.AnomaliesAt(q.Now, 8)
	for _, a := range list {
		d.on(a.Seq)
	}
	q.firstChange(d, problems)
	q.add(d)
}

// firstChange takes over what the answer to the gravest problem offers.
func (q *inquiry) firstChange(d *draft, problems []scene.Problem) {
	for _, p := range problems[:min(len(problems), problemsMax)] {
		if p.Target.Kind == target.Nothing {
			continue
		}
		inner := &inquiry{Frame: q.Frame, t: p.Target, asker: q.asker}
		inner.dispatch()
		for _, a := range inner.answers {
			if len(a.Changes) > 0 {
				d.Changes = append(d.Changes, a.Changes[0])
				break
			}
		}
	}
}

// tries are things worth trying in a cluster that is well.
func (q *inquiry) tries(d *draft) {
	s := q.Scene
	if s.Quorum.Leader != "" && s.Quorum.Lose > 0 {
		d.change("kill "+s.Quorum.Leader, "why.try-leader", "host", s.Quorum.Leader)
	}
	if len(s.Workers) > 0 {
		w := s.Workers[0].Name
		d.change("cut "+w+" all", "why.try-cut", "host", w)
	}
	if dep := s.OnlyDeployment; dep != nil {
		n := kinds.Desired(dep.Spec.Replicas) + 3
		d.change(fmt.Sprintf("kubectl scale deployment %s -n %s --replicas=%d", dep.Name, dep.Namespace, n), "why.try-scale", "name", dep.Name, "n", n)
	}
}

// balancer answers about the way to the API servers.
func (q *inquiry) balancer() {
	out := 0
	for _, b := range q.Scene.Backends {
		if !b.Healthy {
			out++
		}
	}
	if out == 0 {
		d := q.ask("state", "why.q-well", Fine, "what", q.name(q.t))
		d.line("why.balancer-well", "n", len(q.Scene.Backends))
		q.add(d)
		return
	}
	d := q.ask("state", "why.q-balancer", Broken, "n", out)
	for _, b := range q.Scene.Backends {
		if b.Healthy {
			continue
		}
		d.line("why.balancer-out", "host", b.Host, "reason", b.Reason, "since", q.since(b.Since))
		d.linkTo(target.Target{Kind: target.Process, Host: b.Host, Process: "apiserver"})
	}
	if out == len(q.Scene.Backends) {
		d.line("why.balancer-none")
		q.restore(d)
	}
	d.Next = q.say("why.next-backend")
	q.add(d)
}

// queue answers why things wait in a queue.
func (q *inquiry) queue(t target.Target) {
	actor := event.On(t.Process, t.Host)
	qu, ok := q.World.Queues.Get(string(actor) + " " + t.Name)
	if !ok {
		d := q.ask("queue", "why.q-queue", Plain, "queue", t.Name)
		d.line("why.queue-none", "process", t.Process, "host", t.Host)
		q.add(d)
		return
	}
	d := q.ask("queue", "why.q-queue", Plain, "queue", t.Name)
	d.line("why.queue-counts", "waiting", qu.Waiting, "inwork", qu.InWork, "delayed", qu.Delayed)
	if qu.Waiting > 0 {
		d.Mood = Waits
		d.line("why.queue-waiting")
	}
	if qu.Delayed > 0 {
		if n := qu.Parts["unschedulable"]; n > 0 {
			d.line("why.queue-unschedulable", "n", n)
		}
		if !qu.NextDue.IsZero() {
			d.next(qu.At, qu.NextDue, "why.next-due")
		}
	}
	if r, ok := q.last(func(event.Record) bool { return true }); ok {
		d.on(r.Seq)
	}
	d.linkTo(target.Target{Kind: target.Process, Host: t.Host, Process: t.Process})
	q.add(d)
}

// zone answers about the workers of one zone.
func (q *inquiry) zone(name string) {
	d := q.ask("zone", "why.q-zone", Plain, "zone", name)
	n, wrong := 0, 0
	for i := range q.Scene.Workers {
		w := &q.Scene.Workers[i]
		if w.Node == nil || w.Zone != name {
			continue
		}
		n++
		if w.Wrong {
			if wrong++; wrong <= 4 {
				d.linkTo(target.Target{Kind: target.Worker, Host: w.Name})
			}
		}
	}
	d.line("why.zone-counts", "n", n, "wrong", wrong)
	if wrong > 0 {
		d.Mood = Broken
		if r, ok := q.zoneJudged(); ok {
			d.on(r.Seq)
			d.line("why.zone-judged", "state", r.Event.(event.NodeJudged).Zone)
		}
	}
	q.add(d)
}

func (q *inquiry) zoneJudged() (event.Record, bool) {
	for i := range q.Scene.Workers {
		w := &q.Scene.Workers[i]
		if !w.Wrong || w.Node == nil || w.Zone != q.t.Name {
			continue
		}
		on := &inquiry{Frame: q.Frame, t: target.Target{Kind: target.Worker, Host: w.Name}}
		return on.last(func(r event.Record) bool { _, is := r.Event.(event.NodeJudged); return is })
	}
	return event.Record{}, false
}

// client answers about somebody outside the cluster: what was asked last, and how it ended.
func (q *inquiry) client(name string) {
	d := q.ask("client", "why.q-client", Plain, "name", name)
	if cs := q.World.Commands; name == string(event.You) && len(cs) > 0 {
		last := cs[len(cs)-1]
		d.on(last.Seq)
		d.line("why.client-last", "text", last.Text, "since", q.since(last.At))
		switch {
		case !last.Done:
			d.Mood = Waits
			d.line("why.client-waits")
		case last.Error != "":
			d.Mood = Broken
			d.line("why.order-failed", "reason", last.Error)
		default:
			d.line("why.client-done")
		}
	} else {
		d.line("why.nothing-known")
	}
	q.add(d)
}
