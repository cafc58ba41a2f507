package narrate

import (
	"time"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/words"
)

// problemsMost is how many sentences a status has for what is wrong.
const problemsMost = 3

// Status is where a cluster stands, in a few plain sentences: the time, who leads, the nodes and pods, what is wrong and what comes next.
func Status(c *words.Catalogue, w *world.World, now time.Time) []string {
	if w.Start.IsZero() {
		return []string{c.Say("ui.narrate-empty")}
	}
	s := scene.Of(w, now)
	out := []string{c.Say("ui.narrate-time", "at", words.Span(now.Sub(w.Start)), "pace", pace(c, w))}
	if q := s.Quorum; q.Raft && (q.Leader != "" || !s.Starting) {
		args := []any{"leader", q.Leader, "term", q.Term, "alive", q.Alive, "members", q.Members, "need", q.Need}
		if q.Leader == "" {
			out = append(out, c.Say("ui.narrate-no-leader", args...))
		} else {
			out = append(out, c.Say("ui.narrate-leader", args...))
		}
	}
	if s.Starting {
		return append(out, c.Say("ui.narrate-starting", "ready", readyNodes(w), "n", w.Hosts.Len()))
	}
	out = append(out, c.Say("ui.narrate-nodes", "ready", readyNodes(w), "n", w.Nodes.Len(), "running", s.PodsRunning, "pods", s.Pods))
	problems := s.Problems(w, c)
	if len(problems) == 0 {
		return append(out, c.Say("ui.narrate-well"))
	}
	shown := problems
	if len(problems) > problemsMost {
		shown = problems[:problemsMost-1] // and a sentence for the others
	}
	for _, p := range shown {
		what := p.Text
		if p.Next != "" {
			what = c.Say("ui.narrate-next", "what", what, "next", p.Next)
		}
		out = append(out, c.Say("ui.narrate-problem", "what", what))
	}
	if more := len(problems) - len(shown); more > 0 {
		out = append(out, c.Say("ui.narrate-more", "n", more))
	}
	return out
}

func pace(c *words.Catalogue, w *world.World) string {
	switch {
	case w.Unpaced:
		return c.Say("ui.narrate-fast")
	case w.Rate == 0:
		return c.Say("ui.narrate-paused")
	}
	return c.Say("ui.narrate-rate", "rate", w.Rate)
}

// readyNodes counts those of the control plane too.
func readyNodes(w *world.World) int {
	n := 0
	w.Nodes.Scan(func(_ string, node *world.Node) bool {
		if node.Ready == "True" {
			n++
		}
		return true
	})
	return n
}
