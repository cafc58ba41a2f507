package engine

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubectl"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
)

// stopGrace is how long a clean stop waits before it cuts the power.
const stopGrace = 3 * time.Second

// errLater says that an order goes on by itself and journals its own end.
var errLater = errors.New("goes on")

// execute carries out one command on the loop. Its record is the cause of all that follows.
func (e *Engine) execute(c command.Command) {
	given := e.journal.Emit(event.You, 0, event.CommandGiven{Text: c.String()})
	err := e.order(given, c)
	if errors.Is(err, errLater) {
		return
	}
	e.done(given, c, nil, err)
}

func (e *Engine) done(given event.Seq, c command.Command, output []string, err error) {
	d := event.CommandDone{Text: c.String(), Output: output}
	if err != nil {
		d.Error = err.Error()
	}
	e.journal.Emit(event.You, given, d)
}

func (e *Engine) order(given event.Seq, c command.Command) error {
	switch c := c.(type) {
	case command.Power:
		t, err := e.resolve(c.Target)
		if err != nil {
			return err
		}
		return e.power(given, c, t)
	case command.Cut:
		return e.addFault(given, fault.Fault{Kind: fault.Cut, A: c.A, B: c.B, OneWay: c.OneWay})
	case command.Delay:
		return e.addFault(given, fault.Fault{Kind: fault.Delay, A: c.A, B: c.B, OneWay: c.OneWay, Duration: c.D})
	case command.Loss:
		return e.addFault(given, fault.Fault{Kind: fault.Loss, A: c.A, B: c.B, OneWay: c.OneWay, Percent: c.Percent})
	case command.Partition:
		return e.partition(given, c)
	case command.Heal:
		return e.heal(given, c)
	case command.Wipe:
		return e.wipe(given, c)
	case command.Crash:
		return e.crash(given, c)
	case command.Break:
		return e.breakProbe(given, c)
	case command.Speed:
		e.setRate(given, sim.Rate(c.Rate), "")
		return nil
	case command.Pause:
		if e.loop.Rate() == 0 {
			return errors.New("time is paused already")
		}
		e.pause(given, "")
		return nil
	case command.Resume:
		if e.loop.Rate() != 0 {
			return errors.New("time is running already")
		}
		e.setRate(given, e.resumeRate, "")
		return nil
	case command.Step:
		if e.loop.Rate() != 0 {
			return errors.New("time is running; pause first")
		}
		e.step(c.Count)
		return nil
	case command.Until:
		return e.until(given, c)
	case command.Kubectl, command.Apply:
		e.ask(given, c)
		return errLater
	}
	if known, err := e.storeOrder(given, c); known {
		return err
	}
	return fmt.Errorf("%s: not known to the engine", c)
}

// ---- time

func (e *Engine) setRate(cause event.Seq, r sim.Rate, why string) {
	e.loop.SetRate(r)
	e.store.setPace(r)
	e.journal.Emit(event.Engine, cause, event.RateChanged{Rate: rateNumber(r), Unpaced: r == sim.Unpaced, Why: why})
}

func (e *Engine) pause(cause event.Seq, why string) {
	if r := e.loop.Rate(); r != 0 {
		e.resumeRate = r
	}
	e.setRate(cause, 0, why)
}

// stepMax bounds the single things that one step may take until something happens that is worth a look.
const stepMax = 5_000

// step lets single things happen until count facts that stir have been journalled; heartbeats, samples and counts on the way pass by.
func (e *Engine) step(count int) {
	seen := e.journal.Last()
	e.loop.StopWhen(func() bool {
		recs, _ := e.journal.Read(nil, seen+1, 1<<16)
		for _, r := range recs {
			seen = r.Seq
			if event.Stirs(r.Event) {
				count--
			}
		}
		return count <= 0
	}, nil)
	e.loop.Step(stepMax)
}

// until lets time run until what is waited for happens.
func (e *Engine) until(given event.Seq, c command.Until) error {
	if err := canComeTrue(c.What); err != nil {
		return err
	}
	seen := e.journal.Last()
	wait := event.NewAwait(c.What, e.loop.Now())
	cond := func() bool {
		recs, _ := e.journal.Read(nil, seen+1, 1<<16)
		for _, r := range recs {
			seen = r.Seq
			if wait.Heard(r) {
				return true
			}
		}
		return wait.Calm(e.loop.Now())
	}
	if e.loop.Rate() == 0 {
		e.setRate(given, e.resumeRate, "")
	}
	e.loop.StopWhen(cond, func() {
		if r := e.loop.Rate(); r != 0 {
			e.resumeRate = r
		}
		e.loop.Control(func() { e.setRate(given, 0, c.String()) })
	})
	return nil
}

