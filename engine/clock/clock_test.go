package clock

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The model is a sorted list of what is pending.
func TestLawTimersFireInOrderOfTimeThenOfBirthAndStoppedOnesNever(t *testing.T) {
	type pending struct {
		id  int
		due time.Time
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var ts Timers
		var model []pending
		timers := map[int]*Timer{}
		fired := -1
		for id := range 300 {
			switch rng.IntN(4) {
			case 0, 1:
				due := start.Add(time.Duration(rng.IntN(10)) * time.Second)
				timers[id] = ts.Add(due, func() { fired = id })
				if !timers[id].Due().Equal(due) {
					t.Fatal("due", timers[id].Due())
				}
				model = append(model, pending{id, due})
				slices.SortStableFunc(model, func(a, b pending) int { return cmp.Or(a.due.Compare(b.due), a.id-b.id) })
			case 2:
				if id == 0 {
					continue
				}
				victim := rng.IntN(id)
				i := slices.IndexFunc(model, func(p pending) bool { return p.id == victim })
				if got := timers[victim].Stop(); got != (i >= 0) {
					t.Fatalf("seed %d: Stop says %v of a timer that is pending: %v", seed, got, i >= 0)
				}
				if i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			default:
				fire := ts.Pop()
				if len(model) == 0 {
					if fire != nil {
						t.Fatalf("seed %d: fired from nothing", seed)
					}
					continue
				}
				if fire(); fired != model[0].id {
					t.Fatalf("seed %d: fired %d, want %d", seed, fired, model[0].id)
				}
				model = model[1:]
			}
			next, ok := ts.Next()
			if ts.Len() != len(model) || ok != (len(model) > 0) || ok && !next.Equal(model[0].due) {
				t.Fatalf("seed %d: %d pending, next %v; want %d", seed, ts.Len(), next, len(model))
			}
		}
	}
}

func TestNoTimerIsStoppedInVain(t *testing.T) {
	var none *Timer
	if none.Stop() {
		t.Error("stopping no timer stopped something")
	}
	var ts Timers
	var self *Timer
	self = ts.Add(start, func() {
		if self.Stop() {
			t.Error("a timer that fires can still be stopped")
		}
	})
	ts.Pop()()
}
