package keymap

// whyRows are the keys that only the page of answers has; Scope is its ID.
func whyRows() []Binding { return nil }
