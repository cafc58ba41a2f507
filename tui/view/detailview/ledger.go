package detailview

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/describe"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// Limits of what is looked through for one page: records a frame, records in all, and of what is kept.
const (
	scanFrame = 1 << 14
	scanMost  = 1 << 17
	keepMost  = 300
)

// ledger is what the journal tells of one thing: requests about it, made by it or answered by it, and records that are its doing. It reads backwards from the
// instant that is looked at, some records a frame, and then follows.
type ledger struct {
	subject describe.Subject
	// low and high bound the records read: low < seq <= high. begun: they mean something.
	low, high event.Seq
	begun     bool
	done      bool // nothing more is to be read backwards
	requests  []event.Seq
	acts      []event.Seq
	buf       []event.Record

	// of objects, which the trace has by themselves
	aboutSeq event.Seq
}

func (l *ledger) reset(s describe.Subject) {
	*l = ledger{subject: s, buf: l.buf[:0]}
}

// advance reads on. Its cost is bounded by scanFrame.
func (l *ledger) advance(f view.Frame, s describe.Subject) {
	if f.Journal == nil {
		return
	}
	now := f.World.Seq
	if !l.begun || s.Target != l.subject.Target || now < l.high || now > l.high+scanFrame {
		l.reset(s)
		l.begun, l.low, l.high = true, now, now
	}
	l.subject = s
	if s.Object != nil && s.Target.Kind != target.Worker && s.Target.Kind != target.Master {
		l.about(f, s)
		return
	}
	if now > l.high {
		recs, _ := f.Journal.Read(l.buf[:0], l.high+1, int(now-l.high))
		for i := range recs {
			l.take(f, &recs[i], false)
		}
		l.buf, l.high = recs[:0], now
	}
	first := f.Journal.First()
	if l.done = l.done || l.low < first || l.low == 0 || l.high-l.low >= scanMost; l.done {
		return
	}
	from := event.Seq(1)
	if l.low > scanFrame {
		from = l.low - scanFrame + 1
	}
	from = max(from, first)
	recs, _ := f.Journal.Read(l.buf[:0], from, int(l.low-from+1))
	for i := len(recs) - 1; i >= 0; i-- {
		l.take(f, &recs[i], true)
	}
	l.buf, l.low = recs[:0], from-1
}

// about takes the records that the trace has filed under an object.
func (l *ledger) about(f view.Frame, s describe.Subject) {
	now := f.World.Seq
	l.high, l.low = now, now
	if l.aboutSeq == now {
		return
	}
	l.aboutSeq = now
	l.requests, l.acts = l.requests[:0], l.acts[:0]
	all := f.About(target.ForObject(s.Kind, s.Object.GetNamespace(), s.Object.GetName()))
	for i := len(all) - 1; i >= 0 && i >= len(all)-4*keepMost; i-- {
		r, ok := f.Record(all[i])
		if !ok {
			break
		}
		if _, is := r.Event.(event.RequestDone); is && len(l.requests) < keepMost {
			l.requests = append(l.requests, r.Seq)
		}
		if len(l.acts) < keepMost {
			l.acts = append(l.acts, r.Seq)
		}
	}
	slices.Sort(l.requests)
	slices.Sort(l.acts)
	l.done = true
}

func (l *ledger) take(f view.Frame, r *event.Record, backwards bool) {
	switch e := r.Event.(type) {
	case event.RequestDone:
		if l.concerns(f, r, &e) {
			keep(&l.requests, r.Seq, backwards)
		}
		return
	case event.RequestReceived, event.RequestTally, event.LeaseRenewed, event.RaftProgress, event.QueueChanged:
		return
	case event.Reconciled:
		if l.subject.Target.Kind == target.Queue && e.Controller == l.subject.Target.Name {
			keep(&l.acts, r.Seq, backwards)
			return
		}
	}
	if l.acted(f, r) {
		keep(&l.acts, r.Seq, backwards)
	}
}

