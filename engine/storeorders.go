package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
)

// storeOrder carries out the commands about the store that are not about its members; known tells whether c is one.
func (e *Engine) storeOrder(given event.Seq, c command.Command) (known bool, err error) {
	switch c := c.(type) {
	case command.Member:
		return true, e.member(given, c)
	case command.Disk:
		return true, e.setDisk(given, c)
	case command.Failpoint:
		return true, e.failpoint(given, c)
	case command.Backup:
		return true, e.backup(given, c)
	case command.Restore:
		return true, e.restore(given, c)
	case command.Compact:
		return true, e.compact(given, c)
	case command.Defrag:
		return true, e.defrag(given, c)
	case command.Disarm:
		return true, e.disarm(given, c)
	case command.Quota:
		e.store.asked[subject{kind: raftstore.AlarmRaised}] = given
		e.store.cluster.SetQuota(c.Bytes)
		e.journal.Emit(event.Engine, given, event.StoreQuota{Bytes: c.Bytes})
		return true, nil
	case command.Duplicate:
		return true, e.addMessageFault(given, fault.Fault{Kind: fault.Duplicate, A: c.A, B: c.B, OneWay: c.OneWay, Percent: c.Percent})
	case command.Reorder:
		return true, e.addMessageFault(given, fault.Fault{Kind: fault.Reorder, A: c.A, B: c.B, OneWay: c.OneWay, Percent: c.Percent})
	case command.Clog:
		return true, e.addMessageFault(given, fault.Fault{Kind: fault.Clog, A: c.A, B: c.B, OneWay: c.OneWay})
	}
	return false, nil
}

// addMessageFault adds a fault of the store's messages. Between machines that exchange none it would do nothing, so that is refused.
func (e *Engine) addMessageFault(given event.Seq, f fault.Fault) error {
	for _, end := range []string{f.A, f.B} {
		if end == fault.All {
			continue
		}
		t, err := e.resolve(end)
		if err == nil && (!t.m.master || t.process != "" && t.process != "etcd") || end == "balancer" || end == "you" {
			return fmt.Errorf("%s sends no messages of the store; %s is between two masters (the API's traffic is TCP, which hides it)", end, f.Kind)
		}
	}
	return e.addFault(given, f)
}

// place finds the master whose member of the store an order is about.
func (e *Engine) place(name string) (*machine, error) {
	t, err := e.resolve(name)
	if err != nil {
		return nil, err
	}
	if !t.m.master {
		return nil, fmt.Errorf("%s is a worker: it has no member of the store", t.m.host)
	}
	return t.m, nil
}

func (e *Engine) setDisk(given event.Seq, c command.Disk) error {
	m, err := e.place(c.Target)
	if err != nil {
		return err
	}
	d := e.store
	if pg := m.programs["etcd"]; pg != nil && c.State.Damages() {
		pg.end(given, 137, "killed", "") // nobody can tell what a program does whose files change under it
	}
	d.asked[subject{kind: raftstore.DiskChanged, member: m.host}] = given
	d.slow[m.host] = c.Delay
	err = d.cluster.SetDisk(m.host, c.State, c.Delay)
	if err == nil {
		return nil
	}
	d.asked.take(subject{kind: raftstore.DiskChanged, member: m.host})
	if s := d.cluster.Store(m.host).Status().Disk; s.Damages() || s == failure.Damaged {
		return fmt.Errorf("%w; to give it a new one: member replace %s", err, m.host)
	}
	return err
}

func (e *Engine) failpoint(given event.Seq, c command.Failpoint) error {
	m, err := e.place(c.Target)
	if err != nil {
		return err
	}
	if e.opts.Store == StoreMemory {
		return errors.New("the memory store takes none of these steps, so nothing would ever happen; use the raft store (--store raft)")
	}
	traps := e.store.cluster.Traps()
	if c.Clear {
		if !slices.ContainsFunc(traps.Waiting(), func(t failure.Trap) bool { return t.Member == m.host }) {
			return fmt.Errorf("no failpoint waits for %s", m.host)
		}
		traps.Clear(m.host)
		e.journal.Emit(event.Engine, given, event.TrapSet{Member: m.host})
		return nil
	}
	seq := e.journal.Emit(event.Engine, given, event.TrapSet{Member: m.host, Point: string(c.Point), Action: string(c.Action), Delay: c.Delay, Skip: c.Skip})
	e.store.asked[subject{kind: raftstore.TrapSprung, member: m.host, point: c.Point}] = seq
	traps.Set(failure.Trap{Member: m.host, Point: c.Point, Action: c.Action, Delay: c.Delay, Skip: c.Skip})
	return nil
}

