package acceptance

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/headless"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/presets"
)

// run says what to play. The zero value is preset ha on the memory store, for two minutes.
type run struct {
	preset   string
	scenario *scenario.Scenario // instead of a preset
	store    string
	seed     uint64
	length   time.Duration
	do       []string // "60s kill leader"
	// unwritten leaves out the journal's file, which takes as long as a third of the run.
	unwritten bool
}

// told is what was played: the journal as it stands in the file, and what it adds up to.
type told struct {
	t       testing.TB
	file    []byte
	journal *journal.Journal
	recs    []event.Record
	summary headless.Summary
	world   *world.World // as headless.Run folded it
	failed  bool

	past   *world.World // cursor of at
	pastTo int
}

// play runs a cluster headless and reads its journal file back.
func play(t testing.TB, r run) *told {
	t.Helper()
	s := loaded(t, r)
	var steps []scenario.Step
	for _, d := range r.do {
		at, do, _ := strings.Cut(d, " ")
		steps = append(steps, scenario.Step{At: at, Do: do})
	}
	if r.store == "" {
		r.store = engine.StoreMemory
	}
	if r.unwritten {
		return playUnwritten(t, r, s, steps)
	}
	var file bytes.Buffer
	res, err := headless.Run(t.Context(), headless.Options{Scenario: s, Do: steps, For: r.length, Store: r.store, Seed: r.seed, Version: "test", Journal: &file})
	if err != nil {
		t.Fatalf("run %+v: %v", r, err)
	}
	p := &told{t: t, file: file.Bytes(), summary: res.Summary, world: res.World, failed: res.Failed}
	p.read()
	return p
}

// playUnwritten is play with the journal taken from memory.
func playUnwritten(t testing.TB, r run, s scenario.Scenario, steps []scenario.Step) *told {
	t.Helper()
	s.Steps = append(slices.Clone(s.Steps), steps...)
	w := &snapshots{every: math.MaxUint64}
	e := open(t, engine.Options{Scenario: s, Store: r.store, Seed: r.seed, Start: engine.RepeatableStart, Repeatable: r.store == engine.StoreMemory, Writers: []journal.Writer{w}})
	if err := e.RunFor(t.Context(), r.length); err != nil {
		t.Fatalf("run %+v: %v", r, err)
	}
	p := &told{t: t, journal: e.Journal(), summary: headless.Summarize(&w.w, 0), world: &w.w}
	for _, c := range p.summary.Commands {
		p.failed = p.failed || c.Error != ""
	}
	p.take()
	return p
}

