// Package motion holds the messages that travel on the screen: each mark is one real message of the journal, shown for a while along its lane; where there are too
// many of them, the lane has a rate instead.
//
// Imports of ours: engine/event. Goroutines: the screen's one. Time: wall time decides how long a mark is seen, simulated time what it says.
package motion

import (
	"time"

	"example.com/kubeviz/engine/event"
)

// Lanes hold what travels now. The zero value is empty.
type Lanes struct{}

// Read takes in a record that has just been folded, at an instant of wall time.
func (l *Lanes) Read(r event.Record, wall time.Time) {}

// Clear forgets everything: the reader has jumped to another instant.
func (l *Lanes) Clear() {}

// Moving reports whether anything is to be seen moving at an instant of wall time.
func (l *Lanes) Moving(wall time.Time) bool { return false }
