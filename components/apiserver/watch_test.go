package apiserver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// follower writes down what a watch delivers.
type follower struct {
	got  []string
	last string // resourceVersion
	err  error
	at   time.Time // of its end
}

// follow opens a watch from a client of its own.
func follow(c *apitest.Cluster, r kubeapi.Request) *follower {
	f := &follower{}
	pr := c.Process("watcher", fmt.Sprintf("client-%p", f), apitest.Admin)
	pr.Go("watch", func(p *sim.Proc) {
		s, err := pr.Client.Watch(p, &r)
		for err == nil {
			var e kubeapi.WatchEvent
			if e, err = s.Recv(p); err != nil {
				break
			}
			text := e.Type
			if e.Object != nil {
				text += " " + e.Object.GetName() + "@" + e.Object.GetResourceVersion()
				if e.Object.GetResourceVersion() != e.ResourceVersion && e.ResourceVersion != "" {
					text += " but version " + e.ResourceVersion
				}
			}
			if e.Err != nil {
				text += " " + e.Err.Error()
			}
			f.got = append(f.got, text)
			f.last = e.ResourceVersion
			if e.Type == kubeapi.WatchError {
				s.Close(e.Err)
			}
		}
		f.err, f.at = err, p.Now()
	})
	c.Run(5 * time.Second)
	return f
}

func (f *follower) expect(t *testing.T, want ...string) {
	t.Helper()
	expectLog(t, f.got, want...)
}

// version names an object as a follower writes it down.
func version(o kinds.Object) string { return o.GetName() + "@" + o.GetResourceVersion() }

func TestSelectorsTurnChangesIntoAdditionsAndDeletions(t *testing.T) {
	c := apitest.New(t)
	onNode := func(n string) fields.Selector { return fields.OneTermEqualSelector("spec.nodeName", n) }
	node := follow(c, kubeapi.Request{Kind: kinds.Pods, Fields: onNode("worker-1")})
	idle := follow(c, kubeapi.Request{Kind: kinds.Pods, Fields: onNode("")})
	labelled := follow(c, kubeapi.Request{Kind: kinds.Pods, Labels: labels.SelectorFromSet(labels.Set{"tier": "x"})})
	other := follow(c, kubeapi.Request{Kind: kinds.Pods, Namespace: "kube-system"})

	a := c.Create(apitest.Pod("a"))
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Bind(p, client, a.(*corev1.Pod), "worker-1"); err != nil {
			t.Fatal(err)
		}
	})
	b := c.Get(kinds.Pods, "default", "a")
	l, _ := c.MergePatch(kinds.Pods, "default", "a", "", `{"metadata":{"labels":{"tier":"x"}}}`)
	u, _ := c.MergePatch(kinds.Pods, "default", "a", "", `{"metadata":{"labels":{"tier":"y"}}}`)
	c.Delete(kinds.Pods, "default", "a", grace(0))
	c.Run(time.Second)
	last := revisionOfLast(t, c)

	node.expect(t, "ADDED "+version(b), "MODIFIED "+version(l), "MODIFIED "+version(u), "MODIFIED a@"+fmt.Sprint(last-1), "DELETED a@"+fmt.Sprint(last))
	idle.expect(t, "ADDED "+version(a), "DELETED "+version(b))
	labelled.expect(t, "ADDED "+version(l), "DELETED "+version(u))
	other.expect(t)
}

func revisionOfLast(t *testing.T, c *apitest.Cluster) (rev int64) {
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Sscan(resp.ResourceVersion, &rev)
	})
	return rev
}

func TestAWatchGoesOnFromAnyVersionStillRemembered(t *testing.T) {
	c := apitest.New(t)
	a := c.Create(apitest.Pod("a"))
	b := c.Create(apitest.Pod("b"))
	d := c.Create(apitest.Pod("c"))
	follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: a.GetResourceVersion()}).expect(t, "ADDED "+version(b), "ADDED "+version(d))
	follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: "0"}).expect(t, "ADDED "+version(a), "ADDED "+version(b), "ADDED "+version(d))

	// Changes older than the history's age are gone once enough others came after them.
	for i := range 600 {
		if i == 200 {
			c.Run(2 * time.Minute)
		}
		if _, err := c.MergePatch(kinds.Pods, "default", "a", "", fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	f := follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: a.GetResourceVersion()})
	if len(f.got) != 0 || f.err == nil || !strings.HasPrefix(f.err.Error(), "too old resource version: "+a.GetResourceVersion()+" (") {
		t.Errorf("a watch from version %s: %d events, %v", a.GetResourceVersion(), len(f.got), f.err)
	}
	f = follow(c, kubeapi.Request{Kind: kinds.Pods, ResourceVersion: "99999"})
	if f.err == nil || !strings.HasPrefix(f.err.Error(), "Timeout: Too large resource version: 99999, current: ") {
		t.Errorf("a watch from the future: %v", f.err)
	}
}

