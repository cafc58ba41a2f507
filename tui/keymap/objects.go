package keymap

// objectRows are the keys that only the objects has; Scope is its ID.
func objectRows() []Binding { return nil }
