// Package engine assembles one cluster from a scenario and owns its life: it wires machines, network, store, API servers, load balancer and components together,
// takes commands (Do) and gives out the journal (Journal). It decides nothing that Kubernetes decides.
//
// Owns: the wiring (this file, store.go), machines and the programs on them (machine.go, program.go), how each command is carried out (orders.go, targets.go).
// Imports of ours: everything below it.
//
// Goroutines: one calls Run or RunUntil and is the loop; Do, Journal, Targets and Close may be called from any. Time: simulated, except the wall stamps of records.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/apiserver/authn"
	"example.com/kubeviz/components/apiserver/bootstrap"
	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/components/balancer"
	"example.com/kubeviz/components/controller/csrsigning"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
	"example.com/kubeviz/raftstore"
)

// Stores an engine can stand on.
const (
	StoreRaft   = "raft"
	StoreMemory = "memory"
)

// RepeatableStart is the instant at which the simulated clock of a headless run begins.
var RepeatableStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Options for an Engine.
type Options struct {
	Scenario scenario.Scenario
	// Version of kubeviz, for the journal's first record.
	Version string
	// Store is StoreRaft or StoreMemory.
	Store string
	// DataDir keeps the store's members between runs, with fsync; empty: a private temporary directory without fsync, removed by Close.
	DataDir string
	// StoreCheck is the command that checks a file of the store in a process of its own, which may die of what it finds; the file is its last argument. It is to call StoreCheck.
	// Empty: files are looked at in this process.
	StoreCheck []string
	Seed       uint64
	// Rate to begin with; sim.Unpaced for headless runs.
	Rate sim.Rate
	// HeldRate is the pace at which an unpaced clock is held while the store is at work; 0 means 1.
	HeldRate sim.Rate
	// Start is the simulated instant of the beginning; zero: now. Where DataDir holds a cluster that has lived longer it begins where that ended.
	Start time.Time
	// Repeatable leaves wall times out of the journal.
	Repeatable bool
	// Journal file writers, from the first record on.
	Writers []journal.Writer
	// JournalCapacity of records in memory; 0: journal.DefaultCapacity.
	JournalCapacity int
}

// Engine runs one cluster.
type Engine struct {
	opts      Options
	loop      *sim.Loop
	net       *simnet.Net
	journal   *journal.Journal
	codec     *apiserver.Codec
	custom    *custom.Board
	announ    *apiserver.Announcer
	tokens    *authn.Issuer   // the key of service accounts' tokens, one for all masters
	authority string          // certificate of the cluster's authority, PEM
	sign      csrsigning.Sign // makes certificates that clients outside can show; nil: nobody does
	lb        *balancer.Balancer
	you       *kubeapi.Process
	store     *storeDoor
	dir       string // of the store; removed at Close when temporary
	root      event.Seq

	machines []*machine
	byHost   map[string]*machine
	leases   leaseHolders
	targets  atomic.Pointer[[]string]

	notice     string            // see Notice
	resumeRate sim.Rate          // rate before a pause
	outside    bool              // clients outside may come: what they ask for, and nobody inside does, is kept for them
	restoring  bool              // the store is being restored
	kept       map[string][]byte // backups that live as long as the program
	closed     atomic.Bool
}

