package keymap

// raftRows are the keys that only the raft view has; Scope is its ID.
func raftRows() []Binding { return nil }
