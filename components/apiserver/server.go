package apiserver

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/authn"
	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/components/apiserver/flowcontrol"
	"example.com/kubeviz/components/apiserver/internal/managed"
	"example.com/kubeviz/components/apiserver/metrics"
	"example.com/kubeviz/components/apiserver/resource/registry"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// Config of one API server.
type Config struct {
	// Proc is the program; its Client is not used.
	Proc *kubeapi.Process
	// Store is the member of the store on the same machine.
	Store raftstore.Store
	// Codec and Announcer are shared by all servers of the cluster.
	Codec     *Codec
	Announcer *Announcer
	// Connectors answer subresources that lead out of the server, by "pods/log", "pods/exec", "pods/proxy" (which services are led by as well); what is missing is refused with 501.
	Connectors map[string]Connector
	// Tokens issues and reads the tokens of service accounts, for all servers of the cluster; nil: the server has a key of its own.
	Tokens *authn.Issuer
	// WallNow is the time by which tokens live, since who holds them is outside of the simulation; nil: the simulated one.
	WallNow func() time.Time
	// Address is the server's IP, under which the service "kubernetes" leads to it; empty: the server keeps no such service.
	Address string
	// Founding is what the cluster's installer makes besides what every cluster has (bootstrap.Kubeadm). The server makes what is missing of it at its start.
	Founding []kinds.Object
	// Custom is where the servers of a cluster say what they serve of kinds that are defined by CustomResourceDefinitions; nil: nobody reads it.
	Custom *custom.Board
	// Neighbour tells whether a program of the control plane on the same machine ("scheduler") answers; nil: none does.
	Neighbour func(program string) bool
	// Meter finds the door at which a node's kubelet tells what is used, nil while none runs there. Without it metrics.k8s.io is not available.
	Meter func(node string) kubeapi.Meter
	// Seats is how many requests are worked on at once: --max-requests-inflight and --max-mutating-requests-inflight together; 0: flowcontrol.Seats.
	Seats int
}

// Server is one API server process. Nothing of it outlives its group.
type Server struct {
	cfg       Config
	proc      *kubeapi.Process
	door      *door
	codec     *Codec
	access    *access
	customs   *customs
	resources registry.Registry
	virtual   map[*kinds.Kind]answerer
	cache     *cache
	rng       *rand.Rand
	leases    leaseManager

	listening bool
	hooksDone bool
	storeOK   bool
	tally     tally
	inflight  inflight
	flow      *flowcontrol.Controller
	fields    *managed.Fields
	metrics   *metrics.Scraper // nil: nothing is measured
}

var _ kubeapi.Server = (*Server)(nil)

// New makes a server; Start runs it.
func New(cfg Config) *Server {
	pr := cfg.Proc
	// A restarted server must not repeat the names and UIDs it made before, so the start is part of its random stream's name.
	id := fmt.Sprintf("%s@%d", pr.Addr, pr.Loop.Now().UnixNano())
	s := &Server{cfg: cfg, proc: pr, codec: cfg.Codec, resources: registry.New(), virtual: answerers(), rng: pr.Loop.Rand("apiserver " + id)}
	if cfg.Tokens == nil {
		var err error
		if s.cfg.Tokens, err = authn.NewIssuer(); err != nil {
			panic("apiserver: " + err.Error()) // the system has no random numbers
		}
	}
	if cfg.WallNow == nil {
		s.cfg.WallNow = pr.Loop.Now
	}
	s.door = &door{loop: pr.Loop, store: cfg.Store, id: id}
	s.leases.door = s.door
	s.cache = newCache(s)
	s.fields = managed.New(func(k *kinds.Kind, obj kinds.Object) {
		if res := s.resources[k]; res != nil && res.Default != nil {
			res.Default(obj)
		}
	})
	s.access = newAccess(s.cache)
	if cfg.Custom == nil {
		s.cfg.Custom = custom.NewBoard()
	}
	s.customs = newCustoms(s)
	s.flow = flowcontrol.New(cmp.Or(cfg.Seats, flowcontrol.Seats), pr.Loop.Now)
	s.tally.byCode = map[int]int{}
	return s
}

