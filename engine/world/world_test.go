package world

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// tale folds facts into a world, each at a distance of simulated seconds from the start.
type tale struct {
	World
	wall bool
}

func (t *tale) at(seconds float64, actor event.Actor, cause event.Seq, e event.Event) event.Seq {
	d := time.Duration(seconds * float64(time.Second))
	r := event.Record{Seq: t.Seq + 1, At: zero.Add(d), Actor: actor, Cause: cause, Event: e}
	if t.wall {
		r.Wall = zero.Add(d / 10)
	}
	t.Apply(r)
	return r.Seq
}

func threeMasters() *tale {
	t := &tale{wall: true}
	t.at(0, event.Engine, 0, event.ClusterStarted{Store: "raft", Masters: []string{"m1", "m2", "m3"}, Workers: []string{"w1", "w2"}})
	for _, h := range []string{"m1", "m2", "m3", "w1", "w2"} {
		t.at(0, "machine", 1, event.MachineUp{Host: h})
	}
	for _, m := range []string{"m1", "m2", "m3"} {
		t.at(0, "etcd", 1, event.ProcessStarted{Host: m, Process: "etcd"})
		t.role(0, m, "follower", 1)
	}
	t.role(1, "m1", "candidate", 2)
	t.role(1.5, "m1", "leader", 2)
	return t
}

func (t *tale) role(s float64, m, role string, term uint64) {
	t.at(s, event.On("etcd", m), 0, event.RaftRole{Member: m, Role: role, Term: term})
}

func TestElectionsAreMeasuredFromTheLossOfTheLeader(t *testing.T) {
	for _, c := range []struct {
		name     string
		tell     func(*tale)
		from, to string
		term     uint64
		virtual  time.Duration
		wall     time.Duration
	}{
		{"its machine is switched off", func(w *tale) {
			w.at(100, "machine", 0, event.MachineDown{Host: "m1"})
			w.role(102, "m2", "candidate", 3)
			w.role(103, "m2", "leader", 3)
		}, "m1", "m2", 3, 3 * time.Second, 300 * time.Millisecond},
		{"its process is killed", func(w *tale) {
			w.at(100, "etcd", 0, event.ProcessStopped{Host: "m1", Process: "etcd", Reason: "killed"})
			w.role(102, "m3", "leader", 5)
		}, "m1", "m3", 5, 2 * time.Second, 200 * time.Millisecond},
		{"it steps down", func(w *tale) {
			w.role(100, "m1", "follower", 2)
			w.role(101, "m2", "leader", 3)
		}, "m1", "m2", 3, time.Second, 100 * time.Millisecond},
		{"it steps down and wins again", func(w *tale) {
			w.role(100, "m1", "follower", 2)
			w.role(104, "m1", "leader", 3)
		}, "m1", "m1", 3, 4 * time.Second, 400 * time.Millisecond},
		{"a process of another kind on its master does not matter", func(w *tale) {
			w.at(90, "apiserver", 0, event.ProcessStopped{Host: "m1", Process: "apiserver"})
			w.role(100, "m1", "down", 2)
			w.role(101, "m2", "leader", 3)
		}, "m1", "m2", 3, time.Second, 100 * time.Millisecond},
		{"it still thinks it leads, behind a cut: from the winner's candidacy", func(w *tale) {
			w.role(100, "m2", "candidate", 3)
			w.role(101, "m2", "candidate", 4)
			w.role(102, "m2", "leader", 4)
			w.role(103, "m1", "follower", 4)
		}, "m1", "m2", 4, 2 * time.Second, 0},
		{"the first sign of the loss counts", func(w *tale) {
			w.role(100, "m1", "follower", 2)
			w.at(105, "machine", 0, event.MachineDown{Host: "m1"})
			w.role(106, "m2", "leader", 3)
		}, "m1", "m2", 3, 6 * time.Second, 600 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := threeMasters()
			c.tell(w)
			if len(w.Elections) != 2 {
				t.Fatalf("%d elections, want the first and this one: %+v", len(w.Elections), w.Elections)
			}
			if first := w.Elections[0]; first.From != "" || first.To != "m1" || first.Virtual != 0 {
				t.Errorf("first election %+v", first)
			}
			e := w.Elections[1]
			if e.From != c.from || e.To != c.to || e.Term != c.term || e.Virtual != c.virtual || e.Wall != c.wall {
				t.Errorf("got %+v", e)
			}
			if l, ok := w.Leader(); !ok || l.Name != c.to {
				t.Errorf("leader %v", l)
			}
			if _, _, _, _, vacant := w.Vacancy(); vacant {
				t.Error("the seat is empty after an election")
			}
		})
	}
}

