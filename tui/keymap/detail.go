package keymap

// detailRows are the keys that only the page about one thing has; Scope is its ID.
func detailRows() []Binding { return nil }
