package raftview

import (
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/fault"
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

// telling is something that may be said of a group; it says nothing where it does not hold.
type telling struct {
	name string
	say  func(*figure) []said
}

// tellings, the most telling first: what stops everything, what stops a member, what is going on, what was, and how it always is.
var tellings = []telling{
	{"nobody can lead", (*figure).noQuorum},
	{"writes are refused", (*figure).full},
	{"a member does not start as it is", (*figure).stopped},
	{"logs that part, under a leader", func(p *figure) []said { // who stands then has only a minority with it
		if p.f.Scene.Quorum.Leader == "" {
			return nil
		}
		return p.apart()
	}},
	{"candidates", (*figure).candidates},
	{"who leads nobody", (*figure).claimants},
	{"who hears no leader", (*figure).silents},
	{"logs that part, without a leader", func(p *figure) []said {
		if p.f.Scene.Quorum.Leader != "" {
			return nil
		}
		return p.apart()
	}},
	{"who cannot be elected", (*figure).hopeless},
	{"snapshots on their way", (*figure).installs},
	{"the last change of members", (*figure).changed},
	{"learners", (*figure).learners},
	{"disks that fail", (*figure).disks},
	{"members without a vote", (*figure).mutes},
	{"who is asked in vain", (*figure).retries},
	{"entries that wait for a majority", (*figure).waits},
	{"the last election", (*figure).lastWon},
	{"how it works", (*figure).ways},
	{"the store as a whole", (*figure).storeSaid},
}

// now says what happens and why, what matters most first.
func (p *figure) now() []said {
	if len(p.all) == 0 {
		return nil
	}
	var out []said
	for _, t := range tellings {
		out = append(out, t.say(p)...)
	}
	if len(out) == 0 {
		return []said{{p.say("raft.now-nobody"), theme.Waiting}}
	}
	return out
}

// led: the group has a leader that it follows.
func (p *figure) led() bool { return p.leader != nil && p.f.Scene.Quorum.Leader != "" }

func (p *figure) noQuorum() []said {
	q := p.f.Scene.Quorum
	if q.Alive >= q.Need {
		return nil
	}
	return []said{{p.say("raft.now-no-quorum", "alive", q.Alive, "members", q.Members, "need", q.Need), theme.Failing}}
}

func (p *figure) candidates() []said {
	var out []said
	for _, m := range p.all {
		if m.runs && m.stands() {
			out = append(out, p.candidacy(m)...)
		}
	}
	return out
}

// claimants think that they lead, and reach no majority.
func (p *figure) claimants() []said {
	var out []said
	for _, m := range p.all {
		if !m.claims || p.f.Scene.Quorum.Leader == m.Name {
			continue
		}
		lease := p.f.World.Timing.Lease
		args := []any{"member", m.Name, "term", m.Term, "lease", p.real(short(lease))}
		gone, known := p.unheard(m)
		switch {
		case !known || lease <= 0:
			out = append(out, said{p.say("raft.now-claims", args...), theme.Unknown})
		case gone < lease:
			out = append(out, said{p.say("raft.now-claims-for", append(args, "gone", p.real(runs(gone)), "left", runs(lease-gone))...), theme.Unknown})
		default:
			out = append(out, said{p.say("raft.now-claims-over", append(args, "gone", p.real(runs(gone)))...), theme.Unknown})
		}
	}
	return out
}

// unheard is for how long a member has reached no majority, by what was done to the others and to its links.
func (p *figure) unheard(m *member) (time.Duration, bool) {
	var lost []time.Time
	for _, o := range p.all {
		switch {
		case o.Name == m.Name || !o.Votes():
		case !o.info.Up:
			lost = append(lost, o.info.Since)
		case !o.runs:
			lost = append(lost, o.Since)
		case !p.f.World.Reaches(m.Name, o.Name):
			lost = append(lost, p.cutSince(m.Name, o.Name))
		}
	}
	most := p.voters - p.f.Scene.Quorum.Need // so many it can do without
	if most < 0 || len(lost) <= most {
		return 0, false
	}
	slices.SortFunc(lost, time.Time.Compare)
	return p.clock.since(time.Time{}, lost[most]), !lost[most].IsZero()
}

// cutSince is since when two members do not hear each other.
func (p *figure) cutSince(a, b string) (since time.Time) {
	for _, f := range p.f.Scene.Faults {
		if (f.Fault.Touches(a) || f.Fault.Touches(b)) && f.Fault.Kind == fault.Cut && (since.IsZero() || f.At.Before(since)) {
			since = f.At
		}
	}
	return since
}

func (p *figure) silents() []said {
	var silent []string
	var first *member
	for _, m := range p.all {
		if m.runs && m.Role == "follower" && m.Silent && !m.muted && m.Votes() {
			if silent == nil {
				first = m
			}
			silent = append(silent, m.Name)
		}
	}
	if first == nil {
		return nil
	}
	t := p.f.World.Timing.Heartbeat
	return []said{{p.say("raft.now-silent", "members", strings.Join(silent, ", "), "n", len(silent), "leader", first.Leader, "gone", p.real(runs(p.clock.since(first.Heard, first.Since))), "least", short(t), "most", short(2*t)), theme.Waiting}}
}

func (p *figure) waits() []said {
	if !p.led() {
		return nil
	}
	q, leader := p.f.Scene.Quorum, p.member(p.leader.Name)
	if leader == nil || leader.LastIndex <= leader.CommitIndex || leader.CommitIndex == 0 {
		return nil
	}
	return []said{{p.say("raft.now-waits", "range", indexes(leader.CommitIndex+1, leader.LastIndex), "holders", p.holders(leader.LastIndex, leader.LastTerm()), "members", q.Members, "need", q.Need), theme.Busy}}
}

func (p *figure) lastWon() []said {
	if e, ok := lastElection(p.f.World); ok && p.led() && e.To == p.f.Scene.Quorum.Leader {
		return []said{p.won(e)}
	}
	return nil
}

// ways say how it always is.
func (p *figure) ways() []said {
	q := p.f.Scene.Quorum
	switch {
	case !p.led():
		return nil
	case q.Members == 1:
		return []said{{p.say("raft.now-alone", "leader", q.Leader), theme.Dim}}
	}
	out := []said{{p.say("raft.now-leads", "leader", q.Leader, "need", q.Need, "members", q.Members), theme.Dim}}
	if q.Members%2 == 0 && p.f.World.Store.Group.Known() {
		out = append(out, said{p.say("raft.now-even", "members", q.Members, "less", q.Members-1, "lose", world.ArithmeticOf(q.Members).MayLose, "n", world.ArithmeticOf(q.Members).MayLose), theme.Dim})
	}
	if p.f.World.Timing.Heartbeat == 0 { // not recorded
		return out
	}
	return append(out, said{p.say("raft.now-timers", "least", short(p.f.World.Timing.Heartbeat), "most", short(2*p.f.World.Timing.Heartbeat)), theme.Dim})
}

// candidacy says who asks for what, since when and with what log, what it has and what it was refused.
func (p *figure) candidacy(m *member) []said {
	q := p.f.Scene.Quorum
	r := &m.Round
	var out []said
	gone := p.clock.since(m.Heard, m.Since)
	args := []any{"member", m.Name, "term", r.Term, "gone", p.real(runs(gone)), "index", r.LastIndex, "logterm", r.LastTerm}
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
			out = append(out, said{p.say(key, "member", m.Name, "range", indexes(m.differs, m.LastIndex), "holders", p.holders(m.differs, m.TermAt(m.differs)), "members", p.voters, "leader", leader), theme.Failing})
		}
		if m.Cut.Seq != 0 && p.f.Now.Sub(m.Cut.At) < time.Minute {
			key := "raft.now-cut"
			if m.Cut.By != 0 {
				key = "raft.now-overwritten"
			}
			out = append(out, said{p.say(key, "member", m.Name, "range", indexes(m.Cut.From, m.Cut.To), "term", m.Cut.By, "old", m.Cut.TermAt(m.Cut.From)), theme.Waiting})
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
	args := []any{"member", e.To, "term", e.Term, "votes", e.Votes, "members", p.votersOf(e), "from", e.From, "gap", p.gap(e), "sim", short(e.Virtual), "at", words.Span(e.At.Sub(p.f.World.Start))}
	switch {
	case e.Anew:
		return said{p.say("raft.now-first-anew", args...), style}
	case e.From == "" && e.Votes > 0:
		return said{p.say("raft.now-first-votes", args...), style}
	case e.From == "":
		return said{p.say("raft.now-first", args...), style}
	case e.Votes > 0:
		return said{p.say("raft.now-won", args...), style}
	}
	return said{p.say("raft.now-elected", args...), style}
}

// votersOf an election; of journals before that is told, those of now.
func (p *figure) votersOf(e world.Election) int {
	if e.Voters > 0 {
		return e.Voters
	}
	return p.voters
}
