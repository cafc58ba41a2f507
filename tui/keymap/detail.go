package keymap

import "example.com/kubeviz/tui/intent"

// detailRows are the keys that only the page about one thing has; Scope is its ID.
func detailRows() []Binding {
	const detail = Scope("detail")
	return []Binding{
		{Scope: detail, Keys: []string{"v"}, Label: "v", Help: "key.history", Short: "foot.history", Do: intent.Option{Name: "history"}, Unless: hasHistory},
		{Scope: detail, Keys: []string{"o"}, Label: "o", Help: "key.overview", Do: intent.Option{Name: "overview"}},
		{Scope: detail, Keys: []string{"u"}, Label: "u", Help: "key.yaml", Short: "foot.yaml", Do: intent.Option{Name: "yaml"}, Unless: hasHistory},
		{Scope: detail, Keys: []string{"i"}, Label: "i", Help: "key.describe", Do: intent.Option{Name: "describe"}, Unless: hasHistory},
		{Scope: detail, Keys: []string{"m"}, Label: "m", Help: "key.requests", Do: intent.Option{Name: "requests"}},
		{Scope: detail, Keys: []string{"r"}, Label: "r", Help: "key.records", Do: intent.Option{Name: "records"}},
	}
}
