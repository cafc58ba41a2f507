package keymap

import "example.com/kubeviz/tui/intent"

// Story is the scope of the story's keys.
const Story Scope = "story"

// storyRows are the keys that only the story has; Scope is its ID.
func storyRows() []Binding {
	return []Binding{
		{Scope: Story, Keys: []string{"u"}, Label: "u", Help: "key.story-trail", Short: "foot.trail", Do: intent.Option{Name: "cause"}, Offer: something},
		{Scope: Story, Keys: []string{"r"}, Label: "r", Help: "key.story-follows", Short: "foot.follows", Do: intent.Option{Name: "effect"}, Offer: something},
		{Scope: Story, Keys: []string{"v"}, Label: "v", Help: "key.story-instant", Short: "foot.instant", Do: intent.Option{Name: "goto"}, Offer: something},
		{Scope: Story, Keys: []string{"f"}, Label: "f", Help: "key.story-follow", Short: "foot.follow", Do: intent.Option{Name: "follow"}},
		{Scope: Story, Keys: []string{"z"}, Label: "z", Help: "key.story-fold", Short: "foot.fold", Do: intent.Option{Name: "fold"}},
		{Scope: Story, Keys: []string{"a"}, Label: "a", Help: "key.story-facts", Short: "foot.facts", Do: intent.Option{Name: "facts"}},
		{Scope: Story, Keys: []string{"b"}, Label: "b", Help: "key.story-component", Short: "foot.component", Do: intent.Option{Name: "component"}},
		{Scope: Story, Keys: []string{"o"}, Label: "o", Help: "key.story-kind", Short: "foot.kind", Do: intent.Option{Name: "kind"}},
	}
}
