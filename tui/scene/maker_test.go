package scene

import (
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/engine/world/worldtest"
	"example.com/kubeviz/tui/fixture"
)

// view of a worker without what only a Maker keeps.
func plain(s *Scene) []WorkerInfo {
	out := append([]WorkerInfo(nil), s.Workers...)
	for i := range out {
		if len(out[i].Faults) == 0 {
			out[i].Faults, out[i].CutFrom = nil, nil
		}
	}
	return out
}

func TestAMakerThatGoesOnSeesWhatAFreshOneSees(t *testing.T) {
	for seed := range uint64(3) {
		story := worldtest.New(worldtest.Options{Seed: seed, Workers: 9, Pods: 30})
		w := &world.World{}
		var k Maker
		for i := range 3000 {
			w.Apply(story.Next())
			if i%17 != 0 {
				continue
			}
			now := w.At.Add(time.Duration(i%5) * time.Second)
			got, want := k.Of(w, now), Of(w, now)
			if !reflect.DeepEqual(plain(got), plain(want)) {
				t.Fatalf("seed %d, record %d: the workers differ:\n%+v\n%+v", seed, i, plain(got), plain(want))
			}
			if got.NodesReady != want.NodesReady || got.Ghosts != want.Ghosts || got.Strays != want.Strays || !slices.Equal(got.Trouble, want.Trouble) || got.Starting != want.Starting ||
				!reflect.DeepEqual(got.Masters, want.Masters) || got.Quorum != want.Quorum || len(got.Faults) != len(want.Faults) {
				t.Fatalf("seed %d, record %d: the scenes differ: in trouble %v and %v, quorum %+v and %+v, %d and %d faults", seed, i, got.Trouble, want.Trouble, got.Quorum, want.Quorum, len(got.Faults), len(want.Faults))
			}
		}
	}
}

func TestAMakerFollowsMachinesThatJoin(t *testing.T) {
	w := fold(fixture.Healthy(2).Records)
	var k Maker
	k.Of(w, w.At)
	w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Event: event.MachineUp{Host: "worker-10"}})
	w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Event: event.MachineUp{Host: "worker-3"}})
	s := k.Of(w, w.At)
	var names []string
	for _, i := range s.Everyone() {
		names = append(names, s.Workers[i].Name)
	}
	if want := []string{"worker-1", "worker-2", "worker-3", "worker-10"}; !reflect.DeepEqual(names, want) {
		t.Errorf("workers are %v, want %v", names, want)
	}
	if _, found := s.Find(Target{Host: "worker-10"}); found == nil || found.Name != "worker-10" {
		t.Errorf("worker-10 is not found: %+v", found)
	}
}

func change(w *world.World, o kinds.Object) {
	w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Actor: event.Engine, Event: event.ObjectChanged{Type: event.Modified, Revision: w.Revision + 1, Object: o}})
}

func TestZonesAreThoseOfTheLabel(t *testing.T) {
	w := fold(fixture.Healthy(4).Records)
	var k Maker
	if z := k.Of(w, w.At).Zones(); z != nil {
		t.Errorf("without labels there are zones: %v", z)
	}
	for i, zone := range []string{"b", "a", "b"} {
		name := []string{"worker-1", "worker-2", "worker-4"}[i]
		n, _ := w.Nodes.Get(name)
		o := n.Object.DeepCopy()
		o.Labels = map[string]string{corev1.LabelTopologyZone: zone}
		change(w, o)
	}
	s := k.Of(w, w.At)
	want := []Zone{{"", []int{2}}, {"a", []int{1}}, {"b", []int{0, 3}}}
	if !reflect.DeepEqual(s.Zones(), want) {
		t.Errorf("zones are %v, want %v", s.Zones(), want)
	}
}

func TestPodsThatAreBelievedToRunAndDoNotAreCounted(t *testing.T) {
	w := fold(fixture.Healthy(4).Records, event.MachineDown{Host: "worker-2", Reason: "killed"})
	s := Of(w, w.At)
	_, worker := s.Find(Target{Host: "worker-2"})
	if worker.Believed == 0 || worker.True != 0 || worker.Ghosts != worker.Believed || !worker.Differ || s.Ghosts != worker.Ghosts {
		t.Errorf("on a machine that is off %d pods are believed, %d run, %d are ghosts", worker.Believed, worker.True, worker.Ghosts)
	}
	w = fold(fixture.Healthy(4).Records, cut("worker-2", "all"))
	s = Of(w, w.At)
	if _, worker = s.Find(Target{Host: "worker-2"}); worker.Believed == 0 || worker.True != worker.Believed || worker.Differ || s.Ghosts != 0 {
		t.Errorf("behind a cut %d pods are believed and %d run: %+v", worker.Believed, worker.True, worker)
	}
}

func TestAClusterThatComesUpIsStartingUntilSomebodyBreaksIt(t *testing.T) {
	recs := fixture.Healthy(2).Records
	var early []event.Record
	for _, r := range recs {
		if _, ok := r.Event.(event.ObjectChanged); ok {
			break
		}
		early = append(early, r)
	}
	w := fold(early)
	if s := Of(w, w.At); !s.Starting || len(s.Trouble) != 0 {
		t.Errorf("starting is %v, with %d in trouble", s.Starting, len(s.Trouble))
	}
	w = fold(early, event.MachineDown{Host: "worker-1", Reason: "killed"})
	if s := Of(w, w.At); s.Starting || len(s.Trouble) == 0 {
		t.Errorf("with a machine killed it is starting: %v, %d in trouble", s.Starting, len(s.Trouble))
	}
	w = fold(early, event.DiskChanged{Member: "master-1", State: "zeroed"})
	if Of(w, w.At).Starting {
		t.Error("a cluster with a damaged disk only comes up")
	}
	w = fold(recs, event.BackendChanged{Backend: "master-1", Reason: "etcd failed"}, event.RaftRole{Member: "master-1", Role: "down"})
	w.Start = w.At.Add(-time.Minute) // as young as one that comes up
	if s := Of(w, w.At); s.Starting || w.Came.IsZero() {
		t.Errorf("a cluster that was all there at %v only comes up", w.Came)
	}
	w = fold(recs)
	if Of(w, w.At).Starting {
		t.Error("a cluster of twelve minutes is starting")
	}
}

func TestTheSchedulersThreeQueuesAreToldApart(t *testing.T) {
	w := fold(fixture.Healthy(2).Records)
	w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Actor: "scheduler/master-3", Event: event.QueueChanged{Queue: "scheduler", Delayed: 4,
		Parts: map[string]int{"active": 2, "backoff": 1, "unschedulable": 3}}})
	m, _ := Of(w, w.At).Find(Target{Host: "master-3"})
	if r := m.Scheduler; !r.Parted || r.Waiting != 2 || r.Backoff != 1 || r.Unschedulable != 3 {
		t.Errorf("%+v", r)
	}
}