func TestALeaderOfAnOldTermWinsNothing(t *testing.T) {
	w := threeMasters()
	w.role(10, "m2", "leader", 3)
	w.role(11, "m1", "leader", 2) // says again what it believes
	if l, _ := w.Leader(); l.Name != "m2" || len(w.Elections) != 2 {
		t.Errorf("leader %v, elections %+v", l, w.Elections)
	}
}

func TestQuorumFollowsMembersAndLinks(t *testing.T) {
	for _, c := range []struct {
		name          string
		tell          func(*tale)
		have, canLose int
	}{
		{"all up", func(*tale) {}, 3, 1},
		{"one master off", func(w *tale) { w.at(9, "machine", 0, event.MachineDown{Host: "m3"}) }, 2, 0},
		{"one etcd stopped", func(w *tale) { w.at(9, "etcd", 0, event.ProcessStopped{Host: "m3", Process: "etcd"}) }, 2, 0},
		{"two off", func(w *tale) {
			w.at(9, "machine", 0, event.MachineDown{Host: "m3"})
			w.at(9, "machine", 0, event.MachineDown{Host: "m2"})
		}, 1, -1},
		{"one cut off from all", func(w *tale) {
			w.at(9, "engine", 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "m1", B: fault.All}})
		}, 2, 0},
		{"one link cut: a hub remains, and may not fall", func(w *tale) {
			w.at(9, "engine", 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "m1/etcd", B: "m2/etcd"}})
		}, 3, 0},
		{"one wiped: it counts, but has no vote", func(w *tale) {
			w.at(9, "etcd/m3", 0, event.RaftRole{Member: "m3", Role: "follower", Term: 2, Err: "forgot what it acknowledged"})
		}, 2, 0},
		{"cut and healed", func(w *tale) {
			id := w.at(9, "engine", 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "m1", B: fault.All}})
			w.at(10, "engine", 0, event.FaultRemoved{ID: id})
		}, 3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := threeMasters()
			c.tell(w)
			if g := w.Majority(); len(g.Members) != c.have || g.Need != 2 || g.Total != 3 || g.CanLose != c.canLose {
				t.Errorf("have %d need %d total %d can lose %d", len(g.Members), g.Need, g.Total, g.CanLose)
			}
		})
	}
}

func TestBreakagesNameWhoDidThem(t *testing.T) {
	w := threeMasters()
	kill := w.at(5, event.You, 0, event.CommandGiven{Text: "kill w1"})
	down := w.at(5, "machine/w1", kill, event.MachineDown{Host: "w1", Reason: "killed"})
	w.at(5, "kubelet/w1", down, event.ProcessStopped{Host: "w1", Process: "kubelet", Reason: "machine down"})
	w.at(6, "etcd/m2", 1, event.ProcessStopped{Host: "m2", Process: "etcd", Reason: "crashed"})
	cut := w.at(7, event.You, 0, event.CommandGiven{Text: "cut w2 all"})
	w.at(7, event.Engine, cut, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "w2", B: fault.All}})
	w.at(8, event.You, cut, event.CommandDone{Text: "cut w2 all", Error: "boom"})

	h, _ := w.Hosts.Get("w1")
	if h.By != event.You || h.Seq != down || h.Processes["kubelet"].By != event.You || h.Up {
		t.Errorf("w1: %+v", h)
	}
	if p, _ := w.Process("m2", "etcd"); p.By == event.You || p.Up || p.Reason != "crashed" {
		t.Errorf("m2/etcd: %+v", p)
	}
	w.FaultsOn("w2", func(f Fault) bool {
		if f.By != event.You {
			t.Errorf("fault by %q", f.By)
		}
		return true
	})
	want := []Command{{Seq: kill, At: zero.Add(5 * time.Second), Text: "kill w1"}, {Seq: cut, At: zero.Add(7 * time.Second), Text: "cut w2 all", Done: true, Error: "boom"}}
	if !slices.Equal(w.Commands, want) {
		t.Errorf("commands %+v", w.Commands)
	}
	w.at(20, "machine/w1", 0, event.MachineUp{Host: "w1"})
	if h, _ := w.Hosts.Get("w1"); !h.Up || h.By != "" || h.Seq != 0 {
		t.Errorf("after power on: %+v", h)
	}
	w.at(21, "kubelet/w1", 0, event.ProcessStarted{Host: "w1", Process: "kubelet"})
	if p, _ := w.Process("w1", "kubelet"); p.Restarts != 1 || !p.Up {
		t.Errorf("kubelet after its return: %+v", p)
	}
}

