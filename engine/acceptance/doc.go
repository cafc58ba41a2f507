// Package acceptance holds the tests of the whole cluster: what a user breaks, what the parts make of it together, and whether the journal tells it truly. It has no
// code of its own; see the tests.
//
// Imports of ours: none. Goroutines: none. Time: none.
package acceptance
