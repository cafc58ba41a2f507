package apitest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestAPodsLifeIsReadFromTheLog(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(2)
	from := c.Journal.Last()
	c.Create(apitest.Pod("a"))
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		pod, err := kubeapi.Fetch[*corev1.Pod](p, client, kinds.Pods, "default", "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := kubeapi.Bind(p, client, pod, "worker-2"); err != nil {
			t.Fatal(err)
		}
		if err := kubeapi.Remove(p, client, kinds.Pods, "default", "a", nil); err != nil {
			t.Fatal(err)
		}
	})
	c.Run(time.Minute)
	want := []string{
		"added pods a generation=1 phase=Pending",
		"modified pods a generation=1 node=worker-2 phase=Pending conditions=[PodScheduled=True]",
		"modified pods a generation=2 deleting grace=30 node=worker-2 phase=Pending conditions=[PodScheduled=True]",
	}
	if got := c.LogSince(from, kinds.Pods); !slices.Equal(got, want) {
		t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if f := c.Failures(); len(f) > 0 {
		t.Errorf("requests failed: %v", f)
	}
}

func TestAnInformerFollowsTheCluster(t *testing.T) {
	c := apitest.New(t)
	pr := c.Process("master-1", "scheduler", apitest.Scheduler)
	inf := kubeapi.NewInformer[*corev1.Pod](pr, kinds.Pods, kubeapi.InformerOptions{})
	var heard []string
	var causes [][]string
	inf.Handle(func(ch kubeapi.Change[*corev1.Pod]) {
		heard = append(heard, string(ch.Type)+" "+string(ch.Key()))
		causes = append(causes, c.Chain(ch.Cause))
	})
	inf.Start()
	c.Run(time.Second)
	if !inf.Synced() {
		t.Fatal("the informer has not synced within a second")
	}
	c.Command("create a pod", func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, apitest.Pod("a")); err != nil {
			t.Fatal(err)
		}
		if err := kubeapi.Remove(p, client, kinds.Pods, "default", "a", nil); err != nil {
			t.Fatal(err)
		}
	})
	c.Run(time.Second)
	if want := []string{"ADDED default/a", "MODIFIED default/a", "DELETED default/a"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
	for i, chain := range causes {
		if want := []string{"ObjectChanged", "RequestReceived", "CommandGiven"}; !slices.Equal(chain, want) {
			t.Errorf("%s goes back over %v, want %v", heard[i], chain, want)
		}
	}
}

func TestTheSameSeedMakesTheSameJournal(t *testing.T) {
	run := func() []event.Record {
		c := apitest.New(t, apitest.Masters(3), apitest.Seed(7))
		c.Nodes(3)
		c.Create(apitest.Deployment("web", 3))
		c.Run(2 * time.Minute)
		return c.Records()
	}
	a, b := run(), run()
	if len(a) != len(b) {
		t.Fatalf("%d and %d records", len(a), len(b))
	}
	for i := range a {
		if x, y := describe(a[i]), describe(b[i]); x != y {
			t.Fatalf("record %d differs:\n%s\n%s", i+1, x, y)
		}
	}
}

func describe(r event.Record) string {
	b, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	text := string(b)
	if ch, ok := r.Event.(event.ObjectChanged); ok {
		o, _ := json.Marshal(ch.Object)
		text += string(o)
	}
	return text
}
