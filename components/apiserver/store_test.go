package apiserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

func anEvent(name string) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "a"}, Reason: "R"}
}

// stored reads straight from the store.
func stored(c *apitest.Cluster, key, end string) (res raftstore.RangeResult) {
	c.Store.Store("master-1").Range(context.Background(), raftstore.RangeRequest{Range: mvcc.Range{Key: key, End: end}}, func(r raftstore.RangeResult) { res = r })
	return res
}

// leases are those that Events hang on, with how many do.
func leases(c *apitest.Cluster) map[mvcc.LeaseID]int {
	prefix := kinds.Events.Prefix
	n := map[mvcc.LeaseID]int{}
	for _, kv := range stored(c, prefix, mvcc.PrefixEnd(prefix)).KVs {
		n[kv.Lease]++
	}
	return n
}

func TestEventsOfAMinuteShareALease(t *testing.T) {
	c := apitest.New(t)
	for i := range 30 {
		c.Create(anEvent(fmt.Sprint("early-", i)))
		c.Run(time.Second)
	}
	if l := leases(c); len(l) != 1 || l[0] != 0 {
		t.Fatalf("events of half a minute hang on the leases %v", l)
	}
	c.Run(40 * time.Second)
	c.Create(anEvent("late"))
	if l := leases(c); len(l) != 2 {
		t.Fatalf("an event 70 s later hangs on the leases %v", l)
	}
}

func TestALeaseHasAtMostAThousandEvents(t *testing.T) {
	c := apitest.New(t)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		for i := range 1500 {
			if _, err := kubeapi.Make(p, client, anEvent(fmt.Sprint("e-", i))); err != nil {
				t.Fatal(err)
			}
		}
	})
	l := leases(c)
	if len(l) != 2 {
		t.Fatalf("1500 events hang on %v", l)
	}
	for id, n := range l {
		if n > 1000 || id == 0 {
			t.Errorf("lease %d has %d", id, n)
		}
	}
}

func TestOtherObjectsHangOnNoLease(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Pod("a"))
	for _, kv := range stored(c, kinds.Pods.Prefix, mvcc.PrefixEnd(kinds.Pods.Prefix)).KVs {
		if kv.Lease != 0 {
			t.Errorf("%s hangs on lease %d", kv.Key, kv.Lease)
		}
	}
}

func TestAStoreOutOfSpaceIsToldInItsWords(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Pod("a"))
	c.Store.SetQuota(1)
	for name, r := range map[string]kubeapi.Request{
		"create":          {Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: "default", Object: apitest.Pod("b")},
		"create an Event": {Verb: kubeapi.Create, Kind: kinds.Events, Namespace: "default", Object: anEvent("e")},
	} {
		text, _ := timed(c, &r)
		if text != "etcdserver: mvcc: database space exceeded" {
			t.Errorf("%s: %q", name, text)
		}
		c.Do(func(p *sim.Proc, client *kubeapi.Client) {
			_, err := client.Do(p, &r)
			var status apierrors.APIStatus
			if !errors.As(err, &status) || status.Status().Code != 500 || status.Status().Reason != "" {
				t.Errorf("%s: %#v", name, err)
			}
		})
	}
	if text, _ := timed(c, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "a"}); text != "" {
		t.Errorf("a read: %q", text)
	}
	if ok, why := c.Server.Ready(); !ok {
		t.Errorf("readiness needs no space: %s", why)
	}
	c.Delete(kinds.Pods, "default", "a", grace(0))
	if n := len(c.List(kinds.Pods)); n != 0 {
		t.Errorf("a deletion without grace left %d pods", n)
	}
	c.Store.SetQuota(0)
	c.Store.Store("master-1").Disarm(context.Background(), func(raftstore.Written) {})
	c.Create(apitest.Pod("c"))
}