// acted reports records that are the doing of the thing.
func (l *ledger) acted(f view.Frame, r *event.Record) bool {
	t, a := l.subject.Target, r.Actor
	switch t.Kind {
	case target.Process:
		return a.Host() == t.Host && a.Component() == t.Process
	case target.Worker, target.Master:
		return a.Host() == t.Host
	case target.Balancer:
		return a.Component() == "balancer"
	case target.Client:
		if c, ok := f.Outside(r); ok {
			return t.Name == string(c.Client) || motion.ProgramOf(t.Name) == c.Program()
		}
		return string(a) == t.Name
	}
	return false
}

// concerns reports requests that a machine or program answered or made.
func (l *ledger) concerns(f view.Frame, r *event.Record, e *event.RequestDone) bool {
	t := l.subject.Target
	switch t.Kind {
	case target.Balancer:
		return true
	case target.Master:
		return e.Server == t.Host
	case target.Worker:
		return e.User == "system:node:"+t.Host
	case target.Client:
		if c, ok := f.Outside(r); ok {
			return t.Name == string(c.Client) || motion.ProgramOf(t.Name) == c.Program()
		}
		return t.Name == string(event.You) && e.User == admin || t.Name == e.User
	case target.Process:
		switch t.Process {
		case "apiserver":
			return e.Server == t.Host
		case "kubelet":
			return e.User == "system:node:"+t.Host
		case "scheduler", "controller-manager":
			return e.User == "system:kube-"+t.Process && madeOn(f, r, t)
		}
	}
	return false
}

const admin = "kubernetes-admin"

// madeOn tells which of the machines with that program made a request: the one whose record led to it.
func madeOn(f view.Frame, r *event.Record, t target.Target) bool {
	c, ok := f.Record(r.Cause)
	if _, received := c.Event.(event.RequestReceived); ok && received {
		c, ok = f.Record(c.Cause)
	}
	if !ok || c.Actor.Component() != t.Process {
		return true // nobody knows
	}
	return c.Actor.Host() == t.Host
}

// watchesMost bounds how many watches are listed: every kubelet has some open.
const watchesMost = 500

// open lists the watches that a thing carries or holds; more counts those left out.
func open(f view.Frame, t target.Target) (list []*world.Watch, more int) {
	visit := func(o *world.Watch) bool {
		if len(list) >= watchesMost {
			more++
			return more < 1<<14
		}
		list = append(list, o)
		return true
	}
	switch t.Kind {
	case target.Process:
		if t.Process == "apiserver" {
			f.World.WatchesOn(t.Host, visit)
			return list, more
		}
		f.World.WatchesOf(event.On(t.Process, t.Host), visit)
	case target.Master:
		f.World.WatchesOn(t.Host, visit)
	case target.Worker:
		f.World.WatchesOf(event.On("kubelet", t.Host), visit)
	case target.Client:
		if program := motion.ProgramOf(t.Name); program != "" {
			f.World.Clients.Scan(func(_ event.Seq, c *world.Client) bool {
				if c.Program() == program {
					f.World.WatchesOf(c.Client, visit)
				}
				return true
			})
			return list, more
		}
		f.World.WatchesOf(event.Actor(t.Name), visit)
	}
	return list, more
}

// keep adds a number at its end of an ascending list of bounded length.
func keep(list *[]event.Seq, seq event.Seq, backwards bool) {
	if backwards {
		if len(*list) < keepMost {
			*list = slices.Insert(*list, 0, seq)
		}
		return
	}
	*list = append(*list, seq)
	if len(*list) > 2*keepMost {
		*list = append((*list)[:0:0], (*list)[len(*list)-keepMost:]...)
	}
}

// records are what is filed under the thing and what it did, the oldest first.
func (l *ledger) records(f view.Frame) []event.Seq {
	about := f.About(l.subject.Target)
	if len(about) > keepMost {
		about = about[len(about)-keepMost:]
	}
	out := slices.Concat(about, l.acts)
	slices.Sort(out)
	return slices.Compact(out)
}

// kubectl is how one asks for the thing with kubectl.
func kubectl(s describe.Subject, verb, tail string) string {
	if s.Kind == nil || s.Object == nil {
		return ""
	}
	parts := []string{"kubectl", verb, s.Kind.Singular, s.Object.GetName()}
	if ns := s.Object.GetNamespace(); ns != "" {
		parts = append(parts, "-n", ns)
	}
	if tail != "" {
		parts = append(parts, tail)
	}
	return strings.Join(parts, " ")
}