func TestAWatchGetsBookmarksAndEndsWithinAnHour(t *testing.T) {
	c := apitest.New(t)
	began := c.Loop.Now()
	var fs []*follower
	for range 10 {
		fs = append(fs, follow(c, kubeapi.Request{Kind: kinds.Pods, SendBookmarks: true}))
	}
	c.Run(90 * time.Minute)
	ends := map[time.Duration]bool{}
	for _, f := range fs {
		lived := f.at.Sub(began)
		ends[lived] = true
		if !errors.Is(f.err, kubeapi.ErrWatchDone) || lived < 30*time.Minute || lived > 62*time.Minute {
			t.Errorf("ended after %v with %v", lived, f.err)
		}
		if n := len(f.got); n < 29 || n > 62 {
			t.Errorf("%d bookmarks in %v", n, lived)
		}
	}
	if len(ends) < 5 {
		t.Errorf("the watches end together: %v", ends)
	}
}

func TestEventsLiveForAnHour(t *testing.T) {
	c := apitest.New(t)
	e := func(name string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "a"}, Reason: "R"}
	}
	c.Create(e("once"))
	c.Create(e("again"))
	c.Run(30 * time.Minute)
	c.MergePatch(kinds.Events, "default", "again", "", `{"count":2}`)
	c.Run(29 * time.Minute)
	if n := len(c.List(kinds.Events)); n != 2 {
		t.Fatalf("%d events after 59 minutes", n)
	}
	c.Run(2*time.Minute + 2*time.Second) // the lease it hangs on is a minute longer
	if l := c.List(kinds.Events); len(l) != 1 || l[0].GetName() != "again" {
		t.Fatalf("after 61 minutes: %d events", len(l))
	}
	c.KillServer("master-1") // the expiry must outlive the server
	c.StartServer("master-1")
	c.Run(time.Hour)
	if n := len(c.List(kinds.Events)); n != 0 {
		t.Fatalf("%d events after two hours", n)
	}
}

func TestHistoryOlderThanFiveMinutesIsCompacted(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Create(apitest.Pod("a"))
	before := c.Store.Status()[0].Revision
	for i := range 30 {
		c.MergePatch(kinds.Pods, "default", "a", "", fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i))
		c.Run(time.Minute)
	}
	st := c.Store.Status()[0]
	if st.Compacted < before || st.Compacted > st.Revision-5 || st.Compacted < st.Revision-12 {
		t.Errorf("compacted at %d, the store is at %d, one change a minute", st.Compacted, st.Revision)
	}
}

func TestListsInPages(t *testing.T) {
	c := apitest.New(t)
	for i := range 7 {
		c.Create(apitest.Pod(fmt.Sprintf("p-%d", i)))
	}
	var names []string
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		token, version := "", ""
		for page := 0; ; page++ {
			resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default", Limit: 3, Continue: token})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range resp.Items {
				names = append(names, o.GetName())
			}
			if version == "" {
				version = resp.ResourceVersion
				kubeapi.Make(p, client, apitest.Pod("p-5a")) // made after the first page: not in this list
			} else if resp.ResourceVersion != version {
				t.Errorf("page %d is of version %s, the first of %s", page, resp.ResourceVersion, version)
			}
			if token = resp.Continue; token == "" {
				return
			}
		}
	})
	if got := strings.Join(names, " "); got != "p-0 p-1 p-2 p-3 p-4 p-5 p-6" {
		t.Errorf("the pages hold %s", got)
	}
}

func TestAListByNodeFollowsThePodsMoves(t *testing.T) {
	c := apitest.New(t)
	byNode := func(n string) (names string) {
		c.Do(func(p *sim.Proc, client *kubeapi.Client) {
			items, _, err := kubeapi.FetchList[*corev1.Pod](p, client, kinds.Pods, kubeapi.ListOptions{Fields: fields.OneTermEqualSelector("spec.nodeName", n)})
			if err != nil {
				t.Fatal(err)
			}
			for _, pod := range items {
				names += pod.Name + " "
			}
		})
		return names
	}
	a := c.Create(apitest.Pod("a"))
	c.Create(apitest.Pod("b", on("n")))
	if idle, n := byNode(""), byNode("n"); idle != "a " || n != "b " {
		t.Errorf("idle %q, on n %q", idle, n)
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) { kubeapi.Bind(p, client, a.(*corev1.Pod), "n") })
	c.Delete(kinds.Pods, "default", "b", grace(0))
	if idle, n := byNode(""), byNode("n"); idle != "" || n != "a " {
		t.Errorf("after binding a and deleting b: idle %q, on n %q", idle, n)
	}
}
