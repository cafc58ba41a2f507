package acceptance

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
)

// hop is a record of a chain in a few words, without names that are drawn by lot.
func hop(r event.Record) string {
	switch e := r.Event.(type) {
	case event.RequestReceived:
		if e.Subresource != "" {
			return e.Verb + " " + e.Resource + "/" + e.Subresource
		}
		return e.Verb + " " + e.Resource
	case event.ObjectChanged:
		return strings.ToLower(string(e.Type)) + " " + kinds.MustOf(e.Object).Kind
	case event.Reconciled:
		return e.Controller + " decides"
	case event.ContainerChanged:
		return "container " + string(e.State)
	case event.PodQueued:
		return "queue " + e.Queue
	}
	return r.Event.Name()
}

// hops is the chain from its root to a record.
func (p *told) hops(seq event.Seq) (words []string, records []event.Record) {
	records = journal.Chain(p.journal, seq)
	slices.Reverse(records)
	for _, r := range records {
		words = append(words, hop(r))
	}
	return words, records
}

// leads fails unless the chain to a record is as it is written, one hop a line.
func (p *told) leads(r event.Record, want string) []event.Record {
	p.t.Helper()
	got, recs := p.hops(r.Seq)
	wanted := strings.Split(strings.TrimSpace(want), "\n")
	for i := range wanted {
		wanted[i] = strings.TrimSpace(wanted[i])
	}
	if !slices.Equal(got, wanted) {
		p.t.Fatalf("#%d %s follows from\n  %s\nwant\n  %s", r.Seq, brief(r.Event), strings.Join(got, "\n  "), strings.Join(wanted, "\n  "))
	}
	return recs
}

// made is how a pod that a ReplicaSet wants comes to run, with its image already there or not.
const made = `create pods
	added Pod
	queue active
	SchedulingAttempt
	create pods/binding
	modified Pod`

const reported = `patch pods/status
	modified Pod
	replicaset decides
	update replicasets.apps/status
	modified ReplicaSet
	deployment decides
	update deployments.apps/status
	modified Deployment`

// answered: every request of a chain has an answer with its stages, and on raft the entry that carried it.
func (p *told) answered(chain []event.Record, raft bool) {
	p.t.Helper()
	stored := time.Duration(0)
	for _, r := range chain {
		switch e := r.Event.(type) {
		case event.RequestReceived:
			done := all(p, p.since(r.At), func(event.RequestDone) bool { return true })
			i := slices.IndexFunc(done, func(d event.Record) bool { return d.Cause == r.Seq })
			if i < 0 {
				p.t.Errorf("#%d %s has no answer", r.Seq, hop(r))
				continue
			}
			stages := done[i].Event.(event.RequestDone).Stages
			if n := len(stages); n < 4 || stages[0].Stage != "authentication" || stages[1].Stage != "priority and fairness" || stages[2].Stage != "authorization" || stages[n-1].Stage != "store" {
				p.t.Errorf("#%d %s went through the stages %+v", r.Seq, hop(r), stages)
			}
			stored += stages[len(stages)-1].Took
		case event.ObjectChanged:
			if e.Revision == 0 || raft != (e.Index > 0 && e.Term > 0) {
				p.t.Errorf("#%d %s is revision %d, entry %d of term %d", r.Seq, hop(r), e.Revision, e.Index, e.Term)
			}
		}
	}
	if raft && stored <= 0 {
		p.t.Error("all requests were in the store for no time")
	}
}

func deploymentReady(n int32) func(event.ObjectChanged) bool {
	return func(e event.ObjectChanged) bool {
		d, ok := e.Object.(*appsv1.Deployment)
		return ok && d.Name == "site" && d.Status.ReadyReplicas == n
	}
}

func siteContainer(s event.ContainerState) func(event.ContainerChanged) bool {
	return func(e event.ContainerChanged) bool { return e.State == s && strings.HasPrefix(e.Pod.Name, "site-") }
}

func TestEveryHopFromTheCommandToTheRunningContainerIsThere(t *testing.T) {
	t.Parallel()
	const create = "kubectl create deployment site --image=nginx --replicas=3"
	for _, store := range []string{engine.StoreRaft, engine.StoreMemory} {
		t.Run(store, func(t *testing.T) {
			if store == engine.StoreMemory {
				besides(t, store)
			}
			p := play(t, run{store: store, seed: 1, length: 70 * time.Second, do: []string{"50s " + create}})
			raft := store == engine.StoreRaft
			started := all(p, 50*time.Second, siteContainer(event.ContainerRunning))
			if len(started) != 3 {
				t.Fatalf("%d containers started", len(started))
			}
			const toPods = `CommandGiven
				create deployments.apps
				added Deployment
				deployment decides
				create replicasets.apps
				added ReplicaSet
				replicaset decides
				` + made + `
				container pulling
				container created
				container running`
			for _, r := range started {
				p.answered(p.leads(r, toPods), raft)
			}
			ready, _ := must(p, "the deployment is ready", 50*time.Second, deploymentReady(3))
			p.answered(p.leads(ready, toPods+"\n"+reported), raft)
		})
	}
}

