package raftview

import (
	"fmt"
	"slices"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
)

// message is something that happened between members, or in one (From equal To): a role, an entry that was stored, a piece of log that was given up.
type message struct {
	wall     time.Time // when it left; zero: not recorded
	sim      time.Time
	took     time.Duration
	from, to string
	text     string
	style    grid.Style
	lost     bool
	answer   bool
	// beat: it only says that the leader is there.
	beat bool
	// vote: it is about an election.
	vote bool
}

const (
	// read is how many records before the present are looked through for messages, kept how many of those are shown at most.
	read = 700
	kept = 120
)

// messages are the last ones, oldest first.
func (p *figure) messages() []message {
	j := p.f.Journal
	if j == nil || p.f.World.Seq == 0 {
		return nil
	}
	from := event.Seq(1)
	if p.f.World.Seq > read {
		from = p.f.World.Seq - read + 1
	}
	recs, _ := j.Read(make([]event.Record, 0, read), from, int(p.f.World.Seq-from)+1)
	var out []message
	for i := len(recs) - 1; i >= 0 && len(out) < kept; i-- {
		r := recs[i]
		if r.Seq > p.f.World.Seq {
			continue
		}
		if m, ok := p.message(r); ok {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b message) int {
		if a.wall.IsZero() || b.wall.IsZero() {
			return 0
		}
		return a.wall.Compare(b.wall)
	})
	return out
}

func (p *figure) message(r event.Record) (message, bool) {
	m := message{wall: r.Wall, sim: r.At, style: theme.Text}
	switch e := r.Event.(type) {
	case event.RaftMessage:
		if p.member(e.From) == nil || p.member(e.To) == nil {
			return m, false
		}
		m.from, m.to, m.lost, m.answer = e.From, e.To, e.Lost, e.Reply
		if !e.Sent.IsZero() {
			m.took = max(r.Wall.Sub(e.Sent), 0)
			m.wall = e.Sent
		}
		m.vote = e.Kind == "vote" || e.Kind == "pre-vote"
		m.beat = (e.Kind == "append" || e.Kind == "heartbeat") && e.Entries == 0
		m.text, m.style = p.messageText(e)
		return m, true
	case event.RaftRole:
		m.from, m.to, m.text, m.style = e.Member, e.Member, p.roleText(e), theme.Waiting
		if e.Role == "leader" {
			m.style = theme.Leader
		}
		if e.Role == "follower" {
			m.style = theme.Dim
		}
		m.vote = true
		return m, p.member(e.Member) != nil && m.text != ""
	case event.MembersChanged:
		if len(e.Members) == 0 {
			return m, false
		}
		who := e.Members[len(e.Members)-1].Name // who joined last, or the leader where that one is not seen
		if at := event.Actor(r.Actor).Host(); p.member(at) != nil {
			who = at
		}
		m.from, m.to, m.text, m.style = who, who, p.say("raft.wire-members", "n", len(e.Members)), theme.Text
		return m, p.member(who) != nil
	case event.RaftTruncated:
		m.from, m.to, m.style = e.Member, e.Member, theme.Failing
		m.text = p.say("raft.wire-cut", "range", indexes(e.From, e.To))
		if !e.Done.IsZero() {
			m.wall = e.Done
		}
		if e.Wiped {
			m.text = p.say("raft.wire-wiped")
		}
		return m, p.member(e.Member) != nil
	case event.RaftContact:
		if !e.Lost {
			return m, false
		}
		m.from, m.to, m.text, m.style, m.vote = e.Member, e.Member, p.say("raft.wire-silent", "leader", e.Leader), theme.Waiting, true
		return m, p.member(e.Member) != nil
	case event.RaftSnapshot:
		m.from, m.to, m.text, m.style = e.Member, e.Member, p.say("raft.wire-snapshot", "index", e.Index), theme.Dim
		return m, p.member(e.Member) != nil
	case event.RaftAppended:
		if e.Opened || p.member(e.Member) == nil {
			return m, false
		}
		if !e.Stored.IsZero() {
			m.wall = e.Stored
		}
		m.from, m.to, m.style = e.Member, e.Member, theme.Dim
		m.text = p.say("raft.wire-stored", "range", indexes(e.From, e.To))
		return m, true
	}
	return m, false
}

