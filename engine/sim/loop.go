// Package sim is the loop that owns a cluster: it drives simulated time, runs processes one at a time and takes in what comes from outside.
//
// A component is ordinary blocking-style code in a process (Proc). A process runs until it parks (Sleep, Wait, a Queue); only one runs at an instant, so
// components need no locks, a pause is exact and a step is one thing. Processes are iter.Pull coroutines; they may park from any depth of calls. A
// Group is a set of processes that die together, like the threads of one program; killing it unwinds each parked process through its deferred calls.
//
// Owns: the clock, the ready queue, the mailbox, the random streams. Imports of ours: engine/clock, engine/event (the cause a process carries).
//
// Goroutines: one goroutine calls Run (or RunFor); everything else here is called from code that runs on the loop, except Post, Control and Now's
// lock-free twin Clock, which any goroutine may call.
//
// Time: simulated. It is paced against the wall at a rate, held still at rate 0, or free (Unpaced): then the clock jumps to whatever is due next.
// Options.Gate can hold a free clock to a pace while something outside the loop (a raft commit, an election) is still at work, so that it costs what it costs.
package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"example.com/kubeviz/engine/clock"
)

// Rate is simulated seconds per wall second. 0 is paused.
type Rate float64

// Unpaced lets simulated time jump to what is due next.
const Unpaced = Rate(math.MaxFloat64)

// The rates a paced loop accepts.
const (
	RateMin Rate = 0.1
	RateMax Rate = 60
)

// stall is the wall time after which the loop takes a gap for a pause (a suspended terminal, a stopped process) and does not catch up.
const stall = 500 * time.Millisecond

// gatePoll is how often a held clock looks again whether it may run free.
const gatePoll = 200 * time.Microsecond

// tick bounds one wait of a paced loop, so that Clock moves smoothly on a screen even when nothing is due for long.
const tick = 50 * time.Millisecond

// Options for a Loop.
type Options struct {
	// Start is the simulated instant at which the loop begins.
	Start time.Time
	Seed  uint64
	Rate  Rate
	// Gate returns the most simulated seconds per wall second that the world outside the loop allows now; nil or Unpaced: no limit. Called
	// before each move of the clock, so it must be cheap.
	Gate func() Rate
	// Panicked hears of a panic in a process or callback; the process's group is dead by then. nil: the panic goes on and ends Run.
	Panicked func(who string, value any, stack []byte)
}

// Loop runs one cluster.
type Loop struct {
	opts   Options
	timers clock.Timers
	ready  ring
	now    time.Time
	nowNs  atomic.Int64
	rate   Rate
	steps  int // single steps still allowed while paused

	wall       func() time.Time // time.Now
	until      time.Time        // of the present run; zero: none
	streams    map[string]int   // random streams drawn from by processes, by name
	anchorSim  time.Time
	anchorWall time.Time
	effective  Rate // the rate the anchors are good for

	mu      sync.Mutex
	posted  []func()
	control []func()
	wake    chan struct{}

	onRate []func(Rate)

	current   *Proc
	procCount int
	stopWhen  func() bool
	halted    bool
}

// New makes a loop. Nothing runs before Run.
func New(o Options) *Loop {
	if o.Start.IsZero() {
		panic("sim: Options.Start is not set")
	}
	l := &Loop{opts: o, now: o.Start, rate: o.Rate, wake: make(chan struct{}, 1), wall: time.Now, streams: map[string]int{}}
	l.nowNs.Store(o.Start.UnixNano())
	return l
}

// Now is the simulated instant. Loop goroutine only; see Clock for others.
func (l *Loop) Now() time.Time { return l.now }

// Clock is Now for any goroutine.
func (l *Loop) Clock() time.Time { return time.Unix(0, l.nowNs.Load()).UTC() }

// Start is the simulated instant at which the loop began.
func (l *Loop) Start() time.Time { return l.opts.Start }

// Seed is what all random streams derive from.
func (l *Loop) Seed() uint64 { return l.opts.Seed }

// Rand makes the random stream of that name, from its beginning: the same seed and name give the same numbers, whatever else draws.
func (l *Loop) Rand(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(l.opts.Seed, h.Sum64()))
}

// At runs fn at the instant t, or at once (after what is ready) when t has passed.
func (l *Loop) At(t time.Time, fn func()) *clock.Timer {
	if t.Before(l.now) {
		t = l.now
	}
	return l.timers.Add(t, fn)
}

// After runs fn when d has passed.
func (l *Loop) After(d time.Duration, fn func()) *clock.Timer { return l.At(l.now.Add(d), fn) }

