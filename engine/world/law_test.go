package world

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world/worldtest"
)

// picture writes out everything a World holds, so that two can be compared. Objects are named by identity: they are shared, never copied.
func picture(w *World) string {
	var b strings.Builder
	fmt.Fprintln(&b, w.Seq, w.At, w.Wall, w.Start, w.Header, w.Rate, w.Unpaced, w.WhyPause, w.Revision, w.Elections, w.Requests, w.Commands, w.Lost, w.vacancy, w.Timing, w.Store)
	table(&b, "host", &w.Hosts)
	table(&b, "member", &w.Members)
	w.Log.Scan(func(i uint64, list []Entry) bool { fmt.Fprintln(&b, "log", i, list); return true })
	table(&b, "node", &w.Nodes)
	table(&b, "pod", &w.Pods)
	table(&b, "object", &w.Objects)
	table(&b, "running", &w.Running)
	table(&b, "queue", &w.Queues)
	table(&b, "watch", &w.Watches)
	w.Clients.Scan(func(k event.Seq, c *Client) bool { fmt.Fprintf(&b, "client %d %+v\n", k, *c); return true })
	table(&b, "program", &w.Programs)
	w.indexes.asking.Scan(func(k event.Seq, a ask) bool { fmt.Fprintln(&b, "asking", k, a); return true })
	table(&b, "lease", &w.Leases)
	table(&b, "backend", &w.Backends)
	table(&b, "eviction", &w.Evictions)
	table(&b, "attempt", &w.Attempts)
	table(&b, "leader", &w.Leaders)
	w.Faults.Scan(func(k event.Seq, f Fault) bool { fmt.Fprintln(&b, "fault", k, f); return true })
	b.WriteString(indexPicture(&w.indexes))
	return b.String()
}

func table[V any](b *strings.Builder, name string, m *btree.Map[string, *V]) {
	m.Scan(func(k string, v *V) bool { fmt.Fprintf(b, "%s %s %+v\n", name, k, *v); return true })
}

func indexPicture(x *indexes) string {
	var b strings.Builder
	for _, s := range []*btree.Set[string]{&x.onNode, &x.unbound, &x.failing, &x.notReady, &x.stuck, &x.troubled, &x.due, &x.watching, &x.backedOff} {
		fmt.Fprintln(&b, s.Keys())
	}
	for _, m := range []*btree.Map[string, int]{&x.evictions, &x.statuses} {
		m.Scan(func(k string, n int) bool { fmt.Fprint(&b, k, "=", n, " "); return true })
		fmt.Fprintln(&b)
	}
	return b.String()
}

func seeds(t *testing.T, n int, law func(t *testing.T, seed uint64, recs []event.Record)) {
	if testing.Short() {
		n = 3
	}
	for seed := range uint64(n) {
		law(t, seed, worldtest.Records(worldtest.Options{Seed: seed}, 1500))
	}
}

func fold(w *World, recs []event.Record) *World {
	for _, r := range recs {
		w.Apply(r)
	}
	return w
}

func TestLawACloneNeverChangesAndNeverChangesItsOrigin(t *testing.T) {
	seeds(t, 12, func(t *testing.T, seed uint64, recs []event.Record) {
		cut := 200 + int(seed)*30
		w := fold(&World{}, recs[:cut])
		c := w.Clone()
		frozen := picture(&c)
		fold(w, recs[cut:])
		if got := picture(&c); got != frozen {
			t.Fatalf("seed %d: the clone changed with its origin\n%s", seed, firstDifference(frozen, got))
		}
		end := picture(w)
		other := worldtest.Records(worldtest.Options{Seed: seed + 1000}, 3000)
		fold(&c, other[cut:]) // another future
		if got := picture(w); got != end {
			t.Fatalf("seed %d: the origin changed with its clone\n%s", seed, firstDifference(end, got))
		}
	})
}

func TestLawFoldingOnFromACloneEqualsFoldingOnce(t *testing.T) {
	seeds(t, 10, func(t *testing.T, seed uint64, recs []event.Record) {
		want := picture(fold(&World{}, recs))
		w := &World{}
		var clones []World
		for i := 0; i < len(recs); i += 250 {
			fold(w, recs[i:i+250])
			clones = append(clones, w.Clone())
		}
		for i, c := range clones {
			if got := picture(fold(&c, recs)); got != want { // what it has seen already is ignored
				t.Fatalf("seed %d, clone %d:\n%s", seed, i, firstDifference(want, got))
			}
		}
	})
}

