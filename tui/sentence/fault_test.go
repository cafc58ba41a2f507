package sentence

import (
	"strings"
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/tui/words"
)

func TestAFaultOfTheStoresMessagesIsNotToldAsACut(t *testing.T) {
	for kind, want := range map[fault.Kind]string{
		fault.Cut:       "packets between a and b vanish",
		fault.Clog:      "snapshots of the store between a and b stop in the middle: only the first piece arrives; all else passes",
		fault.Duplicate: "7% of the store's messages between a and b arrive twice",
		fault.Reorder:   "7% of the store's messages between a and b arrive late",
	} {
		s := NewTeller(words.English()).Tell(event.Record{Seq: 1, Event: event.FaultAdded{Fault: fault.Fault{Kind: kind, A: "a", B: "b", Percent: 7}}}, nil)
		if !strings.HasPrefix(s.One, want) {
			t.Errorf("%s: %q, want %q", kind, s.One, want)
		}
	}
}
