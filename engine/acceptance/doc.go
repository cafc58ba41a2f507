// Package acceptance holds the tests of the whole cluster: what a user breaks, what the parts make of it together, and whether the journal tells it truly. It has no
// code of its own; see the tests.
//
// A raft store lives in wall time and mostly waits; a memory store computes. So all run side by side, many of the first kind and few of the second, which would starve the first (besides). Those that
// measure the wall's time run before all others, alone.
//
// Imports of ours: none. Goroutines: none. Time: none.
package acceptance
