package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/raftstore"
)

// commandTimeout is how long an order to the store waits for its answer, simulated (etcdctl's --command-timeout).
const commandTimeout = 5 * time.Second

// noticePoll is how often an order looks whether the members have noticed the last change, simulated.
const noticePoll = 20 * time.Millisecond

// askStore asks the store for something that changes it and that may take its time; then hears on the loop how it ended. When there is no answer in time the caller gives up,
// as etcdctl does.
func (e *Engine) askStore(ask func(ctx context.Context, done func(raftstore.Written)), then func(raftstore.Written)) {
	e.store.orders++
	e.whenNoticed(func() {
		ctx, cancel := context.WithCancel(context.Background())
		over, givenUp := false, 0
		end := func(w raftstore.Written) {
			if !over {
				over = true
				e.store.orders--
				e.store.givenUp -= givenUp
				then(w)
			}
		}
		limit := e.loop.After(commandTimeout, func() {
			cancel()
			if e.opts.Store == StoreMemory { // it looks at contexts only when something else happens
				end(raftstore.Written{Outcome: raftstore.Unknown, Err: raftstore.ErrTimeout})
				return
			}
			givenUp = 1
			e.store.givenUp++
		})
		ask(ctx, func(w raftstore.Written) {
			e.loop.Post(func() {
				limit.Stop()
				cancel()
				end(w)
			})
		})
	})
}

// whenNoticed waits until the members have had the time to notice what last changed around them, as they would have had if simulated time did not fly.
func (e *Engine) whenNoticed(then func()) {
	if e.opts.Store != StoreMemory && e.store.shakenWithin(noticeFor) {
		e.loop.After(noticePoll, func() { e.whenNoticed(then) })
		return
	}
	then()
}

// member carries out an order about who belongs to the store.
func (e *Engine) member(given event.Seq, c command.Member) error {
	if e.restoring {
		return errRestoring
	}
	host, err := e.memberHost(c)
	if err != nil {
		return err
	}
	report := func(lines []string, err error) { e.done(given, c, lines, err) }
	switch c.Verb {
	case command.Add:
		e.addMember(given, host, report)
	case command.Promote:
		e.promoteMember(given, host, report)
	case command.Remove:
		e.removeMember(given, host, report)
	case command.Replace:
		e.removeMember(given, host, func(lines []string, err error) {
			if err != nil {
				if errors.Is(err, errMaybe) {
					err = fmt.Errorf("%w; where %s is no member any more by now, to let it join: member add %s", err, host, host)
				}
				report(lines, err)
				return
			}
			e.addMember(given, host, func(more []string, err error) {
				if err != nil {
					err = fmt.Errorf("half of it was done: %s was removed and is no member now; the other half, to let it join again, was not: %w; to let it join: member add %s", host, err, host)
				}
				report(append(lines, more...), err)
			})
		})
	}
	return errLater
}

// memberHost finds the master that an order is about; to be added it need not exist.
func (e *Engine) memberHost(c command.Member) (string, error) {
	if _, ok := masterNumber(c.Target); ok && c.Verb == command.Add && e.byHost[c.Target] == nil {
		return c.Target, nil
	}
	t, err := e.resolve(c.Target)
	switch {
	case err != nil && c.Verb == command.Add:
		return "", fmt.Errorf("%q is not the name of a master: they are called master-1 to master-%d", c.Target, scenario.MastersMax)
	case err != nil:
		return "", err
	case !t.m.master:
		return "", fmt.Errorf("%s is a worker: only masters have a member of the store", t.m.host)
	}
	return t.m.host, nil
}

// masterNumber reads the number out of a master's name.
func masterNumber(host string) (int, bool) {
	text, ok := strings.CutPrefix(host, "master-")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n >= scenario.MastersMin && n <= scenario.MastersMax && strconv.Itoa(n) == text
}

