package nodelifecycle

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// served plays a queue for a while in steps of 100 ms and tells who was served when.
func served(q *taintQueue, from, to time.Duration) (out []string) {
	for d := from; d < to; d += taintPeriod {
		for r := q.head(); r != nil && q.accept(t0.Add(d)); r = q.head() {
			q.pop()
			out = append(out, fmt.Sprintf("%gs %s", d.Seconds(), r.node))
		}
	}
	return out
}

func TestTheFirstNodeIsTaintedAtOnceAndEachFurtherOneTenSecondsLater(t *testing.T) {
	q := newTaintQueue()
	for _, n := range []string{"w2", "w1", "w3"} {
		q.add(n, true, t0, 0)
	}
	want := []string{"0s w2", "10s w1", "20s w3"}
	if got := served(q, 0, time.Minute); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestANodeServedIsNotServedAgainUnlessItsTaintIsLost(t *testing.T) {
	q := newTaintQueue()
	q.add("w1", true, t0, 0)
	served(q, 0, time.Second)
	if q.add("w1", false, t0, 0) {
		t.Error("queued again although its taint is there")
	}
	if !q.add("w1", true, t0, 0) {
		t.Error("not queued again although its taint was taken off")
	}
	if q.add("w1", true, t0, 0) {
		t.Error("queued twice")
	}
}

func TestANodeRemovedWhileItWaitsIsSkipped(t *testing.T) {
	q := newTaintQueue()
	q.add("w1", true, t0, 0)
	q.add("w2", true, t0, 0)
	q.remove("w1")
	if got := served(q, 0, time.Minute); !slices.Equal(got, []string{"0s w2"}) {
		t.Fatalf("got %q", got)
	}
}

func TestAStoppedZoneStartsAgainWithAnEmptyBucket(t *testing.T) {
	q := newTaintQueue()
	q.add("w1", true, t0, 0)
	q.setRate(0, t0)
	if got := served(q, 0, time.Minute); got != nil {
		t.Fatalf("served while stopped: %q", got)
	}
	q.setRate(EvictionRate, t0.Add(time.Minute))
	if got := served(q, time.Minute, 2*time.Minute); !slices.Equal(got, []string{"70s w1"}) {
		t.Fatalf("got %q", got)
	}
}
