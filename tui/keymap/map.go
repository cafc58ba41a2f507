package keymap

import (
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// mapRows are the keys that only the map has; Scope is its ID.
func mapRows() []Binding {
	return []Binding{
		{Scope: "map", Keys: []string{"z"}, Label: "z", Help: "key.map-scale", Short: "foot.map-scale", Offer: many, Do: intent.Option{Name: "scale"}},
	}
}

// many: there are more workers than have cards.
func many(f view.Frame) bool { return len(f.Scene.Workers) > 12 }
