// Package apitest gives tests of components a real API server on the memory store, under a loop that runs as fast as it can. There is no fake client: a test's
// component talks through the network to the pipeline that the program itself uses.
//
//	c := apitest.New(t)
//	pr := c.Process("master-1", "scheduler", apitest.Scheduler)
//	c.Nodes(3)
//	c.Create(apitest.Pod("a"))
//	scheduler.Start(pr)
//	c.Run(10 * time.Second)
//	for _, line := range c.Log(kinds.Pods) { … }
//
// Owns: Cluster. Imports of ours: components/apiserver, components/kubeapi, raftstore, raftstore/memstore, engine packages below them. Goroutines: the test's own
// runs the loop. Time: simulated, from Start.
package apitest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/apiserver/authn"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/memstore"
)

// Start is the simulated instant at which every test cluster begins.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Users for Process.
var (
	Admin             = kubeapi.User{Name: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}}
	Scheduler         = kubeapi.User{Name: "system:kube-scheduler", Groups: []string{"system:authenticated"}}
	ControllerManager = kubeapi.User{Name: "system:kube-controller-manager", Groups: []string{"system:authenticated"}}
)

// Controller is the user of one controller of the controller manager ("podgc" runs as "pod-garbage-collector").
func Controller(account string) kubeapi.User { return kubeapi.ServiceAccount("kube-system", account) }

// Kubelet is the user of a node's kubelet.
func Kubelet(node string) kubeapi.User {
	return kubeapi.User{Name: "system:node:" + node, Groups: []string{"system:nodes", "system:authenticated"}}
}

// Cluster is the surroundings of a component under test.
type Cluster struct {
	T       testing.TB
	Loop    *sim.Loop
	Net     *simnet.Net
	Journal *journal.Journal
	Store   *memstore.Cluster
	// Servers are the API servers by host; Server is the one on master-1.
	Servers map[string]*apiserver.Server
	Server  *apiserver.Server
	// Client and Proc belong to the test itself: an administrator at a machine of its own. Use them through Do and the helpers.
	Client *kubeapi.Client
	// Exits lists the programs that ended themselves, as "host/process: message".
	Exits []string

	programs  map[string]*kubeapi.Process
	codec     *apiserver.Codec
	announcer *apiserver.Announcer
	tokens    *authn.Issuer
	tester    *kubeapi.Process
	masters   []string
	seed      uint64
	addressed bool
	cause     event.Seq
}

// Option changes what New makes.
type Option func(*Cluster)

// Masters sets how many masters there are, each with a member of the store and an API server. Default 1.
func Masters(n int) Option {
	return func(c *Cluster) {
		c.masters = nil
		for i := range n {
			c.masters = append(c.masters, fmt.Sprintf("master-%d", i+1))
		}
	}
}

// Addressed gives the masters addresses, 10.0.0.11 and so on: their API servers then keep the service "kubernetes".
func Addressed() Option { return func(c *Cluster) { c.addressed = true } }

// Seed sets what all random streams derive from. Default 1.
func Seed(s uint64) Option { return func(c *Cluster) { c.seed = s } }

// observer hands committed changes to the announcer. The memory store calls it on the loop.
type observer struct{ c *Cluster }

func (o observer) RoleChanged(raftstore.MemberStatus) {}
func (o observer) Message(raftstore.Message)          {}
func (o observer) Changed(raftstore.Change)           {}
func (o observer) Applied(a raftstore.Applied)        { o.c.announcer.Applied(a) }

// New makes a cluster and runs it until its API servers are ready.
func New(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	c := &Cluster{T: t, seed: 1, masters: []string{"master-1"}, Servers: map[string]*apiserver.Server{}, programs: map[string]*kubeapi.Process{}}
	for _, o := range opts {
		o(c)
	}
	c.Loop = sim.New(sim.Options{Start: Start, Seed: c.seed, Rate: sim.Unpaced})
	c.Journal = journal.New(journal.Options{Now: c.Loop.Now})
	c.Net = simnet.New(c.Loop)
	c.codec = apiserver.NewCodec()
	c.announcer = apiserver.NewAnnouncer(c.codec, c.Journal)
	tokens, err := authn.NewIssuer()
	if err != nil {
		t.Fatal(err)
	}
	c.tokens = tokens
	c.Store = memstore.New(c.masters, nil, observer{c})
	c.cause = c.Journal.Emit(event.Engine, 0, event.ClusterStarted{Preset: "test", Seed: c.seed, Store: "memory", Masters: c.masters, Repeatable: true})
	for _, m := range c.masters {
		c.StartServer(m)
	}
	c.Server = c.Servers[c.masters[0]]
	c.tester = c.Process("workstation", "kubectl", Admin)
	c.Client = c.tester.Client
	c.tester.Go("clock of the store", func(p *sim.Proc) {
		for ; ; p.Sleep(time.Second) {
			c.Store.Advance(p.Now())
		}
	})
	ready := func() bool {
		for _, m := range c.masters {
			if ok, _ := c.Servers[m].Ready(); !ok {
				return false
			}
		}
		return true
	}
	if !c.RunUntil(time.Minute, ready) {
		_, why := c.Server.Ready()
		t.Fatalf("API servers are not ready after a minute: %s", why)
	}
	for _, ns := range []string{"kube-system", "kube-public", "kube-node-lease", "default"} {
		c.account(ns)
	}
	return c
}