// indexes writes a range of the log: 861 or 861-863.
func indexes(from, to uint64) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

func (p *figure) roleText(e event.RaftRole) string {
	switch {
	case e.Err != "":
		return p.say("raft.wire-failed")
	case e.Role == "leader":
		return fmt.Sprintf("%c %s", grid.Leader, p.say("raft.wire-leads", "term", e.Term))
	case e.Role == "candidate":
		return fmt.Sprintf("%c %s", grid.Ballot, p.say("raft.wire-stands"))
	case e.Role == "down":
		return fmt.Sprintf("%c %s", grid.Failing, p.say("raft.wire-down"))
	case e.Leader != "":
		return p.say("raft.wire-follows", "leader", e.Leader)
	}
	return ""
}

// messageText is what a message says.
func (p *figure) messageText(e event.RaftMessage) (string, grid.Style) {
	switch {
	case e.Kind == "pre-vote" && !e.Reply:
		return p.say("raft.wire-pre-vote", "term", e.Term), theme.Waiting
	case e.Kind == "vote" && !e.Reply:
		return p.say("raft.wire-vote", "term", e.Term), theme.Waiting
	case e.Reply && e.Lost:
		return p.say("raft.wire-answer"), theme.Failing
	case e.Kind == "pre-vote" || e.Kind == "vote":
		if e.Granted {
			return fmt.Sprintf("%c %s", grid.Granted, p.say("raft.wire-yes")), theme.OK
		}
		return p.say("raft.wire-no"), theme.Failing
	case e.Kind == "snapshot" && e.Reply, e.Kind == "append" && e.Reply && e.Granted, e.Kind == "heartbeat" && e.Reply:
		if e.Kind == "append" && e.Entries > 0 {
			return p.say("raft.wire-ok-to", "index", e.LastIndex), theme.Dim
		}
		return p.say("raft.wire-ok"), theme.Dim
	case e.Kind == "snapshot" && e.Pieces > 1:
		return p.say("raft.wire-sends-piece", "index", e.LastIndex, "n", e.Piece, "of", e.Pieces), theme.Busy
	case e.Kind == "snapshot":
		return p.say("raft.wire-sends-snapshot", "index", e.LastIndex), theme.Busy
	case e.Kind == "append" && e.Reply:
		return p.say("raft.wire-mismatch", "index", e.LastIndex), theme.Waiting
	case e.Kind == "append" && e.Entries > 0:
		return p.say("raft.wire-append", "range", indexes(e.LastIndex-uint64(e.Entries)+1, e.LastIndex)), theme.Text
	}
	return p.say("raft.wire-beat"), theme.Dim
}

// How long a message is to be seen, in time of the screen.
const (
	seenVote  = 1500 * time.Millisecond
	seenOther = 500 * time.Millisecond
	seenSlow  = 900 * time.Millisecond
)

// flying are the messages from or to a member that are to be seen now, newest last: what has just left, was lost or arrived. Messages that say nothing new are seen
// only in slow motion.
func (p *figure) flying(name string) []message {
	var out []message
	for _, m := range p.sent {
		if m.from == m.to || (m.from != name && m.to != name) || (m.beat && !m.lost && p.f.Slow == 0) {
			continue
		}
		seen := seenOther
		if m.vote || m.lost {
			seen = seenVote
		}
		if p.f.Slow > 0 {
			seen = time.Duration(float64(seenSlow) / p.f.Slow)
		}
		if p.clock.since(m.wall, m.sim) <= seen+m.took {
			out = append(out, m)
		}
	}
	return out
}
