package keymap

import "example.com/kubeviz/tui/intent"

// whyRows are the keys that only the page of answers has; Scope is its ID.
func whyRows() []Binding {
	const scope Scope = "why"
	return []Binding{
		{Scope: scope, Keys: []string{"tab"}, Label: "tab", Help: "key.why-turn", Short: "foot.why-turn", Do: intent.Next{By: 1}},
		{Scope: scope, Keys: []string{"shift+tab"}, Do: intent.Next{By: -1}},
		{Scope: scope, Keys: []string{"o"}, Label: "o", Help: "key.why-go", Short: "foot.why-go", Do: intent.Option{Name: "go"}},
	}
}
