package controller_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

func count(c *apitest.Cluster) string {
	return fmt.Sprintf("%d deployments, %d replica sets, %d pods", len(c.List(kinds.Deployments)), len(c.List(kinds.ReplicaSets)), len(c.List(kinds.Pods)))
}

func TestDeletionCascades(t *testing.T) {
	for _, x := range []struct {
		policy      metav1.DeletionPropagation
		soon, later string
	}{
		{metav1.DeletePropagationBackground, "0 deployments, 0 replica sets, 3 pods", "0 deployments, 0 replica sets, 0 pods"},
		{metav1.DeletePropagationForeground, "1 deployments, 1 replica sets, 3 pods", "0 deployments, 0 replica sets, 0 pods"},
		{metav1.DeletePropagationOrphan, "0 deployments, 1 replica sets, 3 pods", "0 deployments, 1 replica sets, 3 pods"},
	} {
		t.Run(string(x.policy), func(t *testing.T) {
			c := startManager(t)
			w := startPods(c)
			w.readyAfter, w.goneAfter = time.Second, 5*time.Second
			c.Create(nginx(3, "nginx:1.27"))
			c.Run(5 * time.Second)
			user{c}.remove(x.policy)
			c.Run(2 * time.Second)
			if got := count(c); got != x.soon {
				t.Errorf("soon: %s, want %s", got, x.soon)
			}
			c.Run(30 * time.Second)
			if got := count(c); got != x.later {
				t.Errorf("later: %s, want %s", got, x.later)
			}
			for _, o := range c.List(kinds.ReplicaSets) {
				if len(o.GetOwnerReferences()) > 0 {
					t.Errorf("%s still names owners", o.GetName())
				}
			}
			for _, f := range c.Failures() {
				if !strings.Contains(f, "409 Operation cannot be fulfilled") && !strings.Contains(f, "404") {
					t.Error(f)
				}
			}
		})
	}
}

func TestAForegroundDeletionEndsWithTheOwner(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, 5*time.Second
	c.Create(nginx(2, "nginx:1.27"))
	c.Run(5 * time.Second)
	from := c.Journal.Last()
	user{c}.remove(metav1.DeletePropagationForeground)
	c.Run(time.Minute)
	var gone []string
	for _, l := range c.LogSince(from) {
		if strings.HasPrefix(l, "deleted ") && !strings.HasPrefix(l, "deleted events") {
			gone = append(gone, strings.Fields(l)[1])
		}
	}
	if got := strings.Join(gone, " "); got != "pods pods replicasets deployments" {
		t.Errorf("they went in the order %s", got)
	}
}

func TestAnObjectWhoseOwnerNeverExistedIsCollected(t *testing.T) {
	c := startManager(t)
	pod := apitest.Pod("stray")
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "never", UID: types.UID("00000000-0000-4000-8000-000000000000")}}
	c.Create(pod)
	c.Run(5 * time.Second)
	if c.Get(kinds.Pods, "default", "stray") != nil {
		t.Fatal("it is still there")
	}
}

// TestANewLeaderThatFindsEverythingInOrderWritesNothing is the law of reconcilers: a second run has nothing to do.
func TestANewLeaderThatFindsEverythingInOrderWritesNothing(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(4)
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, time.Second
	first := c.Process("master-1", "kube-controller-manager", apitest.ControllerManager)
	controller.Start(first, controller.Config{})
	c.Run(3 * time.Second)
	c.Create(nginx(3, "nginx:1.27"))
	c.Create(apitest.Deployment("web", 2))
	c.Run(10 * time.Second)
	user{c}.image("nginx:1.28")
	c.Run(time.Minute)
	first.Group.Kill()
	controller.Start(c.Process("master-2", "kube-controller-manager", apitest.ControllerManager), controller.Config{})
	from := c.Journal.Last()
	c.Run(2 * time.Minute)
	led := false
	for _, r := range c.Records() {
		if r.Seq <= from {
			continue
		}
		switch e := r.Event.(type) {
		case event.Leading:
			led = led || e.Leading && e.Host == "master-2"
		case event.ObjectChanged:
			if line := apitest.Line(e.Object); !strings.HasPrefix(line, "leases") && !strings.Contains(line, "LeaderElection") && !strings.Contains(line, "RegisteredNode") {
				t.Errorf("%s %s", e.Type, line)
			}
		case event.Reconciled:
			t.Errorf("%s on %s: %s%s", e.Controller, e.Key, e.Decision, e.Error)
		}
	}
	if !led {
		t.Fatal("the second one never led")
	}
}

