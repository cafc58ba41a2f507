package event

import "encoding/json"

// Unknown is a fact that this program has no struct for: it came from the file of another version. It is kept as it was written, so that a file which
// is read and written again loses nothing.
type Unknown struct {
	// Event is the name it had, and what Name returns.
	Event string
	Raw   json.RawMessage
}

// Name is the name the fact had in its file.
func (u Unknown) Name() string { return u.Event }
