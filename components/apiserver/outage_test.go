package apiserver_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// timed runs one request and tells its error and how long it took.
func timed(c *apitest.Cluster, r *kubeapi.Request) (text string, took time.Duration) {
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		began := p.Now()
		if _, err := client.Do(p, r); err != nil {
			text = err.Error()
		}
		took = p.Now().Sub(began).Round(100 * time.Millisecond)
	})
	return text, took
}

func TestWithoutQuorum(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Create(apitest.Pod("a"))
	c.Store.KillMember("master-2")
	c.Store.KillMember("master-3")
	for _, tc := range []struct {
		what string
		r    kubeapi.Request
		text string
		took time.Duration
	}{
		{"a write fails after 7 s", kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Object: apitest.Pod("b")}, "etcdserver: request timed out", 7 * time.Second},
		{"a read hangs for a minute", kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "a"}, "Timeout: request did not complete within the allotted timeout", 60 * time.Second},
		{"a list hangs for a minute", kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods}, "Timeout: request did not complete within the allotted timeout", 60 * time.Second},
		{"a list from the cache works", kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, ResourceVersion: "0"}, "", 0},
	} {
		if text, took := timed(c, &tc.r); text != tc.text || took != tc.took {
			t.Errorf("%s: %q after %v, want %q after %v", tc.what, text, took, tc.text, tc.took)
		}
	}
	if ok, why := c.Server.Live(); ok || why != "[-]etcd failed: reason withheld" {
		t.Errorf("live: %v, %s", ok, why)
	}
	c.Store.StartMember("master-2")
	c.Run(4 * time.Second)
	if ok, why := c.Server.Ready(); !ok {
		t.Errorf("4 s after quorum returned: %s", why)
	}
	if text, _ := timed(c, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Object: apitest.Pod("c")}); text != "" {
		t.Errorf("a write after quorum returned: %s", text)
	}
}

func TestReadinessFallsWithinThreeSecondsOfQuorum(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Run(5 * time.Second)
	c.Store.KillMember("master-2")
	c.Store.KillMember("master-3")
	began := c.Loop.Now()
	c.RunUntil(time.Minute, func() bool { ok, _ := c.Server.Ready(); return !ok })
	if took := c.Loop.Now().Sub(began); took > 3100*time.Millisecond {
		t.Errorf("not ready after %v", took)
	}
}

func TestAServerThatCannotReachTheStoreGivesUp(t *testing.T) {
	for _, tc := range []struct {
		what    string
		kill    []string
		after   time.Duration
		listens bool
		want    string
	}{
		{"no member on its machine", []string{"master-1"}, 20 * time.Second, false, "master-1/apiserver: Error creating leases: error creating storage factory: context deadline exceeded"},
		{"a member without quorum", []string{"master-2", "master-3"}, 60 * time.Second, true,
			`master-1/apiserver: PostStartHook "start-service-ip-repair-controllers" failed: unable to perform initial IP and Port allocation check`},
	} {
		t.Run(tc.what, func(t *testing.T) {
			c := apitest.New(t, apitest.Masters(3))
			c.KillServer("master-1")
			for _, m := range tc.kill {
				c.Store.KillMember(m)
			}
			began := c.Loop.Now()
			c.StartServer("master-1")
			c.Run(10 * time.Second)
			if c.Server.Listening() != tc.listens {
				t.Errorf("listens: %v", c.Server.Listening())
			}
			if tc.listens {
				text, _ := timed(c, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, ResourceVersion: "0"})
				if text != "storage is (re)initializing" {
					t.Errorf("a list from a cache that is not filled: %q", text)
				}
			}
			c.RunUntil(2*time.Minute, func() bool { return len(c.Exits) > 0 })
			if took := c.Loop.Now().Sub(began).Round(time.Second); len(c.Exits) != 1 || c.Exits[0] != tc.want || took != tc.after {
				t.Errorf("exits %v after %v, want %s after %v", c.Exits, took, tc.want, tc.after)
			}
		})
	}
}

func TestWatchesOutliveAnAbsenceOfTheMember(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	f := follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: "0"}) // of master-1
	c.Store.KillMember("master-1")
	other := c.Process("master-2", "kubectl", apitest.Admin)
	c.DoAs(other, func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, apitest.Pod("a")); err != nil {
			t.Fatal(err)
		}
	})
	c.Run(20 * time.Second)
	if len(f.got) != 0 || f.err != nil {
		t.Fatalf("while the member is away the watch says %v, %v", f.got, f.err)
	}
	c.Store.StartMember("master-1")
	c.Run(5 * time.Second)
	if len(f.got) != 1 || !strings.HasPrefix(f.got[0], "ADDED a@") || f.err != nil {
		t.Errorf("after the member's return: %v, %v", f.got, f.err)
	}
}

func TestAnInformerSurvivesTheDeathOfItsServer(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	pr := c.Process("master-1", "scheduler", apitest.Scheduler)
	inf := kubeapi.NewInformer[*corev1.Pod](pr, kinds.Pods, kubeapi.InformerOptions{})
	inf.Start()
	c.Run(time.Second)
	c.KillServer("master-1")
	c.Create(apitest.Pod("a"))
	c.Run(time.Minute)
	if _, ok := inf.Get("default/a"); !ok {
		t.Errorf("a minute after its server died the informer holds %d pods", inf.Len())
	}
}

func TestReadsFromAnotherServerAreNeverOlderThanAWrite(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	writer, reader := c.Process("master-1", "w", apitest.Admin), c.Process("master-3", "r", apitest.Admin)
	for i := range 50 {
		name := "p-" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		c.DoAs(writer, func(p *sim.Proc, client *kubeapi.Client) {
			if _, err := kubeapi.Make(p, client, apitest.Pod(name)); err != nil {
				t.Fatal(err)
			}
			items, _, err := kubeapi.FetchList[*corev1.Pod](p, reader.Client, kinds.Pods, kubeapi.ListOptions{})
			if err != nil || len(items) != i+1 {
				t.Fatalf("the list after write %d holds %d pods, %v", i+1, len(items), err)
			}
		})
	}
}