// New builds the cluster; its machines are switched on when it runs. Close must follow, also after an error of Run.
func New(o Options) (*Engine, error) {
	if err := o.Scenario.Validate(); err != nil {
		return nil, err
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	notice := ""
	if o.Store == StoreRaft && o.DataDir != "" {
		at, gone, err := clockIn(o.DataDir, o.Start, time.Now())
		if err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
		if notice = gone; at.After(o.Start) {
			o.Start = at // simulated time may have run ahead of the wall; in what was stored then it must not go back
		}
	}
	o.Start = o.Start.UTC().Truncate(time.Millisecond)
	if o.HeldRate == 0 {
		o.HeldRate = 1
	}
	e := &Engine{opts: o, byHost: map[string]*machine{}, leases: leaseHolders{}, notice: notice, resumeRate: o.Rate, kept: map[string][]byte{}}
	e.loop = sim.New(sim.Options{Start: o.Start, Seed: o.Seed, Rate: o.Rate, Gate: e.gate, Panicked: e.panicked})
	jo := journal.Options{Now: e.loop.Now, Capacity: o.JournalCapacity}
	if !o.Repeatable {
		jo.Wall = time.Now
	}
	e.journal = journal.New(jo)
	for _, w := range o.Writers {
		e.journal.AddWriter(w)
	}
	e.journal.AddWriter(e.leases)
	e.net = simnet.New(e.loop)
	e.codec, e.custom = apiserver.NewCodec(), custom.NewBoard()
	e.announ = apiserver.NewAnnouncer(e.codec, e.journal)
	var err error
	if e.tokens, err = authn.NewIssuer(); err != nil {
		return nil, err
	}
	if e.authority, err = newAuthority(e.loop.Rand("authority"), o.Start); err != nil {
		return nil, err
	}
	masters, workers := hostNames("master", o.Scenario.Cluster.Masters), hostNames("worker", o.Scenario.Cluster.Workers)
	if err := e.openStore(masters); err != nil {
		return nil, err
	}
	if err := e.keepClock(o.Start); err != nil { // what cannot be written at the end is said at the start
		return nil, errors.Join(fmt.Errorf("data directory: %w", err), e.store.cluster.Close())
	}
	masters = e.store.cluster.Members() // the data directory may know of more that joined later
	e.root = e.journal.Emit(event.Engine, 0, event.ClusterStarted{Preset: o.Scenario.Name, Version: o.Version, Seed: o.Seed, Store: o.Store,
		Masters: masters, Workers: workers, Repeatable: o.Repeatable})
	e.store.tellMembers(e.store.members, e.root)
	if q := o.Scenario.Cluster.Store.Quota.Value(); q != 0 {
		e.journal.Emit(event.Engine, e.root, event.StoreQuota{Bytes: q})
	}
	if o.DataDir != "" && o.Store == StoreRaft {
		e.store.untold = e.root
	}
	e.journal.Emit(event.Engine, e.root, event.RateChanged{Rate: rateNumber(o.Rate), Unpaced: o.Rate == sim.Unpaced})
	e.startBalancer()
	e.startUser()
	for i, h := range masters {
		if n, ok := masterNumber(h); ok {
			i = n - 1
		}
		e.addMachine(h, true, i)
	}
	for i, h := range workers {
		e.addMachine(h, false, i)
	}
	e.publishTargets()
	e.loop.Soon(e.begin)
	return e, nil
}

// begin is the first thing that happens: the machines are switched on, the demo is applied, the steps are set.
func (e *Engine) begin() {
	e.store.setPace(e.loop.Rate())
	for _, m := range e.machines {
		m.powerOn(e.root, false)
	}
	if e.opts.Scenario.Manifests != "" {
		e.you.Go("wait for nodes", func(p *sim.Proc) {
			e.awaitNodes(p)
			e.execute(command.Apply{Source: e.opts.Scenario.Name + " manifests", YAML: e.opts.Scenario.Manifests})
		})
	}
	steps, _ := e.opts.Scenario.Timed() // checked by Validate
	for _, s := range steps {
		e.loop.At(e.opts.Start.Add(s.At), func() { e.execute(s.Command) })
	}
	e.sampleProgress()
}

// A user deploys on a cluster that is up: the manifests wait for all nodes, looking every nodesPoll, but no longer than nodesWait.
const (
	nodesPoll = 500 * time.Millisecond
	nodesWait = time.Minute
)

func (e *Engine) awaitNodes(p *sim.Proc) {
	client := e.kubectl()
	for p.Now().Sub(e.opts.Start) < nodesWait {
		nodes, _, err := kubeapi.FetchList[*corev1.Node](p, client, kinds.Nodes, kubeapi.ListOptions{})
		ready := 0
		for _, n := range nodes {
			if kinds.NodeStatus(n) == "Ready" && len(n.Spec.Taints) == len(e.taintsAtRest(n.Name)) {
				ready++
			}
		}
		if err == nil && ready == len(e.machines) {
			return
		}
		p.Sleep(nodesPoll)
	}
}

// taintsAtRest are those that a healthy node of that name keeps.
func (e *Engine) taintsAtRest(node string) []corev1.Taint {
	if m := e.byHost[node]; m != nil && m.master {
		return kubelet.MasterTaints()
	}
	return nil
}

// Run drives the cluster until ctx ends.
func (e *Engine) Run(ctx context.Context) error { return e.loop.Run(ctx) }

// RunFor drives the cluster until d of simulated time has passed since its start.
func (e *Engine) RunFor(ctx context.Context, d time.Duration) error {
	return e.loop.RunUntil(ctx, e.opts.Start.Add(d))
}

// Do gives a command; what becomes of it is in the journal. Any goroutine.
func (e *Engine) Do(c command.Command) {
	e.loop.Control(func() { e.execute(c) })
}

// Journal is the record of everything. Any goroutine.
func (e *Engine) Journal() *journal.Journal { return e.journal }

// Targets lists what commands can name, for completion. Any goroutine.
func (e *Engine) Targets() []string { return *e.targets.Load() }

// Now is the simulated instant. Any goroutine.
func (e *Engine) Now() time.Time { return e.loop.Clock() }

// Start is the simulated instant at which the cluster began. Any goroutine.
func (e *Engine) Start() time.Time { return e.opts.Start }

// Notice is what whoever starts the cluster should know of its data directory, in one line; empty: nothing. Any goroutine.
func (e *Engine) Notice() string { return e.notice }

// SetRate changes the pace before Run or between two runs; while it runs, use command.Speed.
func (e *Engine) SetRate(r sim.Rate) { e.setRate(e.root, r, "") }

// Close stops the store and removes what was temporary. The loop must have returned.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	err := e.store.cluster.Close()
	if e.opts.DataDir == "" && e.dir != "" {
		err = errors.Join(err, os.RemoveAll(e.dir))
	}
	return errors.Join(err, e.keepClock(e.loop.Now()))
}

