package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
)

// Errors of an API server whose store has no majority, as kubectl words them (fidelity API-31 to API-34).
const (
	writeLost = "Error from server: etcdserver: request timed out"
	readLost  = "Error from server (Timeout): Timeout: request did not complete within the allotted timeout"
	refused   = "Unable to connect to the server: EOF" // as through an HAProxy without a server
)

// connecting is how long the balancer may spend on back ends that are dead and not yet known to be.
const connecting = 11 * time.Second

// done is the end of a command: when, with which error.
func (p *told) done(text string) (event.Record, event.CommandDone) {
	p.t.Helper()
	return must(p, text, 0, func(e event.CommandDone) bool { return e.Text == text })
}

// kept are the deployments whose creation was acknowledged; each must be there at the end, in the fold and in the list that the API gives.
func (p *told) kept() (acknowledged int) {
	p.t.Helper()
	listed := ""
	for _, r := range p.recs {
		if e, ok := r.Event.(event.CommandDone); ok && e.Text == "kubectl get deployments" && e.Error == "" {
			listed = strings.Join(e.Output, "\n") + "\n"
		}
	}
	if listed == "" {
		p.t.Fatal("the run ends without a list of the deployments")
	}
	for _, c := range p.world.Commands {
		rest, is := strings.CutPrefix(c.Text, "kubectl create deployment ")
		if !is || !c.Done || c.Error != "" {
			continue
		}
		acknowledged++
		name, _, _ := strings.Cut(rest, " ")
		if _, ok := p.world.Deployment("default", name); !ok {
			p.t.Errorf("deployment %s was acknowledged and is lost", name)
		}
		if !strings.Contains(listed, "\n"+name+" ") {
			p.t.Errorf("deployment %s was acknowledged and the API does not list it:\n%s", name, listed)
		}
	}
	return acknowledged
}