func TestAStandbyHoldsStillUntilItLeads(t *testing.T) {
	c := startManager(t)
	controller.Start(c.Process("master-2", "kube-controller-manager", apitest.ControllerManager), controller.Config{})
	startPods(c).readyAfter = time.Second
	c.Create(nginx(3, "nginx:1.27"))
	c.Run(30 * time.Second)
	for _, r := range c.Records() {
		if _, ok := r.Event.(event.Reconciled); ok && r.Actor.Host() == "master-2" {
			t.Fatalf("the standby worked: %+v", r)
		}
	}
}

func TestAStoppedManagerHandsOverWithinSeconds(t *testing.T) {
	c := apitest.New(t, apitest.Masters(2))
	first := controller.Start(c.Process("master-1", "kube-controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(3 * time.Second)
	controller.Start(c.Process("master-2", "kube-controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(10 * time.Second)
	order := c.Journal.Emit(event.You, 0, event.CommandGiven{Text: "stop master-1/kube-controller-manager"})
	first.Stop(order)
	c.Run(7 * time.Second)
	c.Create(nginx(1, "nginx:1.27"))
	c.Run(2 * time.Second)
	if got := count(c); got != "1 deployments, 1 replica sets, 1 pods" {
		t.Errorf("nine seconds after the stop: %s", got)
	}
	if len(c.Exits) != 1 || !strings.HasPrefix(c.Exits[0], "master-1/kube-controller-manager") {
		t.Errorf("exits %v", c.Exits)
	}
}

func TestAManagerThatCannotReachItsAPIServerExits(t *testing.T) {
	c := startManager(t)
	cut := fault.Fault{Kind: fault.Cut, A: "master-1/kube-controller-manager", B: "master-1/apiserver"}
	c.Net.AddFault(c.Journal.Emit(event.Engine, 0, event.FaultAdded{Fault: cut}), cut)
	c.Run(15 * time.Second)
	if want := []string{"master-1/kube-controller-manager: leaderelection lost"}; !slices.Equal(c.Exits, want) {
		t.Errorf("exits %v, want %v", c.Exits, want)
	}
}

// TestEveryChangeLeadsBackToTheUser follows the causes of all that came of one command.
func TestEveryChangeLeadsBackToTheUser(t *testing.T) {
	c := startManager(t)
	w := startPods(c)
	w.readyAfter, w.goneAfter = time.Second, time.Second
	c.Create(nginx(3, "nginx:1.27"))
	c.Run(10 * time.Second)
	from := c.Journal.Last()
	command := user{c}.image("nginx:1.28")
	c.Run(time.Minute)
	n := 0
	for _, r := range c.Records() {
		ch, ok := r.Event.(event.ObjectChanged)
		if !ok || r.Seq <= from || kinds.MustOf(ch.Object) == kinds.Leases {
			continue
		}
		n++
		seq := r.Seq
		for steps := 0; seq != command; steps++ {
			rec, ok := c.Journal.Get(seq)
			if !ok || rec.Cause == 0 || steps > 10000 {
				t.Fatalf("%s %s leads back to %+v only", ch.Type, apitest.Line(ch.Object), rec)
			}
			seq = rec.Cause
		}
	}
	if n < 40 {
		t.Fatalf("only %d changes", n)
	}
}

func TestTheSameSeedMakesTheSameJournal(t *testing.T) {
	run := func() []byte {
		c := startManager(t, apitest.Seed(7))
		w := startPods(c)
		w.readyAfter, w.goneAfter = time.Second, time.Second
		c.Create(nginx(5, "nginx:1.27"))
		c.Run(10 * time.Second)
		user{c}.image("nginx:1.28")
		c.Run(30 * time.Second)
		user{c}.remove(metav1.DeletePropagationForeground)
		c.Run(30 * time.Second)
		var b bytes.Buffer
		for _, r := range c.Records() {
			data, err := json.Marshal(r.Event)
			if err != nil {
				t.Fatal(err)
			}
			line := ""
			if ch, ok := r.Event.(event.ObjectChanged); ok {
				obj, _ := json.Marshal(ch.Object)
				line = string(obj)
			}
			fmt.Fprintf(&b, "%d %v %s %d %s %s %s\n", r.Seq, r.At, r.Actor, r.Cause, r.Event.Name(), data, line)
		}
		return b.Bytes()
	}
	a, b := run(), run()
	if !bytes.Equal(a, b) {
		x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
		for i := range min(len(x), len(y)) {
			if !bytes.Equal(x[i], y[i]) {
				t.Fatalf("they part at line %d:\n%s\n%s", i, x[i], y[i])
			}
		}
		t.Fatalf("%d and %d lines", len(x), len(y))
	}
}
