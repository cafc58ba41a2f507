package kubeapi

import (
	"testing"
	"time"

	"example.com/kubeviz/engine/sim"
)

// answering is a transport that answers at once and notes when.
type answering struct{ at []time.Time }

func (a *answering) Do(p *sim.Proc, _ *Request) (*Response, error) {
	a.at = append(a.at, p.Now())
	return &Response{}, nil
}

func (a *answering) Watch(p *sim.Proc, _ *Request) (*WatchStream, error) {
	a.at = append(a.at, p.Now())
	return nil, nil
}

func TestAThrottledClientAsksABurstAndThenAtItsRate(t *testing.T) {
	loop := sim.New(sim.Options{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Rate: sim.Unpaced})
	began := loop.Now()
	wire := &answering{}
	client := &Client{Transport: wire, Throttle: NewThrottle(20, 30)}
	ask := func(p *sim.Proc) {
		if _, err := client.WithTimeout(time.Minute).Do(p, &Request{}); err != nil {
			t.Error(err)
		}
	}
	for range 2 { // two that share it
		loop.Spawn(loop.NewGroup("program"), "asks", func(p *sim.Proc) {
			for range 35 {
				ask(p)
			}
		})
	}
	if err := loop.RunUntil(t.Context(), began.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for i, at := range wire.at {
		want := time.Duration(max(0, i-29)) * 50 * time.Millisecond
		if d := at.Sub(began) - want; d.Abs() > time.Microsecond {
			t.Errorf("request %d left after %v, want %v", i, at.Sub(began), want)
		}
	}
	if len(wire.at) != 70 {
		t.Errorf("%d requests left", len(wire.at))
	}
}
