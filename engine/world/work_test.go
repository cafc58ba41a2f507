package world

import (
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// tape applies facts of one actor at offsets in seconds since t0.
type tape struct {
	w   World
	seq event.Seq
}

func (t *tape) at(seconds float64, actor event.Actor, e event.Event) {
	t.seq++
	t.w.Apply(event.Record{Seq: t.seq, At: t0.Add(time.Duration(seconds * float64(time.Second))), Actor: actor, Event: e})
}

const manager event.Actor = "controller-manager/master-1"

func (t *tape) queue(test *testing.T) *Queue {
	test.Helper()
	q, ok := t.w.Queues.Get(string(manager) + " replicaset")
	if !ok {
		test.Fatal("the queue is not known")
	}
	return q
}

func TestAChartShowsPeaksDifferencesAndWhatGoesOn(t *testing.T) {
	var x tape
	x.at(0, manager, event.QueueChanged{Queue: "replicaset"})
	x.at(2.2, manager, event.QueueChanged{Queue: "replicaset", Done: 4, Peak: 7, Waited: time.Second})
	x.at(3.2, manager, event.QueueChanged{Queue: "replicaset", Waiting: 2, Done: 5, Oldest: t0.Add(3 * time.Second)})
	x.at(9, manager, event.QueueChanged{Queue: "replicaset", Done: 8, Retried: 1, Waited: 6 * time.Second})
	q := x.queue(t)
	got := fmt.Sprint(q.History.Chart(nil, t0.Add(11*time.Second), 6))
	want := fmt.Sprint([]Point{{}, {Waiting: 7, Done: 5, Age: time.Second}, {Waiting: 2, Age: 3 * time.Second}, {Waiting: 2, Age: 5 * time.Second},
		{Done: 3, Retried: 1, Age: 6 * time.Second}, {}})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := q.History.PerSecond(t0.Add(10*time.Second), 5); r < 0.9 || r > 1.1 {
		t.Errorf("%g done a second, want about 1", r)
	}
}

func TestAHistoryIsBoundedAndNeverChangesOnceMade(t *testing.T) {
	var x tape
	for i := range 3 * HistoryMax {
		x.at(float64(2*i), manager, event.QueueChanged{Queue: "replicaset", Done: int64(i)})
	}
	h := x.queue(t).History
	before := fmt.Sprint(h)
	if len(h.past) > HistoryMax {
		t.Errorf("%d steps are kept, at most %d", len(h.past), HistoryMax)
	}
	for i := range 10 {
		x.at(float64(6*HistoryMax+i), manager, event.QueueChanged{Queue: "replicaset", Done: int64(1000 + i)})
	}
	if fmt.Sprint(h) != before {
		t.Error("an old history changed with its successor")
	}
	if n := len(h.Chart(nil, t0.Add(time.Hour), 5)); n != 5 {
		t.Errorf("%d points long after, want 5", n)
	}
	var empty History
	if got := empty.Chart(nil, t0, 3); len(got) != 3 || got[0] != (Point{}) || empty.PerSecond(t0, 5) != 0 {
		t.Errorf("nothing is %v", got)
	}
}

func TestItemsThatWereLeftOutAreThoseBefore(t *testing.T) {
	var x tape
	items := []event.QueueItem{{Key: "default/a", State: event.ItemDelayed}}
	x.at(0, manager, event.QueueChanged{Queue: "replicaset", Delayed: 1, Items: items})
	x.at(1, manager, event.QueueChanged{Queue: "replicaset", Delayed: 1, Done: 3, Kept: true})
	if q := x.queue(t); len(q.Items) != 1 || q.Done != 3 {
		t.Errorf("%+v", q)
	}
	x.at(2, manager, event.QueueChanged{Queue: "replicaset"})
	if q := x.queue(t); len(q.Items) != 0 {
		t.Errorf("an empty queue has %v", q.Items)
	}
}

func TestWatchesAreFoundByServerAndByClient(t *testing.T) {
	var x tape
	open := func(server string, n uint64, client event.Actor) {
		x.at(1, event.On("apiserver", server), event.WatchOpened{Server: server, Watch: n, Resource: "pods", Client: client})
	}
	list := func() (out string) {
		x.w.WatchesOn("master-1", func(o *Watch) bool { out += fmt.Sprint(o.Watch, o.Client, " "); return true })
		out += "| "
		x.w.WatchesOf("kubelet/worker-1", func(o *Watch) bool { out += fmt.Sprint(o.Server, o.Watch, " "); return true })
		return out
	}
	x.at(0, "engine", event.ProcessStarted{Host: "master-1", Process: "apiserver"})
	open("master-1", 1, "scheduler/master-1")
	open("master-1", 2, "kubelet/worker-1")
	open("master-11", 1, "kubelet/worker-1")
	open("master-2", 1, "kubelet/worker-11")
	if got, want := list(), "1scheduler/master-1 2kubelet/worker-1 | master-12 master-111 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	x.at(2, "apiserver/master-1", event.WatchClosed{Server: "master-1", Watch: 1})
	if got, want := list(), "2kubelet/worker-1 | master-12 master-111 "; got != want {
		t.Errorf("after one closed: %q, want %q", got, want)
	}
	x.at(3, "engine", event.ProcessStopped{Host: "master-1", Process: "apiserver", Reason: "killed"})
	if got, want := list(), "| master-111 "; got != want {
		t.Errorf("after the server's end: %q, want %q", got, want)
	}
}

func TestContainersThatWaitForARestartAreKnownWithoutALook(t *testing.T) {
	var x tape
	on := func(seconds float64, node string, state event.ContainerState) {
		x.at(seconds, event.On("containerd", node), event.ContainerChanged{Node: node, Container: "c", State: state})
	}
	list := func() (out string) {
		x.w.BackedOff(func(c *Container) bool { out += c.Node + " "; return true })
		return out
	}
	on(1, "w2", event.ContainerBackoff)
	on(1, "w1", event.ContainerBackoff)
	on(1, "w3", event.ContainerRunning)
	if got := list(); got != "w1 w2 " {
		t.Errorf("got %q", got)
	}
	on(2, "w1", event.ContainerRunning)
	x.at(3, "engine", event.MachineDown{Host: "w2", Reason: "killed"})
	if got := list(); got != "" {
		t.Errorf("restarted or switched off, but %q", got)
	}
}
