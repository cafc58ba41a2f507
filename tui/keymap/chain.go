package keymap

import "example.com/kubeviz/tui/intent"

// chainRows are the keys that only the chain of causes has; Scope is its ID.
func chainRows() []Binding {
	return []Binding{
		{Scope: "chain", Keys: []string{"x"}, Label: "x", Help: "key.chain-expand", Short: "foot.chain-expand", Do: intent.Option{Name: "expand"}},
		{Scope: "chain", Keys: []string{"z"}, Label: "z", Help: "key.chain-scale", Short: "foot.chain-scale", Do: intent.Option{Name: "scale"}},
		{Scope: "chain", Keys: []string{"p"}, Label: "p", Help: "key.chain-path", Short: "foot.chain-path", Do: intent.Option{Name: "path"}},
		{Scope: "chain", Keys: []string{"v"}, Label: "v", Help: "key.chain-goto", Short: "foot.chain-goto", Do: intent.Option{Name: "goto"}},
	}
}
