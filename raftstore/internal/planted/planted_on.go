//go:build planted

package planted

import (
	"sync"
	"sync/atomic"
)

// Enabled tells whether bugs can be planted in this build.
const Enabled = true

var (
	active atomic.Pointer[Bug]
	passes atomic.Uint64
	kept   sync.Map
)

// Plant makes a bug active, and no other, until uproot is called.
func Plant(b Bug) (uproot func()) {
	passes.Store(0)
	kept.Clear()
	active.Store(&b)
	return func() { active.Store(nil) }
}

// Is tells whether a bug is active.
func Is(b Bug) bool {
	p := active.Load()
	return p != nil && *p == b
}

// Once tells the same, at every nth pass.
func Once(b Bug, n uint64) bool { return Is(b) && passes.Add(1)%n == 0 }

// Keep remembers something for a site under a key, Kept returns it, or nil.
func Keep(key, value any) { kept.Store(key, value) }

func Kept(key any) any {
	v, _ := kept.Load(key)
	return v
}