func TestWithTwoOfThreeMastersDownNothingIsWrittenAndPodsLiveOn(t *testing.T) {
	t.Parallel()
	for _, store := range []string{engine.StoreMemory, engine.StoreRaft} {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			make := func(name string) string { return "create deployment " + name + " --image=nginx --replicas=0" }
			r := run{store: store, seed: 1, length: 8 * time.Minute, do: []string{"50s " + make("before"), "60s kill master-2", "60s kill master-3",
				"60500ms " + make("during"), "60500ms scale deployment web --replicas=7", "60500ms get pods", "60500ms get deployment web", "90s " + make("refused"), "95s scale deployment web --replicas=6", "100s get nodes",
				"4m start master-2", "320s " + make("after"), "7m55s get deployments"}}
			p := play(t, r)
			down := p.command("kill master-3").At

			rec, e := p.done("kubectl " + make("during"))
			if e.Error != "error: failed to create deployment: etcdserver: request timed out" {
				t.Errorf("the write ends with %q", e.Error)
			}
			if _, e := p.done("kubectl scale deployment web --replicas=7"); e.Error != readLost && e.Error != writeLost { // a patch reads first
				t.Errorf("the patch ends with %q", e.Error)
			}
			within(t, "the write fails", rec.At.Sub(down), 7*time.Second, 7*time.Second+connecting)
			_, req := must(p, "the write", time.Minute, func(e event.RequestDone) bool { return e.ObjectName == "during" })
			if last := req.Stages[len(req.Stages)-1]; req.Code != 500 || last.Stage != "store" || last.Took != 7*time.Second {
				t.Errorf("the API server answers %d after %+v", req.Code, req.Stages)
			}
			for _, read := range []string{"kubectl get pods", "kubectl get deployment web"} {
				rec, e = p.done(read)
				if e.Error != readLost {
					t.Errorf("%s ends with %q", read, e.Error)
				}
				within(t, "the read fails", rec.At.Sub(down), 60*time.Second, 60*time.Second+connecting)
			}
			out, _ := must(p, "the balancer", time.Minute, func(e event.BackendChanged) bool { return e.Backend == "master-1" && !e.Healthy })
			within(t, "no back end is left", out.At.Sub(down), 2*time.Second, 7*time.Second)
			if _, e = p.done("kubectl " + make("refused")); !strings.HasPrefix(e.Error, "error: failed to create deployment: ") || !strings.HasSuffix(e.Error, ": EOF") {
				t.Errorf("create without a server ends with %q", e.Error)
			}
			for _, c := range []string{"kubectl scale deployment web --replicas=6", "kubectl get nodes"} {
				if _, e = p.done(c); e.Error != refused {
					t.Errorf("%s ends with %q", c, e.Error)
				}
			}

			stopped, _ := must(p, "the liveness probe", time.Minute, func(e event.ProcessStopped) bool { return e.Host == "master-1" && e.Process == "apiserver" })
			within(t, "the API server is restarted by its kubelet", stopped.At.Sub(down), 70*time.Second, 105*time.Second)
			must(p, "its end", 0, func(e event.ProcessStopped) bool {
				return e.Host == "master-1" && e.Process == "apiserver" && strings.HasPrefix(e.Message, `PostStartHook "start-service-ip-repair-controllers" failed`)
			})
			before := p.at(59 * time.Second).Clone()
			w := p.at(4*time.Minute - time.Millisecond)
			unharmed(t, &before, w)
			if store == engine.StoreRaft {
				if l, ok := w.Leader(); ok {
					t.Errorf("%s still leads without a majority", l.Name)
				}
				if g := w.Majority(); len(g.Members) != 1 || g.Need != 2 {
					t.Errorf("quorum: %d of %d", len(g.Members), g.Need)
				}
			}
			for _, r := range all(p, time.Minute+time.Millisecond, func(e event.ObjectChanged) bool { return true }) {
				if d := p.since(r.At); d < 4*time.Minute {
					t.Fatalf("%v: %s was committed without a majority", d, brief(r.Event))
				}
			}

			if n := p.kept(); n != 2 {
				t.Errorf("%d writes were acknowledged, want those before and after", n)
			}
			for _, d := range []string{"refused", "during"} {
				if _, ok := p.world.Deployment("default", d); ok && d == "refused" {
					t.Errorf("deployment %s is there although no API server was reached", d)
				}
			}
			// Everything but the machine that stays down has come back.
			for _, s := range wrong(p.world, 6) {
				if !strings.Contains(s, "master-3") {
					t.Error(s)
				}
			}
			unharmed(t, &before, p.world)
			if n, _ := p.world.Nodes.Get("master-3"); n.Ready != "Unknown" {
				t.Errorf("master-3 is %s", n.Ready)
			}
		})
	}
}

// TestQuorumArithmetic: what n masters can lose (fidelity STO-1).
func TestQuorumArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset string
		kill   int
		writes bool
	}{
		{"single", 1, false}, {"two", 1, false}, {"ha", 1, true}, {"ha", 2, false}, {"four", 1, true}, {"four", 2, false}, {"five", 2, true}, {"five", 3, false},
	} {
		t.Run(fmt.Sprintf("%s loses %d", c.preset, c.kill), func(t *testing.T) {
			besides(t, engine.StoreMemory)
			do := []string{"50s create deployment before --image=nginx --replicas=0"}
			for i := range c.kill {
				do = append(do, fmt.Sprintf("60s kill master-%d", i+1))
			}
			do = append(do, "80s create deployment after --image=nginx --replicas=0")
			p := play(t, run{unwritten: true, preset: c.preset, seed: 1, length: 3 * time.Minute, do: do})
			_, e := p.done("kubectl create deployment after --image=nginx --replicas=0")
			_, there := p.world.Deployment("default", "after")
			if written := e.Error == ""; written != c.writes || there != c.writes {
				t.Errorf("the write ends with %q, the deployment is there: %v", e.Error, there)
			}
			before := p.at(59 * time.Second).Clone()
			if _, ok := before.Deployment("default", "before"); !ok {
				t.Error("nothing could be written with all masters up")
			}
			unharmed(t, &before, p.world)
		})
	}
}

