package acceptance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/world"
)

// onStage is an engine that runs in the background at a pace, as under the screen.
type onStage struct {
	*engine.Engine
	t    testing.TB
	w    world.World
	seen event.Seq
}

// stage starts it; the end of the test stops it.
func stage(t testing.TB, o engine.Options) *onStage {
	t.Helper()
	e := open(t, o)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); <-over }) // before the engine is closed
	return &onStage{Engine: e, t: t}
}

// until folds what comes until a record fits; it gives up after a wall time.
func (s *onStage) until(what string, wall time.Duration, fits func(event.Record) bool) event.Record {
	s.t.Helper()
	for end := time.Now().Add(wall); ; time.Sleep(2 * time.Millisecond) {
		recs, _ := s.Journal().Read(nil, s.seen+1, 1<<16)
		for _, r := range recs {
			s.seen = r.Seq
			s.w.Apply(r)
			if fits(r) {
				return r
			}
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s: not within %v of wall time; the cluster is at %v", what, wall, s.w.Elapsed())
		}
	}
}

func (s *onStage) order(line string) {
	s.t.Helper()
	c, err := command.Parse(line)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Do(c)
}

func TestAtEveryRateALeaderIsReplacedWithinFifteenSimulatedSeconds(t *testing.T) {
	for _, rate := range []sim.Rate{10, 60} {
		t.Run(fmt.Sprintf("%gx", float64(rate)), func(t *testing.T) {
			s := stage(t, engine.Options{Scenario: loaded(t, run{}), Store: engine.StoreRaft, Seed: 1, Rate: rate})
			s.until("six pods", 20*time.Second, func(r event.Record) bool {
				_, is := r.Event.(event.ContainerChanged)
				return is && len(really(&s.w)) == 6
			})
			old, ok := s.w.Leader()
			if !ok {
				t.Fatal("nobody leads")
			}
			s.order("kill leader")
			kill := s.until("the kill", 5*time.Second, func(r event.Record) bool { _, is := r.Event.(event.MachineDown); return is })
			var next event.RaftRole
			won := s.until("the election", 10*time.Second, func(r event.Record) bool {
				e, is := r.Event.(event.RaftRole)
				next = e
				return is && e.Role == "leader" && e.Member != old.Name
			})
			if next.Term <= old.Term {
				t.Errorf("term %d follows term %d", next.Term, old.Term)
			}
			within(t, "new leader", won.At.Sub(kill.At), 0, 15*time.Second)
			t.Logf("%v of wall time", won.Wall.Sub(kill.Wall).Round(time.Millisecond))
		})
	}
}

func TestTimeStandsStillRunsOnAndStopsWhereItIsTold(t *testing.T) {
	s := stage(t, engine.Options{Scenario: loaded(t, run{}), Store: engine.StoreMemory, Seed: 1, Rate: 60})
	s.until("six pods", 20*time.Second, func(r event.Record) bool {
		_, is := r.Event.(event.ContainerChanged)
		return is && len(really(&s.w)) == 6
	})
	rate := func(want float64) func(event.Record) bool {
		return func(r event.Record) bool { e, is := r.Event.(event.RateChanged); return is && e.Rate == want }
	}
	failed := func(text, want string) {
		t.Helper()
		s.order(text)
		r := s.until(text, 5*time.Second, func(r event.Record) bool { e, is := r.Event.(event.CommandDone); return is && e.Text == text })
		if got := r.Event.(event.CommandDone).Error; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	failed("resume", "time is running already")
	failed("step", "time is running; pause first")
	failed("pause", "")
	if s.w.Rate != 0 {
		t.Fatalf("after a pause time runs at %g", s.w.Rate)
	}
	now := s.Now()
	failed("pause", "time is paused already")
	time.Sleep(20 * time.Millisecond)
	if !s.Now().Equal(now) {
		t.Errorf("a paused clock went from %v to %v", now, s.Now())
	}
	failed("cut worker-1 all", "")
	if !s.w.At.Equal(now) {
		t.Errorf("a command during the pause is at %v, the pause at %v", s.w.At, now)
	}
	s.order("until NodeNotReady")
	s.until("the run goes on", 5*time.Second, rate(60))
	stop := s.until("the run stops", 10*time.Second, rate(0))
	if why := stop.Event.(event.RateChanged).Why; why != "until NodeNotReady" {
		t.Errorf("it stopped because of %q", why)
	}
	within(t, "stopped", stop.At.Sub(now), 40*time.Second, 61*time.Second)
	if n, _ := s.w.Nodes.Get("worker-1"); n.Ready != "Unknown" {
		t.Errorf("it stopped with worker-1 %s", n.Ready)
	}
	s.order("speed 10x")
	s.until("another rate", 5*time.Second, rate(10))
}
