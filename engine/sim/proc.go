package sim

import (
	"iter"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"time"

	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/event"
)

// Proc is a process of the loop: blocking-style code that runs alone until it parks.
type Proc struct {
	// Cause is the record that what this process does now follows from. Clients stamp it on requests, emitters on facts.
	Cause event.Seq

	loop  *Loop
	group *Group
	name  string
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	rng   *rand.Rand

	started  bool
	parked   bool
	queued   bool // in the ready ring
	killed   bool // unwinds at its next park, or at once if parked
	finished bool
	timer    *clock.Timer
	timedOut bool
	signaled bool // by Cond.Signal, which nobody else will get
}

// killedSignal unwinds a killed process; it never leaves this package.
type killedSignal struct{}

// Group is a set of processes that die together: one program on one machine.
type Group struct {
	loop   *Loop
	name   string
	procs  map[*Proc]struct{}
	order  []*Proc // creation order, so that killing is repeatable
	onKill []func()
	dead   bool
}

// NewGroup makes a group of that name ("master-1/apiserver").
func (l *Loop) NewGroup(name string) *Group {
	return &Group{loop: l, name: name, procs: map[*Proc]struct{}{}}
}

// Name is what the group was called.
func (g *Group) Name() string { return g.name }

// Dead reports that the group was killed. Nothing can be started in it any more.
func (g *Group) Dead() bool { return g.dead }

// OnKill runs fn when the group is killed, in order of registration, before its processes unwind; at once if it is dead already.
func (g *Group) OnKill(fn func()) {
	if g.dead {
		fn()
		return
	}
	g.onKill = append(g.onKill, fn)
}

// Kill ends every process of the group. Parked ones unwind now, through their deferred calls; the one that is running, if it is of this group,
// unwinds at its next park. Killing twice does nothing.
func (g *Group) Kill() {
	if g.dead {
		return
	}
	g.dead = true
	for _, fn := range g.onKill {
		fn()
	}
	g.onKill = nil
	for _, p := range g.order {
		p.kill()
	}
	g.order = nil
}

// Spawn starts a process in g at this instant, after what is ready. In a dead group nothing starts.
func (l *Loop) Spawn(g *Group, name string, fn func(*Proc)) *Proc {
	p := &Proc{loop: l, group: g, name: name}
	if l.current != nil {
		p.Cause = l.current.Cause
	}
	if g.dead {
		p.finished = true
		return p
	}
	g.procs[p] = struct{}{}
	g.order = append(g.order, p)
	if len(g.order) > 64 && len(g.order) > 2*len(g.procs) {
		g.compact()
	}
	l.procCount++
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		defer p.finish()
		fn(p)
	})
	p.queued = true
	l.ready.push(task{proc: p})
	return p
}

func (g *Group) compact() {
	kept := g.order[:0]
	for _, p := range g.order {
		if !p.finished {
			kept = append(kept, p)
		}
	}
	clear(g.order[len(kept):])
	g.order = kept
}

func (p *Proc) finish() {
	p.finished = true
	delete(p.group.procs, p)
	p.loop.procCount--
	v := recover()
	if _, ok := v.(killedSignal); ok || v == nil {
		return
	}
	if p.loop.opts.Panicked == nil {
		panic(v)
	}
	stack := debug.Stack()
	group := p.group
	p.loop.Soon(func() {
		group.Kill()
		p.loop.opts.Panicked(group.name+" "+p.name, v, stack)
	})
}

// resume runs p until it parks or ends.
func (l *Loop) resume(p *Proc) {
	p.queued = false
	if p.finished {
		return
	}
	if p.killed && !p.started {
		p.discard()
		return
	}
	p.started = true
	before := l.current
	l.current = p
	p.next()
	l.current = before
}

// discard ends a process that never ran.
func (p *Proc) discard() {
	p.finished = true
	delete(p.group.procs, p)
	p.loop.procCount--
	p.stop()
}

func (p *Proc) kill() {
	if p.finished || p.killed {
		return
	}
	p.killed = true
	p.timer.Stop()
	if p.loop.current == p {
		return
	}
	if !p.started {
		p.discard()
		return
	}
	if p.parked {
		before := p.loop.current
		p.loop.current = p
		p.stop() // makes yield return false; park then unwinds
		p.loop.current = before
	}
}

// park gives way to the loop until somebody calls wake.
func (p *Proc) park() {
	p.mustLive()
	p.parked = true
	alive := p.yield(struct{}{})
	p.parked = false
	if !alive || p.killed {
		p.killed = true
		panic(killedSignal{})
	}
}

// mustLive unwinds a process that was killed while it ran.
func (p *Proc) mustLive() {
	if p.killed {
		panic(killedSignal{})
	}
}

// wake makes a parked process ready. Waking twice before it runs is waking once.
func (p *Proc) wake() {
	if p.queued || p.finished || p.killed {
		return
	}
	p.queued = true
	p.loop.ready.push(task{proc: p})
}

// Loop is the loop the process runs on.
func (p *Proc) Loop() *Loop { return p.loop }

// Group is the group the process belongs to.
func (p *Proc) Group() *Group { return p.group }

// Name is what the process was called.
func (p *Proc) Name() string { return p.name }

// Now is the simulated instant.
func (p *Proc) Now() time.Time { return p.loop.now }

// Rand is the process's own random stream, derived from the seed, the group's name and its own. Processes that share both names get streams of their own,
// in the order in which they first ask.
func (p *Proc) Rand() *rand.Rand {
	if p.rng == nil {
		name := p.group.name + " " + p.name
		n := p.loop.streams[name]
		p.loop.streams[name]++
		if n > 0 {
			name += " " + strconv.Itoa(n)
		}
		p.rng = p.loop.Rand(name)
	}
	return p.rng
}

// Sleep parks for d of simulated time; zero or less gives way once.
func (p *Proc) Sleep(d time.Duration) {
	if d <= 0 {
		p.Yield()
		return
	}
	p.mustLive()
	p.timer = p.loop.After(d, p.wake)
	p.park()
}

// Yield lets everything that is ready now run first.
func (p *Proc) Yield() {
	p.wake()
	p.park()
}

// Killed reports that the process is to end; it is true only inside deferred calls while it unwinds.
func (p *Proc) Killed() bool { return p.killed }

// Go starts another process in the same group, with the same cause.
func (p *Proc) Go(name string, fn func(*Proc)) *Proc { return p.loop.Spawn(p.group, name, fn) }