// changeMembers has the store change its members and reports what that does to its quorum.
func (e *Engine) changeMembers(given event.Seq, host string, change func(context.Context, string, func(raftstore.Written)), then func(arithmetic string, err error)) {
	d := e.store
	before := d.members
	d.asked[subject{kind: raftstore.MembersChanged}] = given
	d.asked[subject{kind: raftstore.SetAside, member: host}] = given
	e.askStore(func(ctx context.Context, done func(raftstore.Written)) { change(ctx, host, done) }, func(w raftstore.Written) {
		if w.Outcome == raftstore.Refused {
			delete(d.asked, subject{kind: raftstore.MembersChanged})
		}
		if err := e.answered(w, host); err != nil {
			then("", err)
			return
		}
		e.awaitMembers(given, before, memberTries, func(after raftstore.Membership) { then(arithmetic(before)+" -> "+arithmetic(after), nil) })
	})
}

// A change of members is known to whoever asked for it a moment before it is to the members that are left (a leader that removes itself is the one that knew), so it is looked for again.
const (
	memberTries = 40
	memberPoll  = 50 * time.Millisecond
)

// awaitMembers waits until the configuration is another than before; then hears it.
func (e *Engine) awaitMembers(cause event.Seq, before raftstore.Membership, tries int, then func(raftstore.Membership)) {
	d := e.store
	d.tellMembers(d.cluster.Membership(), cause) // where the store itself has told it already this does nothing
	if tries == 0 || !slices.Equal(d.members.Members, before.Members) {
		then(d.members)
		return
	}
	e.loop.After(memberPoll, func() { e.awaitMembers(cause, before, tries-1, then) })
}

// addMember lets a master join as kubeadm join does: its member of the store is added as a learner, then the machine's kubelet starts its static pods. One that does not
// exist yet is a new machine.
func (e *Engine) addMember(given event.Seq, host string, report func([]string, error)) {
	if _, is := e.store.cluster.Membership().Find(host); is && e.byHost[host] == nil { // an order that was given up came through after all
		e.joinMachine(given, host)
		report([]string{host + " is a member of the store already; its machine starts now"}, nil)
		return
	}
	e.changeMembers(given, host, e.store.cluster.AddMember, func(sums string, err error) {
		if err != nil {
			report(nil, err)
			return
		}
		m, _ := e.store.cluster.Membership().Find(host)
		lines := []string{fmt.Sprintf("%s is a learner of the store now (ID %s): it gets data and has no vote", host, m.ID), sums}
		switch {
		case e.byHost[host] == nil:
			e.joinMachine(given, host)
			lines = append(lines, "a new machine starts and joins; when it has caught up: member promote "+host)
		case !e.byHost[host].up:
			lines = append(lines, "the machine is off; start "+host+", and when it has caught up: member promote "+host)
		default:
			e.byHost[host].rejoin(given)
			lines = append(lines, "its etcd starts with an empty disk; when it has caught up: member promote "+host)
		}
		report(lines, nil)
	})
}

func (e *Engine) promoteMember(given event.Seq, host string, report func([]string, error)) {
	e.changeMembers(given, host, e.store.cluster.PromoteMember, func(sums string, err error) {
		if err != nil {
			report(nil, err)
			return
		}
		report(append([]string{host + " has a vote now", sums}, evenHint(e.store.members)...), nil)
	})
}

func (e *Engine) removeMember(given event.Seq, host string, report func([]string, error)) {
	e.changeMembers(given, host, e.store.cluster.RemoveMember, func(sums string, err error) {
		if err != nil {
			report(nil, err)
			return
		}
		lines := append([]string{host + " is no member of the store any more; the machine and what runs on it stay", sums}, evenHint(e.store.members)...)
		report(lines, nil)
	})
}

// joinMachine adds a master to the cluster and switches it on.
func (e *Engine) joinMachine(cause event.Seq, host string) {
	n, _ := masterNumber(host)
	m := e.addMachine(host, true, n-1)
	e.publishTargets()
	m.joins = true
	m.powerOn(cause, true)
}