func (e *Engine) startBalancer() {
	addr := simnet.Addr{Host: "balancer", Process: "haproxy"}
	g := e.loop.NewGroup(addr.String())
	e.net.SetHost(addr.Host, true)
	e.lb = balancer.Start(balancer.Config{Loop: e.loop, Net: e.net, Sink: e.journal, Group: g, Addr: addr, Backends: e.backends,
		Silenced: func(host string) event.Seq {
			if m := e.byHost[host]; m != nil {
				return m.silence("apiserver")
			}
			return 0
		}})
}

// backends lists the API servers as the load balancer is configured: one per master, whether its program runs or not.
func (e *Engine) backends() []balancer.Backend {
	var out []balancer.Backend
	for _, m := range e.machines {
		if !m.master {
			continue
		}
		b := balancer.Backend{Host: m.host, Endpoint: kubeapi.Endpoint{Addr: m.addr("apiserver")}, Cause: m.changed["apiserver"],
			Ready: func(*sim.Proc) (bool, string) { return m.apiReady() }}
		if pg := m.programs["apiserver"]; pg != nil && pg.server != nil {
			b.Endpoint.Server = pg.server
		}
		out = append(out, b)
	}
	return out
}

// startUser makes the user's own machine: commands in kubectl's words come from there, through the load balancer.
func (e *Engine) startUser() {
	addr := simnet.Addr{Host: "you", Process: "kubectl"}
	g := e.loop.NewGroup(addr.String())
	e.net.SetHost(addr.Host, true)
	e.you = &kubeapi.Process{Loop: e.loop, Net: e.net, Sink: e.journal, Group: g, Addr: addr, Cause: e.root}
}

// kubectl makes the client of one command: each is a program of its own, with a connection of its own.
func (e *Engine) kubectl() *kubeapi.Client {
	return e.client(e.you.Addr, kubeapi.User{Name: "kubernetes-admin", Groups: []string{bootstrap.Admins, "system:authenticated"}}, "kubectl", nil)
}

// client makes a client of a process: to the API server of its own machine when local is given, through the load balancer otherwise.
func (e *Engine) client(from simnet.Addr, user kubeapi.User, manager string, local *machine) *kubeapi.Client {
	d := &kubeapi.Dialer{Net: e.net, From: from, Pick: e.lb.Pick, Via: &simnet.Addr{Host: "balancer", Process: "haproxy"}}
	if local != nil {
		d.Via = nil
		d.Pick = func(*sim.Proc) (kubeapi.Endpoint, error) {
			ep := kubeapi.Endpoint{Addr: local.addr("apiserver")}
			pg := local.programs["apiserver"]
			if pg == nil || pg.server == nil {
				return ep, simnet.ErrRefused
			}
			ep.Server = pg.server
			return ep, nil
		}
	}
	return &kubeapi.Client{Transport: d, User: user, Manager: manager}
}

// panicked journals a panic of a component; its program died, the cluster goes on.
func (e *Engine) panicked(who string, value any, stack []byte) {
	if len(stack) == 0 {
		stack = debug.Stack()
	}
	e.journal.Emit(event.Engine, 0, event.Crashed{Who: who, Value: fmt.Sprint(value), Stack: string(stack)})
	for _, m := range e.machines {
		for _, name := range programNames {
			if pg := m.programs[name]; pg != nil && pg.group.Dead() {
				pg.ended(2, "crashed", fmt.Sprint(value))
			}
		}
	}
}

func hostNames(kind string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%d", kind, i+1)
	}
	return out
}

func rateNumber(r sim.Rate) float64 {
	if r == sim.Unpaced {
		return 0
	}
	return float64(r)
}

var _ raftstore.Observer = (*storeDoor)(nil)