// What a server waits for at its start before it gives up (fidelity API-33).
const (
	dialTimeout = 20 * time.Second
	hookTimeout = 60 * time.Second
	dialRetry   = time.Second
	exitFatal   = 255 // klog.Fatal
)

// Start spawns the server's processes. It listens as soon as its member of the store answers at all.
func (s *Server) Start() { s.proc.Go("start", s.start) }

func (s *Server) start(p *sim.Proc) {
	if !s.dial(p) {
		s.proc.Exit(p, exitFatal, "Error creating leases: error creating storage factory: context deadline exceeded")
		return
	}
	s.proc.Net.Listen(s.proc.Addr, s.proc.Group)
	s.listening = true
	s.proc.Go("watch cache", s.cache.run)
	s.proc.Go("etcd check", s.checkStore)
	s.proc.Go("bookmarks", s.cache.bookmarks)
	s.proc.Go("tally", s.reportTally)
	s.proc.Go("compaction", s.compact)
	s.measure()
	s.proc.Go("definitions", s.keepDefinitions)
	if s.cfg.Address != "" {
		s.proc.Go("kubernetes service", s.keepKubernetes)
	}
	s.bootstrap(p)
}

// dial waits for the member to answer anything, also without quorum.
func (s *Server) dial(p *sim.Proc) bool {
	deadline := p.Now().Add(dialTimeout)
	for {
		left := deadline.Sub(p.Now())
		if left <= 0 {
			return false
		}
		r := raftstore.RangeRequest{Range: mvcc.Range{Key: healthKey}, Serializable: true}
		if res, ok := s.door.once(p, r, left); ok && res.Err != raftstore.ErrStopped {
			return true
		}
		p.Sleep(min(dialRetry, max(deadline.Sub(p.Now()), time.Millisecond)))
	}
}

// bootstrap makes what every cluster has, and ends the server when the store takes no part in it.
func (s *Server) bootstrap(p *sim.Proc) {
	done := false
	s.proc.Go("start hooks", func(p *sim.Proc) {
		for _, class := range systemClasses() { // before the namespaces: whoever can make pods there can name them
			s.ensureThere(p, class)
		}
		for _, name := range systemNamespaces {
			s.ensureThere(p, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		s.ensureRoles(p)
		done = true
		s.hooksDone = true
	})
	p.Sleep(hookTimeout)
	if !done {
		s.proc.Exit(p, exitFatal, `PostStartHook "start-service-ip-repair-controllers" failed: unable to perform initial IP and Port allocation check`)
	}
}

// Ready tells what /readyz would: ok, or why not.
func (s *Server) Ready() (ok bool, why string) {
	switch {
	case s.proc.Group.Dead() || !s.listening:
		return false, "connection refused"
	case !s.storeOK:
		return false, "[-]etcd failed: reason withheld"
	case !s.cache.synced:
		return false, "[-]informer-sync failed: reason withheld"
	case !s.hooksDone:
		return false, "[-]poststarthook/start-system-namespaces-controller failed: reason withheld"
	}
	return true, "ok"
}

// Live tells what /livez would.
func (s *Server) Live() (ok bool, why string) {
	switch {
	case s.proc.Group.Dead() || !s.listening:
		return false, "connection refused"
	case !s.storeOK:
		return false, "[-]etcd failed: reason withheld"
	case !s.hooksDone:
		return false, "[-]poststarthook/start-system-namespaces-controller failed: reason withheld"
	}
	return true, "ok"
}

// Listening reports whether the server accepts connections.
func (s *Server) Listening() bool { return s.listening && !s.proc.Group.Dead() }

func (s *Server) emit(cause event.Seq, e event.Event) event.Seq {
	return s.proc.Sink.Emit(s.proc.Actor(), cause, e)
}