func TestOnRaftTwoMastersNeedBothAndFiveLoseTwo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset string
		kill   int
		writes bool
	}{{"two", 1, false}, {"five", 2, true}, {"four", 2, false}} {
		t.Run(c.preset, func(t *testing.T) {
			besides(t, engine.StoreRaft)
			var do []string
			for i := range c.kill {
				do = append(do, fmt.Sprintf("40s kill master-%d", i+1))
			}
			do = append(do, "70s create deployment after --image=nginx --replicas=0")
			p := play(t, run{unwritten: true, preset: c.preset, store: engine.StoreRaft, seed: 1, length: 2 * time.Minute, do: do})
			if _, e := p.done("kubectl create deployment after --image=nginx --replicas=0"); (e.Error == "") != c.writes {
				t.Errorf("the write ends with %q", e.Error)
			}
			if _, led := p.world.Leader(); led != c.writes {
				t.Errorf("a leader is there: %v", led)
			}
		})
	}
}

// invariants of every journal, whatever happened: a write that was acknowledged with a revision is announced with that revision; revisions grow, and what has the same one is the several
// objects of one transaction; terms never fall.
func (p *told) invariants() {
	p.t.Helper()
	announced := map[int64]bool{}
	var last int64
	var together []string // objects of the transaction that made the last revision
	terms := map[string]uint64{}
	for _, r := range p.recs {
		switch e := r.Event.(type) {
		case event.ObjectChanged:
			announced[e.Revision] = true
			if e.Revision != last {
				together = nil
			}
			if e.Revision < last || slices.Contains(together, brief(e)) {
				p.t.Errorf("#%d %s follows revision %d", r.Seq, brief(e), last)
			}
			last, together = e.Revision, append(together, brief(e))
		case event.LeaseRenewed:
			announced[e.Revision] = true
			if e.Revision <= last {
				p.t.Errorf("#%d %s follows revision %d", r.Seq, brief(e), last)
			}
			last = e.Revision
		case event.RaftRole:
			if e.Role != "down" && e.Err == "" && e.Term < terms[e.Member] && e.Term != 0 { // a wiped disk knows no term, nor does a member of the memory store that has just started
				p.t.Errorf("#%d %s: the term was %d", r.Seq, brief(e), terms[e.Member])
			}
			terms[e.Member] = max(terms[e.Member], e.Term)
		}
	}
	for _, r := range p.recs {
		if e, ok := r.Event.(event.RequestDone); ok && e.Code < 300 && e.Revision > 0 && slices.Contains([]string{"create", "update", "patch", "delete"}, e.Verb) && !announced[e.Revision] {
			p.t.Errorf("#%d %s was acknowledged at revision %d, which was never announced", r.Seq, brief(e), e.Revision)
		}
	}
	leaders := map[uint64]string{}
	for _, r := range all[event.RaftRole](p, 0, func(e event.RaftRole) bool { return e.Role == "leader" }) {
		e := r.Event.(event.RaftRole)
		if who := leaders[e.Term]; who != "" && who != e.Member {
			p.t.Errorf("term %d has two leaders, %s and %s", e.Term, who, e.Member)
		}
		leaders[e.Term] = e.Member
	}
}

func TestAMasterWhoseDiskWasWipedComesBackWithEverything(t *testing.T) {
	besides(t, engine.StoreRaft)
	p := play(t, run{store: engine.StoreRaft, seed: 1, length: 2 * time.Minute, do: []string{"40s create deployment kept --image=nginx --replicas=0", "45s kill master-1", "46s wipe master-1",
		"50s start master-1", "80s kill master-2", "105s create deployment later --image=nginx --replicas=0", "1m58s get deployments"}})
	if p.failed {
		t.Fatalf("commands: %+v", p.summary.Commands)
	}
	if n := p.kept(); n != 2 {
		t.Errorf("%d writes were acknowledged", n)
	}
	p.invariants()
}