func podObject(name, node string, status corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c"}}}}
	p.Status.Phase = status
	p.UID = "uid"
	return p
}

func ref(name string) kinds.ObjectRef {
	return kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: name, UID: "uid"}
}

func TestBeliefAndTruthAreKeptApart(t *testing.T) {
	w := threeMasters()
	w.at(1, "store", 0, event.ObjectChanged{Type: event.Added, Revision: 1, Object: podObject("a", "w1", corev1.PodRunning)})
	w.at(1, "containerd/w1", 0, event.ContainerChanged{Node: "w1", Pod: ref("a"), Container: "c", State: event.ContainerRunning})
	w.at(1, "containerd/w1", 0, event.ContainerChanged{Node: "w1", Pod: kinds.ObjectRef{Namespace: "default", Name: "old", UID: "old"}, Container: "c", State: event.ContainerRunning})
	if c := w.Compare("w1"); c != (BeliefAndTruth{Belief: 1, Truth: 2, Unknown: 1}) {
		t.Errorf("while all runs: %+v", c)
	}
	w.at(2, "machine/w1", 0, event.MachineDown{Host: "w1"})
	if c := w.Compare("w1"); c != (BeliefAndTruth{Belief: 1}) {
		t.Errorf("on a dead machine nothing runs, and the store does not know: %+v", c)
	}
	w.at(3, "machine/w1", 0, event.MachineUp{Host: "w1"})
	w.at(4, "containerd/w1", 0, event.ContainerChanged{Node: "w1", Pod: ref("a"), Container: "c", State: event.ContainerRunning})
	w.at(5, "containerd/w1", 0, event.ContainerChanged{Node: "w1", Pod: ref("a"), Container: "c", State: event.ContainerGone})
	if c := w.Compare("w1"); c != (BeliefAndTruth{Belief: 1}) {
		t.Errorf("after the sandbox is removed: %+v", c)
	}
}

func TestEvictionsEndWithTheDeletionOfTheirPod(t *testing.T) {
	w := threeMasters()
	due := zero.Add(5 * time.Minute)
	for _, n := range []string{"a", "b", "c"} {
		w.at(1, "store", 0, event.ObjectChanged{Type: event.Added, Object: podObject(n, "w1", corev1.PodRunning)})
	}
	w.at(2, "x", 0, event.EvictionPlanned{Pod: ref("a"), Node: "w1", Due: due.Add(time.Second)})
	w.at(2, "x", 0, event.EvictionPlanned{Pod: ref("b"), Node: "w1", Due: due})
	w.at(2, "x", 0, event.EvictionPlanned{Pod: ref("c"), Node: "w1", Due: due.Add(time.Hour)})
	check := func(when string, n int, first time.Time) {
		t.Helper()
		if gotN, got := w.EvictionsOnNode("w1"); gotN != n || !got.Equal(first) {
			t.Errorf("%s: %d, first %v", when, gotN, got)
		}
	}
	check("planned", 3, due)
	w.at(3, "x", 0, event.EvictionCancelled{Pod: ref("b"), Node: "w1"})
	check("one taken back", 2, due.Add(time.Second))
	deleted := podObject("a", "w1", corev1.PodRunning)
	deleted.DeletionTimestamp = &metav1.Time{Time: due}
	w.at(4, "store", 0, event.ObjectChanged{Type: event.Modified, Object: deleted})
	check("one carried out", 1, due.Add(time.Hour))
	w.at(5, "store", 0, event.ObjectChanged{Type: event.Deleted, Object: podObject("c", "w1", corev1.PodRunning)})
	check("one deleted by somebody else", 0, time.Time{})
}

func TestALeaseAgesUntilItIsRenewed(t *testing.T) {
	w := threeMasters()
	holder, secs := "m1", int32(40)
	lease := kinds.Leases.New()
	lease.SetNamespace("kube-node-lease")
	lease.SetName("w1")
	w.at(1, "store", 0, event.ObjectChanged{Type: event.Added, Object: lease})
	if _, expired, ok := w.LeaseAge("kube-node-lease", "w1", w.At); !ok || !expired {
		t.Error("a lease without holder counts as held")
	}
	l, _ := w.NodeLease("w1")
	full := *l
	full.Holder, full.Duration = holder, time.Duration(secs)*time.Second
	w.Leases.Set("kube-node-lease/w1", &full)
	w.at(10, "store", 0, event.LeaseRenewed{Namespace: "kube-node-lease", Lease: "w1", Holder: holder, Revision: 7})
	if age, expired, _ := w.LeaseAge("kube-node-lease", "w1", zero.Add(15*time.Second)); age != 5*time.Second || expired {
		t.Errorf("age %v, expired %v", age, expired)
	}
	if _, expired, _ := w.LeaseAge("kube-node-lease", "w1", zero.Add(51*time.Second)); !expired {
		t.Error("not expired after 41 of 40 s")
	}
	if w.Revision != 7 {
		t.Errorf("revision %d", w.Revision)
	}
}

