package tui

import (
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./tui -update rewrites it). Got:\n%s", name, got)
	}
}

// recording reads a journal of testdata. They are from real runs:
//
//	calm:    kubeviz run ha --do '20s kubectl create deployment web --image=nginx --replicas=3' --for 45s --journal FILE
//	trouble: the same, with --do '30s kill leader' --do '40s cut worker-2 all' --do '95s kubectl run big --image=nginx --requests=cpu=8' --for 105s
func recording(t testing.TB, name string) []event.Record {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.NewReader(name, z)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	recs, _ := j.Read(nil, 1, int(j.Last()))
	return recs
}

var sizes = []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}}

// views are the keys that lead to every view and page, from the start.
var views = map[string][]string{
	"map": nil, "raft": {"2"}, "queues": {"3"}, "story": {"4"}, "objects": {"5"},
	"detail":   {"5", "d"},
	"chain":    {"5", "c"},
	"why":      {"w"},
	"decision": nil,
	"history":  {"5", "v"},
}

// shot takes a picture of a view; no single key opens the page of decisions.
func shot(recs []event.Record, view string, s Still) string {
	s.Keys = views[view]
	if view == "decision" {
		s.Open = intent.Open{Page: "decision", Target: lastTried(recs)}
	}
	return Snapshot(recs, s) + "\n"
}

// lastTried is the pod that the scheduler tried last.
func lastTried(recs []event.Record) (t target.Target) {
	for _, r := range recs {
		if a, ok := r.Event.(event.SchedulingAttempt); ok {
			t = target.Target{Kind: target.Pod, Namespace: a.Pod.Namespace, Name: a.Pod.Name}
		}
	}
	return t
}

func TestFramesOfEveryViewAreAsTheyWere(t *testing.T) {
	for _, name := range []string{"calm", "trouble"} {
		recs := recording(t, name)
		for view := range views {
			for _, s := range sizes {
				id := fmt.Sprintf("%s-%s-%dx%d", view, name, s.w, s.h)
				golden(t, id+".txt", shot(recs, view, Still{W: s.w, H: s.h, Plain: true}))
				golden(t, id+".ansi", shot(recs, view, Still{W: s.w, H: s.h, Depth: theme.Colours256}))
			}
		}
	}
}

func TestFramesOfOverlaysAndModesAreAsTheyWere(t *testing.T) {
	trouble := recording(t, "trouble")
	for name, keys := range map[string][]string{
		"help": {"?"}, "console": {":", "kill", "space", "m"}, "find": {"4", "/", "evict"}, "time": {"t"}, "export": {"e"}, "copy": {"5", "y"}, "past": {"{"}, "inside": {"tab", "tab", "tab", "enter"},
	} {
		for _, s := range sizes[:2] {
			golden(t, fmt.Sprintf("%s-%dx%d.txt", name, s.w, s.h), Snapshot(trouble, Still{W: s.w, H: s.h, Plain: true, Keys: keys})+"\n")
		}
	}
	many := fixture.Trouble(60).Records
	most := fixture.Trouble(400).Records
	for _, s := range sizes {
		golden(t, fmt.Sprintf("rows-%dx%d.txt", s.w, s.h), Snapshot(many, Still{W: s.w, H: s.h, Plain: true})+"\n")
		golden(t, fmt.Sprintf("cells-%dx%d.txt", s.w, s.h), Snapshot(most, Still{W: s.w, H: s.h, Plain: true})+"\n")
	}
	golden(t, "ascii-80x24.txt", Snapshot(trouble, Still{W: 80, H: 24, Plain: true, ASCII: true})+"\n")
	russian, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sizes[:2] {
		golden(t, fmt.Sprintf("russian-%dx%d.txt", s.w, s.h), Snapshot(trouble, Still{W: s.w, H: s.h, Plain: true, Words: russian})+"\n")
	}
}

