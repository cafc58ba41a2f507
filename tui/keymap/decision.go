package keymap

import "example.com/kubeviz/tui/intent"

// decisionRows are the keys that only the page of decisions has; Scope is its ID.
func decisionRows() []Binding {
	const scope Scope = "decision"
	return []Binding{
		{Scope: scope, Keys: []string{"tab"}, Label: "tab", Help: "key.decision-pane", Short: "foot.decision-pane", Do: intent.Next{By: 1}},
		{Scope: scope, Keys: []string{"shift+tab"}, Do: intent.Next{By: -1}},
		{Scope: scope, Keys: []string{"r"}, Label: "r", Help: "key.decision-raw", Short: "foot.decision-raw", Do: intent.Option{Name: "raw"}},
		{Scope: scope, Keys: []string{"s"}, Label: "s", Help: "key.decision-sort", Short: "foot.decision-sort", Do: intent.Option{Name: "sort"}},
	}
}