// ---- power

func (e *Engine) power(given event.Seq, c command.Power, t target) error {
	if t.process == "" {
		return e.powerMachine(given, c.Verb, t.m)
	}
	return e.powerProgram(given, c.Verb, t)
}

func (e *Engine) powerMachine(given event.Seq, verb command.PowerVerb, m *machine) error {
	switch verb {
	case command.Start:
		if m.up && m.stopping {
			return fmt.Errorf("%s is still shutting down; start it when it is off", m.host)
		}
		if m.up {
			return fmt.Errorf("%s is running already", m.host)
		}
		m.powerOn(given, true)
		return nil
	case command.Restart:
		if m.up {
			m.powerOff(given, "killed")
		}
		m.powerOn(given, true)
		return nil
	}
	if !m.up {
		return fmt.Errorf("%s is down already", m.host)
	}
	if verb == command.Kill {
		m.powerOff(given, "killed")
		return nil
	}
	if m.stopping {
		return fmt.Errorf("%s is shutting down already", m.host)
	}
	m.held, m.stopping = true, true
	for _, name := range programNames { // SIGTERM to all, then the power goes
		if pg := m.programs[name]; pg != nil && name != "etcd" {
			pg.terminate(given, stopGrace)
		}
	}
	boot := m.boot
	e.loop.After(stopGrace, func() {
		if m.boot == boot && m.up {
			m.powerOff(given, "stopped")
		}
	})
	return nil
}

func (e *Engine) powerProgram(given event.Seq, verb command.PowerVerb, t target) error {
	m := t.m
	if !m.up {
		return fmt.Errorf("%s is down, so nothing runs on it; start the machine first", m.host)
	}
	pg := m.programs[t.process]
	if verb == command.Start {
		switch {
		case pg != nil && pg.stopping:
			return fmt.Errorf("%s is still stopping; start it when it has stopped", t)
		case pg != nil:
			return fmt.Errorf("%s is running already", t)
		case m.stopping:
			return fmt.Errorf("%s is shutting down", m.host)
		case t.process == "kubelet":
			m.held = false
			m.startKubelet(given)
			return nil
		}
		return fmt.Errorf("%s is a static pod: the kubelet of %s starts it when its back-off is over", t, m.host)
	}
	if pg == nil {
		return fmt.Errorf("%s is not running", t)
	}
	switch {
	case verb == command.Stop:
		m.held = t.process == "kubelet" || m.held
		pg.terminate(given, stopGrace)
	default:
		pg.end(given, 137, "killed", "")
	}
	if verb == command.Restart && t.process == "kubelet" {
		m.startKubelet(given)
	}
	return nil
}

func (e *Engine) wipe(given event.Seq, c command.Wipe) error {
	t, err := e.resolve(c.Target)
	if err != nil {
		return err
	}
	if !t.m.master {
		return fmt.Errorf("%s has no store to wipe", t.m.host)
	}
	if t.m.up {
		return fmt.Errorf("%s is running; kill it first", t.m.host)
	}
	if err := e.store.cluster.WipeMember(t.m.host); err != nil {
		return err
	}
	empty := event.RaftProgress{Member: t.m.host}
	e.store.progress[t.m.host] = empty
	e.store.asked[subject{kind: raftstore.BegunAnew}] = e.journal.Emit(event.On("etcd", t.m.host), given, empty) // in case it is the last that remembers
	return nil
}

// ---- links

func (e *Engine) addFault(given event.Seq, f fault.Fault) error {
	for _, end := range []*string{&f.A, &f.B} {
		name, err := e.end(*end)
		if err != nil {
			return err
		}
		*end = name
	}
	if f.A == f.B { // one of them was "leader"
		return fmt.Errorf("both ends are %s", f.A)
	}
	e.putFault(given, f)
	return nil
}

func (e *Engine) putFault(given event.Seq, f fault.Fault) {
	seq := e.journal.Emit(event.Engine, given, event.FaultAdded{Fault: f})
	e.net.AddFault(seq, f)
	e.store.shaken(seq)
}

