package keymap

import "example.com/kubeviz/tui/intent"

// historyRows are the keys that only the page of revisions has; Scope is its ID.
func historyRows() []Binding {
	return []Binding{
		{Scope: "history", Keys: []string{"z"}, Label: "z", Help: "key.to-revision", Short: "foot.to-rev", Do: intent.Option{Name: "to-revision"}},
	}
}
