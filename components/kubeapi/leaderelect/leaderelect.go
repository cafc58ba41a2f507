// Package leaderelect makes a component active-standby through a Lease object (cg tools/leaderelection; fidelity LE-1 … LE-8).
//
// Owns: Run and its Config. Imports of ours: components/kubeapi, components/kubeapi/record, engine/sim, engine/event. Goroutines: the loop. Time: simulated; a
// candidate measures the lease by its own clock from when it saw the record change, as Kubernetes does.
package leaderelect

import (
	"errors"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// Defaults of the control plane's components (component-base config/v1alpha1), and the jitter of polling candidates.
const (
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second
	jitterFactor  = 1.2
)

// ErrLost says that the lease could not be renewed in time or is held by another. The program must exit: pr.Exit(p, 1, "leaderelection lost").
var ErrLost = errors.New("leaderelection lost")

// Config of a candidate.
type Config struct {
	Process *kubeapi.Process
	// Namespace and Name of the Lease: kube-system/kube-scheduler.
	Namespace, Name string
	// Recorder of the LeaderElection events on the Lease; nil: none are written.
	Recorder *record.Recorder
	// Zero values mean 15 s, 10 s, 2 s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// ReleaseOnCancel empties the holder when Stop is set while leading, so that a standby takes over at its next poll.
	ReleaseOnCancel bool
	// Stop, when set, makes Run end in good order (SIGTERM). nil: Run ends only when the lease is lost. The value is the record of the order to stop.
	Stop *sim.Future[event.Seq]

	// OnStartedLeading runs in a process of its own once the lease is won.
	OnStartedLeading func(p *sim.Proc)
	// OnStoppedLeading runs when Run ends, whether it ever led or not, as in client-go. It must not park.
	OnStoppedLeading func()
	// OnNewLeader hears each holder this candidate observes, itself included. It must not park.
	OnNewLeader func(identity string)
}

// candidate is one running election.
type candidate struct {
	Config
	identity string
	client   *kubeapi.Client
	// lease as read or written last; nil before the first.
	lease *coordinationv1.Lease
	// seen is the lease's record as observed last, and since when by the local clock.
	seen      coordinationv1.LeaseSpec
	observed  time.Time
	reported  string
	displaced string // who held the lease when we took it
	previous  string // the last other than us who was seen to hold it
}

// Run stands for election until the lease is won and lost again, or Stop is set. It parks p all the while. nil: stopped in good order; ErrLost otherwise.
// p.Cause is, once leading, the Leading record, and in the end the one that tells of the end.
func Run(p *sim.Proc, cfg Config) error {
	if cfg.LeaseDuration == 0 {
		cfg.LeaseDuration = LeaseDuration
	}
	if cfg.RenewDeadline == 0 {
		cfg.RenewDeadline = RenewDeadline
	}
	if cfg.RetryPeriod == 0 {
		cfg.RetryPeriod = RetryPeriod
	}
	if cfg.Stop == nil {
		cfg.Stop = &sim.Future[event.Seq]{}
	}
	pr := cfg.Process
	c := &candidate{Config: cfg, identity: newIdentity(pr),
		// a request may take half the renew deadline, so that a hanging server leaves time for a second try (component-base resourcelock.NewFromKubeconfig)
		client: pr.Client.WithTimeout(max(cfg.RenewDeadline/2, time.Second))}
	err := c.run(p)
	if cfg.OnStoppedLeading != nil {
		cfg.OnStoppedLeading()
	}
	return err
}

func (c *candidate) run(p *sim.Proc) error {
	if !c.acquire(p) {
		return nil
	}
	if c.OnStartedLeading != nil {
		p.Go("leading "+c.Name, c.OnStartedLeading)
	}
	stopped := c.renew(p)
	if !stopped {
		cause := p.Cause
		if seq := c.silenced(c.Process.Addr.Host); seq != 0 {
			cause = seq
		}
		p.Cause = c.emit(cause, false, fmt.Sprintf("failed to renew lease %s/%s for %s", c.Namespace, c.Name, c.RenewDeadline))
		c.record(p, "stopped leading")
		return ErrLost // nothing to release: the lease is not ours or cannot be reached
	}
	if order := c.Stop.Await(p); order != 0 {
		p.Cause = order
	}
	message := "stopped"
	if c.ReleaseOnCancel && c.release(p) {
		message = "released"
	}
	p.Cause = c.emit(p.Cause, false, message)
	return nil
}

// acquire polls until the lease is won (true) or Stop is set.
func (c *candidate) acquire(p *sim.Proc) bool {
	for !c.Stop.Ready() {
		won := c.tryAcquireOrRenew(p, time.Time{})
		c.report()
		if won {
			c.won(p)
			return true
		}
		gap := time.Duration(float64(c.RetryPeriod) * (1 + jitterFactor*p.Rand().Float64()))
		c.Stop.AwaitFor(p, gap)
	}
	return false
}

// won journals the victory. When the one before us was silenced, that is why we lead.
func (c *candidate) won(p *sim.Proc) {
	cause, message := p.Cause, "nobody held the lease"
	if c.displaced != "" && c.displaced != c.identity {
		message = fmt.Sprintf("%s had not renewed for %s", c.displaced, c.LeaseDuration)
	}
	if host, _, _ := strings.Cut(c.previous, "_"); host != "" { // it was silenced, or released the lease and ended
		if seq := c.silenced(host); seq != 0 {
			cause = seq
		}
	}
	p.Cause = c.emit(cause, true, message)
	c.record(p, "became leader")
}

// renew keeps the lease until renewing fails for the renew deadline (false) or Stop is set (true).
func (c *candidate) renew(p *sim.Proc) (stopped bool) {
	for {
		if !c.renewOnce(p) {
			return c.Stop.Ready()
		}
		c.report()
		if _, ok := c.Stop.AwaitFor(p, c.RetryPeriod); ok {
			return true
		}
	}
}

// renewOnce tries at once and then each retry period until it works; false: the renew deadline passed, or Stop is set.
func (c *candidate) renewOnce(p *sim.Proc) bool {
	began := p.Now()
	deadline := began.Add(c.RenewDeadline)
	for tick := began; ; {
		if c.tryAcquireOrRenew(p, deadline) {
			return true
		}
		// attempts follow a ticker; a slow one makes the next follow at once
		tick = tick.Add(c.RetryPeriod)
		for next := tick.Add(c.RetryPeriod); next.Before(p.Now()); next = tick.Add(c.RetryPeriod) {
			tick = next
		}
		wait := min(tick.Sub(p.Now()), deadline.Sub(p.Now()))
		if _, ok := c.Stop.AwaitFor(p, max(wait, 0)); ok {
			return false
		}
		if !p.Now().Before(deadline) {
			return false
		}
	}
}

// report tells of a holder not reported yet.
func (c *candidate) report() {
	if holder := holderOf(c.seen); c.lease != nil && holder != c.reported {
		c.reported = holder
		if c.OnNewLeader != nil {
			c.OnNewLeader(holder)
		}
	}
}

// within is the client with what is left until deadline as its timeout; a zero deadline limits nothing.
func (c *candidate) within(p *sim.Proc, deadline time.Time) *kubeapi.Client {
	if deadline.IsZero() {
		return c.client
	}
	return c.client.WithTimeout(max(min(c.client.Timeout, deadline.Sub(p.Now())), time.Millisecond))
}

func (c *candidate) record(p *sim.Proc, what string) {
	if c.Recorder != nil && c.lease != nil {
		c.Recorder.Event(p, c.lease, "Normal", "LeaderElection", c.identity+" "+what)
	}
}

func (c *candidate) emit(cause event.Seq, leading bool, message string) event.Seq {
	return c.Process.Sink.Emit(c.Process.Actor(), cause, event.Leading{Lease: c.Name, Host: c.Process.Addr.Host, Identity: c.identity, Leading: leading, Message: message})
}

func (c *candidate) silenced(host string) event.Seq {
	if c.Process.Silenced == nil {
		return 0
	}
	return c.Process.Silenced(host)
}

// newIdentity is "<host>_<uuid>". The stream's name holds the instant, since a program that starts again must not take itself for its predecessor.
func newIdentity(pr *kubeapi.Process) string {
	rng := pr.Loop.Rand(fmt.Sprintf("identity of %s from %d", pr.Addr, pr.Loop.Now().UnixNano()))
	hi, lo := rng.Uint64(), rng.Uint64()
	hi = hi&^0xf000 | 0x4000     // version 4
	lo = lo&^(0xc<<60) | 0x8<<60 // variant of RFC 9562
	return fmt.Sprintf("%s_%08x-%04x-%04x-%04x-%012x", pr.Addr.Host, hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}