// end turns what a user writes for one end of a link into the selector that faults use.
func (e *Engine) end(s string) (string, error) {
	if s == fault.All || s == "balancer" || s == "you" {
		return s, nil
	}
	t, err := e.resolve(s)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

func (e *Engine) partition(given event.Seq, c command.Partition) error {
	groups := make([][]string, len(c.Groups))
	seen := map[string]bool{}
	for i, g := range c.Groups {
		for _, h := range g {
			t, err := e.resolve(h)
			if err != nil {
				return err
			}
			if seen[t.m.host] { // one of them was "leader"
				return fmt.Errorf("%s stands in two places", t.m.host)
			}
			seen[t.m.host] = true
			groups[i] = append(groups[i], t.m.host)
		}
	}
	for i, a := range groups {
		for _, b := range groups[i+1:] {
			for _, x := range a {
				for _, y := range b {
					e.putFault(given, fault.Fault{Kind: fault.Cut, A: x, B: y, Group: uint64(given)})
				}
			}
		}
	}
	return nil
}

func (e *Engine) heal(given event.Seq, c command.Heal) error {
	name := ""
	if c.Target != "" {
		var err error
		if name, err = e.end(c.Target); err != nil {
			return err
		}
	}
	gone := e.net.RemoveFaults(func(a fault.Active) bool { return name == "" || a.Fault.Touches(name) })
	if len(gone) == 0 {
		if name == "" {
			return errors.New("no link is broken")
		}
		return fmt.Errorf("no broken link touches %s", name)
	}
	var last event.Seq
	for _, a := range gone {
		last = e.journal.Emit(event.Engine, given, event.FaultRemoved{ID: event.Seq(a.ID), Fault: a.Fault})
		for _, m := range e.machines {
			if a.Fault.Touches(m.host) {
				m.healed = last
			}
		}
	}
	e.store.shaken(last)
	return nil
}

// ---- pods and the API

func (e *Engine) crash(given event.Seq, c command.Crash) error {
	m, pod, err := e.running(c.Namespace, c.Pod)
	if err != nil {
		return err
	}
	container := c.Container
	if container == "" {
		container = pod.Spec.Containers[0].Name
	}
	if !m.runtime.Crash(given, pod.UID, container, c.Code, "") {
		return fmt.Errorf("container %s of pod %s/%s does not run on %s now", container, c.Namespace, c.Pod, m.host)
	}
	return nil
}

// breakProbe makes a probe fail; a container without such a probe would never be asked, so that is refused.
func (e *Engine) breakProbe(given event.Seq, c command.Break) error {
	m, pod, err := e.running(c.Namespace, c.Pod)
	if err != nil {
		return err
	}
	container := pod.Spec.Containers[0]
	probe, health := container.ReadinessProbe, runtime.Health{NotReady: true, Cause: given}
	if c.Probe == "liveness" {
		probe, health = container.LivenessProbe, runtime.Health{NotLive: true, Cause: given}
	}
	if probe == nil {
		return fmt.Errorf("container %s of pod %s/%s has no %s probe, so nobody would notice", container.Name, c.Namespace, c.Pod, c.Probe)
	}
	if !m.runtime.Break(pod.UID, container.Name, health) {
		return fmt.Errorf("container %s of pod %s/%s does not run on %s now", container.Name, c.Namespace, c.Pod, m.host)
	}
	return nil
}

// running finds the machine that really runs a pod.
func (e *Engine) running(namespace, name string) (*machine, *corev1.Pod, error) {
	for _, m := range e.machines {
		if !m.up {
			continue
		}
		for _, sb := range m.runtime.ListPodSandbox() {
			if sb.Ready && sb.Pod.Namespace == namespace && sb.Pod.Name == name {
				return m, sb.Pod, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("no machine runs a container of pod %s/%s", namespace, name)
}

// retryApply is how often the manifests of a scenario are tried again while the API does not answer yet.
const retryApply = 500 * time.Millisecond

// ask lets the user's own machine talk to the API.
func (e *Engine) ask(given event.Seq, c command.Command) {
	p := e.you.Go("kubectl", func(p *sim.Proc) {
		p.Cause = given
		client := e.kubectl()
		var output []string
		var err error
		switch c := c.(type) {
		case command.Kubectl:
			output, err = kubectl.Run(p, client, c.Args)
		case command.Apply:
			for {
				output, err = kubectl.Apply(p, client, c.YAML)
				if err == nil || !kubectl.Unavailable(err) || p.Now().Sub(e.opts.Start) > 5*time.Minute {
					break
				}
				p.Sleep(retryApply)
			}
		}
		e.done(given, c, output, err)
	})
	p.Cause = given
}
