package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// pacedRun drives a paced loop inside a bubble, where the wall is as fast as we like, and tells at which wall distance each thing happened.
func pacedRun(t *testing.T, rate Rate, until time.Duration, setup func(l *Loop, log func(string))) map[string]time.Duration {
	t.Helper()
	got := map[string]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: start, Rate: rate})
		began := time.Now()
		setup(l, func(s string) { got[s] = time.Since(began) })
		ctx, stop := context.WithTimeout(t.Context(), 1000*time.Hour)
		defer stop()
		if err := l.RunUntil(ctx, start.Add(until)); err != nil {
			t.Errorf("run: %v", err)
		}
		got["end"] = time.Since(began)
	})
	return got
}

func near(a, b time.Duration) bool { return max(a-b, b-a) <= 5*time.Millisecond }

func TestAPacedLoopKeepsToTheWall(t *testing.T) {
	for _, c := range []struct {
		rate Rate
		sim  time.Duration
		wall time.Duration
	}{
		{1, 100 * time.Millisecond, 100 * time.Millisecond},
		{1, 20 * time.Second, 20 * time.Second}, // nothing else is due for longer than a stall
		{10, 30 * time.Second, 3 * time.Second},
		{60, time.Hour, time.Minute},
		{0.1, 2 * time.Second, 20 * time.Second},
	} {
		got := pacedRun(t, c.rate, 2*c.sim, func(l *Loop, log func(string)) {
			l.After(c.sim, func() { log("timer") })
		})
		if !near(got["timer"], c.wall) || !near(got["end"], 2*c.wall) {
			t.Errorf("rate %v: a timer of %v fired after %v of wall, want %v; end after %v", c.rate, c.sim, got["timer"], c.wall, got["end"])
		}
	}
}
