package describe

import (
	"fmt"
	"maps"
	"slices"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

func (r *rows) queue(f view.Frame, t target.Target) {
	if q, ok := f.World.Queues.Get(string(event.On(t.Process, t.Host)) + " " + t.Name); ok {
		r.queueRows(f, q)
	}
}

// QueueRows are the queues of a process; for an object, the places in all queues where it waits.
func QueueRows(f view.Frame, s Subject) []Row {
	r := &rows{}
	switch s.Target.Kind {
	case target.Queue:
		r.queue(f, s.Target)
	case target.Process:
		r.queuesOf(f, event.On(s.Target.Process, s.Target.Host))
	case target.Worker, target.Master:
		for _, p := range []string{"controller-manager", "kubelet", "scheduler"} {
			r.queuesOf(f, event.On(p, s.Target.Host))
		}
	}
	if s.Object != nil {
		r.waits(f, s)
	}
	return r.all
}

func (r *rows) queuesOf(f view.Frame, actor event.Actor) {
	f.World.QueuesOf(actor, func(q *world.Queue) bool {
		r.title(q.Queue)
		r.queueRows(f, q)
		return true
	})
}

func (r *rows) queueRows(f view.Frame, q *world.Queue) {
	say := f.Words.Say
	style := theme.Text
	if q.Waiting > 0 || q.Failing > 0 {
		style = theme.Waiting
	}
	r.line("", widget.S(say("detail.queue", "waiting", q.Waiting, "work", q.InWork, "delayed", q.Delayed), style), widget.S("  "+say("detail.as-of", "since", age(f.Now, q.At)), theme.Dim))
	if len(q.Parts) > 0 {
		text := ""
		for _, n := range slices.Sorted(maps.Keys(q.Parts)) {
			text += fmt.Sprintf("%s %d  ", n, q.Parts[n])
		}
		r.line("", widget.S(sanitize.Text(text), theme.Text))
	}
	if !q.NextDue.IsZero() {
		r.line(say("detail.next"), widget.S(until(f, q.NextDue), theme.Waiting))
	}
	if q.Done > 0 {
		r.line("", widget.S(say("detail.queue-sums", "added", q.Added, "done", q.Done, "retried", q.Retried, "failing", q.Failing), theme.Dim))
	}
	for i := range q.Items {
		r.item(f, q, &q.Items[i])
	}
}

func (r *rows) item(f view.Frame, q *world.Queue, i *event.QueueItem) {
	line := widget.Line{widget.S(padTo(string(i.State), 14), theme.Waiting), widget.S(padTo(i.Key, 24), theme.Title), widget.S(padTo(words.Age(age(f.Now, i.Since)), 6), theme.Dim)}
	if !i.Due.IsZero() {
		line = append(line, widget.S(until(f, i.Due)+"  ", theme.Waiting))
	}
	if i.Retries > 0 {
		line = append(line, widget.S(f.Words.Say("detail.retries", "n", i.Retries)+"  ", theme.Waiting))
	}
	row := r.line("", append(line, widget.S(sanitize.Text(i.Why), theme.Text))...)
	row.Seq = i.Cause
	row.Target = target.Target{Kind: target.Queue, Host: q.Actor.Host(), Process: q.Actor.Component(), Name: q.Queue}
}

// waits lists where the object is in a queue: the scheduler's, a planned eviction, items that queues name.
func (r *rows) waits(f view.Frame, s Subject) {
	say := f.Words.Say
	key := kinds.ObjectRef{Namespace: s.Object.GetNamespace(), Name: s.Object.GetName()}.String()
	if s.Kind == kinds.Pods {
		if a, ok := f.World.Attempts.Get(key); ok && a.Queue != "" {
			line := widget.Line{widget.S(sanitize.Text(a.Queue)+"  ", theme.Waiting), widget.S(say("detail.attempts", "n", a.Attempt)+"  ", theme.Text)}
			if !a.Until.IsZero() {
				line = append(line, widget.S(until(f, a.Until), theme.Waiting))
			}
			r.line("scheduler", line...).Seq = a.Seq
		}
		if e, ok := f.World.Evictions.Get(key); ok {
			r.line(say("detail.eviction"), widget.S(until(f, e.Due), theme.Failing)).Seq = e.Seq
		}
	}
	f.World.Queues.Scan(func(_ string, q *world.Queue) bool {
		for i := range q.Items {
			if it := &q.Items[i]; it.Key == key && queueOf(q.Queue, s.Kind) {
				row := r.line(sanitize.Text(q.Queue), widget.S(padTo(string(it.State), 14), theme.Waiting), widget.S(padTo(words.Age(age(f.Now, it.Since)), 6), theme.Dim), widget.S(sanitize.Text(it.Why), theme.Text))
				row.Seq = it.Cause
				row.Target = target.Target{Kind: target.Queue, Host: q.Actor.Host(), Process: q.Actor.Component(), Name: q.Queue}
			}
		}
		return true
	})
}

// queueOf reports whether the keys of a queue name objects of a kind: a queue is called after its kind, the scheduler's holds pods, and others hold what their name says.
func queueOf(queue string, k *kinds.Kind) bool {
	for _, other := range kinds.All() {
		if other != k && (queue == other.Singular || queue == other.Resource) {
			return false
		}
	}
	return queue != "scheduler" || k == kinds.Pods
}
