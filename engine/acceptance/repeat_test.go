package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/headless"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/world"
)

// trouble is a run with a bit of everything.
func trouble(seed uint64) run {
	return run{seed: seed, length: 7 * time.Minute, do: []string{"40s scale deployment web --replicas=9", "50s loss worker-2 all 30%", "60s kill leader", "70s cut worker-1 all",
		"80s delay master-2 master-3 30ms", "90s kill worker-3/kubelet", "2m partition master-1,worker-4 | master-2,master-3", "3m heal", "200s start master-1",
		"220s set image deployment/web web=nginx:1.28", "240s stop scheduler-leader", "260s restart worker-2"}}
}

func TestTheSameSeedWritesTheSameBytes(t *testing.T) {
	besides(t, engine.StoreMemory)
	var before []byte
	for seed := range uint64(3) {
		a, b := play(t, trouble(seed)), play(t, trouble(seed))
		if !bytes.Equal(a.file, b.file) {
			t.Fatalf("seed %d: %s", seed, firstDifference(a.file, b.file))
		}
		if bytes.Equal(a.file, before) {
			t.Errorf("seeds %d and %d write the same", seed-1, seed)
		}
		before = a.file
		if x, y := a.summary, b.summary; x.Requests.Total != y.Requests.Total || len(x.Pods) != len(y.Pods) {
			t.Errorf("seed %d: the summaries differ", seed)
		}
	}
}

func TestAHeadlessRunBeginsAtAFixedInstantAndKnowsNoWallTime(t *testing.T) {
	besides(t, engine.StoreMemory)
	p := play(t, trouble(1))
	if !p.recs[0].At.Equal(engine.RepeatableStart) {
		t.Errorf("begins at %v", p.recs[0].At)
	}
	for _, r := range p.recs {
		if !r.Wall.IsZero() {
			t.Fatalf("#%d has wall time %v", r.Seq, r.Wall)
		}
		if d := p.since(r.At); d < 0 || d > 7*time.Minute {
			t.Fatalf("#%d is at %v", r.Seq, d)
		}
	}
	for i, line := range strings.Split(string(p.file), "\n") {
		if strings.Contains(line, `"wall"`) || strings.Contains(line, time.Now().Format("2006-01-02")) {
			t.Fatalf("line %d: %s", i+1, line)
		}
	}
	if e, ok := p.recs[0].Event.(event.ClusterStarted); !ok || !e.Repeatable {
		t.Errorf("the first record is %+v", p.recs[0])
	}
}

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d\n%s\n%s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(x), len(y))
}

// snapshots keeps a picture of the live fold every so many records.
type snapshots struct {
	w     world.World
	every event.Seq
	taken []world.World
}

func (s *snapshots) Write(r event.Record) error {
	s.w.Apply(r)
	if s.w.Seq%s.every == 0 {
		s.taken = append(s.taken, s.w.Clone())
	}
	return nil
}

func TestTheLiveFoldEqualsTheRefoldOfTheFileAtEveryCheckpoint(t *testing.T) {
	t.Parallel()
	for _, store := range []string{engine.StoreMemory, engine.StoreRaft} {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			r := trouble(2)
			if store == engine.StoreRaft {
				r.length = 75 * time.Second
			}
			s := loaded(t, r)
			for _, d := range r.do {
				at, do, _ := strings.Cut(d, " ")
				s.Steps = append(s.Steps, scenario.Step{At: at, Do: do})
			}
			live := &snapshots{every: 80}
			var file bytes.Buffer
			e := open(t, engine.Options{Scenario: s, Store: store, Seed: r.seed, Start: engine.RepeatableStart, Repeatable: true,
				Writers: []journal.Writer{live, journal.NewFile(&file, journal.Header{Start: engine.RepeatableStart})}})
			if err := e.RunFor(t.Context(), r.length); err != nil {
				t.Fatal(err)
			}
			if err := e.Journal().Err(); err != nil {
				t.Fatal(err)
			}
			in, err := journal.NewReader("file", &file)
			if err != nil {
				t.Fatal(err)
			}
			again := &snapshots{every: live.every}
			for {
				rec, err := in.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				again.Write(rec)
			}
			live.taken, again.taken = append(live.taken, live.w), append(again.taken, again.w)
			if len(live.taken) != len(again.taken) || len(live.taken) < 8 {
				t.Fatalf("%d and %d checkpoints", len(live.taken), len(again.taken))
			}
			for i := range live.taken {
				if d := differ(&live.taken[i], &again.taken[i]); d != "" {
					t.Fatalf("at record %d: %s", live.taken[i].Seq, d)
				}
			}
			t.Logf("%d checkpoints of %d records", len(live.taken), live.w.Seq)
			if a, b := headless.Summarize(&live.w, 0), headless.Summarize(&again.w, 0); written(a) != written(b) {
				t.Errorf("the summaries differ:\n%s\n%s", written(a), written(b))
			}
		})
	}
}

// differ names the first thing in which two worlds differ; everything a reader sees is compared.
func differ(a, b *world.World) string {
	heads := func(w *world.World) string {
		list, more := w.Anomalies(1000)
		from, since, by, seq, vacant := w.Vacancy()
		return written(w.Seq, w.At, w.Start, w.Header, w.Rate, w.Unpaced, w.WhyPause, w.Revision, w.Lost, w.PendingCount(), w.FailingCount(), w.Elections, w.Commands, list, more,
			w.Requests, from, since, by, seq, vacant)
	}
	if x, y := heads(a), heads(b); x != y {
		return x + "\n" + y
	}
	for _, d := range []string{
		tables("hosts", &a.Hosts, &b.Hosts), tables("members", &a.Members, &b.Members), tables("nodes", &a.Nodes, &b.Nodes), tables("pods", &a.Pods, &b.Pods),
		tables("running", &a.Running, &b.Running), tables("queues", &a.Queues, &b.Queues), tables("leases", &a.Leases, &b.Leases), tables("backends", &a.Backends, &b.Backends),
		tables("evictions", &a.Evictions, &b.Evictions), tables("attempts", &a.Attempts, &b.Attempts), tables("leaders", &a.Leaders, &b.Leaders), tables("faults", &a.Faults, &b.Faults),
		tables("objects", plain(a), plain(b)),
	} {
		if d != "" {
			return d
		}
	}
	return ""
}

// plain is the table of objects without the pointer to their kind, which has no written form.
func plain(w *world.World) *btree.Map[string, world.Object] {
	var out btree.Map[string, world.Object]
	w.Objects.Scan(func(k string, o *world.Object) bool {
		out.Set(o.Kind.String()+" "+k, world.Object{Object: o.Object, Seq: o.Seq, At: o.At})
		return true
	})
	return &out
}

func tables[K interface{ ~string | ~uint64 }, V any](name string, a, b *btree.Map[K, V]) string {
	if a.Len() != b.Len() {
		return fmt.Sprintf("%s: %d and %d", name, a.Len(), b.Len())
	}
	out := ""
	a.Scan(func(k K, v V) bool {
		u, ok := b.Get(k)
		if x, y := written(v), written(u); !ok || x != y {
			out = fmt.Sprintf("%s %v\n%s\n%s", name, k, x, y)
		}
		return out == ""
	})
	return out
}

// written is the JSON of values.
func written(v ...any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