// account makes what the serviceaccount controller makes in a namespace: without it pods are refused.
func (c *Cluster) account(namespace string) {
	c.T.Helper()
	c.DoAs(c.Process("workstation", "accounts", Admin), func(p *sim.Proc, client *kubeapi.Client) { // a connection of its own: the test's is not to exist before the test begins
		if _, err := kubeapi.Make(p, client, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}); err != nil {
			c.T.Fatalf("service account of namespace %s: %v", namespace, err)
		}
	})
}

// StartServer starts the API server of a master, again if its last one ended, and returns its program.
func (c *Cluster) StartServer(master string) *kubeapi.Process {
	pr := c.bare(master, "apiserver")
	cfg := apiserver.Config{Proc: pr, Store: c.Store.Store(master), Codec: c.codec, Announcer: c.announcer, Tokens: c.tokens}
	if c.addressed {
		cfg.Address = fmt.Sprintf("10.0.0.%d", 11+slices.Index(c.masters, master))
	}
	s := apiserver.New(cfg)
	c.Servers[master] = s
	if master == c.masters[0] {
		c.Server = s
	}
	c.programs[master] = pr
	s.Start()
	return pr
}

// KillServer ends the API server of a master as kill -9 does.
func (c *Cluster) KillServer(master string) {
	c.programs[master].Group.Kill()
	c.Net.Close(c.programs[master].Addr)
}

// Process makes a program on a host (which is switched on), with a client to the API server of its own master, or to the first one that listens.
func (c *Cluster) Process(host, process string, user kubeapi.User) *kubeapi.Process {
	pr := c.bare(host, process)
	d := &kubeapi.Dialer{Net: c.Net, From: pr.Addr, Pick: func(*sim.Proc) (kubeapi.Endpoint, error) { return c.pick(host), nil }}
	pr.Client = &kubeapi.Client{Transport: d, User: user, Manager: process}
	return pr
}

func (c *Cluster) pick(host string) kubeapi.Endpoint {
	chosen := c.masters[0]
	for i := len(c.masters) - 1; i >= 0; i-- {
		if s := c.Servers[c.masters[i]]; s != nil && s.Listening() && c.Net.HostUp(c.masters[i]) {
			chosen = c.masters[i]
		}
	}
	if s := c.Servers[host]; s != nil && s.Listening() {
		chosen = host
	}
	return kubeapi.Endpoint{Addr: simnet.Addr{Host: chosen, Process: "apiserver"}, Server: c.Servers[chosen]}
}

func (c *Cluster) bare(host, process string) *kubeapi.Process {
	if !c.Net.HostUp(host) {
		c.Net.SetHost(host, true)
	}
	pr := &kubeapi.Process{Loop: c.Loop, Net: c.Net, Sink: c.Journal, Addr: simnet.Addr{Host: host, Process: process}, Cause: c.cause}
	pr.Group = c.Loop.NewGroup(pr.Addr.String())
	pr.Silenced = func(host string) event.Seq { return c.Net.Silenced(simnet.Addr{Host: host}, pr.Addr) }
	pr.Exit = func(p *sim.Proc, code int, message string) {
		c.Exits = append(c.Exits, fmt.Sprintf("%s: %s", pr.Addr, message))
		pr.Group.Kill()
		p.Sleep(0) // unwinds, when p is of this group
	}
	return pr
}

// Run advances simulated time by d.
func (c *Cluster) Run(d time.Duration) {
	c.T.Helper()
	if err := c.Loop.RunUntil(context.Background(), c.Loop.Now().Add(d)); err != nil {
		c.T.Fatal(err)
	}
}

// RunUntil advances simulated time until cond holds, looked at each millisecond in which something can happen, for at most limit. It reports whether cond holds.
func (c *Cluster) RunUntil(limit time.Duration, cond func() bool) bool {
	c.T.Helper()
	end := c.Loop.Now().Add(limit)
	for !cond() {
		now := c.Loop.Now()
		if !now.Before(end) {
			return false
		}
		step := time.Millisecond
		if idle, next := c.Loop.Idle(); idle && !next.IsZero() && next.Sub(now) > step {
			step = next.Sub(now)
		}
		c.Run(min(step, end.Sub(now)))
	}
	return true
}

// Do runs fn in a process of the test's own program until it returns. A whole hour of simulated time is a hang.
func (c *Cluster) Do(fn func(p *sim.Proc, client *kubeapi.Client)) {
	c.T.Helper()
	c.DoAs(c.tester, fn)
}

