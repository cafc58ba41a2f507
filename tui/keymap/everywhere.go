package keymap

import "example.com/kubeviz/tui/intent"

// actRows are the keys that act on the cluster: capital letters, on what is selected in whatever view.
func actRows() []Binding {
	return []Binding{
		{Scope: Everywhere, Keys: []string{"K"}, Label: "K", Help: "key.power", Short: "foot.kill", ShortNow: powerWord, Do: intent.Power{}, Unless: all(live, powerable)},
		{Scope: Everywhere, Keys: []string{"R"}, Label: "R", Help: "key.restart", Short: "foot.restart", Do: intent.Restart{}, Unless: all(live, restartable)},
		{Scope: Everywhere, Keys: []string{"C"}, Label: "C", Help: "key.cut", Short: "foot.cut", ShortNow: cutWord, Do: intent.Cut{}, Unless: all(live, onMachineOrProcess)},
		{Scope: Everywhere, Keys: []string{"W"}, Label: "W", Help: "key.wipe", Short: "foot.wipe", Do: intent.Wipe{}, Unless: all(live, wipeable)},
		{Scope: Everywhere, Keys: []string{"D"}, Label: "D", Help: "key.delete", Short: "foot.delete", Do: intent.Delete{}, Unless: all(live, deletable)},
		{Scope: Everywhere, Keys: []string{"H"}, Label: "H", Help: "key.heal-all", Short: "foot.heal-all", Do: intent.HealAll{}, Unless: all(live, broken)},
		{Scope: Everywhere, Keys: []string{"+", "="}, Label: "+", Help: "key.more", Short: "foot.more", Offer: podOrNothing, Do: intent.Scale{By: 1}, Unless: all(live, scalable)},
		{Scope: Everywhere, Keys: []string{"-", "_"}, Label: "-", Help: "key.fewer", Short: "foot.fewer", Offer: podOrNothing, Do: intent.Scale{By: -1}, Unless: all(live, scalable)},
	}
}

// lookRows are the keys that ask about what is selected.
func lookRows() []Binding {
	return []Binding{
		{Scope: Everywhere, Keys: []string{"d"}, Label: "d", Help: "key.detail", Short: "foot.detail", Do: intent.Detail{}, Offer: something, Unless: selected},
		{Scope: Everywhere, Keys: []string{"w"}, Label: "w", Help: "key.why", Short: "foot.why", Do: intent.Why{}},
		{Scope: Everywhere, Keys: []string{"c"}, Label: "c", Help: "key.chain", Short: "foot.chain", Do: intent.Chain{}, Offer: something},
		{Scope: Everywhere, Keys: []string{"/"}, Label: "/", Help: "key.find", Short: "foot.find", Do: intent.Find{}},
		{Scope: Everywhere, Keys: []string{"n"}, Label: "n N", Help: "key.match", Do: intent.Match{By: 1}},
		{Scope: Everywhere, Keys: []string{"N"}, Do: intent.Match{By: -1}},
		{Scope: Everywhere, Keys: []string{"!"}, Label: "!", Help: "key.trouble", Do: intent.Trouble{}},
		{Scope: Everywhere, Keys: []string{"y"}, Label: "y", Help: "key.copy", Do: intent.Copy{}},
	}
}

// moveRows are the keys that move in any view.
func moveRows() []Binding {
	return []Binding{
		{Scope: Everywhere, Keys: []string{"left", "h"}, Label: "← h", Help: "key.left", Do: intent.Move{DX: -1}},
		{Scope: Everywhere, Keys: []string{"down", "j"}, Label: "↓ j", Help: "key.down", Do: intent.Move{DY: 1}},
		{Scope: Everywhere, Keys: []string{"up", "k"}, Label: "↑ k", Help: "key.up", Do: intent.Move{DY: -1}},
		{Scope: Everywhere, Keys: []string{"right", "l"}, Label: "→ l", Help: "key.right", Do: intent.Move{DX: 1}},
		{Scope: Everywhere, Keys: []string{"tab"}, Label: "tab", Help: "key.next", Short: "foot.choose", Offer: nothing, Do: intent.Next{By: 1}},
		{Scope: Everywhere, Keys: []string{"shift+tab"}, Do: intent.Next{By: -1}},
		{Scope: Everywhere, Keys: []string{"pgup", "ctrl+b", "ctrl+u"}, Label: "pgup", Help: "key.page-up", Do: intent.Page{By: -1}},
		{Scope: Everywhere, Keys: []string{"pgdown", "ctrl+f", "ctrl+d"}, Label: "pgdn", Help: "key.page-down", Do: intent.Page{By: 1}},
		{Scope: Everywhere, Keys: []string{"home", "g"}, Label: "home g", Help: "key.first", Do: intent.Edge{To: -1}},
		{Scope: Everywhere, Keys: []string{"end", "G"}, Label: "end G", Help: "key.last", Do: intent.Edge{To: 1}},
		{Scope: Everywhere, Keys: []string{"enter"}, Label: "enter", Help: "key.deeper", Short: "foot.deeper", Offer: something, Do: intent.Enter{}},
		{Scope: Everywhere, Keys: []string{"esc", "backspace"}, Label: "esc", Help: "key.back", Short: "foot.back", Offer: something, Do: intent.Back{}},
	}
}

