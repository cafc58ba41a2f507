package trace

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
)

func TestWhatARecordIsAbout(t *testing.T) {
	pod := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: "web-1"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	for _, c := range []struct {
		name  string
		actor event.Actor
		e     event.Event
		want  []Subject
	}{
		{"a command is about nothing", event.You, event.CommandGiven{Text: "kill master-1"}, nil},
		{"power is about a machine", "machine/master-1", event.MachineDown{Host: "master-1"}, []Subject{Host("master-1")}},
		{"a program is about its machine, too", "engine", event.ProcessStopped{Host: "master-1", Process: "etcd"}, []Subject{Host("master-1"), Process("master-1", "etcd")}},
		{"a cut from all is about one end", "engine", event.FaultAdded{Fault: fault.Fault{A: "worker-1", B: fault.All}}, []Subject{Host("worker-1")}},
		{"a cut between programs is about both and their machines", "engine", event.FaultAdded{Fault: fault.Fault{A: "master-1/etcd", B: "master-2/etcd"}},
			[]Subject{Host("master-1"), Process("master-1", "etcd"), Host("master-2"), Process("master-2", "etcd")}},
		{"both ends in one place are one place", "engine", event.FaultRemoved{Fault: fault.Fault{A: "worker-1", B: "worker-1"}}, []Subject{Host("worker-1")}},
		{"the balancer judges an API server", "balancer", event.BackendChanged{Backend: "master-1"}, []Subject{Host("master-1"), Process("master-1", "apiserver")}},
		{"a role in raft is a member's", "etcd/master-1", event.RaftRole{Member: "master-1"}, []Subject{Host("master-1"), Process("master-1", "etcd")}},
		{"a log that lost its end is a member's", "etcd/master-1", event.RaftTruncated{Member: "master-1"}, []Subject{Host("master-1"), Process("master-1", "etcd")}},
		{"a new group is about all its members", "etcd/master-1", event.MembersChanged{Members: []event.StoreMember{{Name: "master-1"}, {Name: "master-2"}}},
			[]Subject{Host("master-1"), Process("master-1", "etcd"), Host("master-2"), Process("master-2", "etcd")}},
		{"an alarm is a member's", "etcd/master-1", event.StoreAlarm{Member: "master-1"}, []Subject{Host("master-1"), Process("master-1", "etcd")}},
		{"a disk is a member's", "engine", event.DiskChanged{Member: "master-1"}, []Subject{Host("master-1"), Process("master-1", "etcd")}},
		{"a failpoint is a member's", "engine", event.TrapSet{Member: "master-1"}, []Subject{Host("master-1"), Process("master-1", "etcd")}},
		{"a compaction is about nothing", "etcd/master-1", event.StoreCompacted{Revision: 3}, nil},
		{"what all members' logs do all the time is about nothing", "etcd/master-1", event.RaftAppended{Member: "master-1"}, nil},
		{"a watch is about the API server alone", "apiserver/master-1", event.WatchOpened{Server: "master-1", Resource: "pods"}, []Subject{Process("master-1", "apiserver")}},
		{"a lease won is about the process, its machine and the Lease", "scheduler/master-2", event.Leading{Lease: "kube-scheduler", Host: "master-2"},
			[]Subject{Host("master-2"), Process("master-2", "scheduler"), Object(kinds.Leases, "kube-system", "kube-scheduler")}},
		{"a renewal is about the Lease", "etcd", event.LeaseRenewed{Namespace: "kube-node-lease", Lease: "worker-1"}, []Subject{Object(kinds.Leases, "kube-node-lease", "worker-1")}},
		{"a Node is about its machine, too", "etcd", event.ObjectChanged{Object: node}, []Subject{Object(kinds.Nodes, "", "worker-1"), Host("worker-1")}},
		{"a revision without its object is about nothing", "etcd", event.ObjectChanged{Revision: 3}, nil},
		{"a request that came in", "apiserver/master-1", event.RequestReceived{Resource: "pods", Namespace: "default", ObjectName: "web-1"}, []Subject{Object(kinds.Pods, "default", "web-1")}},
		{"a request without a name", "apiserver/master-1", event.RequestReceived{Resource: "pods", Namespace: "default"}, nil},
		{"an answer", "apiserver/master-1", event.RequestDone{Resource: "deployments.apps", Namespace: "default", ObjectName: "web"}, []Subject{Object(kinds.Deployments, "default", "web")}},
		{"a queue", "controller-manager/master-1", event.QueueChanged{Queue: "deployment"}, []Subject{Queue("controller-manager/master-1", "deployment")}},
		{"a decision is about the key's object", "controller-manager/master-1", event.Reconciled{Controller: "replicaset", Key: "default/web-5f"}, []Subject{Object(kinds.ReplicaSets, "default", "web-5f")}},
		{"a decision of a controller of many kinds is about none", "controller-manager/master-1", event.Reconciled{Controller: "garbagecollector", Key: "x"}, nil},
		{"an attempt", "scheduler/master-1", event.SchedulingAttempt{Pod: pod}, []Subject{Object(kinds.Pods, "default", "web-1")}},
		{"a judgement is about the machine and its Node", "controller-manager/master-1", event.NodeJudged{Node: "worker-1"}, []Subject{Host("worker-1"), Object(kinds.Nodes, "", "worker-1")}},
		{"an eviction is about the pod and where it is", "controller-manager/master-1", event.EvictionPlanned{Pod: pod, Node: "worker-1"}, []Subject{Object(kinds.Pods, "default", "web-1"), Host("worker-1")}},
		{"a container is about its pod, the machine and the kubelet", "containerd/worker-1", event.ContainerChanged{Node: "worker-1", Pod: pod},
			[]Subject{Object(kinds.Pods, "default", "web-1"), Host("worker-1"), Process("worker-1", "kubelet")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Subjects(event.Record{Seq: 1, Actor: c.actor, Event: c.e}); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// naive answers the same questions by reading everything.
type naive []event.Record

func (n naive) about(s Subject, first, upTo event.Seq) (out []event.Seq) {
	for _, r := range n {
		if r.Seq >= first && r.Seq <= upTo && slices.Contains(Subjects(r), s) {
			out = append(out, r.Seq)
		}
	}
	return out
}

func (n naive) effects(of, first, upTo event.Seq) (out []event.Seq) {
	for _, r := range n {
		if r.Cause == of && r.Cause < r.Seq && r.Seq >= first && r.Seq <= upTo {
			out = append(out, r.Seq)
		}
	}
	return out
}

func anyRecord(rng *rand.Rand, last event.Seq) event.Record {
	host := fmt.Sprint("worker-", rng.IntN(4))
	pod := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: fmt.Sprint("web-", rng.IntN(6))}
	facts := []event.Event{
		event.MachineDown{Host: host}, event.ProcessStarted{Host: host, Process: "kubelet"}, event.FaultAdded{Fault: fault.Fault{A: host, B: "worker-1"}},
		event.ContainerChanged{Node: host, Pod: pod}, event.SchedulingAttempt{Pod: pod}, event.RequestTally{}, event.QueueChanged{Queue: host},
		event.RequestDone{Resource: "pods", Namespace: "default", ObjectName: pod.Name},
	}
	r := event.Record{Actor: "kubelet", Event: facts[rng.IntN(len(facts))]}
	switch n := rng.IntN(10); {
	case n < 2 || last == 0:
	case n == 2:
		r.Cause = last + 1 + event.Seq(rng.IntN(3)) // no cause at all, if a file says so
	case n < 6:
		r.Cause = last - min(last-1, event.Seq(rng.IntN(5)))
	default:
		r.Cause = 1 + event.Seq(rng.Uint64N(uint64(last)))
	}
	return r
}

func TestTheIndexAnswersAsReadingEverythingWould(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		j := journal.New(journal.Options{})
		x := New(j)
		var all naive
		for range 30 {
			for range rng.IntN(20) {
				r := anyRecord(rng, j.Last())
				r.Seq = j.Append(r)
				all = append(all, r)
			}
			for x.Advance(1+rng.IntN(7)) > 0 && rng.IntN(4) > 0 {
			}
			if x.Last() > j.Last() {
				t.Fatalf("seed %d: read up to %d of %d", seed, x.Last(), j.Last())
			}
			upTo := event.Seq(rng.Uint64N(uint64(x.Last()) + 1))
			of := 1 + event.Seq(rng.Uint64N(uint64(j.Last())+2))
			if got, want := x.Effects(of, upTo), all.effects(of, 0, upTo); !slices.Equal(got, want) {
				t.Fatalf("seed %d: effects of %d up to %d are %v, want %v", seed, of, upTo, got, want)
			}
			if got, want := x.AppendEffects([]event.Seq{7}, of, upTo, 2), append([]event.Seq{7}, head(all.effects(of, 0, upTo), 2)...); !slices.Equal(got, want) {
				t.Fatalf("seed %d: the first two effects of %d up to %d are %v, want %v", seed, of, upTo, got, want)
			}
			for _, s := range []Subject{Host("worker-1"), Process("worker-2", "kubelet"), Object(kinds.Pods, "default", "web-3"), Host("nowhere")} {
				if got, want := x.About(s, upTo), all.about(s, 0, upTo); !slices.Equal(got, want) {
					t.Fatalf("seed %d: about %q up to %d is %v, want %v", seed, s, upTo, got, want)
				}
			}
		}
	}
}

func head(s []event.Seq, n int) []event.Seq { return s[:min(n, len(s))] }

func TestWhatTheJournalForgotIsForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	j := journal.New(journal.Options{Capacity: 1 << 13})
	x := New(j)
	for range 100_000 {
		j.Append(anyRecord(rng, j.Last()))
		if j.Last()%1000 == 0 {
			x.Advance(1 << 20)
		}
	}
	first := j.First()
	recs, _ := j.Read(nil, first, 1<<20)
	all := naive(recs)
	s := Object(kinds.Pods, "default", "web-3")
	got := x.About(s, j.Last())
	kept, _ := slices.BinarySearch(got, first)
	if !slices.Equal(got[kept:], all.about(s, 0, j.Last())) {
		t.Error("the index lost records that the journal has")
	}
	if kept > 1<<15 {
		t.Errorf("%d records are kept that the journal has lost", kept)
	}
	for of := first; of <= j.Last(); of += 211 {
		if got, want := x.Effects(of, j.Last()), all.effects(of, 0, j.Last()); !slices.Equal(got, want) {
			t.Fatalf("effects of %d are %v, want %v", of, got, want)
		}
	}
	if n := len(x.effects.chunks) * linkChunk; n > 1<<16 {
		t.Errorf("places for %d records are kept", n)
	}
	if got := x.Effects(1, j.Last()); got != nil {
		t.Errorf("record 1 is long gone and has effects %v", got)
	}
}

func TestAReaderThatFellBehindTheJournalGoesOnWithWhatIsThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	j := journal.New(journal.Options{Capacity: 1 << 12})
	x := New(j)
	for range 100 {
		j.Append(anyRecord(rng, j.Last()))
	}
	x.Advance(50)
	for range 100_000 {
		j.Append(anyRecord(rng, j.Last()))
	}
	x.Advance(1 << 20)
	if x.Last() != j.Last() {
		t.Fatalf("read up to %d of %d", x.Last(), j.Last())
	}
	recs, _ := j.Read(nil, j.First(), 1<<20)
	for of := j.First(); of <= j.Last(); of += 61 {
		if got, want := x.Effects(of, j.Last()), naive(recs).effects(of, 0, j.Last()); !slices.Equal(got, want) {
			t.Fatalf("effects of %d are %v, want %v", of, got, want)
		}
	}
}

