package engine

import (
	"fmt"
	"slices"
	"time"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/apiserver/bootstrap"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/components/scheduler"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// programNames are the programs a machine can run, in the order in which a power cut takes them.
var programNames = []string{"kubelet", "apiserver", "controller-manager", "scheduler", "etcd"}

// program is a running program of the control plane, or a kubelet.
type program struct {
	m     *machine
	name  string
	proc  *kubeapi.Process
	group *sim.Group
	// container is where the program runs as a static pod; nil for a kubelet.
	container *runtime.Launch
	server    *apiserver.Server // of an API server
	// term asks a scheduler or controller manager to release its lease and end; nil: the program just ends.
	term func(cause event.Seq)
	over bool
	// stopping: it was asked to end cleanly.
	stopping bool
}

// newProgram makes the process and says that it started.
func (m *machine) newProgram(name string, cause event.Seq) *program {
	pg := &program{m: m, name: name}
	addr := m.addr(name)
	pg.group = m.e.loop.NewGroup(addr.String())
	seq := m.e.journal.Emit(event.On(name, m.host), cause, event.ProcessStarted{Host: m.host, Process: name})
	pg.proc = &kubeapi.Process{Loop: m.e.loop, Net: m.e.net, Sink: m.e.journal, Group: pg.group, Addr: addr, Cause: seq,
		Exit: func(p *sim.Proc, code int, message string) {
			pg.end(p.Cause, code, "exited", message)
			p.Sleep(0) // unwinds: the group is dead
		},
		Silenced: m.e.silencer(name),
	}
	m.programs[name] = pg
	m.changed[name] = seq
	return pg
}

// silencer tells a program which record keeps a host from being heard: first what keeps its kubelet silent, then what keeps the same program there silent. Where
// nothing does, it is the newest repair of its links or start of its programs: that is why it is heard again, and a candidate that lost its lease for no other
// reason was restarted.
func (e *Engine) silencer(program string) func(host string) event.Seq {
	return func(host string) event.Seq {
		m := e.byHost[host]
		if m == nil {
			return 0
		}
		if seq := m.silence("kubelet"); seq != 0 {
			return seq
		}
		if seq := m.silence(program); seq != 0 {
			return seq
		}
		if program == "kubelet" {
			return m.healed
		}
		return max(m.healed, m.changed["kubelet"], m.changed[program])
	}
}

// end stops the program now and says why; its container, if any, exits with code.
func (pg *program) end(cause event.Seq, code int, reason, message string) {
	if pg.over {
		return
	}
	pg.group.Kill()
	seq := pg.m.e.journal.Emit(event.On(pg.name, pg.m.host), cause, event.ProcessStopped{Host: pg.m.host, Process: pg.name, Reason: reason, ExitCode: code, Message: message})
	pg.finish(seq, code, message)
}

// ended is end for a program whose group died already (a panic).
func (pg *program) ended(code int, reason, message string) {
	pg.end(pg.proc.Cause, code, reason, message)
}

func (pg *program) finish(seq event.Seq, code int, message string) {
	pg.over = true
	m := pg.m
	delete(m.programs, pg.name)
	m.changed[pg.name] = seq
	if pg.name == "etcd" {
		m.stopMember(seq)
	}
	switch {
	case pg.container != nil:
		pg.container.Exited(seq, code, message)
	case pg.name == "kubelet" && m.up:
		m.startKubeletAfter(kubeletRestart, seq)
	}
}

// terminate asks the program to end cleanly (SIGTERM) and kills it after grace.
func (pg *program) terminate(cause event.Seq, grace time.Duration) {
	if pg.over {
		return
	}
	pg.stopping = true
	wait := 100 * time.Millisecond // most programs just end
	if pg.term != nil {
		pg.term(cause)
		wait = grace
	}
	pg.m.e.loop.After(min(wait, grace), func() { pg.end(cause, 0, "stopped", "") })
}

// controlPlanePrograms says what starts when a container of a control plane image starts.
func (m *machine) controlPlanePrograms() map[string]runtime.Program {
	return map[string]runtime.Program{
		"registry.k8s.io/etcd":                    m.launcher("etcd", m.startEtcd),
		"registry.k8s.io/kube-apiserver":          m.launcher("apiserver", m.startAPIServer),
		"registry.k8s.io/kube-scheduler":          m.launcher("scheduler", m.startScheduler),
		"registry.k8s.io/kube-controller-manager": m.launcher("controller-manager", m.startControllerManager),
	}
}

func (m *machine) launcher(name string, start func(*program)) runtime.Program {
	return func(l runtime.Launch) runtime.Running {
		pg := m.newProgram(name, l.Cause)
		pg.container = &l
		start(pg)
		return pg
	}
}

// Stop is TERM from the runtime.
func (pg *program) Stop(cause event.Seq, grace time.Duration) { pg.terminate(cause, grace) }

// Kill is KILL from the runtime, which knows and wants to hear nothing.
func (pg *program) Kill(cause event.Seq) {
	pg.container = nil
	pg.end(cause, 137, "killed", "")
}

func (m *machine) startEtcd(pg *program) {
	if err := m.e.store.cluster.StartMember(m.host); err != nil {
		m.e.loop.Soon(func() { pg.end(pg.proc.Cause, 1, "exited", err.Error()) })
		return
	}
	m.e.net.Listen(pg.proc.Addr, pg.group)
	m.e.store.shaken(pg.proc.Cause)
}

func (m *machine) stopMember(cause event.Seq) {
	if err := m.e.store.cluster.KillMember(m.host); err != nil {
		m.e.journal.Emit(event.On("etcd", m.host), cause, event.RaftRole{Member: m.host, Role: "down", Err: err.Error()})
	}
	m.e.store.shaken(cause)
}

func (m *machine) startAPIServer(pg *program) {
	pg.startUp(apiServerStartMin, apiServerStartMax, func() {
		cfg := apiserver.Config{Proc: pg.proc, Address: m.ip(), Store: m.e.store.door(m.host), Codec: m.e.codec, Custom: m.e.custom, Announcer: m.e.announ, Connectors: m.connectors(pg.proc.Addr), Neighbour: m.neighbour,
			Founding: bootstrap.Kubeadm(), Tokens: m.e.tokens, WallNow: m.e.wallNow()}
		limits := m.e.opts.Scenario.Cluster.APIServer
		cfg.Seats = limits.MaxRequestsInflight + limits.MaxMutatingRequestsInflight
		if m.e.outside {
			cfg.Meter, cfg.Founding = m.e.meter, append(cfg.Founding, bootstrap.Metrics()...)
		}
		pg.server = apiserver.New(cfg)
		pg.server.Start()
	})
}

// wallNow is the time by which tokens live: the wall's, but in a run that must repeat.
func (e *Engine) wallNow() func() time.Time {
	if e.opts.Repeatable {
		return e.loop.Now
	}
	return time.Now
}

func (m *machine) startScheduler(pg *program) {
	pg.proc.Client = m.e.client(pg.proc.Addr, kubeapi.User{Name: "system:kube-scheduler", Groups: []string{"system:authenticated"}}, "kube-scheduler", m)
	pg.startUp(startMin, startMax, func() {
		var stop sim.Future[event.Seq]
		pg.term = stop.Set
		scheduler.Start(pg.proc, scheduler.Config{Stop: &stop})
	})
}

func (m *machine) startControllerManager(pg *program) {
	pg.proc.Client = m.e.client(pg.proc.Addr, kubeapi.User{Name: "system:kube-controller-manager", Groups: []string{"system:authenticated"}}, "kube-controller-manager", m)
	pg.startUp(startMin, startMax, func() {
		pg.term = controller.Start(pg.proc, controller.Config{RootCA: m.e.authority, Sign: m.e.sign}).Stop
	})
}

// Times from the start of a program of the control plane until it does its work.
const (
	apiServerStartMin, apiServerStartMax = 3 * time.Second, 5 * time.Second
	startMin, startMax                   = time.Second, 2 * time.Second
)

// startUp lets the program begin its work after a time that the seed draws, unless it has ended by then.
func (pg *program) startUp(least, most time.Duration, begin func()) {
	rng := pg.m.e.loop.Rand(fmt.Sprintf("start %s/%s %d", pg.m.host, pg.name, pg.m.e.loop.Now().Sub(pg.m.e.opts.Start)))
	pg.m.e.loop.After(least+time.Duration(rng.Int64N(int64(most-least))), func() {
		if !pg.over {
			begin()
		}
	})
}

// health is what the kubelet's probes of the control plane find (fidelity API-26), and what an unhealthy program suffers from where that is outside of it.
func (m *machine) health(container, path string) (ok bool, cause event.Seq) {
	if ok = m.healthy(container, path); ok {
		return true, 0
	}
	switch s := m.e.store; {
	case container == "kube-apiserver" && m.programs["etcd"] == nil:
		return false, m.changed["etcd"]
	case s.lostBy != 0:
		return false, s.lostBy
	default: // an election is on, or this member is cut off
		return false, s.cause
	}
}

func (m *machine) healthy(container, path string) bool {
	name := map[string]string{"kube-apiserver": "apiserver", "kube-scheduler": "scheduler", "kube-controller-manager": "controller-manager", "etcd": "etcd"}[container]
	pg := m.programs[name]
	if pg == nil {
		return false
	}
	switch {
	case name == "etcd" && path == "/readyz": // includes a linearizable read (fidelity STO-22)
		return m.e.store.led() && slices.Contains(m.e.store.majority, m.host)
	case pg.server == nil:
		return name != "apiserver" // one that is starting up does not listen yet
	}
	ok, _ := pg.server.Live()
	if path == "/readyz" {
		ok, _ = pg.server.Ready()
	}
	return ok
}

// apiReady is what /readyz of the machine's API server answers.
func (m *machine) apiReady() (bool, string) {
	pg := m.programs["apiserver"]
	if pg == nil || pg.server == nil {
		return false, "not running"
	}
	return pg.server.Ready()
}