// TestWhatCanBeDeletedFromAFullStore: what needs no write but the deletion itself. What is marked first, for a grace period or a finalizer, cannot, and stays as it was.
func TestWhatCanBeDeletedFromAFullStore(t *testing.T) {
	held := func(m *metav1.ObjectMeta) { m.Finalizers = []string{"example.org/f"} }
	pod := func(changes ...func(*corev1.Pod)) kinds.Object {
		return apitest.Pod("a", append([]func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeName = "worker-1" }}, changes...)...)
	}
	foreground := metav1.DeletePropagationForeground
	for _, tc := range []struct {
		what   string
		kind   *kinds.Kind
		object kinds.Object
		begun  bool // its deletion, with a grace period, while there was room
		o      *metav1.DeleteOptions
		goes   bool
	}{
		{"a pod with its grace period", kinds.Pods, pod(), false, nil, false},
		{"a pod with another one", kinds.Pods, pod(), false, grace(5), false},
		{"a pod without", kinds.Pods, pod(), false, grace(0), true},
		{"a pod without, whose deletion had begun", kinds.Pods, pod(), true, grace(0), true},
		{"a pod with a shorter one, whose deletion had begun", kinds.Pods, pod(), true, grace(5), false},
		{"a pod without, but with a finalizer", kinds.Pods, pod(func(p *corev1.Pod) { held(&p.ObjectMeta) }), false, grace(0), false},
		{"a deployment", kinds.Deployments, apitest.Deployment("a", 0), false, nil, true},
		{"a deployment after what it owns", kinds.Deployments, apitest.Deployment("a", 0), false, &metav1.DeleteOptions{PropagationPolicy: &foreground}, false},
		{"a deployment with a finalizer", kinds.Deployments, apitest.Deployment("a", 0, func(d *appsv1.Deployment) { held(&d.ObjectMeta) }), false, nil, false},
	} {
		t.Run(tc.what, func(t *testing.T) {
			c := apitest.New(t)
			if tc.kind == kinds.Pods {
				c.Create(apitest.Node("worker-1"))
			}
			c.Create(tc.object)
			if tc.begun {
				c.Delete(tc.kind, "default", "a", grace(30))
			}
			before := c.List(tc.kind)
			c.Store.SetQuota(1)
			text, _ := timed(c, &kubeapi.Request{Verb: kubeapi.Delete, Kind: tc.kind, Namespace: "default", Name: "a", Delete: tc.o})
			after := c.List(tc.kind)
			switch {
			case tc.goes && (text != "" || len(after) != 0):
				t.Errorf("%q, and there are %d", text, len(after))
			case !tc.goes && (text != raftstore.ErrNoSpace.Error() || len(after) != 1 || after[0].GetResourceVersion() != before[0].GetResourceVersion()):
				t.Errorf("%q, and there are %d", text, len(after))
			}
		})
	}
}

// compactions reads the clock that servers share.
func compactions(c *apitest.Cluster) (times int64) {
	for _, kv := range stored(c, "compact_rev_key", "").KVs {
		times = kv.Version
	}
	return times
}

func TestOneServerCompactsAndAnotherTakesOver(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	for i := range 20 {
		c.Create(apitest.Pod(fmt.Sprint("a-", i)))
		c.Run(time.Minute)
	}
	if n := compactions(c); n < 3 || n > 4 {
		t.Fatalf("%d compactions by three servers in 20 minutes", n)
	}
	for _, m := range []string{"master-1", "master-2"} {
		c.KillServer(m)
	}
	before, compacted := compactions(c), c.Store.Status()[0].Compacted
	c.Run(21 * time.Minute)
	if n := compactions(c) - before; n < 3 || n > 4 {
		t.Errorf("%d compactions by the server that is left, in 21 minutes", n)
	}
	if now := c.Store.Status()[0].Compacted; now <= compacted {
		t.Errorf("compacted at %d as before", now)
	}
}

func TestARestoreEndsWatchesWith410AndNoVersionFalls(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Pod("kept"))
	var file bytes.Buffer
	if _, err := c.Store.Backup("master-1", &file); err != nil {
		t.Fatal(err)
	}
	late := c.Create(apitest.Pod("forgotten"))
	f := follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: late.GetResourceVersion()})
	c.Store.KillMember("master-1")
	info, err := c.Store.Restore(&file)
	if err != nil {
		t.Fatal(err)
	}
	c.Store.StartMember("master-1")
	c.Run(5 * time.Second)
	if !apierrors.IsResourceExpired(f.err) && !strings.Contains(fmt.Sprint(f.err), "too old") {
		t.Errorf("the watch ended with %v", f.err)
	}
	pods := c.List(kinds.Pods)
	if len(pods) != 1 || pods[0].GetName() != "kept" {
		t.Fatalf("after the restore: %d pods", len(pods))
	}
	made := c.Create(apitest.Pod("new"))
	if rev := made.GetResourceVersion(); len(rev) < len(fmt.Sprint(info.Restored)) || info.Restored <= info.Revision {
		t.Errorf("the first version after the restore to %d is %s", info.Restored, rev)
	}
	f = follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: late.GetResourceVersion()})
	if f.err == nil || !strings.HasPrefix(f.err.Error(), "too old resource version: "+late.GetResourceVersion()+" (") {
		t.Errorf("a watch from before the restore: %v", f.err)
	}
	f = follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: "9000000000"})
	if f.err == nil || !strings.HasPrefix(f.err.Error(), "Timeout: Too large resource version: 9000000000, current: ") {
		t.Errorf("a watch from the future: %v", f.err)
	}
}
