package world

import (
	"slices"
	"strings"
	"testing"

	"example.com/kubeviz/engine/event"
)

// damage spoils the disks of members, which end by it.
func damage(w *tale, names ...string) {
	for _, m := range names {
		w.raft(event.DiskChanged{Member: m, State: "zeroed"})
		w.raft(event.ProcessStopped{Host: m, Process: "etcd", Reason: "exited", Message: "disk damaged: page 7"})
		w.role(50, m, "down", 2)
	}
}

func TestAStoreThatCanHaveNoMajorityAgainIsRescuedFromWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		name    string
		masters int
		tell    func(*tale)
		want    string
	}{
		{"nothing is wrong", 3, func(*tale) {}, ""},
		{"one of three is damaged: it is replaced", 3, func(w *tale) { damage(w, "m1") }, ""},
		{"one is damaged, one only off: it is started", 3, func(w *tale) { damage(w, "m1"); w.raft(event.MachineDown{Host: "m2"}) }, ""},
		{"two of three are damaged", 3, func(w *tale) { damage(w, "m1", "m2") }, "backup @rescue, restore @rescue"},
		{"three of five, one more off", 5, func(w *tale) { damage(w, "m1", "m2", "m3"); w.raft(event.MachineDown{Host: "m5"}) }, "backup @rescue, restore @rescue, start m5"},
		{"damage that matters only at the next start", 3, func(w *tale) {
			for _, m := range []string{"m1", "m2"} {
				w.raft(event.DiskChanged{Member: m, State: "zeroed"})
			}
		}, ""},
		{"two were wiped and run without a vote", 3, func(w *tale) {
			for _, m := range []string{"m1", "m2"} {
				w.raft(event.RaftRole{Member: m, Role: "follower", Err: "no vote: wiped"})
			}
		}, "kill m1, kill m2, backup @rescue, restore @rescue, start m1, start m2"},
		{"all are damaged, a backup was made", 3, func(w *tale) { w.raft(event.StoreBackedUp{File: "old.kvb"}); damage(w, "m1", "m2", "m3") }, "restore old.kvb"},
		{"all are damaged and there is no backup", 2, func(w *tale) { damage(w, "m1", "m2") }, "kill m1, kill m2, wipe m1, wipe m2, start m1, start m2"},
		{"the one that is left began after the leader was lost, and saves nothing", 3, func(w *tale) {
			w.raft(event.StoreBackedUp{File: "old.kvb"})
			damage(w, "m1", "m2")
			w.at(60, "etcd/m3", 0, event.ProcessStopped{Host: "m3", Process: "etcd", Reason: "killed"})
			w.at(61, "etcd/m3", 0, event.ProcessStarted{Host: "m3", Process: "etcd"})
			w.role(61, "m3", "follower", 2)
		}, "restore old.kvb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := masters(c.masters)
			c.tell(w)
			r, lost := w.Rescue()
			if got := strings.Join(r.Commands, ", "); got != c.want || lost != (c.want != "") {
				t.Errorf("%v %q, want %q", lost, got, c.want)
			}
			list, _ := w.Anomalies(10)
			for _, a := range list {
				if a.Kind == NoQuorum && lost && !slices.Equal(w.Mend(a), r.Commands) {
					t.Errorf("the mend of %v is %q", a.Kind, w.Mend(a))
				}
			}
		})
	}
}

func TestALostQuorumIsMendedByStartingTheMachinesThatAreOff(t *testing.T) {
	for _, c := range []struct {
		name string
		tell func(*tale)
		want string
	}{
		{"two of three are off", func(w *tale) { w.raft(event.MachineDown{Host: "m1"}); w.raft(event.MachineDown{Host: "m3"}) }, "start m1, start m3"},
		{"one is off and one damaged", func(w *tale) { damage(w, "m1"); w.raft(event.MachineDown{Host: "m2"}) }, "start m2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := masters(3)
			c.tell(w)
			list, _ := w.Anomalies(10)
			for _, a := range list {
				if a.Kind == NoQuorum {
					if got := strings.Join(w.Mend(a), ", "); got != c.want {
						t.Errorf("the mend is %q, want %q", got, c.want)
					}
					return
				}
			}
			t.Errorf("no quorum is not among %v", list)
		})
	}
}