// asker is the member that an order to the store as a whole is brought to: the leader's, else one that runs.
func (e *Engine) asker() (raftstore.MemberStatus, error) {
	var best raftstore.MemberStatus
	for _, s := range e.store.cluster.Status() {
		if s.Up && (!best.Up || s.Role == raftstore.Leader && (best.Role != raftstore.Leader || s.Term > best.Term)) {
			best = s
		}
	}
	if !best.Up {
		return best, errors.New("no member of the store runs; start a master first")
	}
	return best, nil
}

func (e *Engine) compact(given event.Seq, c command.Compact) error {
	s, err := e.asker()
	if err != nil {
		return err
	}
	rev := c.Revision
	if rev == 0 {
		rev = s.Revision
	}
	e.store.asked[subject{kind: raftstore.Compacted}] = given
	e.askStore(func(ctx context.Context, done func(raftstore.Written)) {
		e.store.cluster.Store(s.Name).Compact(ctx, rev, done)
	}, func(w raftstore.Written) {
		err := e.answered(w, "")
		if errors.Is(err, raftstore.ErrCompacted) || errors.Is(err, raftstore.ErrFutureRev) {
			now := e.store.cluster.Store(s.Name).Status()
			err = fmt.Errorf("%w; revisions %d to %d are kept", err, now.Compacted+1, now.Revision)
		}
		if err != nil {
			e.store.asked.take(subject{kind: raftstore.Compacted})
			e.done(given, c, nil, err)
			return
		}
		e.done(given, c, []string{fmt.Sprintf("compacted revision %d", rev)}, nil)
	})
	return errLater
}

func (e *Engine) disarm(given event.Seq, c command.Disarm) error {
	s, err := e.asker()
	if err != nil {
		return err
	}
	var lines []string
	for _, a := range s.Alarms {
		lines = append(lines, fmt.Sprintf("member:%s alarm:%s", a.Member, a.Kind))
	}
	e.store.asked[subject{kind: raftstore.AlarmLifted}] = given
	e.askStore(func(ctx context.Context, done func(raftstore.Written)) {
		e.store.cluster.Store(s.Name).Disarm(ctx, done)
	}, func(w raftstore.Written) {
		err := e.answered(w, "")
		if err == nil && lines == nil {
			lines = []string{"no alarm is on"}
		}
		if err != nil {
			lines = nil
		}
		e.done(given, c, lines, err)
	})
	return errLater
}

// defrag defragments one member after the other, as etcdctl does: each answers nothing meanwhile.
func (e *Engine) defrag(given event.Seq, c command.Defrag) error {
	var hosts []string
	if c.Target == fault.All {
		for _, x := range e.store.cluster.Membership().Members {
			hosts = append(hosts, x.Name)
		}
	} else {
		m, err := e.place(c.Target)
		if err != nil {
			return err
		}
		hosts = []string{m.host}
	}
	var lines []string
	var failed error
	var next func()
	next = func() {
		if len(hosts) == 0 {
			e.done(given, c, lines, failed)
			return
		}
		host := hosts[0]
		hosts = hosts[1:]
		e.store.asked[subject{kind: raftstore.Defragmented, member: host}] = given
		e.store.orders++
		e.store.cluster.Store(host).Defragment(func(before, after int64, err error) {
			e.loop.Post(func() {
				e.store.orders--
				if err != nil {
					e.store.asked.take(subject{kind: raftstore.Defragmented, member: host})
					failed = errors.Join(failed, fmt.Errorf("failed to defragment etcd member[%s]: %w", host, err))
				} else {
					lines = append(lines, fmt.Sprintf("finished defragmenting etcd member[%s]: %s -> %s", host, bytesText(before), bytesText(after)))
				}
				next()
			})
		})
	}
	next()
	return errLater
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
