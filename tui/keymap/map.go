package keymap

// mapRows are the keys that only the map has; Scope is its ID.
func mapRows() []Binding { return nil }