// storeTales go on from a fixture: members that change, and a store that is full with a damaged disk.
func storeTales() map[string][]event.Record {
	members := func(names ...string) event.MembersChanged {
		var e event.MembersChanged
		for _, m := range names {
			name, learner := strings.CutSuffix(m, "?")
			e.Members = append(e.Members, event.StoreMember{Name: name, ID: name, Learner: learner})
		}
		return e
	}
	sizes := func(m string, size int64) event.RaftProgress {
		return event.RaftProgress{Member: m, DBSize: size, DBInUse: 3 << 20, Quota: 8 << 20}
	}
	three := members("master-1", "master-2", "master-3")
	write := event.RaftAppended{Member: "master-1", From: 43, To: 43, Term: 3, CommitIndex: 43, Entries: []event.RaftEntry{{Index: 43, Term: 3, Writes: []event.RaftWrite{{Object: kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: "web-1"}}}}}}
	tales := map[string][]event.Event{
		"members": {three, event.RaftTiming{Heartbeat: 250 * time.Millisecond, Election: 250 * time.Millisecond, Lease: 250 * time.Millisecond}, write, sizes("master-1", 4<<20), sizes("master-2", 4<<20), event.MachineUp{Host: "master-4", Joined: true}, event.ProcessStarted{Host: "master-4", Process: "etcd"},
			members("master-1", "master-2", "master-3", "master-4?"), event.RaftRole{Member: "master-4", Role: "learner", Term: 3, Leader: "master-1"},
			event.RaftAppended{Member: "master-4", From: 1, To: 20, Term: 3, CommitIndex: 20, Applied: 20}},
		"full": {three, sizes("master-1", 8<<20+100<<10), sizes("master-3", 8<<20+100<<10), event.StoreCompacted{Revision: 30},
			event.StoreAlarm{Kind: "NOSPACE", Member: "master-3", Raised: true}, event.StoreAlarm{Kind: "NOSPACE", Member: "master-1", Raised: true},
			event.DiskChanged{Member: "master-2", State: "zeroed", Text: "page 7 is zeros"}, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "exited", Message: "disk damaged: page 7 is zeros"},
			event.RaftRole{Member: "master-2", Role: "down", Term: 3}},
	}
	out := map[string][]event.Record{}
	for name, events := range tales {
		tape := fixture.Healthy(4)
		recs := tape.Records
		for i, e := range events {
			at := tape.At().Add(time.Duration(i+1) * time.Second)
			recs = append(recs, event.Record{Seq: event.Seq(len(recs) + 1), At: at, Wall: at, Actor: "etcd/master-1", Event: e})
		}
		out[name] = recs
	}
	return out
}

func TestFramesOfAStoreInTroubleAreAsTheyWere(t *testing.T) {
	for name, recs := range storeTales() {
		for _, view := range []string{"raft", "map", "why"} {
			for _, s := range sizes {
				golden(t, fmt.Sprintf("%s-%s-%dx%d.txt", view, name, s.w, s.h), shot(recs, view, Still{W: s.w, H: s.h, Plain: true}))
			}
		}
		golden(t, "raft-"+name+"-120x40.ansi", shot(recs, "raft", Still{W: 120, H: 40, Depth: theme.Colours256}))
		golden(t, "raft-"+name+"-ascii-80x24.txt", shot(recs, "raft", Still{W: 80, H: 24, Plain: true, ASCII: true}))
		golden(t, "map-"+name+"-ascii-120x40.txt", shot(recs, "map", Still{W: 120, H: 40, Plain: true, ASCII: true}))
	}
}

func TestFramesNeverLeaveTheScreen(t *testing.T) {
	recs := recording(t, "trouble")
	for view, keys := range views {
		m := still(recs, Still{W: 100, H: 30, Keys: keys})
		for h := 0; h <= 500; h = h*2 + 3 {
			for w := 0; w <= 500; w = w*3/2 + 7 {
				m.resize(w, h)
				lines := strings.Split(m.View(), "\n")
				if len(lines) > max(h, 1) {
					t.Fatalf("%s at %dx%d: %d lines", view, w, h, len(lines))
				}
				for _, l := range lines {
					if n := grid.Width(plain(l)); n > w {
						t.Fatalf("%s at %dx%d: a line of %d cells: %q", view, w, h, n, l)
					}
				}
			}
		}
		m.resize(500, 500)
		m.View()
	}
}

// plain takes the colours out.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			for i < len(s) && s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
