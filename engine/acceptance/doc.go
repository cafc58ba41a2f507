// Package acceptance holds the tests of the whole cluster: what a user breaks, what the parts make of it together, and whether the journal tells it truly. It has no
// code of its own; see the tests.
//
// A raft store lives in wall time: tests that use one run before all others, at most a few at once, so that those which only compute do not starve it.
//
// Imports of ours: none. Goroutines: none. Time: none.
package acceptance
