package raftview

import (
	"strings"
	"time"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// said is a sentence about what happens now.
type said struct {
	text  string
	style grid.Style
}

// now says what happens and why, what matters most first.
func (p *figure) now() []said {
	var out []said
	tell := func(style grid.Style, key string, args ...any) {
		out = append(out, said{p.say(key, args...), style})
	}
	q := p.f.Scene.Quorum
	if len(p.all) == 0 {
		return nil
	}
	if q.Alive < q.Need {
		tell(theme.Failing, "raft.now-no-quorum", "alive", q.Alive, "members", q.Members, "need", q.Need)
	}
	if q.Leader != "" { // who stands then has only a minority with it
		out = append(out, p.apart()...)
	}
	for _, m := range p.all {
		if m.runs && m.stands() {
			out = append(out, p.candidacy(m)...)
		}
	}
	var silent []string
	var first *member
	for _, m := range p.all {
		if m.runs && m.Role == "follower" && m.Silent && !m.muted {
			if silent == nil {
				first = m
			}
			silent = append(silent, m.Name)
		}
		if m.claims && q.Leader != m.Name {
			tell(theme.Unknown, "raft.now-claims", "member", m.Name, "term", m.Term, "lease", short(p.f.World.Timing.Lease))
		}
	}
	if first != nil {
		t := p.f.World.Timing.Heartbeat
		tell(theme.Waiting, "raft.now-silent", "members", strings.Join(silent, ", "), "n", len(silent), "leader", first.Leader, "gone", runs(p.clock.since(first.Heard, first.Since)), "least", short(t), "most", short(2*t))
	}
	if q.Leader == "" {
		out = append(out, p.apart()...)
	}
	if p.leader == nil || q.Leader == "" {
		if len(out) == 0 {
			tell(theme.Waiting, "raft.now-nobody")
		}
		return out
	}
	leader := p.member(p.leader.Name)
	if leader != nil && leader.LastIndex > leader.CommitIndex && leader.CommitIndex > 0 {
		tell(theme.Busy, "raft.now-waits", "range", indexes(leader.CommitIndex+1, leader.LastIndex), "holders", p.holders(leader.LastIndex, leader.LastTerm()), "members", q.Members, "need", q.Need)
	}
	if e, ok := lastElection(p.f.World); ok && e.To == q.Leader {
		out = append(out, p.won(e))
	}
	if q.Members == 1 {
		tell(theme.Dim, "raft.now-alone", "leader", q.Leader)
		return out
	}
	tell(theme.Dim, "raft.now-leads", "leader", q.Leader, "need", q.Need, "members", q.Members)
	tell(theme.Dim, "raft.now-timers", "least", short(p.f.World.Timing.Heartbeat), "most", short(2*p.f.World.Timing.Heartbeat))
	return out
}

// candidacy says who asks for what, since when and with what log, what it has and what it was refused.
func (p *figure) candidacy(m *member) []said {
	q := p.f.Scene.Quorum
	r := &m.Round
	var out []said
	gone := p.clock.since(m.Heard, m.Since)
	args := []any{"member", m.Name, "term", r.Term, "gone", runs(gone), "index", r.LastIndex, "logterm", r.LastTerm}
	if r.Kind == "" || r.LastIndex == 0 {
		return []said{{p.say("raft.now-stands", args...), theme.Waiting}}
	}
	key := "raft.now-asks"
	if r.Kind == "pre-vote" {
		key = "raft.now-would"
	}
	text := p.say(key, args...)
	if as := p.asNew(m); len(as) > 0 {
		text += " " + p.say("raft.now-as-new", "index", r.LastIndex, "logterm", r.LastTerm, "others", strings.Join(as, ", "))
	}
	out = append(out, said{text, theme.Waiting})
	key = "raft.now-has"
	if 1+len(r.Granted) >= q.Need {
		key = "raft.now-enough"
	}
	have := p.say(key, "need", q.Need, "members", q.Members, "have", 1+len(r.Granted))
	if len(r.Lost) > 0 {
		have += " " + p.say("raft.now-unheard", "members", strings.Join(r.Lost, ", "))
	}
	out = append(out, said{have, theme.Text})
	for _, f := range r.Refused {
		out = append(out, said{p.refusal(f, r), theme.Text})
	}
	return out
}

// asNew are the members that run and whose log is not newer than what a candidate asks with.
func (p *figure) asNew(c *member) []string {
	var out []string
	for _, m := range p.all {
		t := m.LastTerm()
		if m.Name != c.Name && m.runs && t != 0 && (t < c.Round.LastTerm || t == c.Round.LastTerm && m.LastIndex <= c.Round.LastIndex) {
			out = append(out, m.Name)
		}
	}
	return out
}

func (p *figure) refusal(f world.Refusal, r *world.Round) string {
	args := []any{"by", f.By, "than", f.Than, "term", f.Term, "index", f.Index, "asked", r.LastIndex, "askedterm", r.LastTerm}
	switch f.Why {
	case world.LaterTerm:
		return p.say("raft.no-term", args...)
	case world.HearsLeader:
		return p.say("raft.no-leader-heard", args...)
	case world.VotedOther:
		return p.say("raft.no-voted", args...)
	case world.NewerLog:
		return p.say("raft.no-log", args...)
	}
	return p.say("raft.no-reason", args...)
}

// apart tells of entries that only a minority has, and of logs that were cut back.
func (p *figure) apart() []said {
	var out []said
	for _, m := range p.all {
		if m.differs != 0 {
			key := "raft.now-alone-entries"
			if p.leader != nil {
				key = "raft.now-doomed"
			}
			leader := ""
			if p.leader != nil {
				leader = p.leader.Name
			}
			out = append(out, said{p.say(key, "member", m.Name, "range", indexes(m.differs, m.LastIndex), "holders", p.holders(m.differs, m.TermAt(m.differs)), "members", len(p.all), "leader", leader), theme.Failing})
		}
		if m.Cut.Seq != 0 && p.f.Now.Sub(m.Cut.At) < time.Minute {
			out = append(out, said{p.say("raft.now-cut", "member", m.Name, "range", indexes(m.Cut.From, m.Cut.To)), theme.Waiting})
		}
	}
	return out
}

// lastElection of a cluster; false: there was none yet.
func lastElection(w *world.World) (world.Election, bool) {
	all := w.Elections
	if len(all) == 0 {
		return world.Election{}, false
	}
	return all[len(all)-1], true
}

func (p *figure) won(e world.Election) said {
	style := theme.Dim
	if p.f.Now.Sub(e.At) < time.Minute {
		style = theme.Text
	}
	args := []any{"member", e.To, "term", e.Term, "votes", e.Votes, "members", len(p.all), "from", e.From, "wall", short(p.wallGap(e)), "sim", short(e.Virtual), "at", words.Span(e.At.Sub(p.f.World.Start))}
	switch {
	case e.From == "" && e.Votes > 0:
		return said{p.say("raft.now-first-votes", args...), style}
	case e.From == "":
		return said{p.say("raft.now-first", args...), style}
	case e.Votes > 0:
		return said{p.say("raft.now-won", args...), style}
	}
	return said{p.say("raft.now-elected", args...), style}
}
