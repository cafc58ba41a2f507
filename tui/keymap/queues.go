package keymap

// queueRows are the keys that only the queues has; Scope is its ID.
func queueRows() []Binding { return nil }