// DoAs is Do in another program.
func (c *Cluster) DoAs(pr *kubeapi.Process, fn func(p *sim.Proc, client *kubeapi.Client)) {
	c.T.Helper()
	done := false
	pr.Go("test", func(p *sim.Proc) {
		fn(p, pr.Client)
		done = true
	})
	if !c.RunUntil(time.Hour, func() bool { return done }) {
		c.T.Fatal("the test's process did not finish within an hour of simulated time")
	}
}

// Command journals an order of the user and runs fn with it as the cause.
func (c *Cluster) Command(text string, fn func(p *sim.Proc, client *kubeapi.Client)) event.Seq {
	c.T.Helper()
	seq := c.Journal.Emit(event.You, 0, event.CommandGiven{Text: text})
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		p.Cause = seq
		fn(p, client)
	})
	return seq
}

// Create makes an object and returns what was stored; a refusal fails the test. It changes nothing in obj.
func (c *Cluster) Create(obj kinds.Object) kinds.Object {
	c.T.Helper()
	stored, err := c.TryCreate(obj)
	if err != nil {
		c.T.Fatalf("create %s: %v", kinds.RefOf(obj), err)
	}
	return stored
}

// TryCreate makes an object, in namespace default if it names none, and in a new namespace the ServiceAccount "default".
func (c *Cluster) TryCreate(obj kinds.Object) (stored kinds.Object, err error) {
	c.T.Helper()
	obj = obj.DeepCopyObject().(kinds.Object)
	if kinds.MustOf(obj).Namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace("default")
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) { stored, err = kubeapi.Make(p, client, obj) })
	if ns, ok := stored.(*corev1.Namespace); ok && err == nil {
		c.account(ns.Name)
	}
	return stored, err
}

// Get reads an object from the store; nil when it does not exist.
func (c *Cluster) Get(k *kinds.Kind, namespace, name string) (obj kinds.Object) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		var err error
		obj, err = kubeapi.Fetch[kinds.Object](p, client, k, namespace, name)
		if err != nil && !apierrors.IsNotFound(err) {
			c.T.Errorf("get %s %s: %v", k, name, err)
		}
		if err != nil {
			obj = nil
		}
	})
	return obj
}

// List reads all objects of a kind.
func (c *Cluster) List(k *kinds.Kind) (items []kinds.Object) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		var err error
		if items, _, err = kubeapi.FetchList[kinds.Object](p, client, k, kubeapi.ListOptions{}); err != nil {
			c.T.Errorf("list %s: %v", k, err)
		}
	})
	return items
}

// Update changes an object by fn and writes it back.
func (c *Cluster) Update(k *kinds.Kind, namespace, name, subresource string, fn func(kinds.Object)) (obj kinds.Object) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		have, err := kubeapi.Fetch[kinds.Object](p, client, k, namespace, name)
		if err == nil {
			have = have.DeepCopyObject().(kinds.Object)
			fn(have)
			var resp *kubeapi.Response
			if resp, err = client.Do(p, &kubeapi.Request{Verb: kubeapi.Update, Kind: k, Namespace: namespace, Name: name, Subresource: subresource, Object: have}); err == nil {
				obj = resp.Object
			}
		}
		if err != nil {
			c.T.Errorf("update %s %s: %v", k, name, err)
		}
	})
	return obj
}

// MergePatch patches an object with JSON.
func (c *Cluster) MergePatch(k *kinds.Kind, namespace, name, subresource, patch string) (obj kinds.Object, err error) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		var resp *kubeapi.Response
		resp, err = client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: k, Namespace: namespace, Name: name, Subresource: subresource,
			PatchType: types.MergePatchType, Patch: []byte(patch)})
		if err == nil {
			obj = resp.Object
		}
	})
	return obj, err
}

// Delete deletes an object with the kind's defaults, or with options.
func (c *Cluster) Delete(k *kinds.Kind, namespace, name string, o *metav1.DeleteOptions) (err error) {
	c.T.Helper()
	c.Do(func(p *sim.Proc, client *kubeapi.Client) { err = kubeapi.Remove(p, client, k, namespace, name, o) })
	return err
}

// Chain walks the causes of a record back to where they end, as the names of the facts.
func (c *Cluster) Chain(seq event.Seq) []string {
	var out []string
	for seq != 0 && len(out) < 100 {
		r, ok := c.Journal.Get(seq)
		if !ok {
			break
		}
		out = append(out, r.Event.Name())
		seq = r.Cause
	}
	return out
}

// Failures lists the failed requests so far, as sentences; components under test should cause none they do not expect.
func (c *Cluster) Failures() []string {
	var out []string
	for _, r := range c.Records() {
		if d, ok := r.Event.(event.RequestDone); ok && d.Code >= 400 {
			out = append(out, fmt.Sprintf("%s %s %s/%s by %s: %d %s", d.Verb, strings.TrimSuffix(d.Resource+"/"+d.Subresource, "/"), d.Namespace, d.ObjectName, d.User, d.Code, d.Message))
		}
	}
	return out
}

// Records reads the whole journal.
func (c *Cluster) Records() []event.Record {
	recs, _ := c.Journal.Read(nil, 1, int(c.Journal.Last()))
	return recs
}
