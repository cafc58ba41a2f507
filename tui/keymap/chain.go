package keymap

// chainRows are the keys that only the chain of causes has; Scope is its ID.
func chainRows() []Binding { return nil }
