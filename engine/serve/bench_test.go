package serve

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// times of requests, for the quantiles that a benchmark reports.
type times []time.Duration

func (l times) report(b *testing.B) {
	slices.Sort(l)
	for name, q := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99} {
		b.ReportMetric(float64(l[int(q*float64(len(l)-1))].Microseconds())/1000, name)
	}
}

func (c *cluster) timed(b *testing.B, a func(int) ask) {
	var l times
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		c.must(a(i))
		l = append(l, time.Since(began))
	}
	l.report(b)
}

func BenchmarkOverHTTPS(b *testing.B) {
	c := open(b, 1, 0, "")
	c.must(ask{method: "POST", path: configMaps, body: configMap("one")})
	get := ask{method: "GET", path: configMaps + "/one"}
	b.Run("get", func(b *testing.B) { c.timed(b, func(int) ask { return get }) })
	made := 0
	b.Run("create", func(b *testing.B) {
		c.timed(b, func(int) ask {
			made++
			return ask{method: "POST", path: configMaps, body: configMap(fmt.Sprint("made-", made))}
		})
	})
	const pods = "/api/v1/namespaces/default/pods"
	for i := range 1000 {
		c.must(ask{method: "POST", path: pods, body: pod(fmt.Sprintf("pod-%04d", i))})
	}
	list := ask{method: "GET", path: pods + "?limit=1000", header: map[string]string{"Accept": asTable}}
	b.Run("table of 1000 pods", func(b *testing.B) { c.timed(b, func(int) ask { return list }) })
	b.Run("16 clients", func(b *testing.B) {
		var n atomic.Int64
		b.SetParallelism(8) // times GOMAXPROCS, which is two where it counts
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				a := get
				a.header = map[string]string{"User-Agent": fmt.Sprint("client-", n.Add(1)%16)}
				if r, err := c.try(a); err != nil || r.code != http.StatusOK {
					b.Errorf("%v %d", err, r.code)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	})
	b.Run("16 connections", func(b *testing.B) {
		clients := make(chan *http.Client, 16)
		for range cap(clients) {
			clients <- c.apart()
		}
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			a := get
			a.client = <-clients
			for pb.Next() {
				if r, err := c.try(a); err != nil || r.code != http.StatusOK {
					b.Errorf("%v %d", err, r.code)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	})
}

// apart is the administrator with connections of its own.
func (c *cluster) apart() *http.Client {
	cfg, err := rest.TLSConfigFor(c.cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true}
	c.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// One change of a pod, and 5,000 who watch the pods of one node each: only the one whose node it is hears of it.
func BenchmarkFanOutOverHTTPS(b *testing.B) {
	const watchers = 5000
	c := open(b, 1, 1, "")
	const pods = "/api/v1/namespaces/default/pods"
	mine := pod("mine")
	mine["spec"].(map[string]any)["nodeName"] = "worker-1"
	c.must(ask{method: "POST", path: pods, body: mine})
	c.until("the pod runs", func() bool { return strings.Contains(string(c.get(pods+"/mine").body), `"phase":"Running"`) })
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := memory()
	ctx, cancel := context.WithCancel(b.Context())
	var reading sync.WaitGroup
	b.Cleanup(func() { cancel(); reading.Wait() })
	heard := make(chan string, 64)
	var others atomic.Int64
	client := c.apart()
	seats := make(chan struct{}, 32) // how many begin at the same time
	var begun sync.WaitGroup
	for i := range watchers {
		begun.Go(func() {
			seats <- struct{}{}
			defer func() { <-seats }()
			r := c.request(ask{method: "GET", path: fmt.Sprintf("/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=spec.nodeName%%3Dworker-%d", i+1)}).WithContext(ctx)
			resp, err := client.Do(r)
			if err != nil || resp.StatusCode != http.StatusOK {
				b.Errorf("watcher %d: %v %v", i, err, resp)
				return
			}
			reading.Go(func() {
				defer func() { _ = resp.Body.Close() }()
				for lines := bufio.NewReader(resp.Body); ; {
					line, err := lines.ReadString('\n')
					switch {
					case err != nil:
						return
					case i == 0:
						heard <- line
					default:
						others.Add(1)
					}
				}
			})
		})
	}
	begun.Wait()
	each := float64(memory()-before) / watchers
	n := 0
	var l times
	for b.Loop() {
		n++
		began := time.Now()
		go c.must(ask{method: "PATCH", path: pods + "/mine", body: fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n), header: map[string]string{"Content-Type": "application/merge-patch+json"}})
		for want := fmt.Sprintf(`"n":"%d"`, n); !strings.Contains(<-heard, want); {
		}
		l = append(l, time.Since(began))
	}
	l.report(b)
	b.ReportMetric(each, "B/watcher") // of both sides, the client's too
	if others.Load() != 0 {
		b.Errorf("%d deliveries to those whom it does not concern", others.Load())
	}
}
