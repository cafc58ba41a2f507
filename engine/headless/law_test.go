package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/timeline"
	"example.com/kubeviz/presets"
)

// recorded runs a cluster in which a worker is cut off and another loses its power, and returns its journal file.
func recorded(t *testing.T, seed uint64) ([]byte, Result) {
	t.Helper()
	s, err := presets.Load("ha")
	if err != nil {
		t.Fatal(err)
	}
	steps := []scenario.Step{{At: "60s", Do: "cut worker-1 all"}, {At: "8m", Do: "heal"}, {At: "9m", Do: "kill worker-2"}}
	var file bytes.Buffer
	res, err := Run(t.Context(), Options{Scenario: s, Do: steps, For: 10 * time.Minute, Store: engine.StoreMemory, Seed: seed, Journal: &file})
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), res
}

func loaded(t *testing.T, file []byte) (*journal.Journal, journal.Header) {
	t.Helper()
	r, err := journal.NewReader("file", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Load(r)
	if err != nil || r.Torn() != "" {
		t.Fatal(err, r.Torn())
	}
	return j, r.Header()
}

func TestLawTheSameSeedGivesTheSameFile(t *testing.T) {
	a, _ := recorded(t, 3)
	b, _ := recorded(t, 3)
	if !bytes.Equal(a, b) {
		al, bl := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
		for i := range min(len(al), len(bl)) {
			if !bytes.Equal(al[i], bl[i]) {
				t.Fatalf("line %d:\n%s\n%s", i+1, al[i], bl[i])
			}
		}
		t.Fatalf("%d lines against %d", len(al), len(bl))
	}
	if c, _ := recorded(t, 4); bytes.Equal(a, c) {
		t.Error("another seed gives the same file")
	}
}

func TestLawAReplayOfTheFileEndsInTheWorldOfTheRun(t *testing.T) {
	file, live := recorded(t, 5)
	j, head := loaded(t, file)

	var again bytes.Buffer
	w := journal.NewFile(&again, head)
	recs, _ := j.Read(nil, 1, int(j.Last()))
	for _, r := range recs {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		if u, ok := r.Event.(event.Unknown); ok {
			t.Errorf("record %d is read as an unknown %s", r.Seq, u.Event)
		}
	}
	if !bytes.Equal(file, again.Bytes()) {
		t.Error("reading the file and writing it again changes it")
	}

	line := timeline.Replay(j)
	for n := 1; n > 0; {
		line, n = line.Advance(1000)
	}
	line.GoLive()
	want, got := Summarize(live.World, 0), Summarize(line.World(), 0)
	if a, b := asJSON(t, want), asJSON(t, got); a != b {
		t.Errorf("live   %s\nreplay %s", a, b)
	}
	if a, b := anomalies(live), anomalies(Result{World: line.World()}); a != b || a == "" {
		t.Errorf("live   %s\nreplay %s", a, b)
	}
}

func TestLawEveryRecordLeadsBackToACommandOrToTheStart(t *testing.T) {
	file, _ := recorded(t, 6)
	j, _ := loaded(t, file)
	byCommand := 0
	for seq := event.Seq(1); seq <= j.Last(); seq++ {
		chain := journal.Chain(j, seq)
		switch root := chain[len(chain)-1].Event.(type) {
		case event.ClusterStarted:
		case event.CommandGiven:
			byCommand++
		case event.QueueChanged, event.RequestTally, event.RaftProgress: // counts over many causes
		default:
			t.Errorf("record %d, %s %+v, goes back to %s without a cause", seq, chain[0].Event.Name(), chain[0].Event, root.Name())
		}
	}
	if byCommand < 50 {
		t.Errorf("only %d records go back to a command", byCommand)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func anomalies(r Result) string {
	list, more := r.World.Anomalies(50)
	return fmt.Sprint(list, more)
}
