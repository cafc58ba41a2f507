package failure

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Traps is the set of traps that wait. The zero value is empty; a nil one is never stepped on.
type Traps struct {
	mu  sync.Mutex
	set []Trap
	// waiting is how many there are: members look at nothing else while there are none.
	waiting atomic.Int32
}

// Set adds a trap.
func (t *Traps) Set(trap Trap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = append(t.set, trap)
	t.waiting.Store(int32(len(t.set)))
}

// Clear removes the traps of a member; of all when member is empty.
func (t *Traps) Clear(member string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = slices.DeleteFunc(t.set, func(x Trap) bool { return member == "" || x.Member == member })
	t.waiting.Store(int32(len(t.set)))
}

// Waiting lists the traps that have not sprung.
func (t *Traps) Waiting() []Trap {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.set)
}

// Step tells whether a member that comes to a point steps on a trap, and takes that one away.
func (t *Traps) Step(member string, at Point) (Trap, bool) {
	if t == nil || t.waiting.Load() == 0 {
		return Trap{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.set {
		x := &t.set[i]
		if x.Member != member || x.Point != at {
			continue
		}
		if x.Skip > 0 {
			x.Skip--
			continue
		}
		sprung := *x
		t.set = slices.Delete(t.set, i, i+1)
		t.waiting.Store(int32(len(t.set)))
		return sprung, true
	}
	return Trap{}, false
}