func TestEveryHopFromTheCutToTheReplacementIsThere(t *testing.T) {
	besides(t, engine.StoreMemory)
	const cutAt, healAt = 60 * time.Second, 8 * time.Minute
	p := play(t, run{seed: 1, length: 9 * time.Minute, do: []string{"40s kubectl create deployment site --image=nginx --replicas=4", "60s cut worker-2 all", "8m heal"}})
	const toDeletion = `CommandGiven
		FaultAdded
		NodeJudged
		node_lifecycle_controller decides
		patch nodes
		modified Node
		EvictionPlanned
		delete pods
		modified Pod`
	r, _ := must(p, "the replacement runs", cutAt, siteContainer(event.ContainerRunning))
	chain := p.leads(r, toDeletion+"\nreplicaset decides\n"+made+"\ncontainer pulling\ncontainer created\ncontainer running")
	p.answered(chain, false)
	within(t, "silence", chain[2].At.Sub(chain[1].At), 40*time.Second, 60*time.Second)
	within(t, "toleration", chain[7].At.Sub(chain[6].At), 300*time.Second, 301*time.Second)
	if due := chain[6].Event.(event.EvictionPlanned).Due; chain[7].At.Before(due) {
		t.Errorf("evicted at %v, before %v", p.since(chain[7].At), p.since(due))
	}
	// The old container runs on until the machine can be reached; its end leads back to the same deletion.
	stops, _ := must(p, "the old container stops", cutAt, siteContainer(event.ContainerStopping))
	p.leads(stops, toDeletion+"\ncontainer stopping")
	if at := p.since(stops.At); at < healAt {
		t.Errorf("it stopped after %v, while the machine was cut off", at)
	}
	gone, _ := must(p, "the pod is gone", healAt, func(e event.ObjectChanged) bool {
		o, ok := e.Object.(*corev1.Pod)
		return ok && e.Type == event.Deleted && strings.HasPrefix(o.Name, "site-")
	})
	p.leads(gone, toDeletion+"\ncontainer stopping\ncontainer exited\ndelete pods\ndeleted Pod")
}

func TestAContainerThatCrashesAgainFollowsFromItsBackOff(t *testing.T) {
	besides(t, engine.StoreMemory)
	p := play(t, run{seed: 1, length: 4 * time.Minute, do: []string{"40s kubectl run one --image=nginx:1.27", "60s crash pod/default/one", "70s crash pod/default/one"}})
	crash := p.command("crash pod/default/one")
	of := func(s event.ContainerState) func(event.ContainerChanged) bool {
		return func(e event.ContainerChanged) bool { return e.State == s && e.Pod.Name == "one" }
	}
	r, _ := must(p, "the back-off", p.since(crash.At), of(event.ContainerBackoff))
	told, _ := must(p, "the status that tells of it", p.since(r.At), func(e event.ObjectChanged) bool {
		o, ok := e.Object.(*corev1.Pod)
		return ok && o.Name == "one" && kinds.PodStatus(o) == "CrashLoopBackOff"
	})
	p.leads(told, "CommandGiven\ncontainer exited\ncontainer backoff\npatch pods/status\nmodified Pod")
	running, _ := must(p, "the start after it", p.since(r.At), of(event.ContainerRunning))
	p.leads(running, "CommandGiven\ncontainer exited\ncontainer backoff\ncontainer created\ncontainer running")
}

func TestAPodThatAKubeletFindsInItsFirstListFollowsFromItsBinding(t *testing.T) {
	besides(t, engine.StoreMemory)
	p := play(t, run{seed: 1, length: 40 * time.Second})
	started := all(p, 0, func(e event.ContainerChanged) bool {
		return e.State == event.ContainerPulling && strings.HasPrefix(e.Pod.Name, "web-")
	})
	if len(started) != 6 {
		t.Fatalf("%d pods were started", len(started))
	}
	for _, r := range started {
		words, _ := p.hops(r.Seq)
		if n := len(words); words[0] != "CommandGiven" || !slices.Equal(words[n-3:n-1], []string{"create pods/binding", "modified Pod"}) {
			t.Errorf("a container follows from%s", p.chain(r.Seq))
		}
	}
}
