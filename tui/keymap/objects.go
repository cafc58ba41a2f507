package keymap

import (
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// objectRows are the keys that only the objects has; Scope is its ID.
func objectRows() []Binding {
	const objects = Scope("objects")
	return []Binding{
		{Scope: objects, Keys: []string{"v"}, Label: "v", Help: "key.history", Short: "foot.history", Do: intent.Option{Name: "history"}, Offer: something, Unless: selected},
		{Scope: objects, Keys: []string{"s"}, Label: "s", Help: "key.sort", Short: "foot.sort", Do: intent.Option{Name: "sort"}},
		{Scope: objects, Keys: []string{"r"}, Label: "r", Help: "key.reverse", Do: intent.Option{Name: "reverse"}},
		{Scope: objects, Keys: []string{"x"}, Label: "x", Help: "key.wide", Short: "foot.wide", Do: intent.Option{Name: "wide"}},
		{Scope: objects, Keys: []string{"a"}, Label: "a", Help: "key.namespaces", Short: "foot.spaces", Do: intent.Option{Name: "namespaces"}},
	}
}

// hasHistory tells things that are objects of the API, or machines, whose Node is one.
func hasHistory(f view.Frame) string {
	switch f.Selected.Kind {
	case target.Pod, target.Object, target.Worker, target.Master:
		return ""
	}
	return "not.only-objects"
}
