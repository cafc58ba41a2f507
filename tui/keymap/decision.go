package keymap

// decisionRows are the keys that only the page of decisions has; Scope is its ID.
func decisionRows() []Binding { return nil }
