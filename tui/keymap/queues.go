package keymap

import "example.com/kubeviz/tui/intent"

// queueRows are the keys that only the view of queues has; Scope is its ID.
func queueRows() []Binding {
	return []Binding{
		{Scope: "queues", Keys: []string{"a"}, Label: "a", Help: "key.queues-idle", Short: "foot.queues-idle", Do: intent.Option{Name: "idle"}},
	}
}
