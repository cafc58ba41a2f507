// Package reconcile runs level-based reconcilers: a work queue of keys, workers, retries with back-off, and the facts that make all of it visible.
//
// The shape every controller follows: informer handlers only enqueue keys (Controller.Add); Reconcile(pass, key) reads the present from informers, a pure
// plan decides and says why, a thin act writes. Run twice, the second pass writes nothing. "Again later" is Result.After, a failure is an error (retried with
// back-off 5 ms … 1000 s per key, as client-go's default rate limiter does).
//
// Owns: Queue, Controller, Pass, Expectations. Imports of ours: components/kubeapi, engine/sim, engine/event. Goroutines: the loop. Time: simulated.
package reconcile

import (
	"fmt"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// Result of a pass that did not fail.
type Result struct {
	// After asks for another pass on the same key then; 0: none is needed until something changes.
	After time.Duration
	// Why is a phrase for people: what that pass is for.
	Why string
}

// Done is the result of a pass that needs no other.
var Done = Result{}

// Reconciler makes the world fit one key.
type Reconciler interface {
	Reconcile(ps *Pass, key kubeapi.Key) (Result, error)
}

// Func is a function as a Reconciler.
type Func func(ps *Pass, key kubeapi.Key) (Result, error)

// Reconcile calls f.
func (f Func) Reconcile(ps *Pass, key kubeapi.Key) (Result, error) { return f(ps, key) }

// Pass is one run of a reconciler over one key.
type Pass struct {
	Proc *sim.Proc
	// Client carries the pass's writes; its requests name the pass's record as their cause.
	Client *kubeapi.Client

	ctl     *Controller
	key     kubeapi.Key
	waited  time.Duration
	retries int
	decided bool
}

// Decide journals what the pass is about to do and why, before its first write; the writes then follow from that record. Further calls add records.
func (ps *Pass) Decide(format string, args ...any) {
	ps.emit(fmt.Sprintf(format, args...), "")
}

func (ps *Pass) emit(decision, failure string) {
	seq := ps.ctl.proc.Emit(ps.Proc, event.Reconciled{Controller: ps.ctl.name, Key: string(ps.key), Waited: ps.waited, Retries: ps.retries,
		Decision: decision, Error: failure})
	ps.Proc.Cause = seq
	ps.decided = true
}

// Now is the simulated instant.
func (ps *Pass) Now() time.Time { return ps.Proc.Now() }

// Controller is a queue with workers.
type Controller struct {
	name  string
	proc  *kubeapi.Process
	r     Reconciler
	queue *Queue
	// inspect, if set, hears how each pass ended (tests).
	inspect func(key kubeapi.Key, wrote bool, err error)
}

// New makes a controller; it works once Start is called.
func New(pr *kubeapi.Process, name string, r Reconciler) *Controller {
	return &Controller{name: name, proc: pr, r: r, queue: NewQueue(pr, name)}
}

// Queue is the controller's work queue.
func (c *Controller) Queue() *Queue { return c.queue }

// Add enqueues a key. Informer handlers call it with their change's cause.
func (c *Controller) Add(key kubeapi.Key, cause event.Seq) { c.queue.Add(key, cause) }

// AddAfter enqueues a key when d has passed. why is a phrase for people.
func (c *Controller) AddAfter(key kubeapi.Key, d time.Duration, cause event.Seq, why string) {
	c.queue.AddAfter(key, d, cause, why)
}

// Start runs the workers. From then on the queue is known to the journal, however idle it is.
func (c *Controller) Start(workers int) {
	c.queue.changed()
	for i := range workers {
		c.proc.Go(fmt.Sprintf("%s worker %d", c.name, i), c.work)
	}
}

func (c *Controller) work(p *sim.Proc) {
	for {
		item := c.queue.Get(p)
		p.Cause = item.Cause
		ps := &Pass{Proc: p, Client: c.proc.Client, ctl: c, key: item.Key, waited: p.Now().Sub(item.Since), retries: c.queue.Retries(item.Key)}
		res, err := c.r.Reconcile(ps, item.Key)
		c.queue.Done(item.Key)
		switch {
		case err != nil:
			ps.emit("", err.Error())
			c.queue.AddRateLimited(item.Key, p.Cause, "retry after an error: "+err.Error())
		case res.After > 0:
			c.queue.Forget(item.Key)
			c.queue.AddAfter(item.Key, res.After, p.Cause, res.Why)
		default:
			c.queue.Forget(item.Key)
		}
		if c.inspect != nil {
			c.inspect(item.Key, ps.decided, err)
		}
	}
}
