package raftstore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"syscall"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/peer"
)

// newDisk is the disk of the place of a name.
func (c *RaftCluster) newDisk(name string) *peer.Disk {
	dir := ""
	if !c.opt.InMemory {
		dir = filepath.Join(c.opt.Dir, name)
	}
	d := peer.NewDisk(dir, c.opt.Sync)
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	d.Seed(c.opt.Seed^h.Sum64(), c.opt.Volatile)
	d.CheckBy(c.opt.Check)
	d.RegisterIn(register{c, name, d})
	d.OnChange(func(state failure.Disk, what string) {
		c.opt.Observer.Changed(Change{Kind: DiskChanged, Member: name, Disk: state, Text: what})
	})
	return d
}

// SetDisk makes a member's disk behave, or does damage to it. Damage is done to a disk at rest: a member that runs is stopped first.
func (c *RaftCluster) SetDisk(name string, state failure.Disk, delay time.Duration) error {
	m, err := c.member(name)
	if err != nil {
		return err
	}
	what, err := m.setDisk(state, delay)
	if err != nil {
		return fmt.Errorf("set disk of %s: %w", name, err)
	}
	c.opt.Observer.Changed(Change{Kind: DiskChanged, Member: name, Disk: state, Text: what})
	return nil
}

func (m *member) setDisk(state failure.Disk, delay time.Duration) (what string, err error) {
	if !state.Damages() {
		return "", m.disk.SetCondition(state, delay)
	}
	m.kill("")
	release, err := m.rest()
	if err != nil {
		return "", err // somebody was faster
	}
	defer release()
	return m.disk.Damage(state)
}

// Traps are the failpoints of all members.
func (c *RaftCluster) Traps() *failure.Traps { return &c.upkeep.traps }

// downBecause is why a member that should run does not, and how to go on.
func (m *member) downBecause(err error) string {
	switch {
	case errors.Is(err, peer.ErrRemoved):
		return RemovedReason(m.name)
	case errors.Is(err, peer.ErrDamaged):
		return fmt.Sprintf("%v; nothing was deleted. To give it a new disk: \"member replace %s\"; only where too few are up to agree to that: \"kill %s\", then \"wipe %s\"", err, m.name, m.name, m.name)
	case errors.Is(err, failure.ErrNoSpace), errors.Is(err, failure.ErrReadOnly):
		return fmt.Sprintf("%v; \"disk %s ok\" ends that, and then it starts again by itself", err, m.name)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Sprintf("%v; make room there, and then it starts again by itself", err)
	}
	return err.Error()
}

// trap is what a member that comes to a point of its work steps on. failure.ErrIO is for the step at the point, which fails; after any other error nothing of this life has any effect.
func (l *life) trap(at failure.Point) error {
	t, sprung := l.m.c.upkeep.traps.Step(l.m.name, at)
	if !sprung {
		return nil
	}
	l.m.c.opt.Observer.Changed(Change{Kind: TrapSprung, Member: l.m.name, Trap: t})
	switch {
	case t.Action == failure.Stall:
		if pause(t.Delay, l.stop) {
			return nil
		}
	case t.Action == failure.Fail && at.CanFail():
		return failure.ErrIO
	default:
		l.m.end(l, "stopped by a trap "+string(at))
	}
	return ErrStopped
}

// step passes a point outside the disk; false: this life is over.
func (l *life) step(at failure.Point) bool { return l.trap(at) == nil }
