package fault

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestSelectorsChooseHostsProcessesOrAll(t *testing.T) {
	for _, c := range []struct {
		name     string
		f        Fault
		from, to string
		want     bool
	}{
		{"host to host", Fault{A: "m1", B: "m2"}, "m1/etcd", "m2/etcd", true},
		{"and back", Fault{A: "m1", B: "m2"}, "m2/etcd", "m1/apiserver", true},
		{"not back when one way", Fault{A: "m1", B: "m2", OneWay: true}, "m2/etcd", "m1/etcd", false},
		{"one way in its direction", Fault{A: "m1", B: "m2", OneWay: true}, "m1/etcd", "m2/etcd", true},
		{"another host", Fault{A: "m1", B: "m2"}, "m1/etcd", "m3/etcd", false},
		{"a name that begins alike is another host", Fault{A: "w1", B: All}, "w10/kubelet", "m1/apiserver", false},
		{"all others", Fault{A: "m1", B: All}, "m3/etcd", "m1/etcd", true},
		{"all never means inside a host", Fault{A: "m1", B: All}, "m1/kubelet", "m1/apiserver", false},
		{"nor does a host with itself", Fault{A: "m1", B: "m1"}, "m1/kubelet", "m1/apiserver", false},
		{"two processes of one host", Fault{A: "m1/kubelet", B: "m1/apiserver"}, "m1/kubelet", "m1/apiserver", true},
		{"only these two", Fault{A: "m1/kubelet", B: "m1/apiserver"}, "m1/kubelet", "m1/etcd", false},
		{"a process and all others", Fault{A: "m1/etcd", B: All}, "m1/etcd", "m2/etcd", true},
		{"not the other processes of its host", Fault{A: "m1/etcd", B: All}, "m1/apiserver", "m2/etcd", false},
		{"a process and a host", Fault{A: "m1/etcd", B: "m2"}, "m2/apiserver", "m1/etcd", true},
	} {
		if got := c.f.Matches(c.from, c.to); got != c.want {
			t.Errorf("%s: %v from %s to %s: %v", c.name, c.f, c.from, c.to, got)
		}
	}
}

func TestFaultsReadAsTheirCommand(t *testing.T) {
	for _, c := range []struct {
		f    Fault
		want string
	}{
		{Fault{Kind: Cut, A: "w1", B: All}, "cut w1 all"},
		{Fault{Kind: Cut, A: "m1/etcd", B: "m2/etcd", OneWay: true}, "cut m1/etcd m2/etcd oneway"},
		{Fault{Kind: Delay, A: "m1", B: "m2", Duration: 200 * time.Millisecond}, "delay m1 m2 200ms"},
		{Fault{Kind: Loss, A: "m1", B: "m2", Percent: 12.5}, "loss m1 m2 12.5%"},
		{Fault{Kind: Duplicate, A: "m1", B: "m2", Percent: 20, OneWay: true}, "duplicate m1 m2 20% oneway"},
		{Fault{Kind: Reorder, A: "m1", B: All, Percent: 5}, "reorder m1 all 5%"},
		{Fault{Kind: Clog, A: "m1", B: "m2"}, "clog m1 m2"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestFaultsOnOneLinkAddUp(t *testing.T) {
	link := func(k Kind, d time.Duration, p float64) Fault {
		return Fault{Kind: k, A: "a", B: "b", Duration: d, Percent: p}
	}
	active := []Active{{7, link(Delay, time.Second, 0)}, {8, link(Delay, 2*time.Second, 0)}, {9, link(Loss, 0, 50)}, {10, link(Loss, 0, 50)}}
	if e := Between(active, "a/x", "b/y"); e != (Effect{Delay: 3 * time.Second, Percent: 75, ID: 7}) {
		t.Errorf("delays and losses: %+v", e)
	}
	active = append(active, Active{11, link(Cut, 0, 0)}, Active{12, link(Cut, 0, 0)})
	if e := Between(active, "a/x", "b/y"); !e.Cut || e.ID != 11 {
		t.Errorf("what is cut must name the cut as its cause, not the delay: %+v", e)
	}
	if e := Between(active, "a/x", "c/y"); e != (Effect{}) {
		t.Errorf("another link: %+v", e)
	}
}

func TestFaultsOfMessagesAddUpAndAreNoCauseOfWhatBefallsStreams(t *testing.T) {
	link := func(k Kind, p float64, oneway bool) Fault {
		return Fault{Kind: k, A: "a", B: "b", Percent: p, OneWay: oneway}
	}
	active := []Active{{3, link(Duplicate, 50, false)}, {4, link(Duplicate, 50, true)}, {5, link(Reorder, 10, false)}, {6, link(Clog, 0, true)}, {7, link(Loss, 40, false)}}
	want := Effect{Percent: 40, ID: 7, Messages: Messages{Duplicate: 75, DuplicateID: 3, Reorder: 10, ReorderID: 5, Clog: true, ClogID: 6}}
	if e := Between(active, "a/etcd", "b/etcd"); e != want {
		t.Errorf("from a to b: %+v, want %+v", e, want)
	}
	want.Messages = Messages{Duplicate: 50, DuplicateID: 3, Reorder: 10, ReorderID: 5}
	if e := Between(active, "b/etcd", "a/etcd"); e != want {
		t.Errorf("from b to a, where two of them do nothing: %+v, want %+v", e, want)
	}
}

func TestLawWhatWasListedNeverChangesAndEveryFaultHeals(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var s Set
		model := map[uint64]bool{}
		var listed, copies [][]Active
		for id := uint64(1); id < 60; id++ {
			if rng.IntN(3) > 0 {
				s.Add(id, Fault{Kind: Cut, A: "a", B: "b", Group: id % 4})
				model[id] = true
			} else {
				g := rng.Uint64N(4)
				for _, gone := range s.Remove(func(a Active) bool { return a.Fault.Group == g }) {
					if !model[gone.ID] || gone.Fault.Group != g {
						t.Fatalf("seed %d: removed %v", seed, gone)
					}
					delete(model, gone.ID)
				}
			}
			listed, copies = append(listed, s.Active()), append(copies, slices.Clone(s.Active()))
			if len(s.Active()) != len(model) || !slices.IsSortedFunc(s.Active(), func(a, b Active) int { return int(a.ID) - int(b.ID) }) {
				t.Fatalf("seed %d: %v, want %v", seed, s.Active(), model)
			}
		}
		for i := range listed {
			if !slices.Equal(listed[i], copies[i]) {
				t.Fatalf("seed %d: a list that was handed out changed", seed)
			}
		}
		s.Remove(func(Active) bool { return true })
		if e := Between(s.Active(), "a/x", "b/x"); e != (Effect{}) {
			t.Fatalf("after healing: %+v", e)
		}
	}
}
