package keymap

// storyRows are the keys that only the story has; Scope is its ID.
func storyRows() []Binding { return nil }