// Soon runs fn at this instant, after everything that is already ready.
func (l *Loop) Soon(fn func()) { l.ready.push(task{fn: fn}) }

// Post hands fn to the loop from any goroutine. While time is paused it waits: what the outside answers is part of the simulation.
func (l *Loop) Post(fn func()) { l.hand(&l.posted, fn) }

// Control hands fn to the loop from any goroutine, also while time is paused: commands, reads, the end.
func (l *Loop) Control(fn func()) { l.hand(&l.control, fn) }

func (l *Loop) hand(box *[]func(), fn func()) {
	l.mu.Lock()
	*box = append(*box, fn)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Rate is the rate asked for.
func (l *Loop) Rate() Rate { return l.rate }

// SetRate changes the pace from now on; 0 pauses exactly here.
func (l *Loop) SetRate(r Rate) {
	l.rate = r
	l.steps = 0
	l.unanchor()
	for _, fn := range l.onRate {
		fn(r)
	}
}

// OnRate runs fn on the loop after each change of the rate, a pause included.
func (l *Loop) OnRate(fn func(Rate)) { l.onRate = append(l.onRate, fn) }

// Step lets n single things happen while paused: one process resumed, one answer taken in, or the clock moved to one timer.
func (l *Loop) Step(n int) { l.steps += n }

// StopWhen pauses the loop (rate 0) as soon as cond holds, looked at after each single thing; nil takes it back. done, if not nil, runs then.
func (l *Loop) StopWhen(cond func() bool, done func()) {
	if cond == nil {
		l.stopWhen = nil
		return
	}
	l.stopWhen = func() bool {
		if !cond() {
			return false
		}
		l.stopWhen = nil
		if done != nil {
			done()
		}
		return true
	}
}

// Idle reports that nothing is ready and tells when the next timer is due (zero: never).
func (l *Loop) Idle() (idle bool, next time.Time) {
	next, _ = l.timers.Next()
	return l.ready.len() == 0, next
}

// Procs counts living processes.
func (l *Loop) Procs() int { return l.procCount }

// Halt makes Run return after the present thing.
func (l *Loop) Halt() { l.halted = true }

// Run drives the loop until ctx ends or Halt is called. The calling goroutine owns the cluster meanwhile.
func (l *Loop) Run(ctx context.Context) error {
	return l.run(ctx, time.Time{})
}

// RunUntil drives the loop until the simulated instant t, which becomes Now.
func (l *Loop) RunUntil(ctx context.Context, t time.Time) error { return l.run(ctx, t) }

func (l *Loop) run(ctx context.Context, until time.Time) error {
	l.halted = false
	l.until = until
	stopWake := context.AfterFunc(ctx, func() { l.Control(func() {}) })
	defer stopWake()
	l.unanchor()
	for !l.halted {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.takeControl()
		if l.halted {
			return nil
		}
		if l.rate == 0 && l.steps == 0 {
			l.await(time.Time{})
			l.unanchor()
			continue
		}
		l.takePosted()
		if l.ready.len() > 0 {
			l.runReady()
			continue
		}
		if done := l.advance(until); done {
			return nil
		}
	}
	return nil
}

// runReady runs one ready task, then gives a chance to stop.
func (l *Loop) runReady() {
	t := l.ready.pop()
	if t.proc != nil {
		l.resume(t.proc)
	} else {
		l.call(t.fn)
	}
	l.counted()
}

// counted is called after each single thing.
func (l *Loop) counted() {
	if l.rate == 0 && l.steps > 0 {
		l.steps--
	}
	if l.stopWhen != nil && l.stopWhen() {
		l.SetRate(0)
	}
}

// advance moves the clock towards the next timer and fires it, or waits for the wall. It reports that until is reached.
func (l *Loop) advance(until time.Time) bool {
	due, ok := l.timers.Next()
	target := due
	if !until.IsZero() && (!ok || due.After(until)) {
		target = until
	}
	rate := l.rate
	if rate == 0 { // a single step jumps
		rate = Unpaced
	}
	if l.opts.Gate != nil {
		rate = min(rate, l.opts.Gate())
		if rate <= 0 { // held still
			l.unanchor()
			l.await(l.wall().Add(gatePoll))
			return false
		}
	}
	if target.IsZero() { // nothing is due: only the outside can wake us, and time passes meanwhile
		if rate == Unpaced {
			l.await(time.Time{})
			return false
		}
		l.pace(rate)
		l.pause(l.wall(), tick)
		return false
	}
	if rate != Unpaced {
		l.pace(rate)
		wall := l.wall()
		if present := l.paced(wall); present.Before(target) {
			l.setNow(present)
			wait := tick
			if w := math.Ceil(float64(target.Sub(present)) / float64(rate)); w < float64(tick) {
				wait = time.Duration(w)
			}
			if l.rate == Unpaced || l.rate == 0 { // held by the gate: look again soon
				wait = min(wait, gatePoll)
			}
			l.pause(wall, wait)
			return false
		}
	} else {
		l.unanchor()
	}
	l.setNow(target)
	if ok && !due.After(target) {
		l.call(l.timers.Pop())
		l.counted()
		return false
	}
	return true // until reached
}

// pause waits for the wall or for the outside. A gap far beyond what was asked for is a suspended program: simulated time stood still meanwhile.
func (l *Loop) pause(wall time.Time, wait time.Duration) {
	l.await(wall.Add(wait))
	if l.wall().Sub(wall) > wait+stall {
		l.unanchor()
		return
	}
	l.catchUp()
}

// catchUp moves the clock of a paced loop to where the wall is, but not past what is due.
func (l *Loop) catchUp() {
	if l.effective == 0 || l.rate == 0 {
		return
	}
	t := l.paced(l.wall())
	if due, ok := l.timers.Next(); ok && due.Before(t) {
		t = due
	}
	if !l.until.IsZero() && l.until.Before(t) {
		t = l.until
	}
	l.setNow(t)
}

// pace makes the anchors fit the rate.
func (l *Loop) pace(rate Rate) {
	if l.effective == rate {
		return
	}
	l.catchUp()
	l.anchorSim, l.anchorWall, l.effective = l.now, l.wall(), rate
}

func (l *Loop) unanchor() { l.effective = 0 }

// paced is the simulated instant that the wall instant stands for, never before now. When what is due is late by more than stall the loop cannot keep up:
// it re-anchors there, and simulated time runs slower than asked for instead of rushing.
func (l *Loop) paced(wall time.Time) time.Time {
	t := l.anchorSim.Add(time.Duration(float64(wall.Sub(l.anchorWall)) * float64(l.effective)))
	if t.Before(l.now) {
		return l.now
	}
	due, ok := l.timers.Next()
	if !ok || !due.Before(t) {
		return t
	}
	if due.Before(l.now) {
		due = l.now
	}
	if float64(t.Sub(due)) > float64(stall)*float64(l.effective) {
		l.anchorSim, l.anchorWall = due, wall
		return due
	}
	return t
}

func (l *Loop) setNow(t time.Time) {
	if t.After(l.now) {
		l.now = t
		l.nowNs.Store(t.UnixNano())
	}
}

// await blocks the loop until something is handed in or the wall instant passes; a zero instant means for ever.
func (l *Loop) await(wall time.Time) {
	l.mu.Lock()
	busy := len(l.control) > 0 || (len(l.posted) > 0 && (l.rate != 0 || l.steps > 0))
	l.mu.Unlock()
	if busy {
		return
	}
	if wall.IsZero() {
		<-l.wake
		return
	}
	d := wall.Sub(l.wall())
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	select {
	case <-l.wake:
	case <-t.C:
	}
	t.Stop()
}

// takeControl runs what the outside orders, at the instant at which it is taken in.
func (l *Loop) takeControl() {
	fns := l.take(&l.control)
	if len(fns) == 0 {
		return
	}
	if l.ready.len() == 0 { // else the present instant is not over yet
		l.catchUp()
	}
	for _, fn := range fns {
		l.call(fn)
	}
}

// takePosted puts what the outside handed in behind what is ready, stamped with the present instant.
func (l *Loop) takePosted() {
	fns := l.take(&l.posted)
	if len(fns) == 0 {
		return
	}
	if l.ready.len() == 0 { // else the present instant is not over yet
		l.catchUp()
	}
	for _, fn := range fns {
		l.ready.push(task{fn: fn})
	}
}

func (l *Loop) take(box *[]func()) []func() {
	l.mu.Lock()
	fns := *box
	*box = nil
	l.mu.Unlock()
	return fns
}

// call runs a callback on the loop under recover.
func (l *Loop) call(fn func()) {
	if l.opts.Panicked != nil {
		defer func() {
			if v := recover(); v != nil {
				l.opts.Panicked("callback", v, debug.Stack())
			}
		}()
	}
	fn()
}

func (l *Loop) String() string {
	return fmt.Sprintf("loop at %s, %d procs, %d timers", l.now.Format(time.RFC3339Nano), l.procCount, l.timers.Len())
}