func TestAnomaliesCarryKindSubjectSinceByAndUntil(t *testing.T) {
	w := threeMasters()
	if list, more := w.Anomalies(10); len(list) != 0 || more != 0 {
		t.Fatalf("a healthy cluster has %v", list)
	}
	kill := w.at(10, event.You, 0, event.CommandGiven{Text: "kill m1"})
	w.at(10, "machine/m1", kill, event.MachineDown{Host: "m1"})
	w.at(11, "kubelet/m2", 0, event.ProcessStopped{Host: "m2", Process: "etcd", Reason: "crashed"})
	crash := podObject("crash", "w1", corev1.PodRunning)
	crash.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 4, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
	w.at(12, "containerd/w1", 0, event.ContainerChanged{Node: "w1", Pod: ref("crash"), Container: "c", State: event.ContainerBackoff, Until: zero.Add(time.Minute)})
	w.at(12, "store", 0, event.ObjectChanged{Type: event.Added, Object: crash})
	w.at(13, "store", 0, event.ObjectChanged{Type: event.Added, Object: podObject("big", "", corev1.PodPending)})
	w.at(14, "scheduler/m3", 0, event.SchedulingAttempt{Pod: ref("big"), Attempt: 3, Message: "0/2 nodes are available"})
	w.at(14, "scheduler/m3", 0, event.PodQueued{Pod: ref("big"), Queue: "backoff", Until: zero.Add(24 * time.Second)})

	var got []string
	list, _ := w.Anomalies(20)
	for _, a := range list {
		until := time.Duration(0)
		if !a.Until.IsZero() {
			until = a.Until.Sub(zero)
		}
		got = append(got, fmt.Sprintf("%s|%s|%s|%v|%s|%v|%d", a.Kind, a.Subject, a.Detail, a.Since.Sub(zero), a.By, until, a.Count))
	}
	want := []string{
		"host down|m1||10s|you|0s|0",
		"no quorum|||10s|you|0s|1",
		"no leader|m1||10s|you|0s|0",
		"process down|m2/etcd|crashed|11s|kubelet/m2|0s|0",
		"crash loop|default/crash|CrashLoopBackOff|12s||1m0s|4",
		"unschedulable|default/big|0/2 nodes are available|13s||24s|3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if list, more := w.Anomalies(2); len(list) != 2 || more != 4 || list[0].Kind != HostDown {
		t.Errorf("two of them: %v, %d more", list, more)
	}
}

func TestAGapInTheRecordsIsCounted(t *testing.T) {
	var w World
	w.Apply(event.Record{Seq: 1, At: zero, Event: event.RateChanged{Rate: 1}})
	w.Apply(event.Record{Seq: 5, At: zero, Event: event.RateChanged{Rate: 2}})
	w.Apply(event.Record{Seq: 4, At: zero, Event: event.RateChanged{Rate: 3}})
	if w.Lost != 3 || w.Rate != 2 {
		t.Errorf("lost %d, rate %v", w.Lost, w.Rate)
	}
}

func TestRequestsAreCountedByTallies(t *testing.T) {
	w := threeMasters()
	w.at(0, "apiserver/m1", 0, event.RequestTally{Server: "m1", Total: 0})
	w.at(2, "apiserver/m1", 0, event.RequestTally{Server: "m1", Total: 20, ByCode: map[int]int{200: 19, 409: 1}, Watches: 3})
	c := w.Clone()
	w.at(3, "apiserver/m1", 0, event.RequestTally{Server: "m1", Total: 5, ByCode: map[int]int{200: 5}, Watches: 4})
	b, _ := w.Backends.Get("m1")
	if w.Requests.Total != 25 || w.Requests.ByCode[200] != 24 || b.PerSec != 5 || b.Watches != 4 {
		t.Errorf("requests %+v, backend %+v", w.Requests, b)
	}
	if c.Requests.ByCode[200] != 19 {
		t.Errorf("the clone counts %v", c.Requests.ByCode)
	}
}
