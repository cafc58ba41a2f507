package serve

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"
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
}