func loaded(t testing.TB, r run) scenario.Scenario {
	t.Helper()
	if r.scenario != nil {
		return *r.scenario
	}
	if r.preset == "" {
		r.preset = presets.Default
	}
	s, err := presets.Load(r.preset)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read takes the journal from its file.
func (p *told) read() {
	p.t.Helper()
	r, err := journal.NewReader("run", bytes.NewReader(p.file))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.journal, err = journal.Load(r); err != nil {
		p.t.Fatal(err)
	}
	if torn := r.Torn(); torn != "" {
		p.t.Fatal(torn)
	}
	p.take()
}

// take reads all records of the journal.
func (p *told) take() {
	p.t.Helper()
	var lost int
	if p.recs, lost = p.journal.Read(nil, 1, journal.MaxRecords); lost != 0 {
		p.t.Fatalf("%d records are lost", lost)
	}
	p.noCrash()
	p.noneRefused()
}

// noCrash: no component may panic, ever.
func (p *told) noCrash() {
	p.t.Helper()
	for _, r := range p.recs {
		if c, ok := r.Event.(event.Crashed); ok {
			p.t.Fatalf("%v: %s crashed: %s\n%s", p.since(r.At), c.Who, c.Value, c.Stack)
		}
	}
}

// since the start of the cluster.
func (p *told) since(t time.Time) time.Duration { return t.Sub(p.recs[0].At) }

// at folds the world as it was d after the start. Instants must be asked for in order.
func (p *told) at(d time.Duration) *world.World {
	if p.past == nil {
		p.past = &world.World{}
	}
	for p.pastTo < len(p.recs) && p.since(p.recs[p.pastTo].At) <= d {
		p.past.Apply(p.recs[p.pastTo])
		p.pastTo++
	}
	return p.past
}

// first finds the first fact of type E after an instant that fits; nil fits all.
func first[E event.Event](p *told, after time.Duration, fits func(E) bool) (event.Record, E, bool) {
	for _, r := range p.recs {
		if e, ok := r.Event.(E); ok && p.since(r.At) >= after && (fits == nil || fits(e)) {
			return r, e, true
		}
	}
	var none E
	return event.Record{}, none, false
}

// must is first, or the end of the test.
func must[E event.Event](p *told, what string, after time.Duration, fits func(E) bool) (event.Record, E) {
	p.t.Helper()
	r, e, ok := first(p, after, fits)
	if !ok {
		p.t.Fatalf("%s: no %s after %v", what, e.Name(), after)
	}
	return r, e
}

// all facts of type E with an instant at or after.
func all[E event.Event](p *told, after time.Duration, fits func(E) bool) []event.Record {
	var out []event.Record
	for _, r := range p.recs {
		if e, ok := r.Event.(E); ok && p.since(r.At) >= after && (fits == nil || fits(e)) {
			out = append(out, r)
		}
	}
	return out
}

// within fails unless d lies in the window.
func within(t testing.TB, what string, d, from, to time.Duration) {
	t.Helper()
	if d < from || d > to {
		t.Errorf("%s after %v, want %v to %v", what, d.Round(time.Millisecond), from, to)
		return
	}
	t.Logf("%s after %v", what, d.Round(time.Millisecond))
}

// chain of causes of a record in words, root last.
func (p *told) chain(seq event.Seq) string {
	var b strings.Builder
	for _, r := range journal.Chain(p.journal, seq) {
		fmt.Fprintf(&b, "\n  %v #%d %s %s", p.since(r.At), r.Seq, r.Actor, brief(r.Event))
	}
	return b.String()
}

// root is the last record of a chain of causes.
func (p *told) root(seq event.Seq) event.Record {
	c := journal.Chain(p.journal, seq)
	if len(c) == 0 {
		return event.Record{}
	}
	return c[len(c)-1]
}

// command finds the record of a command by its text.
func (p *told) command(text string) event.Record {
	p.t.Helper()
	r, _ := must(p, "command "+text, 0, func(c event.CommandGiven) bool { return c.Text == text })
	return r
}

// brief names a fact in a few words.
func brief(e event.Event) string {
	switch e := e.(type) {
	case event.ObjectChanged:
		k := kinds.MustOf(e.Object)
		return fmt.Sprintf("%s %s %s/%s rev %d", e.Type, k.Kind, e.Object.GetNamespace(), e.Object.GetName(), e.Revision)
	case event.RequestReceived:
		return fmt.Sprintf("%s %s %s %s/%s by %s at %s", e.Name(), e.Verb, e.Resource, e.Namespace, e.ObjectName, e.User, e.Server)
	case event.RequestDone:
		return fmt.Sprintf("%s %s %s %s/%s by %s at %s: %d %s %s", e.Name(), e.Verb, e.Resource, e.Namespace, e.ObjectName, e.User, e.Server, e.Code, e.Reason, e.Message)
	case event.SchedulingAttempt:
		return fmt.Sprintf("%s %s on %q", e.Name(), e.Pod, e.Node)
	}
	return fmt.Sprintf("%s %+v", e.Name(), e)
}

// web are the pods of the preset's deployment.
func web(w *world.World) []*world.Pod {
	var out []*world.Pod
	w.Pods.Scan(func(_ string, p *world.Pod) bool {
		if p.Object.Namespace == "default" && p.Object.Labels["app"] == "web" {
			out = append(out, p)
		}
		return true
	})
	return out
}

// living are pods that are neither ended nor being deleted.
func living(pods []*world.Pod) []*world.Pod {
	var out []*world.Pod
	for _, p := range pods {
		if !p.Deleting && !p.Ended {
			out = append(out, p)
		}
	}
	return out
}

// really are the containers of pods of the preset's deployment that run, whatever the API says.
func really(w *world.World) []*world.Container {
	var out []*world.Container
	w.Running.Scan(func(_ string, c *world.Container) bool {
		if c.Name == "web" && (c.State == event.ContainerRunning || c.State == event.ContainerStopping) {
			out = append(out, c)
		}
		return true
	})
	return out
}

// wrong lists what keeps the cluster from being whole: every node Ready, six web pods Running and Ready, nothing left over, and machines that run what the API says.
func wrong(w *world.World, pods int) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if n := len(w.Header.Masters) + len(w.Header.Workers); w.Nodes.Len() != n {
		say("%d nodes of %d machines", w.Nodes.Len(), n)
	}
	w.Nodes.Scan(func(name string, n *world.Node) bool {
		if n.Ready != "True" {
			say("node %s is %s: %s", name, n.Ready, n.Reason)
		}
		for _, taint := range n.Object.Spec.Taints {
			if !n.Master || taint.Key != "node-role.kubernetes.io/control-plane" {
				say("node %s is tainted %s", name, taint.ToString())
			}
		}
		if c := w.Compare(name); c.Belief != c.Truth || c.Unknown != 0 {
			say("node %s runs %d pods, %d of them unknown to the API, which believes %d", name, c.Truth, c.Unknown, c.Belief)
		}
		return true
	})
	alive := 0
	for _, p := range web(w) {
		if !p.Deleting && p.Object.Status.Phase == corev1.PodRunning && kinds.PodIsReady(p.Object) {
			alive++
		} else {
			say("pod %s on %s is %s", p.Object.Name, p.Object.Spec.NodeName, p.Status)
		}
	}
	if alive != pods {
		say("%d web pods run and are ready, want %d", alive, pods)
	}
	w.Pods.Scan(func(key string, p *world.Pod) bool {
		if p.Object.Namespace == "kube-system" && (p.Object.Status.Phase != corev1.PodRunning || !kinds.PodIsReady(p.Object)) {
			say("pod %s is %s, ready %d/%d", key, p.Status, p.Ready, p.Total)
		}
		return true
	})
	if n := len(w.Header.Masters) * 4; w.Pods.Len()-len(web(w)) < n {
		say("%d pods beside web, want the %d of the masters", w.Pods.Len()-len(web(w)), n)
	}
	w.Hosts.Scan(func(name string, h *world.Host) bool {
		want := 1
		if h.Master {
			want = 5
		}
		up := 0
		for _, p := range h.Processes {
			if p.Up {
				up++
			}
		}
		if !h.Up || up != want {
			say("machine %s: on %v, %d of %d programs run", name, h.Up, up, want)
		}
		return true
	})
	w.Backends.Scan(func(name string, b *world.Backend) bool {
		if !b.Healthy {
			say("the balancer has %s out: %s", name, b.Reason)
		}
		return true
	})
	for _, lease := range []string{"kube-scheduler", "kube-controller-manager"} {
		if _, expired, ok := w.LeaseAge("kube-system", lease, w.At); !ok || expired {
			say("nobody holds %s", lease)
		}
	}
	return out
}

func whole(t testing.TB, w *world.World, pods int) {
	t.Helper()
	for _, s := range wrong(w, pods) {
		t.Error(s)
	}
}

// open makes an engine that the end of the test closes. A rate of 0 means as fast as it can.
func open(t testing.TB, o engine.Options) *engine.Engine {
	t.Helper()
	if o.Rate == 0 {
		o.Rate = sim.Unpaced
	}
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// side is how many tests of a kind run side by side. Those on a raft store wait for elections, on the wall's clock, most of the time; those on the memory store compute all of the time, and more of them than
// there are processors would only starve the others.
var side = map[string]chan struct{}{
	engine.StoreMemory: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)),
	engine.StoreRaft:   make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
}

// besides lets a test run beside others, when it is its turn.
func besides(t *testing.T, store string) {
	t.Parallel()
	turn := side[cmp.Or(store, engine.StoreMemory)]
	turn <- struct{}{}
	t.Cleanup(func() { <-turn })
}

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		flag.Set(f.Name, "100") // side says how many
	}
	os.Exit(m.Run())
}