// timeRows are the keys of time.
func timeRows() []Binding {
	return []Binding{
		{Scope: Everywhere, Keys: []string{" "}, Label: "space", Help: "key.pause", Short: "foot.pause", ShortNow: pauseWord, Do: intent.TogglePause{}},
		{Scope: Everywhere, Keys: []string{"["}, Label: "[ ]", Help: "key.speed", Short: "foot.speed", Do: intent.Faster{By: -1}},
		{Scope: Everywhere, Keys: []string{"]"}, Do: intent.Faster{By: 1}},
		{Scope: Everywhere, Keys: []string{"."}, Label: ".", Help: "key.step", Short: "foot.step", Do: intent.Step{By: 1}},
		{Scope: Everywhere, Keys: []string{","}, Label: ",", Help: "key.step-back", Short: "foot.step-back", Do: intent.Step{By: -1}},
		{Scope: Everywhere, Keys: []string{"<", "shift+left"}, Label: "< >", Help: "key.scrub", Do: intent.Scrub{By: -1}},
		{Scope: Everywhere, Keys: []string{">", "shift+right"}, Do: intent.Scrub{By: 1}},
		{Scope: Everywhere, Keys: []string{"{"}, Label: "{ }", Help: "key.mark", Do: intent.Mark{By: -1}},
		{Scope: Everywhere, Keys: []string{"}"}, Do: intent.Mark{By: 1}},
		{Scope: Everywhere, Keys: []string{"t"}, Label: "t", Help: "key.until", Short: "foot.until", Do: intent.Until{}},
		{Scope: Everywhere, Keys: []string{"0"}, Label: "0", Help: "key.live", Short: "foot.live", Offer: past, Do: intent.Live{}},
	}
}

// screenRows are the keys of the screen itself.
func screenRows() []Binding {
	return []Binding{
		{Scope: Everywhere, Keys: []string{"1"}, Label: "1", Help: "key.map", Do: intent.Show{View: "map"}},
		{Scope: Everywhere, Keys: []string{"2"}, Label: "2", Help: "key.raft", Do: intent.Show{View: "raft"}},
		{Scope: Everywhere, Keys: []string{"3"}, Label: "3", Help: "key.queues", Do: intent.Show{View: "queues"}},
		{Scope: Everywhere, Keys: []string{"4"}, Label: "4", Help: "key.story", Do: intent.Show{View: "story"}},
		{Scope: Everywhere, Keys: []string{"5"}, Label: "5", Help: "key.objects", Do: intent.Show{View: "objects"}},
		{Scope: Everywhere, Keys: []string{":"}, Label: ":", Help: "key.console", Short: "foot.console", Do: intent.Console{}},
		{Scope: Everywhere, Keys: []string{"e"}, Label: "e", Help: "key.export", Do: intent.Export{}},
		{Scope: Everywhere, Keys: []string{"?", "f1"}, Label: "?", Help: "key.help", Short: "foot.help", Do: intent.Help{}},
		{Scope: Everywhere, Keys: []string{"ctrl+z"}, Label: "ctrl+z", Help: "key.suspend", Do: intent.Suspend{}},
		{Scope: Everywhere, Keys: []string{"q"}, Label: "q", Help: "key.quit", Short: "foot.quit", Do: intent.Quit{}},
		{Scope: Everywhere, Keys: []string{"ctrl+c"}, Label: "ctrl+c", Help: "key.quit-now", Do: intent.Quit{Now: true}},
	}
}

// overlayRows are the keys of what lies on top: lists, menus, help.
func overlayRows() []Binding {
	return []Binding{
		{Scope: Overlay, Keys: []string{"up", "k"}, Label: "↑ k", Help: "key.up", Do: intent.Move{DY: -1}},
		{Scope: Overlay, Keys: []string{"down", "j"}, Label: "↓ j", Help: "key.down", Do: intent.Move{DY: 1}},
		{Scope: Overlay, Keys: []string{"pgup", "ctrl+b"}, Label: "pgup", Help: "key.page-up", Do: intent.Page{By: -1}},
		{Scope: Overlay, Keys: []string{"pgdown", "ctrl+f"}, Label: "pgdn", Help: "key.page-down", Do: intent.Page{By: 1}},
		{Scope: Overlay, Keys: []string{"home", "g"}, Label: "home", Help: "key.first", Do: intent.Edge{To: -1}},
		{Scope: Overlay, Keys: []string{"end", "G"}, Label: "end", Help: "key.last", Do: intent.Edge{To: 1}},
		{Scope: Overlay, Keys: []string{"enter"}, Label: "enter", Help: "key.choose", Do: intent.Enter{}},
		{Scope: Overlay, Keys: []string{"esc", "backspace", "q", "?"}, Label: "esc", Help: "key.close", Short: "foot.close", Do: intent.Back{}},
	}
}
