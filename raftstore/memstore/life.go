package memstore

import (
	"errors"
	"fmt"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// change changes a member and examines the cluster.
func (c *Cluster) change(what, name string, do func(m *member) error) (err error) {
	c.locked(func() {
		m := c.place(name)
		if m == nil {
			err = fmt.Errorf("%s: no member %q", what, name)
			return
		}
		if err = do(m); err != nil {
			err = fmt.Errorf("%s %s: %w", what, name, err)
			return
		}
		c.examine()
	})
	return err
}

// StartMember starts a member with the state it had. One whose disk does not allow that stays down, and its status says why.
func (c *Cluster) StartMember(name string) error {
	return c.change("start member", name, func(m *member) error {
		if m.up {
			return errors.New("it is running")
		}
		if text := diskRefuses(m.disk); text != "" {
			m.err = text
			return errors.New(text)
		}
		if m.disk == failure.Torn {
			m.setDisk(failure.Sound, "nothing that counts was lost")
		}
		m.up, m.ready, m.started, m.err = true, false, true, ""
		m.dbSize = max(m.dbSize, m.frozen.InUse())
		return nil
	})
}

// diskRefuses says why a member cannot run on a disk; empty: it can.
func diskRefuses(d failure.Disk) string {
	switch {
	case d == failure.Full:
		return "disk failed: no space left on device; start it again when there is"
	case d == failure.ReadOnly:
		return "disk failed: read-only file system; start it again when it can be written"
	case d.Damages() && d != failure.Torn: // from that one a member comes back

		return fmt.Sprintf("disk damaged (%s): nothing was deleted; give it a new one with member remove and member add", d)
	}
	return ""
}

// KillMember stops a member. One that is down stays down.
func (c *Cluster) KillMember(name string) error {
	return c.change("kill member", name, func(m *member) error {
		if m.up {
			m.stop("")
		}
		return nil
	})
}

// stop ends a member that runs; why is empty when somebody wanted it.
func (m *member) stop(why string) {
	if m.frozen == nil {
		m.frozen = m.c.kv.Snapshot()
	}
	m.up, m.connected, m.err = false, false, why
	m.endWatches(raftstore.ErrStopped)
}

// WipeMember makes a member that is down forget its state. It has no part in making a leader until one has caught it up. When all voters have forgotten, the cluster begins anew.
func (c *Cluster) WipeMember(name string) error {
	return c.change("wipe member", name, func(m *member) error {
		if m.up {
			return errors.New("it is running")
		}
		m.empty()
		m.wiped = true
		for _, other := range c.places {
			if other.voter() && !other.wiped {
				return nil
			}
		}
		c.beginAnew()
		return nil
	})
}

// beginAnew begins with nothing, above every revision there was. Nobody is connected. Learners are others in the new cluster.
func (c *Cluster) beginAnew() {
	c.highest = max(c.highest, c.kv.Revision()) + raftstore.RevisionBump
	c.kv = mvcc.New()
	c.kv.Bump(c.highest)
	for _, m := range c.places {
		if !m.in {
			continue
		}
		if m.learner {
			if m.frozen.Revision() > 0 {
				c.tell(raftstore.Change{Kind: raftstore.SetAside, Member: m.name})
			}
			m.empty()
			m.lives++
		}
		m.endWatches(raftstore.ErrStopped)
		m.wiped, m.frozen = false, c.kv.Snapshot()
	}
	c.reconfigured()
	c.tell(raftstore.Change{Kind: raftstore.BegunAnew, Revision: c.highest})
}

// empty gives a member an empty disk. How the disk behaves stays.
func (m *member) empty() {
	m.frozen, m.dbSize, m.term, m.err = mvcc.New().Snapshot(), 0, 0, ""
	if m.disk.Damages() {
		m.setDisk(failure.Sound, "")
	}
}

func (m *member) setDisk(d failure.Disk, text string) {
	m.disk = d
	m.c.tell(raftstore.Change{Kind: raftstore.DiskChanged, Member: m.name, Disk: d, Text: text})
}

// SetDisk makes a member's disk behave, or be damaged. One that is slow works: there is no time here.
func (c *Cluster) SetDisk(name string, state failure.Disk, _ time.Duration) error {
	return c.change("set disk of", name, func(m *member) error {
		switch {
		case !m.disk.Damages():
		case state.Damages():
			if state == failure.Torn { // what is worse stays
				state = m.disk
			}
		case state == failure.Sound:
			return fmt.Errorf("what is on its disk is %s, and no word mends that", m.disk)
		default:
			return fmt.Errorf("its disk is %s already", m.disk)
		}
		text := diskRefuses(state)
		if !state.Damages() {
			text = ""
		} else if m.up {
			m.stop(text)
		}
		m.setDisk(state, text)
		return nil
	})
}

// disksFail stops the members that are about to write to a disk that does not take it, and reports that there were some.
func (c *Cluster) disksFail() (stopped bool) {
	for _, m := range c.places {
		if !m.connected {
			continue
		}
		switch m.disk {
		case failure.Full, failure.ReadOnly:
			m.stop(diskRefuses(m.disk))
		case failure.Flaky:
			m.stop("disk failed: input/output error; start it again")
			m.setDisk(failure.Sound, "the write that failed was the only one")
		default:
			continue
		}
		stopped = true
	}
	return stopped
}
