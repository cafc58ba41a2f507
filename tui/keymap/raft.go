package keymap

import "example.com/kubeviz/tui/intent"

// raftRows are the keys that only the raft view has; Scope is its ID.
func raftRows() []Binding {
	return []Binding{{Scope: "raft", Keys: []string{"s"}, Label: "s", Help: "key.raft-slow", Short: "foot.raft-slow", Do: intent.Option{Name: "slow"}}}
}
