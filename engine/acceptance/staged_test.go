package acceptance

import (
	"math"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/headless"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/world"
)

// staged is a run whose commands follow from what it has come to.
type staged struct {
	t    testing.TB
	e    *engine.Engine
	fold *snapshots
}

// inStages opens a cluster and lets it come up. dataDir may be empty.
func inStages(t testing.TB, r run, dataDir string) *staged {
	t.Helper()
	w := &snapshots{every: math.MaxUint64}
	if r.store == "" {
		r.store = engine.StoreMemory
	}
	e := open(t, engine.Options{Scenario: loaded(t, r), Store: r.store, DataDir: dataDir, Seed: r.seed, Start: engine.RepeatableStart, Repeatable: r.store == engine.StoreMemory, Writers: []journal.Writer{w}})
	return &staged{t, e, w}
}

// to lets time run until d after the start.
func (s *staged) to(d time.Duration) {
	s.t.Helper()
	if err := s.e.RunFor(s.t.Context(), d); err != nil {
		s.t.Fatal(err)
	}
}

// now is the time since the start.
func (s *staged) now() time.Duration { return s.e.Now().Sub(s.e.Start()) }

// world is the fold as it stands.
func (s *staged) world() *world.World { return &s.fold.w }

// do gives a command and lets time run until it has ended, ten simulated minutes at most.
func (s *staged) do(line string) event.CommandDone {
	s.t.Helper()
	c, err := command.Parse(line)
	if err != nil {
		s.t.Fatal(err)
	}
	from := s.e.Journal().Last()
	s.e.Do(c)
	for range 2400 {
		s.to(s.now() + 250*time.Millisecond)
		recs, _ := s.e.Journal().Read(nil, from+1, 1<<20)
		for _, r := range recs {
			from = r.Seq
			if d, ok := r.Event.(event.CommandDone); ok && d.Text == c.String() {
				s.t.Logf("%v %s: %s %s", s.now().Round(time.Second), line, strings.Join(d.Output, " / "), d.Error)
				return d
			}
		}
	}
	s.t.Fatalf("%s: no end", line)
	return event.CommandDone{}
}

// must is do for a command that must succeed; it returns the lines it put out.
func (s *staged) must(line string) string {
	s.t.Helper()
	d := s.do(line)
	if d.Error != "" {
		s.t.Fatalf("%s: %s", line, d.Error)
	}
	return strings.Join(d.Output, "\n")
}

// fails is do for a command that must fail with a text like that.
func (s *staged) fails(line, want string) {
	s.t.Helper()
	if d := s.do(line); !strings.Contains(d.Error, want) {
		s.t.Errorf("%s: %q, want …%s…", line, d.Error, want)
	}
}

// told is all that happened so far.
func (s *staged) told() *told {
	s.t.Helper()
	p := &told{t: s.t, journal: s.e.Journal(), summary: headless.Summarize(&s.fold.w, 0), world: &s.fold.w}
	p.take()
	return p
}

// settled fails unless the cluster is whole within limit; it tells how long that took.
func (s *staged) settled(pods int, limit time.Duration) {
	s.t.Helper()
	began := s.now()
	for s.now()-began < limit {
		if len(wrong(s.world(), pods)) == 0 {
			s.t.Logf("whole after %v", (s.now() - began).Round(time.Second))
			return
		}
		s.to(s.now() + time.Second)
	}
	s.t.Errorf("%v after %v:", limit, began)
	whole(s.t, s.world(), pods)
}