func TestLawIndexesAndSumsEqualWhatTheTablesSay(t *testing.T) {
	seeds(t, 12, func(t *testing.T, seed uint64, recs []event.Record) {
		w := &World{}
		for i, r := range recs {
			w.Apply(r)
			if i%50 != 0 {
				continue
			}
			want := recount(w)
			if got, want := indexPicture(&w.indexes), indexPicture(&want.indexes); got != want {
				t.Fatalf("seed %d after %d %s:\n%s", seed, r.Seq, r.Event.Name(), firstDifference(want, got))
			}
			w.Nodes.Scan(func(name string, n *Node) bool {
				m, _ := want.Nodes.Get(name)
				if n.Pods != m.Pods || n.MilliCPU != m.MilliCPU || n.Memory != m.Memory {
					t.Fatalf("seed %d after %d: %s has %d pods %dm %d, a recount says %d pods %dm %d", seed, r.Seq, name, n.Pods, n.MilliCPU, n.Memory, m.Pods, m.MilliCPU, m.Memory)
				}
				return true
			})
		}
	})
}

// recount computes indexes and sums anew by walking the tables.
func recount(w *World) *World {
	var c World
	x := &c.indexes
	w.Nodes.Scan(func(name string, n *Node) bool {
		m := *n
		m.Pods, m.MilliCPU, m.Memory = 0, 0, 0
		w.Pods.Scan(func(_ string, p *Pod) bool {
			if p.Object.Spec.NodeName == name && !p.Ended {
				m.Pods++
				for _, k := range p.Object.Spec.Containers {
					m.MilliCPU += k.Resources.Requests.Cpu().MilliValue()
					m.Memory += k.Resources.Requests.Memory().Value()
				}
			}
			return true
		})
		c.Nodes.Set(name, &m)
		put(&x.notReady, name, n.Ready != "True")
		return true
	})
	w.Pods.Scan(func(key string, p *Pod) bool {
		if p.Object.Spec.NodeName != "" {
			x.onNode.Insert(p.Object.Spec.NodeName + " " + key)
		}
		put(&x.unbound, key, p.Object.Spec.NodeName == "" && !p.Ended)
		put(&x.failing, key, p.Failing())
		count(&x.statuses, p.Status, 1)
		return true
	})
	w.Hosts.Scan(func(name string, h *Host) bool { put(&x.troubled, name, h.troubled()); return true })
	w.Watches.Scan(func(key string, o *Watch) bool { x.watching.Insert(string(o.Client) + " " + key); return true })
	w.Running.Scan(func(key string, k *Container) bool {
		put(&x.backedOff, key, k.State == event.ContainerBackoff)
		return true
	})
	w.Evictions.Scan(func(key string, e *Eviction) bool {
		x.due.Insert(dueKey(e.Node, e.Due, key))
		count(&x.evictions, e.Node, 1)
		return true
	})
	w.Objects.Scan(func(key string, o *Object) bool {
		if d, ok := w.Deployment(o.Object.GetNamespace(), o.Object.GetName()); ok && strings.HasPrefix(key, "deployments") {
			put(&x.stuck, d.Namespace+"/"+d.Name, RolloutOf(d).Stuck)
		}
		return true
	})
	return &c
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "want " + a[i] + "\n got " + b[i]
		}
	}
	return fmt.Sprintf("%d lines against %d", len(a), len(b))
}

func BenchmarkApply(b *testing.B) {
	for _, size := range []struct {
		name string
		o    worldtest.Options
	}{
		{"small", worldtest.Options{Seed: 1}},
		{"5000nodes", worldtest.Options{Seed: 1, Workers: 5000, Pods: 50000, Calm: true}},
	} {
		b.Run(size.name, func(b *testing.B) {
			recs := worldtest.Records(size.o, 400_000)
			b.ReportAllocs()
			b.ResetTimer()
			w := &World{}
			for i := range b.N {
				if i%len(recs) == 0 {
					w = &World{}
				}
				w.Apply(recs[i%len(recs)])
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkAnomaliesInALargeCluster(b *testing.B) {
	w := fold(&World{}, worldtest.Records(worldtest.Options{Seed: 1, Workers: 5000, Pods: 20000}, 300_000))
	b.ReportAllocs()
	for b.Loop() {
		w.Anomalies(50)
	}
}
