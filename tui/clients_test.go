package tui

import (
	"fmt"
	"strings"
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// patch is the request of the fixture that wrote something.
func patch(t *testing.T, recs []event.Record) event.Seq {
	t.Helper()
	for _, r := range recs {
		if e, ok := r.Event.(event.RequestReceived); ok && e.Verb == "patch" {
			return r.Seq
		}
	}
	t.Fatal("nobody patches")
	return 0
}

func TestFramesWithClientsAreAsTheyWere(t *testing.T) {
	recs := fixture.Clients().Records
	russian, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	page := func(name string) intent.Open {
		return intent.Open{Page: "detail", Target: target.Target{Kind: target.Client, Name: name}}
	}
	shots := map[string]Still{
		"map-clients":            {},
		"map-clients-chosen":     {Keys: []string{"/", "dash", "enter"}},
		"detail-client":          {Open: page("kubectl-1/outside")},
		"detail-client-behind":   {Open: page("dashboard-1/outside")},
		"detail-program":         {Open: page("outside kubectl kubernetes-admin")},
		"detail-programs":        {Open: page("others")},
		"chain-request":          {Open: intent.Open{Page: "chain", Seq: patch(t, recs)}},
		"queues-flow-control":    {Keys: []string{"3"}},
		"map-clients-russian":    {Words: russian},
		"detail-program-russian": {Open: page("outside kubectl kubernetes-admin"), Words: russian},
	}
	for name, s := range shots {
		for _, size := range sizes {
			s.W, s.H, s.Plain = size.w, size.h, true
			golden(t, fmt.Sprintf("%s-%dx%d.txt", name, size.w, size.h), Snapshot(recs, s)+"\n")
		}
	}
	golden(t, "map-clients-ascii-80x24.txt", Snapshot(recs, Still{W: 80, H: 24, Plain: true, ASCII: true})+"\n")
	golden(t, "map-clients-120x40.ansi", Snapshot(recs, Still{W: 120, H: 40, Depth: theme.Colours256})+"\n")
	golden(t, "map-clients-mono-120x40.ansi", Snapshot(recs, Still{W: 120, H: 40, Depth: theme.Mono})+"\n")
}

// crumb is the last line of the head: what is selected.
func crumb(screen string) string {
	lines := strings.SplitN(screen, "\n", 3)
	return lines[1]
}

func TestClientsAreChosenWithKeysMouseAndFind(t *testing.T) {
	recs := fixture.Clients().Records
	for _, size := range sizes[:2] {
		s := Still{W: size.w, H: size.h, Plain: true, Keys: []string{"/", "kubec", "enter"}}
		if size.w == 80 {
			s.W = 110 // the path is in the head where there is room
		}
		if got := crumb(Snapshot(recs, s)); !strings.Contains(got, "kubectl (kubernetes-admin)") {
			t.Errorf("%dx%d: found %q", size.w, size.h, got)
		}
	}
	// The box of clients is the first thing to the left: up and left from anywhere lead to it.
	m := still(recs, Still{W: 120, H: 40, Plain: true})
	m.draw()
	screen := strings.Split(m.grid.Render(nil, false), "\n")
	for y, line := range screen {
		if x := strings.Index(line, "kubectl"); x >= 0 && y < 14 {
			m.Update(click(len([]rune(line[:x])), y))
			break
		}
	}
	m.draw()
	if got := crumb(m.grid.Render(nil, false)); !strings.Contains(got, "kubectl (kubernetes-admin)") {
		t.Errorf("a click chose %q", got)
	}
	// At 80 columns the programs share a word beside you.
	m = still(recs, Still{W: 80, H: 24, Plain: true})
	m.draw()
	line := strings.Split(m.grid.Render(nil, false), "\n")
	for y := range line[:4] {
		if x := strings.Index(line[y], "unread"); x >= 0 {
			m.Update(click(len([]rune(line[y][:x])), y))
			if m.frame(m.body()).Selected != (target.Target{Kind: target.Client, Name: "others"}) {
				t.Errorf("a click chose %+v", m.frame(m.body()).Selected)
			}
			return
		}
	}
	t.Errorf("no clients in\n%s", strings.Join(line[:4], "\n"))
}