// rejoin is kubeadm join on a machine that runs: the kubelet starts anew and with it, at once, what had been waiting for the end of a back-off.
func (m *machine) rejoin(cause event.Seq) {
	if pg := m.programs["etcd"]; pg != nil { // it found out that it was removed, or is about to
		pg.end(cause, 1, "exited", raftstore.RemovedReason(m.host))
	}
	pg := m.programs["kubelet"]
	if pg == nil {
		return // whoever starts it starts the rest
	}
	m.held = true // systemd has nothing to do with it
	pg.end(cause, 0, "stopped", "")
	m.held = false
	m.startKubelet(cause)
}

// arithmetic says what a configuration of the store can bear.
func arithmetic(m raftstore.Membership) string {
	v := m.Voters()
	s := count(v, "voter")
	if l := len(m.Members) - v; l > 0 {
		s += " and " + count(l, "learner")
	}
	return fmt.Sprintf("%s, quorum %d, can lose %d", s, m.Quorum(), v-m.Quorum())
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// evenHint says that an even number of voters is allowed and gains nothing.
func evenHint(m raftstore.Membership) []string {
	v := m.Voters()
	if v%2 != 0 || v == 0 {
		return nil
	}
	return []string{fmt.Sprintf("an even number: %d voters can lose no more than %d could", v, v-1)}
}

var errMaybe = errors.New("it may have happened or may still happen: look before you try again")

// answered says what became of an order to the store, and how to mend it. host is whom it was about, if anybody.
func (e *Engine) answered(w raftstore.Written, host string) error {
	switch w.Outcome {
	case raftstore.Done:
		return nil
	case raftstore.Unknown:
		return fmt.Errorf("%w; %w", w.Err, errMaybe)
	}
	if hint := e.mend(w.Err, host); hint != "" {
		return fmt.Errorf("%w; %s", w.Err, hint)
	}
	return w.Err
}

// mend says what to do about an answer of the store.
func (e *Engine) mend(err error, host string) string {
	m := e.store.cluster.Membership()
	var names, learners, down []string
	for _, x := range m.Members {
		names = append(names, x.Name)
		if x.Learner {
			learners = append(learners, x.Name)
		}
		if s := e.store.cluster.Store(x.Name); s != nil && !s.Status().Up {
			down = append(down, x.Name)
		}
	}
	switch {
	case errors.Is(err, raftstore.ErrTimeout):
		return "it was not done; " + arithmetic(m) + ": are so many up and in touch?"
	case errors.Is(err, raftstore.ErrUnhealthy), errors.Is(err, raftstore.ErrNotEnoughStarted):
		if len(down) > 0 {
			return fmt.Sprintf("%s, and %s not running: start it, or remove it first (member remove %s)", arithmetic(m), areOr(down), down[0])
		}
		return arithmetic(m) + ": the rest would have no quorum, or not all are in touch yet"
	case errors.Is(err, raftstore.ErrTooManyLearners):
		return fmt.Sprintf("promote or remove %s first", strings.Join(learners, ", "))
	case errors.Is(err, raftstore.ErrMemberExists):
		return host + " is a member already; to begin with an empty disk: member replace " + host
	case errors.Is(err, raftstore.ErrMemberNotFound):
		return fmt.Sprintf("members are %s; to let it join: member add %s", strings.Join(names, ", "), host)
	case errors.Is(err, raftstore.ErrMemberNotLearner):
		return host + " has a vote already"
	case errors.Is(err, raftstore.ErrLearnerNotReady):
		return e.behind(host)
	}
	return ""
}

// behind says how far a learner lags.
func (e *Engine) behind(host string) string {
	var own, most uint64
	for _, s := range e.store.cluster.Status() {
		most = max(most, s.LastIndex)
		if s.Name == host {
			own = s.LastIndex
		}
	}
	return fmt.Sprintf("%s has %d of %d entries; is it up? try again in a moment", host, own, most)
}

func areOr(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}