// busy is a source of as many records as one likes, as a busy cluster makes them.
type busy struct {
	last event.Seq
	recs []event.Record
}

func newBusy(last event.Seq) *busy {
	b := &busy{last: last}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 4096 {
		pod := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: fmt.Sprint("web-5fc9f4bf66-", i%1500)}
		host := fmt.Sprint("worker-", i%100)
		facts := []event.Event{
			event.RequestReceived{Server: "master-1", Resource: "pods", Namespace: "default", ObjectName: pod.Name},
			event.ObjectChanged{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod.Name}}},
			event.RequestDone{Server: "master-1", Resource: "pods", Namespace: "default", ObjectName: pod.Name},
			event.LeaseRenewed{Namespace: "kube-node-lease", Lease: host},
			event.ContainerChanged{Node: host, Pod: pod},
			event.Reconciled{Controller: "replicaset", Key: "default/web-5fc9f4bf66"},
			event.QueueChanged{Queue: "replicaset"},
			event.RequestTally{Server: "master-1"},
		}
		b.recs = append(b.recs, event.Record{At: at, Actor: "controller-manager/master-1", Event: facts[i%len(facts)]})
	}
	return b
}

func (b *busy) First() event.Seq { return 1 }
func (b *busy) Last() event.Seq  { return b.last }
func (b *busy) Read(buf []event.Record, from event.Seq, max int) ([]event.Record, int) {
	for ; max > 0 && from <= b.last; max-- {
		r := b.recs[from%event.Seq(len(b.recs))]
		r.Seq = from
		if from%7 != 0 {
			r.Cause = from - 1 - from%3
		}
		buf = append(buf, r)
		from++
	}
	return buf, 0
}

func TestTheIndexOfAMillionRecordsIsSmall(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := New(newBusy(1_000_000))
	x.Advance(1_000_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if mib := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; mib > 48 {
		t.Errorf("a million records take %d MiB in the index", mib)
	}
	runtime.KeepAlive(x)
}

func BenchmarkAdvance(b *testing.B) {
	src := newBusy(event.Seq(b.N))
	x := New(src)
	b.ReportAllocs()
	b.ResetTimer()
	x.Advance(b.N)
}

func BenchmarkAbout(b *testing.B) {
	src := newBusy(1_000_000)
	x := New(src)
	x.Advance(1_000_000)
	s := Object(kinds.ReplicaSets, "default", "web-5fc9f4bf66")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.About(s, event.Seq(i%1_000_000))
	}
}

func BenchmarkEffects(b *testing.B) {
	src := newBusy(1_000_000)
	x := New(src)
	x.Advance(1_000_000)
	var buf []event.Seq
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		buf = x.AppendEffects(buf[:0], event.Seq(i%1_000_000), 1_000_000, 64)
	}
}
