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

// A watcher that does not read: what it has not read is told, it is let go with the reason, and nothing is left out in what it could read before.
func TestAWatcherThatDoesNotReadIsToldOfAndLetGo(t *testing.T) {
	c := openWith(t, 1, 0, "", &patience{header: usual.header, idle: usual.idle, request: usual.request, write: 500 * time.Millisecond})
	c.must(ask{method: "POST", path: configMaps, body: configMap("big")})
	conn := c.insider("http/1.1")
	if _, err := io.WriteString(conn, "GET "+configMaps+"?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: sleeper/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	facts := func() (behind, top int, reason string) {
		recs, _ := c.e.Journal().Read(nil, 1, 1<<20)
		for _, r := range recs {
			switch e := r.Event.(type) {
			case event.WatchBehind:
				behind++
				top = max(top, e.Changes)
			case event.WatchClosed:
				if strings.HasPrefix(string(e.Client), "sleeper-") {
					reason = e.Reason
				}
			}
		}
		return behind, top, reason
	}
	filler := strings.Repeat("x", 100_000)
	n := 0
	c.until("it is let go", func() bool {
		for range 10 {
			n++
			c.must(ask{method: "PATCH", path: configMaps + "/big", body: fmt.Sprintf(`{"data":{"n":"%d","x":%q}}`, n, filler), header: map[string]string{"Content-Type": "application/merge-patch+json"}})
		}
		_, _, reason := facts()
		return reason != ""
	})
	behind, top, reason := facts()
	if reason != "the client was too slow" || behind == 0 || top == 0 {
		t.Errorf("ended because %q; told %d times, up to %d changes", reason, behind, top)
	}
	// What it reads now goes on where it stopped, change by change, and ends.
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	all, err := io.ReadAll(conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("the connection stays open: %v", err)
	}
	next := 1
	for _, part := range strings.Split(string(all), `"n":"`)[1:] {
		got, _, whole := strings.Cut(part, `"`)
		if !whole {
			break
		}
		if got != fmt.Sprint(next) {
			t.Fatalf("change %s follows %d", got, next-1)
		}
		next++
	}
	if next < 2 || next > n {
		t.Errorf("it read %d changes of %d", next-1, n)
	}
}
