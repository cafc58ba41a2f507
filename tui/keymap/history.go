package keymap

// historyRows are the keys that only the page of revisions has; Scope is its ID.
func historyRows() []Binding { return nil }
