package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/scenario"
)

// Few seats and a store that does not answer: one request of the level holds its seat, the rest wait; after 15 simulated seconds they are told to come again.
func TestWhoWaitsTooLongForASeatIsToldWhenToComeAgain(t *testing.T) {
	c := openScenario(t, scenario.Scenario{Name: "test", Cluster: scenario.Cluster{Masters: 1, APIServer: scenario.APIServer{MaxRequestsInflight: 1, MaxMutatingRequestsInflight: 1}}}, engine.StoreRaft, nil)
	c.e.Do(command.Disk{Target: "master-1", State: "slow", Delay: 100 * time.Millisecond})
	const clients = 30
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			r, err := c.try(ask{method: "POST", path: configMaps, body: configMap(fmt.Sprint("c-", i)), client: c.apart(), host: c.s.Servers[1]}) // past the load balancer, which may hold a server with so slow a store for not ready
			mu.Lock()
			defer mu.Unlock()
			switch got[r.code]++; {
			case err != nil:
				t.Error(err)
			case r.code == http.StatusTooManyRequests && (r.header.Get("Retry-After") != "1" || strings.TrimSpace(string(r.body)) != "Too many requests, please try again later."):
				t.Errorf("Retry-After %q, %q", r.header.Get("Retry-After"), r.body)
			}
		})
	}
	all.Wait()
	if got[http.StatusTooManyRequests] < clients/3 || got[http.StatusTooManyRequests] == clients {
		t.Errorf("answers by code: %v", got)
	}
	queued := 0
	recs, _ := c.e.Journal().Read(nil, 1, 1<<20)
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.QueueChanged:
			if e.Queue == "requests" {
				queued = max(queued, e.Parts["global-default"])
			}
		case event.RequestDone:
			if waited := e.Stages[len(e.Stages)-1]; e.Code == http.StatusTooManyRequests && e.User == adminName && (waited.Stage != event.StageFlow || waited.Took != 15*time.Second) {
				t.Errorf("a refused request: %+v", e)
			}
		}
	}
	if queued < clients/3 {
		t.Errorf("the queue of requests had %d of the level at most", queued)
	}
}

// A load balancer whose servers are all down takes connections and ends them: clients read EOF at once, and never a reset (as HAProxy does in TCP mode).
func TestWithoutAServerTheLoadBalancerEndsConnectionsAtOnce(t *testing.T) {
	c := open(t, 1, 0, "")
	c.e.Do(command.Power{Verb: command.Kill, Target: "master-1"})
	c.until("nobody answers", func() bool {
		_, err := c.try(ask{method: "GET", path: "/readyz", client: c.apart()})
		return err != nil
	})
	for i := range 50 {
		began := time.Now()
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.s.URL, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(strings.Repeat("hello ", 100))) // the other side may have ended already
		if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Fatalf("connection %d: read %d bytes, %v", i, n, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("connection %d: %v", i, took)
		}
		_ = conn.Close()
	}
}
