package apiserver_test

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Reads that need a quorum hang while there is none, and fill the seats of their level; whoever is on another level does not notice.
func TestTooManyRequestsWaitAsAQueueAndAreThenRefused(t *testing.T) {
	c := apitest.New(t, apitest.Masters(3))
	c.Create(apitest.Pod("a"))
	c.Run(10 * time.Second)
	c.Store.KillMember("master-2")
	c.Store.KillMember("master-3")
	jane := kubeapi.User{Name: "jane", Groups: []string{"system:authenticated"}}
	pr := c.Process("master-1", "script", jane)
	refused := map[string]int{}
	for range 100 {
		pr.Go("get", func(p *sim.Proc) {
			_, err := pr.Client.WithTimeout(time.Minute).Do(p, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "a"})
			if apierrors.IsTooManyRequests(err) {
				if s, ok := apierrors.SuggestsClientDelay(err); !ok || s != 1 {
					t.Errorf("retry after %d s", s)
				}
				refused[err.Error()]++
			}
		})
	}
	c.Run(5 * time.Second)
	longest := func() (most event.QueueChanged) {
		for _, r := range c.Records() {
			if q, ok := r.Event.(event.QueueChanged); ok && q.Queue == "requests" && q.Waiting > most.Waiting {
				most = q
			}
		}
		return most
	}
	// Who jane is lets her read nothing; she is refused at once and holds no seat.
	if q := longest(); q.Waiting != 0 {
		t.Errorf("%+v", q)
	}
	node := c.Process("master-1", "controller", kubeapi.ServiceAccount("kube-system", "generic-garbage-collector"))
	for range 98 + 20 {
		node.Go("get", func(p *sim.Proc) {
			_, err := node.Client.WithTimeout(time.Minute).Do(p, &kubeapi.Request{Verb: kubeapi.Get, Kind: kinds.Pods, Namespace: "default", Name: "a"})
			if apierrors.IsTooManyRequests(err) {
				refused[err.Error()]++
			}
		})
	}
	c.Run(5 * time.Second)
	// workload-high has 98 seats of its own, and has borrowed a few by now.
	q := longest()
	if q.Waiting == 0 || q.InWork < 98 || q.Waiting+q.InWork != 98+20 || q.Oldest.IsZero() {
		t.Errorf("%d wait, %d in work", q.Waiting, q.InWork)
	}
	c.Run(20 * time.Second)
	if want := "the server has received too many requests and has asked us to try again later (get pods a)"; len(refused) != 1 || refused[want] != q.Waiting {
		t.Errorf("%v, want %d of %q", refused, q.Waiting, want)
	}
}
