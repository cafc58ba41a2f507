package apiserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// watchFacts lists the watches that were opened and closed.
func watchFacts(c *apitest.Cluster) (out []string) {
	for _, r := range c.Records() {
		switch e := r.Event.(type) {
		case event.WatchOpened:
			out = append(out, fmt.Sprintf("%s opened %d on %s: %s %s %s from %d", strings.Split(string(e.Client), "-")[0], e.Watch, e.Server, e.Resource, e.Namespace, e.Selector, e.Revision))
		case event.WatchClosed:
			out = append(out, fmt.Sprintf("%s closed %d on %s: %s", strings.Split(string(e.Client), "-")[0], e.Watch, e.Server, e.Reason))
		}
	}
	return out
}

func TestAWatchIsToldWhenItOpensAndWhyItEnds(t *testing.T) {
	for _, tc := range []struct {
		what string
		end  func(c *apitest.Cluster, pr *kubeapi.Process, s *kubeapi.WatchStream)
		wait time.Duration
		want string
	}{
		{"its time is up", func(*apitest.Cluster, *kubeapi.Process, *kubeapi.WatchStream) {}, 61 * time.Minute, "kubelet/worker closed 1 on master-1: its time was up"},
		{"the client closes it", func(_ *apitest.Cluster, _ *kubeapi.Process, s *kubeapi.WatchStream) { s.Close(nil) }, time.Second, "kubelet/worker closed 1 on master-1: the client closed it"},
		{"the server dies", func(c *apitest.Cluster, _ *kubeapi.Process, _ *kubeapi.WatchStream) { c.KillServer("master-1") }, time.Minute, ""},
	} {
		t.Run(tc.what, func(t *testing.T) {
			c := apitest.New(t)
			pr := c.Process("worker-1", "kubelet", apitest.Admin)
			var s *kubeapi.WatchStream
			pr.Go("watch", func(p *sim.Proc) {
				var err error
				if s, err = pr.Client.Watch(p, &kubeapi.Request{Kind: kinds.Pods, Fields: fields.OneTermEqualSelector("spec.nodeName", "worker-1"), ResourceVersion: "0"}); err != nil {
					t.Error(err)
				}
			})
			c.Run(5 * time.Second)
			want := []string{"kubelet/worker opened 1 on master-1: pods  fieldSelector=spec.nodeName=worker-1 from 0"}
			if got := watchFacts(c); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			for range 5 { // changes carried are no facts of the watch
				c.Create(apitest.Pod(fmt.Sprint("p", len(c.Records()))))
			}
			tc.end(c, pr, s)
			c.Run(tc.wait)
			if tc.want != "" {
				want = append(want, tc.want)
			}
			if got := watchFacts(c); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestRequestsThatHangAreToldAndAgainWhenTheyAreAnswered(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Create(apitest.Pod("a"))
	told := func() (out []string) {
		for _, r := range c.Records() {
			if q, ok := r.Event.(event.QueueChanged); ok && q.Queue == "requests" {
				line := fmt.Sprint(q.InWork)
				for _, it := range q.Items {
					line += fmt.Sprintf(" %s (%s, for %s)", it.Key, it.Why, it.By)
				}
				out = append(out, line)
			}
		}
		return out
	}
	c.Run(10 * time.Second)
	if got := told(); len(got) != 0 {
		t.Fatalf("requests that are answered at once are told: %q", got)
	}
	c.Store.KillMember("master-2")
	c.Store.KillMember("master-3")
	pr := c.Process("master-1", "kubectl", apitest.Admin)
	pr.Go("get", func(p *sim.Proc) {
		_, err := pr.Client.Do(p, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "a"})
		if err != nil {
			t.Error(err)
		}
	})
	c.Run(5 * time.Second)
	got := told()
	if len(got) != 1 || !strings.HasPrefix(got[0], "1 pods default/a (get by "+apitest.Admin.Name+", in stage store, for kubectl/master-1)") {
		t.Fatalf("got %q", got)
	}
	c.Store.StartMember("master-2")
	c.Run(10 * time.Second)
	if got := told(); got[len(got)-1] != "0" {
		t.Errorf("after the answer: %q", got)
	}
}
