package queueview

import (
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/target"
)

func TestItemsOfTheEndpointQueuesLeadToWhatTheyAreAbout(t *testing.T) {
	for queue, kind := range map[string]*kinds.Kind{"endpoint": kinds.Services, "endpoint_slice": kinds.Services, "endpoint_slice_mirroring": kinds.Endpoints} {
		r := &row{t: target.Target{Kind: target.Queue, Process: manager, Name: queue}}
		if got, want := itemTarget(r, event.QueueItem{Key: "default/web"}), target.ForObject(kind, "default", "web"); got != want {
			t.Errorf("an item of %s leads to %+v, want %+v", queue, got, want)
		}
	}
}
