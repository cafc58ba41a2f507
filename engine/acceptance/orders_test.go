package acceptance

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/scenario"
)

// TestAnOrderThatCannotBeCarriedOutSaysWhy gives one order after the other to a cluster a minute old. Error "" means that it works.
func TestAnOrderThatCannotBeCarriedOutSaysWhy(t *testing.T) {
	besides(t, engine.StoreMemory)
	orders := []struct{ do, want string }{
		{"kill master-9", `no machine is called "master-9"; there are master-1, master-2, master-3, worker-1, worker-2, worker-3, worker-4`},
		{"kill worker-1/scheduler", `worker-1 runs no "scheduler"; it runs kubelet`},
		{"kill master-1/proxy", `master-1 runs no "proxy"; it runs kubelet, apiserver, controller-manager, scheduler, etcd`},
		{"kill scheduler-leader/etcd", `"scheduler-leader" already names a program; leave "/etcd" out`},
		{"start worker-1", "worker-1 is running already"},
		{"start worker-1/kubelet", "worker-1/kubelet is running already"},
		{"start master-1/etcd", "master-1/etcd is running already"},
		{"heal", "no link is broken"},
		{"heal worker-1", "no broken link touches worker-1"},
		{"heal worker-9", `no machine is called "worker-9"`},
		{"cut worker-1 nowhere", `no machine is called "nowhere"`},
		{"cut worker-1/etcd all", `worker-1 runs no "etcd"`},
		{"delay master-1 worker-7 1s", `no machine is called "worker-7"`},
		{"loss you balancer 10%", ""},
		{"partition master-1 | worker-9", `no machine is called "worker-9"`},
		{"wipe worker-1", "worker-1 has no store to wipe"},
		{"wipe master-1", "master-1 is running; kill it first"},
		{"wipe nobody", `no machine is called "nobody"`},
		{"crash pod/default/nobody", "no machine runs a container of pod default/nobody"},
		{"kill master-3/kube-scheduler", ""},
		{"kill master-3/kube-scheduler", "master-3/scheduler is not running"},
		{"start master-3/scheduler", "master-3/scheduler is a static pod: the kubelet of master-3 starts it when its back-off is over"},
		{"kill worker-2", ""},
		{"kill worker-2", "worker-2 is down already"},
		{"stop worker-2", "worker-2 is down already"},
		{"kill worker-2/kubelet", "worker-2 is down, so nothing runs on it; start the machine first"},
		{"start worker-2/kubelet", "worker-2 is down, so nothing runs on it; start the machine first"},
		{"start worker-2", ""},
		{"cut worker-1 all", ""},
		{"heal worker-2", "no broken link touches worker-2"},
		{"heal worker-1", ""},
		{"resume", "time is running already"},
		{"step 3", "time is running; pause first"},
		{"speed 5x", ""},
		{"kill master-1", ""},
		{"wipe master-1", ""},
		{"start master-1", ""},
	}
	s := loaded(t, run{})
	e := open(t, engine.Options{Scenario: s, Store: engine.StoreMemory, Seed: 1, Start: engine.RepeatableStart, Repeatable: true})
	at := time.Minute
	advance := func(d time.Duration) {
		t.Helper()
		at += d
		if err := e.RunFor(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	advance(0)
	give := func(c command.Command) event.CommandDone {
		t.Helper()
		from := e.Journal().Last()
		e.Do(c)
		advance(50 * time.Millisecond)
		recs, _ := e.Journal().Read(nil, from+1, 1<<16)
		given := event.Seq(0)
		for _, r := range recs {
			switch ev := r.Event.(type) {
			case event.CommandGiven:
				given = r.Seq
			case event.CommandDone:
				if given == 0 || r.Cause != given {
					t.Errorf("%s: its end has cause %d, its beginning is %d", c, r.Cause, given)
				}
				return ev
			}
		}
		t.Fatalf("%s: no end", c)
		return event.CommandDone{}
	}
	for _, o := range orders {
		c, err := command.Parse(o.do)
		if err != nil {
			t.Fatal(err)
		}
		if c.String() == "speed 5x" { // would pace the rest of the test
			continue
		}
		d := give(c)
		if (o.want == "") != (d.Error == "") || !strings.HasPrefix(d.Error, o.want) {
			t.Errorf("%s: %q, want %q", o.do, d.Error, o.want)
		}
	}
	for _, kill := range []string{"kill master-2", "kill master-3"} {
		c, _ := command.Parse(kill)
		give(c)
	}
	advance(30 * time.Second)
	if d := give(command.Power{Verb: command.Kill, Target: "leader"}); d.Error != `no store member leads now, so "leader" names nobody` {
		t.Errorf("kill leader without one: %q", d.Error)
	}
}

func TestKubectlAnswersAsKubectl(t *testing.T) {
	besides(t, engine.StoreMemory)
	s := loaded(t, run{})
	p := play(t, run{scenario: &s, seed: 1, length: 2 * time.Minute, do: []string{
		"60s get pods nobody", "61s scale deployment nobody --replicas=3", "62s create deployment web --image=nginx", "63s frobnicate",
	}[:3]})
	for text, want := range map[string]string{
		"kubectl get pods nobody":                      `Error from server (NotFound): pods "nobody" not found`,
		"kubectl scale deployment nobody --replicas=3": `Error from server (NotFound): deployments.apps "nobody" not found`,
		"kubectl create deployment web --image=nginx":  `error: failed to create deployment: deployments.apps "web" already exists`,
	} {
		if _, e := p.done(text); e.Error != want {
			t.Errorf("%s: %q, want %q", text, e.Error, want)
		}
	}
}

func TestEveryTargetOfferedCanBeNamed(t *testing.T) {
	besides(t, engine.StoreMemory)
	e := open(t, engine.Options{Scenario: loaded(t, run{}), Store: engine.StoreMemory, Seed: 1, Start: engine.RepeatableStart, Repeatable: true})
	if err := e.RunFor(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	from := e.Journal().Last()
	for _, target := range e.Targets() {
		e.Do(command.Power{Verb: command.Start, Target: target}) // everything runs: refused, but never unknown
	}
	if err := e.RunFor(t.Context(), time.Minute+time.Second); err != nil {
		t.Fatal(err)
	}
	n := 0
	recs, _ := e.Journal().Read(nil, from+1, 1<<16)
	for _, r := range recs {
		if d, ok := r.Event.(event.CommandDone); ok {
			n++
			if !strings.HasSuffix(d.Error, "is running already") {
				t.Errorf("%s: %q", d.Text, d.Error)
			}
		}
	}
	if n != len(e.Targets()) || n < 25 {
		t.Errorf("%d answers to %d targets", n, len(e.Targets()))
	}
}

func TestAScenarioFilePlaysItsSteps(t *testing.T) {
	besides(t, engine.StoreMemory)
	s, err := scenario.Load("testdata/lesson.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, run{scenario: &s, seed: 1, length: 4 * time.Minute, do: []string{"90s get pods"}})
	var got []string
	for _, c := range p.world.Commands {
		at := p.since(c.At)
		if len(got) == 0 { // the manifests wait until all nodes are ready
			if at < 5*time.Second || at > 15*time.Second {
				t.Errorf("the manifests were applied after %s", at)
			}
			at = 0
		}
		got = append(got, at.String()+" "+c.Text)
		if c.Error != "" {
			t.Errorf("%s: %s", c.Text, c.Error)
		}
	}
	want := []string{"0s apply -f lesson manifests", "40s kubectl scale deployment web --replicas=3 -n shop", "1m0s kill worker-1", "1m30s kubectl get pods", "2m0s start worker-1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("commands:\n%s", strings.Join(got, "\n"))
	}
	d, ok := p.world.Deployment("shop", "web")
	if !ok || d.Status.ReadyReplicas != 3 {
		t.Errorf("the deployment of the manifests: %+v", d)
	}
	zones := map[string]int{}
	for _, n := range p.summary.Nodes {
		o, _ := p.world.Nodes.Get(n.Name)
		zones[o.Object.Labels["topology.kubernetes.io/zone"]]++
	}
	if zones["north"] != 2 || zones["south"] != 1 || len(p.summary.Nodes) != 4 {
		t.Errorf("nodes by zone: %v", zones)
	}
	if p.failed {
		t.Error("the run counts as failed")
	}
}

func TestAFailedCommandMakesTheRunFail(t *testing.T) {
	besides(t, engine.StoreMemory)
	if p := play(t, run{seed: 1, length: time.Minute, do: []string{"30s start worker-1"}}); !p.failed {
		t.Error("a run with a failed command counts as good")
	}
}
