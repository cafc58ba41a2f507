package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"example.com/kubeviz/raftstore/failure"
)

// errPowerLost answers everything that raft still asks of the disk after its member was killed.
var errPowerLost = errors.New("the member was killed")

// condition is how a disk behaves, and what is known of what is on it. It outlives the lives of the member, as a disk does.
type condition struct {
	mu    sync.Mutex
	state failure.Disk
	delay time.Duration
	// changed, when set, hears of a change that nobody ordered.
	changed func(state failure.Disk, what string)
}

// Condition is the state of the disk: as it was set, as damage was done to it, or as a check found it.
func (d *Disk) Condition() failure.Disk {
	d.condition.mu.Lock()
	defer d.condition.mu.Unlock()
	if d.condition.state == "" {
		return failure.Sound
	}
	return d.condition.state
}

// SetCondition makes the disk behave from now on. delay is that of failure.Slow. Damage stays: Sound ends a behaviour, it mends nothing.
func (d *Disk) SetCondition(state failure.Disk, delay time.Duration) error {
	c := &d.condition
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Damages() || c.state == failure.Damaged {
		if state == failure.Sound {
			return fmt.Errorf("what is on its disk is %s, and no word mends that", c.state)
		}
		return fmt.Errorf("its disk is %s already", c.state)
	}
	c.state, c.delay = state, delay
	return nil
}

// mended is for a disk that is empty now.
func (c *condition) mended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Damages() || c.state == failure.Damaged {
		c.state = failure.Sound
	}
}

// sound is for a disk that a start has found to be so: what was done to it did no harm.
func (c *condition) sound() {
	c.mu.Lock()
	damaged := c.state.Damages() || c.state == failure.Damaged
	c.mu.Unlock()
	if damaged {
		c.become(failure.Sound, "nothing that counts was lost")
	}
}

// OnChange sets who hears of changes of the condition that nobody ordered.
func (d *Disk) OnChange(hear func(state failure.Disk, what string)) {
	d.condition.mu.Lock()
	defer d.condition.mu.Unlock()
	d.condition.changed = hear
}

// become changes the condition by itself, and tells of it.
func (c *condition) become(state failure.Disk, what string) {
	c.mu.Lock()
	same := c.state == state || c.state == "" && state == failure.Sound
	c.state, c.delay = state, 0
	hear := c.changed
	c.mu.Unlock()
	if hear != nil && !same {
		hear(state, what)
	}
}

// obstacle is what a write meets: how much longer it takes, and the error it ends in.
func (c *condition) obstacle() (delay time.Duration, err error) {
	c.mu.Lock()
	state := c.state
	delay = c.delay
	c.mu.Unlock()
	switch state {
	case failure.Full:
		return 0, failure.ErrNoSpace
	case failure.ReadOnly:
		return 0, failure.ErrReadOnly
	case failure.Flaky:
		c.become(failure.Sound, "one write failed, later ones will not")
		return 0, failure.ErrIO
	case failure.Slow:
		return delay, nil
	}
	return 0, nil
}

// lasting is the error that a part of a larger write meets; the whole has met the obstacles already.
func (c *condition) lasting() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case failure.Full:
		return failure.ErrNoSpace
	case failure.ReadOnly:
		return failure.ErrReadOnly
	}
	return nil
}

// gate is the way of one life to its disk. Every write passes it: it is where the disk is full or slow, where traps wait, and what a kill closes.
type gate struct {
	condition *condition
	// step passes a point where a trap may wait; nil: nowhere.
	step func(failure.Point) error
	// closed is closed by kill.
	closed chan struct{}
	dead   atomic.Bool
}

func newGate(d *Disk, step func(failure.Point) error) *gate {
	return &gate{condition: &d.condition, step: step, closed: make(chan struct{})}
}

// kill closes the gate: what has not passed it never will.
func (g *gate) kill() {
	if g.dead.CompareAndSwap(false, true) {
		close(g.closed)
	}
}

// at passes a point. With an error nothing after the point is to have any effect: failure.ErrIO is the step's own, others are the end of this life.
func (g *gate) at(p failure.Point) error {
	if g.dead.Load() {
		return errPowerLost
	}
	if g.step == nil {
		return nil
	}
	err := g.step(p)
	if err != nil && !errors.Is(err, failure.ErrIO) {
		g.kill()
		return errPowerLost
	}
	return err
}

// write does a durable step, when the disk lets it. Nobody holds a lock across it: a slow disk must not hold up who only reads.
func (g *gate) write(do func() error) error {
	if g.dead.Load() {
		return errPowerLost
	}
	delay, err := g.condition.obstacle()
	if err != nil {
		return err
	}
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-g.closed:
		}
	}
	if g.dead.Load() {
		return errPowerLost
	}
	return do()
}

// probe finds out whether the disk can be written at all, before raft does and ends the program over it. An empty file would go on a disk that is full.
func (d *Disk) probe(g *gate) error {
	err := g.write(func() error {
		if d.dir == "" {
			return nil
		}
		path := filepath.Join(d.dir, probeFile)
		if err := os.WriteFile(path, make([]byte, 4096), markerMode); err != nil {
			os.Remove(path) // where it was created at all
			return err
		}
		return os.Remove(path)
	})
	if err != nil {
		return fmt.Errorf("%w: it cannot be written: %w", errDisk, err)
	}
	return nil
}
