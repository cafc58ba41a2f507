// Package why answers why a thing is as it is, in two to five sentences, from recorded facts only: what the World holds, and the records that led there.
//
// An answer names the records it stands on, what happens next and when, and, where it can be computed, the smallest change that would make things otherwise. A
// change is only told after the same arithmetic that says no has said yes to it: the scheduler's filters for a pod that fits nowhere (affinity between pods and
// spreading are not computed here, and an answer that they may spoil says so), the counting of members for a lost quorum.
//
// Several questions can be asked about one thing; Ask gives the answers to all that make sense now, the most pressing first.
//
// The cost of an answer follows what it is about, never all pods: a look at each node for a pod without one, and at the pods of one node for what runs there.
//
// Imports of ours: engine/event, engine/fault, engine/kinds, engine/world, tui/intent, tui/scene, tui/sentence, tui/target, tui/theme, tui/grid, tui/view, tui/widget,
// tui/words. Goroutines: an Asker has one owner; answers are values. Time: simulated, Frame.Now.
package why

import (
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// Mood is how grave an answer is.
type Mood int

// The moods.
const (
	Fine   Mood = iota // as it should be
	Plain              // a fact, neither good nor bad
	Waits              // not there yet
	Broken             // somebody must act, or time must
)

// Answer to a question about a thing.
type Answer struct {
	// ID of the question, the same as long as it is about the same ("pending"); Title is the question in words.
	ID, Title string
	Mood      Mood
	// Lines are one to five sentences; the first says most.
	Lines []string
	// Changes, each of which alone would make it otherwise, the smallest first. Steps: they do it only together, one after the other.
	Changes []Change
	Steps   bool
	// Next says what happens by itself; at Until, and it was set on its way at From. Until is zero where nobody knows when.
	Next        string
	From, Until time.Time
	// Seqs are the records the answer stands on, oldest first, without repetition.
	Seqs  []event.Seq
	Links []Link
}

// Change that would make things otherwise.
type Change struct {
	Text string
	// Command does it, as the console takes it; empty: there is no command of one line for it.
	Command string
}

// Link is a thing to go to from an answer.
type Link struct {
	Label string
	Do    intent.Intent
}

// Asker answers, and remembers what was costly to find out. The zero value is ready.
//
// A look at all nodes is kept for one state of the World; with more than largeFrom nodes for one second of simulated time, so that what it says of room there may be
// that much older than the frame.
type Asker struct {
	state   state
	surveys map[string]*survey
}

// state of the World that surveys are kept for.
type state struct {
	seq    event.Seq
	second int64
}

const largeFrom = 500

// Ask gives the answers to all questions that make sense about a thing at the instant of the frame, the most pressing first. There is always one.
func (a *Asker) Ask(f view.Frame, t target.Target) []Answer {
	q := &inquiry{Frame: f, t: t, asker: a}
	q.dispatch()
	if len(q.answers) == 0 {
		d := q.ask("unknown", "why.q-thing", Plain, "what", q.name(t))
		d.line("why.nothing-known")
		q.add(d)
	}
	return q.answers
}

// Ask without a memory.
func Ask(f view.Frame, t target.Target) []Answer { return new(Asker).Ask(f, t) }

// inquiry is one thing being asked about.
type inquiry struct {
	view.Frame
	t       target.Target
	asker   *Asker
	answers []Answer
	teller  *sentence.Teller
}

func (q *inquiry) dispatch() {
	switch t := q.t; t.Kind {
	case target.Nothing:
		q.cluster()
	case target.Pod:
		q.pod(t.Namespace, t.Name)
	case target.Worker:
		q.worker(t.Host)
	case target.Master:
		q.master(t.Host)
	case target.Process:
		q.process(t.Host, t.Process)
	case target.Balancer:
		q.balancer()
	case target.Record:
		q.record(t.Seq)
	case target.Object:
		q.object(t)
	case target.Queue:
		q.queue(t)
	case target.Zone:
		q.zone(t.Name)
	case target.Client:
		q.client(t.Name)
	}
}

func (q *inquiry) say(key string, args ...any) string { return q.Words.Say(key, args...) }

// draft is an answer in the making.
type draft struct {
	Answer
	q *inquiry
}

func (q *inquiry) ask(id, titleKey string, m Mood, args ...any) *draft {
	return &draft{Answer: Answer{ID: id, Title: q.say(titleKey, args...), Mood: m}, q: q}
}

func (q *inquiry) add(d *draft) {
	slices.Sort(d.Seqs)
	d.Seqs = slices.Compact(d.Seqs)
	d.Changes = slices.CompactFunc(d.Changes, func(a, b Change) bool { return a.Text == b.Text })
	d.Links = slices.CompactFunc(d.Links, func(a, b Link) bool { return a.Label == b.Label })
	if len(d.Lines) > 6 {
		d.Lines = d.Lines[:6]
	}
	q.answers = append(q.answers, d.Answer)
}

func (d *draft) line(key string, args ...any) { d.Lines = append(d.Lines, d.q.say(key, args...)) }

// on notes records that the answer stands on.
func (d *draft) on(seqs ...event.Seq) {
	for _, s := range seqs {
		if s != 0 && s <= d.q.World.Seq {
			d.Seqs = append(d.Seqs, s)
		}
	}
}

func (d *draft) next(from, until time.Time, key string, args ...any) {
	d.Next, d.From, d.Until = d.q.say(key, args...), from, until
	if !until.After(d.q.Now) { // due, and not happened yet
		d.Next += " " + d.q.say("why.a-moment")
		d.From, d.Until = time.Time{}, time.Time{}
	}
}

func (d *draft) change(command, key string, args ...any) {
	d.Changes = append(d.Changes, Change{Text: d.q.say(key, args...), Command: command})
}

func (d *draft) link(do intent.Intent, key string, args ...any) {
	d.Links = append(d.Links, Link{Label: d.q.say(key, args...), Do: do})
}

// linkTo a thing's own answer.
func (d *draft) linkTo(t target.Target) {
	d.link(intent.Open{Page: "why", Target: t}, "why.link-why", "what", d.q.name(t))
}

// since is how long ago an instant was.
func (q *inquiry) since(t time.Time) time.Duration { return q.Scene.Since(t) }

// name of a thing in a few words.
func (q *inquiry) name(t target.Target) string {
	switch t.Kind {
	case target.Nothing:
		return q.say("why.name-cluster")
	case target.Balancer:
		return q.say("why.name-balancer")
	case target.Pod:
		return q.say("why.name-pod", "pod", t.Name)
	case target.Process:
		return q.say("why.name-process", "process", t.Process, "host", t.Host)
	case target.Object:
		kind, _ := kindOf(t.Type)
		return q.say("why.name-object", "kind", kind, "name", t.Name)
	case target.Queue:
		return q.say("why.name-queue", "queue", t.Name, "host", t.Host)
	case target.Zone:
		return q.say("why.name-zone", "zone", t.Name)
	case target.Client:
		return motion.Label(t.Name)
	case target.Record:
		return q.say("why.name-record", "seq", uint64(t.Seq))
	}
	return t.Host
}

// kindOf reads "deployments.apps" as a kind, with its name; a type that nobody knows is called as it is.
func kindOf(typ string) (name string, k *kinds.Kind) {
	if k, ok := kinds.Named(typ); ok {
		return k.Kind, k
	}
	return typ, nil
}

// Name of a thing in a few words, in the language of the frame.
func Name(f view.Frame, t target.Target) string { return (&inquiry{Frame: f}).name(t) }

// machine is the target of a host.
func (q *inquiry) machine(host string) target.Target {
	return scene.MachineTarget(q.World, host)
}

// by names who did something.
func (q *inquiry) by(a event.Actor) string { return scene.By(a, q.Words) }

// tell is the sentence about a record.
func (q *inquiry) tell(r event.Record) string {
	if q.teller == nil {
		q.teller = sentence.NewTeller(q.Words)
	}
	return q.teller.Tell(r, nil).One
}

// survey of the nodes for a pod, made once a state of the World.
func (q *inquiry) survey(p *world.Pod) *survey {
	a := q.asker
	now := state{seq: q.World.Seq}
	if q.World.Nodes.Len() > largeFrom {
		now = state{second: q.World.At.Unix()}
	}
	if a.state != now || a.surveys == nil || len(a.surveys) > 16 {
		a.state, a.surveys = now, map[string]*survey{}
	}
	k := key(p.Object.Namespace, p.Object.Name)
	s, ok := a.surveys[k]
	if !ok || s.need.pod != p.Object {
		s = look(q.World, p)
		a.surveys[k] = s
	}
	return s
}
